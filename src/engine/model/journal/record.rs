//! The inputs of a run as data, each with its moment. Played in their order, they replay the run byte for byte.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde::{Deserialize, Serialize};

use crate::engine::model::error::ConfigError;
use crate::engine::model::input::{Input, Moment};
use crate::engine::model::json;
use crate::engine::model::message::Json;
use crate::engine::model::output::EffectId;

/// One input of a run, with its moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub moment: Moment,
    pub input: Recorded,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recorded {
    /// The JSON of an [`Input`], as it crossed the boundary.
    Input(Json),
    /// A chunk of a body, its bytes in base64.
    Chunk { request: EffectId, base64: String },
}

impl Record {
    pub fn new(input: &Input<'_>, moment: Moment) -> Record {
        let input = match input {
            Input::Chunk { request, bytes } => Recorded::Chunk {
                request: *request,
                base64: BASE64_STANDARD.encode(bytes),
            },
            input => Recorded::Input(Json::from_valid(&json::write(input))),
        };
        Record { moment, input }
    }

    /// Lends the input to a closure, because a chunk borrows its bytes.
    ///
    /// # Errors
    /// Text that is not an input, or bytes that are not base64.
    pub fn play<R>(&self, take: impl FnOnce(Input<'_>, Moment) -> R) -> Result<R, ConfigError> {
        match &self.input {
            Recorded::Input(text) => Ok(take(json::read("input", text.as_str())?, self.moment)),
            Recorded::Chunk { request, base64 } => {
                let wrong = |_| ConfigError::new("input.chunk.base64", "is not base64");
                let bytes = BASE64_STANDARD.decode(base64).map_err(wrong)?;
                let chunk = Input::Chunk {
                    request: *request,
                    bytes: &bytes,
                };
                Ok(take(chunk, self.moment))
            }
        }
    }
}
