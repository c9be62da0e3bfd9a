//! The two errors of the engine, by fault: [`ConfigError`] for a wrong option, [`Failure`] for the provider or the
//! network.
//!
//! `Run::new` and every input from your code return a [`ConfigError`] at once, before anything has happened. The
//! protocols and the model call make a [`Failure`], which reaches you in events and in the outcome. A tool's error is
//! neither: it is a [`crate::engine::model::event::ToolFault`], which the model is told. No message here contains a
//! key.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine::json::writer::decimal;
use crate::engine::model::json::word;

/// A configuration that cannot run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigError {
    /// The option's path, for example `tools.weather.inputSchema`.
    pub field: String,
    /// The defect of the option, and how to mend it.
    pub problem: String,
}

impl ConfigError {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> ConfigError {
        ConfigError {
            field: field.into(),
            problem: problem.into(),
        }
    }

    /// The path and the problem in one line.
    pub fn to_text(&self) -> String {
        if self.field.is_empty() {
            return self.problem.clone();
        }
        format!("{} {}", self.field, self.problem)
    }
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// A model call that failed at the provider or on the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub code: FailureCode,
    /// A text for a person. It never contains a key. That of a model call names vendor, model, status, code and
    /// address before the words of the server or of the platform.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// HTTP status.
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The wait that the server asked for, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// True when another attempt could succeed. looplet has already made its own attempts.
    pub retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The vendor's id of the request, for its support team.
    pub request_id: Option<String>,
    /// The vendor's own code for the error: `error.details.error_code` of Anthropic, for example `thread_not_found`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor_code: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// The model that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The address that was asked, without its query. A model inside the process has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The first 500 characters of a body that breaks the protocol.
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
    /// The body breaks the protocol: it is not SSE but HTML, it is cut off, or an event is not valid JSON. Also an
    /// answer beyond `answers.maxBlocks`, `answers.maxTextBytes`, `answers.maxArgumentBytes` or
    /// `answers.maxEventBytes`.
    MalformedStream,
    /// The server answered with a redirect, which looplet never follows: the key would go along. The message names
    /// the target's origin where the platform shows it.
    Redirected,
    /// Your code that answers in place of a server has thrown: the function of `custom()`, or a `scripted()` or
    /// `practice()` of `looplet/practice`.
    CustomModel,
    /// The answer ended in a way that `answers.strictStopReason` or `answers.onMaxTokens` does not accept. The
    /// message says how.
    FinishReason,
    /// A setting that only the engine can judge was refused. The message names the field.
    ConfigInvalid,
    /// The WebAssembly module could not be loaded. The message says why; often a Content-Security-Policy forbids it.
    /// Only the TypeScript reports this code.
    ConfigWasm,
    /// Another process holds the lease of this run. Only the TypeScript reports this code.
    RunHeld,
    /// The store does not have the journal of the run any more, although no other process has taken it.
    JournalGone,
    /// The store has a run with this id that began with another prompt.
    RunExists,
    /// Your store could not give the journal of a run that is to go on, or it could not save one and
    /// `durable.onSaveFailed` ended the run.
    StoreFailed,
    /// One of your guardrails refused. Only the `error` event has this code.
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
            vendor_code: None,
            vendor: None,
            model: None,
            url: None,
            body: None,
        }
    }
}

impl Failure {
    /// Puts the facts of the model call before the words in the message, in one sentence.
    pub fn tell_facts(&mut self) {
        let (Some(vendor), Some(model)) = (&self.vendor, &self.model) else {
            return;
        };
        let mut text = format!("{vendor} {model}");
        match self.status {
            Some(status) => text.extend([" answered ", &decimal(status.into()), " "]),
            None => text.push_str(" failed with "),
        }
        text.push_str(&word(self.code));
        if let Some(url) = &self.url {
            text.extend([" at ", url]);
        }
        if !self.message.is_empty() {
            text.extend([": ", &self.message]);
        }
        if self.status == Some(404) && self.url.is_some() {
            text.truncate(text.trim_end_matches('.').len());
            let is_ended = text.ends_with(['?', '!']);
            text.push_str(if is_ended { " " } else { ". " });
            text.push_str("Check baseUrl and the model's name.");
        }
        self.message = text;
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::new(
            FailureCode::ConfigInvalid,
            format!("{}: {}", error.field, error.problem),
        )
    }
}
