//! The platform's readings of a call's texts: Unicode forms of paths, parsed addresses.
//!
//! The engine has neither Unicode tables nor a parser of addresses. The TypeScript gets the texts with `PrepareCalls`
//! and sends their readings with every answer that brings an input. No allow rule covers an address without a
//! reading, and a deny rule asks about it.

use crate::engine::model::config::permission::Reading;

/// The reading of this text.
pub fn of<'a>(text: &str, readings: &'a [Reading]) -> Option<&'a Reading> {
    readings.iter().find(|reading| reading.text == text)
}
