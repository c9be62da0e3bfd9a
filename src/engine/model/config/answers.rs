//! The bounds of one answer of a model, and how looplet treats one that is not whole.

use serde::{Deserialize, Serialize};

/// The bounds of one answer of a model, and how looplet treats one that is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AnswerPolicy {
    /// Blocks of one answer, tool calls among them, a positive integer. An answer with more fails as
    /// `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_blocks: u32,
    /// Bytes of text and reasoning of one answer, a positive integer up to 64 MiB (67,108,864). An answer with more
    /// fails as `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_text_bytes: u32,
    /// Bytes of tool arguments and media of one answer, a positive integer up to 128 MiB (134,217,728). An answer
    /// with more fails as `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_argument_bytes: u32,
    /// Bytes of one event of a stream, and of a body that comes whole, a positive integer up to 256 MiB
    /// (268,435,456). A longer one fails as `malformed_stream`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_event_bytes: u32,
    /// Bytes of a failed response's body that are read, a positive integer up to 64 MiB (67,108,864). The request is
    /// cancelled behind them, and the failure tells what has come. `timeouts.errorBodyMs` is the time for it.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "agent")))]
    pub max_error_body_bytes: u32,
    /// How looplet treats an answer without tool calls that the limit of output tokens cut off.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub on_max_tokens: OnOutputLimit,
    /// How looplet asks again for an answer that broke off: the connection was lost, or the process ended and the run
    /// has a `store`.
    #[cfg_attr(test, schemars(extend("x-option" = "agent")))]
    pub on_cut_off: OnCutOff,
    /// Whether a run fails (code `finish_reason`) when an answer ends in any way but finished, paused or with tool
    /// calls. An answer that says it is finished then ends the run, even with calls beside it. Default false: a run
    /// continues as long as there are calls.
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

/// How the run treats an answer without tool calls that the limit of output tokens cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnOutputLimit {
    /// It is the last answer, with `finishReason: "length"`.
    #[default]
    Return,
    /// The model continues where it stopped, within `maxIterations`, and `result.text` is the whole text.
    Continue,
    /// The run is `failed` with the code `finish_reason`.
    Error,
}

/// How the run asks again for an answer that broke off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OnCutOff {
    /// The model writes the whole answer again.
    #[default]
    Again,
    /// The model goes on from the text that has come, where the protocol and the model allow it. Otherwise it writes
    /// the whole answer again, and the warning `not_continued` says why.
    Continue,
}
