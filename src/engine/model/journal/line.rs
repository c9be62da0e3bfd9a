//! An entry as a line of text in a store.
//!
//! The last field of the line is the checksum of the text before it. It detects a line that the store has changed,
//! through damage or by parsing the JSON and writing it again. Lines of older versions and of files of a run have no
//! checksum.

use serde::Deserialize;

use crate::engine::json::checksum::crc32;
use crate::engine::json::writer::decimal_u64;
use crate::engine::model::error::ConfigError;
use crate::engine::model::journal::{Entry, Fact};
use crate::engine::model::json;

/// An entry with its checksum.
#[derive(Deserialize)]
struct Line {
    seq: u64,
    agent: u32,
    fact: Fact,
    #[serde(default)]
    crc: Option<u32>,
}

const FIELD: &str = ",\"crc\":";

impl Entry {
    /// The text for the store, without a line end.
    pub fn to_line(&self) -> String {
        let mut text = json::write(self);
        text.pop();
        let sum = crc32(text.as_bytes());
        format!("{text}{FIELD}{}}}", decimal_u64(u64::from(sum)))
    }

    /// # Errors
    /// A text that is not an entry, or that has changed since it was written.
    pub fn of_line(text: &str) -> Result<Entry, ConfigError> {
        let Line {
            seq,
            agent,
            fact,
            crc,
        } = json::read("", text)?;
        let is_whole = match crc {
            Some(sum) => text.rsplit_once(FIELD).is_some_and(|(before, end)| {
                end == format!("{}}}", decimal_u64(u64::from(sum))) && crc32(before.as_bytes()) == sum
            }),
            None => true,
        };
        match is_whole {
            true => Ok(Entry { seq, agent, fact }),
            false => Err(ConfigError::new("crc", "is not that of the entry")),
        }
    }
}
