//! The journal of a run: what a store keeps, and what a recording of a run is made of.
//!
//! The ledger numbers each [`Entry`] and hands it out in `Output::Save`, if the run has a journal. A [`Checkpoint`] is
//! folded entries; it never holds the memory of a `Run`. A [`Record`] is one input with its moment: the records of a run
//! replay it byte for byte. Nothing here reads or writes a store.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde::{Deserialize, Serialize};

use crate::engine::model::error::ConfigError;
use crate::engine::model::input::{Input, Moment};
use crate::engine::model::json;
use crate::engine::model::message::Json;
use crate::engine::model::output::{EffectId, EffectKind};

/// A fact of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// From 1 on, without a gap.
    pub seq: u64,
    /// The index of the agent in the run's tree.
    pub agent: u32,
    pub fact: Fact,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fact {
    /// An effect has begun.
    Opened { effect: EffectId, kind: EffectKind },
    /// An effect is over, or matters no more.
    Closed { effect: EffectId },
}

/// The state that the entries up to `seq` fold into.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// The number of the last entry; 0 before the first.
    pub seq: u64,
    /// The entries whose effects are open.
    pub open: Vec<Entry>,
}

impl Checkpoint {
    /// Takes the next entry.
    ///
    /// # Errors
    /// An entry out of sequence, an effect that opens twice, or the end of an effect that is not open. The checkpoint
    /// has not changed then.
    pub fn fold(&mut self, entry: Entry) -> Result<(), ConfigError> {
        if entry.seq != self.seq + 1 {
            return Err(ConfigError::new("seq", "does not follow the entry before"));
        }
        match (self.position(&entry.fact), &entry.fact) {
            (None, Fact::Opened { .. }) => self.open.push(entry),
            (Some(at), Fact::Closed { .. }) => drop(self.open.remove(at)),
            (Some(_), Fact::Opened { .. }) => return Err(ConfigError::new("effect", "is open already")),
            (None, Fact::Closed { .. }) => return Err(ConfigError::new("effect", "is not open")),
        }
        self.seq += 1;
        Ok(())
    }

    fn position(&self, fact: &Fact) -> Option<usize> {
        let its = effect_of(fact);
        self.open.iter().position(|entry| effect_of(&entry.fact) == its)
    }
}

fn effect_of(fact: &Fact) -> EffectId {
    match fact {
        Fact::Opened { effect, .. } | Fact::Closed { effect } => *effect,
    }
}

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
