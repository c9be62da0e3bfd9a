//! Errors by whose fault they are: the configuration's, or the provider's and the network's.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A configuration that cannot run. Thrown at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigError {
    /// The option's path, for example `tools.weather.inputSchema`.
    pub field: String,
    /// What is wrong and what to do.
    pub problem: String,
}

impl ConfigError {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> ConfigError {
        ConfigError {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// Both in one line.
    pub fn to_text(&self) -> String {
        if self.field.is_empty() {
            return self.problem.clone();
        }
        [&self.field, " ", &self.problem].concat()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// What a provider or the network did to a model call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub code: FailureCode,
    /// For a person; never contains a key.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// HTTP status.
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// How long the server asked to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Whether another attempt could succeed (looplet has already made its own).
    pub retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The vendor's id of the request, for its support.
    pub request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// The first 500 characters of a body that is not what the protocol promises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// The closed list of failure codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    RateLimit,
    Overloaded,
    Auth,
    Billing,
    InvalidRequest,
    ContextLength,
    ContentFilter,
    NotFound,
    Server,
    Network,
    Timeout,
    /// The body is not what the protocol promises: no SSE, HTML, cut off, an event that is no JSON.
    MalformedStream,
    /// The answer ended in a way that `strictStopReason` or `onMaxTokens` does not accept; the message says how.
    FinishReason,
    /// A setting that only the engine can judge was refused; the message names the field.
    ConfigInvalid,
    /// The WebAssembly module could not be loaded; the message says why (often a Content-Security-Policy). The face alone
    /// says so.
    ConfigWasm,
    /// A guardrail of yours said no; only in the `error` event.
    Guardrail,
    /// A defect of looplet.
    Bug,
}

impl Failure {
    pub fn new(code: FailureCode, message: impl Into<String>) -> Failure {
        let retryable = matches!(
            code,
            FailureCode::RateLimit
                | FailureCode::Overloaded
                | FailureCode::Server
                | FailureCode::Network
                | FailureCode::Timeout
                | FailureCode::MalformedStream
        );
        Failure {
            code,
            message: message.into(),
            status: None,
            retry_after_ms: None,
            retryable,
            request_id: None,
            vendor: None,
            body: None,
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::new(
            FailureCode::ConfigInvalid,
            [error.field.as_str(), ": ", error.problem.as_str()].concat(),
        )
    }
}
