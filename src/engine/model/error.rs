//! The two errors of the engine, by fault: [`ConfigError`] for a wrong option, [`Failure`] for the provider or the
//! network.
//!
//! `Run::new` and every input from your code return a [`ConfigError`] immediately, before anything has changed. The
//! protocols and the model call create a [`Failure`], which is reported in events and in the outcome. A tool's error
//! is a [`crate::engine::model::event::ToolFault`], which is sent to the model. No message here contains a key.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine::json::writer::decimal;
use crate::engine::model::json::word;

/// A configuration that cannot run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigError {
    /// The option's path, for example `tools.weather.inputSchema`.
    pub field: String,
    /// The problem, and how to fix it.
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
    /// A readable text. It never contains a key. The message of a failed model call begins with the vendor, the
    /// model, the status, the code and the address. Then follows the text of the server or the platform.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// HTTP status.
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The wait that the server asked for, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Whether another attempt could succeed. looplet has already made its own retries.
    pub retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// The vendor's id of the request, for its support team.
    pub request_id: Option<String>,
    /// The vendor's code for the error, for example `thread_not_found` in Anthropic's `error.details.error_code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor_code: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// The model of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The URL of the request, without its query. A model inside the process has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The first 500 characters of a body that violates the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// The closed list of failure codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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
    /// The body violates the protocol: it is HTML instead of SSE, it is cut off, or an event is not valid JSON. Also
    /// for an answer that exceeds `answers.maxBlocks`, `answers.maxTextBytes`, `answers.maxArgumentBytes` or
    /// `answers.maxEventBytes`.
    MalformedStream,
    /// The server answered with a redirect. looplet never follows redirects, because they would receive the key. The
    /// message names the target's origin if the platform shows it.
    Redirected,
    /// Your code that replaces a server threw: the function of `custom()`, or a `scripted()` or `practice()` of
    /// `looplet/practice`.
    CustomModel,
    /// The answer ended in a way that `answers.strictStopReason` or `answers.onMaxTokens` does not accept. The
    /// message says how it ended.
    FinishReason,
    /// An invalid option that only the engine can detect. The message names the field.
    ConfigInvalid,
    /// The WebAssembly module could not be loaded. The message has the reason, often a Content-Security-Policy. Only
    /// the TypeScript reports this code.
    ConfigWasm,
    /// Another process holds the lease of this run. Only the TypeScript reports this code.
    RunHeld,
    /// The store does not have the run's journal any more, and no other process has acquired it.
    JournalGone,
    /// The store has a run with this id that started with another prompt.
    RunExists,
    /// Your store could not load the journal of a run to resume, or it could not save one and `durable.onSaveFailed`
    /// ended the run.
    StoreFailed,
    /// One of your guardrails rejected something. Only the `error` event has this code.
    Guardrail,
    /// A bug in looplet.
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
    /// Adds the vendor, model, status, code and address before the text of the message.
    pub fn add_facts(&mut self) {
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
