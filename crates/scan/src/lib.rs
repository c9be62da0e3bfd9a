//! The bytes of a streamed answer: Server-Sent Events, and the JSON in them.
//!
//! Nearly every byte of a streamed answer passes through it, so it is built for speed (`opt-level = 3`), and nothing
//! else is. Lines of NDJSON, the binary frames of Bedrock and the bodies of errors are cut in the engine; only their
//! JSON is read here. The engine also reads the JSON of messages, tool arguments and permission rules with it.
//!
//! The order for a stream is [`lane`], which reads the events that repeat each other, then [`sse`], which cuts the
//! other bytes into events. [`check`] then decides whether an event's text is valid JSON, and [`reader`] cuts a valid
//! text apart. [`cursor`] is the reading position below them, and [`piece`] joins the halves of a letter. Only an
//! event that is too long fails; a text that is
//! not valid JSON gives a `Fault` or `None`. Nothing here knows a protocol, a run or an event's meaning.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic
    )
)]

pub mod check;
pub mod cursor;
pub mod lane;
pub mod piece;
pub mod reader;
pub mod sse;

/// The example of the crate's README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
