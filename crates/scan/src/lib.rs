//! The bytes of a streamed answer: Server-Sent Events, and the JSON in them.
//!
//! The engine calls it for every byte of a response, so it is built for speed (`opt-level = 3`), and nothing else is.
//! [`sse`] cuts a body into events, and [`lane`] reads the events that repeat each other. [`check`] decides whether a text is valid JSON, [`reader`] cuts a valid text apart,
//! and [`cursor`] is the reading position below both. Nothing here knows a protocol, a run or an event's meaning.

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
pub mod reader;
pub mod sse;
