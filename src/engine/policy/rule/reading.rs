//! The platform's readings of a call's texts: Unicode forms of paths, parsed addresses.
//!
//! The engine has neither Unicode tables nor a parser of addresses. The face gets the texts with `PrepareCalls` and
//! sends their readings with every answer that brings an input. No allow rule covers an address without a reading, and
//! a deny rule asks about it.

use serde::{Deserialize, Serialize};

/// One text and its normal forms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reading {
    pub text: String,
    /// For paths: the text in Unicode's NFC and without case; `None` if that equals the text in lower case.
    pub folded: Option<String>,
    /// The address; `None` if the platform's `URL` refuses the text, or if its scheme does not follow the rules of the
    /// web.
    pub address: Option<Address>,
}

/// An address in normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Address {
    /// For example `https`.
    pub scheme: String,
    /// The host in lower case, in ASCII, without a last dot.
    pub host: String,
    /// The host with its port and, if the port is the usual one, without it.
    pub places: Vec<String>,
    /// Path and query as `URL` writes them and, if they differ, with escapes resolved.
    pub paths: Vec<String>,
}

/// The reading of this text.
pub fn of<'a>(text: &str, readings: &'a [Reading]) -> Option<&'a Reading> {
    readings.iter().find(|reading| reading.text == text)
}
