//! The bytes of a streamed answer: Server-Sent Events, and the JSON in them.
//!
//! Nearly every byte of a streamed answer passes through it, so it is the only crate built for speed (`opt-level =
//! 3`). The engine splits lines of NDJSON, the binary frames of Bedrock and the bodies of errors. Only their JSON is
//! read here. The engine also reads the JSON of messages, tool arguments and permission rules with it.
//!
//! A stream passes through [`lane`], which reads repetitive events, then [`sse`], which splits the other bytes into
//! events. [`check`] then decides whether an event's text is valid JSON, and [`reader`] reads the fields of a valid
//! text. [`cursor`] is the reading position that they use, and [`piece`] joins the halves of surrogate pairs. Only an
//! event that is too long fails. A text that is not valid JSON gives a `Fault` or `None`. Nothing here knows a
//! protocol, a run or an event's meaning.

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
