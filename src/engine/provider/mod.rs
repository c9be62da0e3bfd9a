//! Wire protocols and vendors: a row each, plain functions in a table.
//!
//! Encoding is incremental: [`Protocol::encode_head`] writes the body up to and including `"messages":[` (and a system
//! message where the protocol has it there); [`Protocol::encode_message`] appends the wire form of one message, each
//! wire item with a leading comma, to bytes that are never rewritten; [`Protocol::encode_tail`] closes the body.
//! Decoding is incremental too: the framing cuts the bytes into events, [`Decoder::decode_event`] writes them into an
//! [`Answer`]. A body that is one JSON value goes through [`Decoder::decode_body`].

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::config::{ModelConfig, ToolConfig};
use super::error::{ConfigError, Failure};
use super::message::Message;
use super::output::AuthSlot;

/// How a streamed body is cut into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Framing {
    Sse,
    /// One JSON value a line.
    Ndjson,
}

/// What a request is made of, besides its messages.
#[derive(Clone, Copy, Debug)]
pub struct RequestSpec<'a> {
    pub model: &'a ModelConfig,
    pub system: Option<&'a str>,
    pub tools: &'a [ToolConfig],
}

/// A wire protocol.
pub struct Protocol {
    /// The name in configurations and in [`super::message::Origin`].
    pub name: &'static str,
    pub framing: Framing,
    /// Appended to the base URL.
    pub path: &'static str,
    /// Headers that every request of this protocol has, besides `content-type: application/json`.
    pub headers: &'static [(&'static str, &'static str)],
    /// # Errors
    /// When an option cannot be expressed in this protocol.
    pub encode_head: fn(&RequestSpec<'_>, &mut Vec<u8>) -> Result<(), ConfigError>,
    pub encode_message: fn(&RequestSpec<'_>, &Message, &mut Vec<u8>),
    pub encode_tail: fn(&RequestSpec<'_>, &mut Vec<u8>),
    pub decoder: fn() -> Decoder,
}

/// A vendor: where it is, how it is greeted, which protocol it speaks.
pub struct Vendor {
    pub name: &'static str,
    /// Name of its [`Protocol`].
    pub protocol: &'static str,
    /// Empty for `compatible`, where the configuration must name it.
    pub base_url: &'static str,
    pub auth: (&'static str, &'static str),
    /// The page that this row was written from, and the date of reading.
    pub source: &'static str,
}

impl Vendor {
    pub fn auth_slot(&self) -> AuthSlot {
        AuthSlot {
            header: self.auth.0.to_owned(),
            prefix: self.auth.1.to_owned(),
        }
    }
}

/// A decoder's state, one variant per protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Decoder {}

impl Decoder {
    /// Writes one framed event into the answer. `event` is the SSE event name, empty without one.
    ///
    /// # Errors
    /// The failure that the event reports, or `malformed_stream` for an event that cannot be read.
    pub fn decode_event(&mut self, _event: &[u8], _data: &[u8], _answer: &mut Answer) -> Result<(), Failure> {
        match *self {}
    }

    /// The body has ended: closes what is open.
    ///
    /// # Errors
    /// `malformed_stream` when the protocol's end was never seen.
    pub fn finish(&mut self, _answer: &mut Answer) -> Result<(), Failure> {
        match *self {}
    }

    /// Writes a whole JSON body into the answer.
    ///
    /// # Errors
    /// The failure that the body reports, or `malformed_stream`.
    pub fn decode_body(&mut self, _body: &[u8], _answer: &mut Answer) -> Result<(), Failure> {
        match *self {}
    }
}

pub mod failure;

const VENDORS: &[Vendor] = &[];
const PROTOCOLS: &[Protocol] = &[];

pub fn vendor(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.name == name)
}

pub fn protocol(name: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().find(|protocol| protocol.name == name)
}
