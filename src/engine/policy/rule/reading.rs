//! Texts of a call as the platform reads them: the face has them by `PrepareCalls`, and sends them beside every answer
//! that brings an input.

use serde::{Deserialize, Serialize};

/// One text and its normal forms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reading {
    pub text: String,
    /// For paths: in Unicode's NFC and without upper case; none if that is the text in lower case.
    pub folded: Option<String>,
    /// None if the platform's `URL` refuses the text, or its scheme has other rules than those of the web.
    pub address: Option<Address>,
}

/// An address in normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Address {
    /// `https`.
    pub scheme: String,
    /// In lower case, in ASCII, without a last dot.
    pub host: String,
    /// The host with and, if the port is the usual one, without it.
    pub places: Vec<String>,
    /// Path and query: as `URL` writes them and, if that differs, with escapes resolved.
    pub paths: Vec<String>,
}

/// The reading of this text.
pub fn of<'a>(text: &str, readings: &'a [Reading]) -> Option<&'a Reading> {
    readings.iter().find(|reading| reading.text == text)
}
