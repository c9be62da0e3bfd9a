//! The inputs of a run as data, each with its moment. Played in order, they replay the run byte for byte.
//!
//! A [`Record`] is a line of a `.loop` file. JavaScript writes and plays these lines (`recorder.ts` and `player.ts`
//! in `src/typescript/lab/replay`). The engine reads and writes them only in native tests.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde::{Deserialize, Serialize};

use crate::engine::json::writer::decimal_u64;
use crate::engine::model::error::ConfigError;
use crate::engine::model::input::{Input, Moment};
use crate::engine::model::json;
use crate::engine::model::message::Json;
use crate::engine::model::output::EffectId;

/// One input of a run, with its moment. JavaScript may read and write the JSON of a record, so no number is above
/// 2^53.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The time of the moment; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now_ms: Option<u64>,
    /// The seed of the moment in decimal digits.
    pub random: String,
    /// The number of outputs, without events, that were performed before this input. JavaScript may pass an input
    /// while outputs are waiting, and such an input decides which of them are performed.
    pub after: u32,
    pub input: Recorded,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recorded {
    /// The JSON of an [`Input`], as it crossed the boundary.
    Json(Json),
    /// A chunk of a body that is UTF-8.
    Text { request: EffectId, text: String },
    /// Any other chunk.
    Bytes { request: EffectId, base64: String },
}

impl Recorded {
    pub fn chunk(request: EffectId, bytes: &[u8]) -> Recorded {
        match std::str::from_utf8(bytes) {
            Ok(text) => Recorded::Text {
                request,
                text: text.to_owned(),
            },
            Err(_) => Recorded::Bytes {
                request,
                base64: BASE64_STANDARD.encode(bytes),
            },
        }
    }
}

impl From<&Input<'_>> for Recorded {
    fn from(input: &Input<'_>) -> Recorded {
        match input {
            Input::Chunk { request, bytes } => Recorded::chunk(*request, bytes),
            input => Recorded::Json(Json::from_valid(&json::write(input))),
        }
    }
}

impl Record {
    pub fn new(input: Recorded, moment: Moment, after: u32) -> Record {
        Record {
            now_ms: moment.has_time().then_some(moment.now_ms),
            random: decimal_u64(moment.random),
            after,
            input,
        }
    }

    /// Calls a closure with the input, because a chunk borrows its bytes.
    ///
    /// # Errors
    /// Text that is not an input, bytes that are not base64, or a seed that is not a number.
    pub fn play<R>(&self, take: impl FnOnce(Input<'_>, Moment) -> R) -> Result<R, ConfigError> {
        let wrong = |_| ConfigError::new("random", "is not a number");
        let moment = Moment {
            now_ms: self.now_ms.unwrap_or(u64::MAX),
            random: self.random.parse().map_err(wrong)?,
        };
        match &self.input {
            Recorded::Json(text) => Ok(take(json::read("input", text.as_str())?, moment)),
            Recorded::Text { request, text } => {
                let (request, bytes) = (*request, text.as_bytes());
                Ok(take(Input::Chunk { request, bytes }, moment))
            }
            Recorded::Bytes { request, base64 } => {
                let wrong = |_| ConfigError::new("input.bytes.base64", "is not base64");
                let bytes = BASE64_STANDARD.decode(base64).map_err(wrong)?;
                let (request, bytes) = (*request, &bytes[..]);
                Ok(take(Input::Chunk { request, bytes }, moment))
            }
        }
    }
}
