//! Texts of a call as the platform reads them: the face has them by `PrepareCalls`, and sends them beside every answer
//! that brings an input.

use crate::engine::model::permission::Reading;

/// The reading of this text.
pub fn of<'a>(text: &str, readings: &'a [Reading]) -> Option<&'a Reading> {
    readings.iter().find(|reading| reading.text == text)
}
