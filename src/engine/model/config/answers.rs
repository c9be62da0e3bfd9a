//! The limits of a model's answer, and how looplet treats an incomplete one.

use serde::{Deserialize, Serialize};

/// The limits of a model's answer, and how looplet treats an incomplete one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AnswerPolicy {
    /// Maximum number of blocks in one answer, including tool calls, a positive integer. An answer with more fails as
    /// `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_blocks: u32,
    /// Maximum bytes of text and reasoning in one answer, a positive integer up to 64 MiB (67,108,864). An answer
    /// with more fails as `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_text_bytes: u32,
    /// Maximum bytes of tool arguments and media in one answer, a positive integer up to 128 MiB (134,217,728). An
    /// answer with more fails as `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_argument_bytes: u32,
    /// Maximum bytes of one stream event, or of a body that is not streamed, a positive integer up to 256 MiB
    /// (268,435,456). A longer one fails as `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_event_bytes: u32,
    /// Maximum bytes that looplet reads of a failed response's body, a positive integer up to 64 MiB (67,108,864).
    /// looplet then cancels the request, and the failure has the part that was received. `timeouts.errorBodyMs` is
    /// the time limit.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_error_body_bytes: u32,
    /// How looplet treats an answer without tool calls that reached the limit of output tokens.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub on_max_tokens: OnOutputLimit,
    /// How looplet retries an answer that was interrupted: the connection was lost, or the process ended and the run
    /// has a `store`.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub on_cut_off: OnCutOff,
    /// Whether a run fails (code `finish_reason`) if an answer ends in any way other than finished, paused or with
    /// tool calls. In that mode an answer that reports that it is finished ends the run, even if it has calls.
    /// Default false: a run continues as long as there are calls.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub strict_stop_reason: bool,
}

impl Default for AnswerPolicy {
    fn default() -> AnswerPolicy {
        AnswerPolicy {
            max_blocks: 1000,
            max_text_bytes: 32 << 20,
            max_argument_bytes: 64 << 20,
            max_event_bytes: 64 << 20,
            max_error_body_bytes: 64 << 10,
            on_max_tokens: OnOutputLimit::default(),
            on_cut_off: OnCutOff::default(),
            strict_stop_reason: false,
        }
    }
}

/// How the run treats an answer without tool calls that reached the limit of output tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnOutputLimit {
    /// It is the last answer, with `finishReason: "length"`.
    #[default]
    Return,
    /// The model continues where it stopped, within `maxIterations`. `result.text` is the complete text.
    Continue,
    /// The run is `failed` with the code `finish_reason`.
    Error,
}

/// How the run retries an answer that was interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnCutOff {
    /// The model writes the whole answer again.
    #[default]
    Again,
    /// The model continues after the received text, if the protocol and the model support it. Otherwise it writes the
    /// whole answer again, and the warning `not_continued` has the reason.
    Continue,
}
