//! The tool calls of an answer: read, checked, judged, scheduled, answered.

pub(crate) mod asked;
pub mod batch;
pub(crate) mod check;
pub(crate) mod course;
pub(crate) mod delegation;
pub(crate) mod early;
pub(crate) mod hooks;
pub(crate) mod permission;
pub mod spawn;
pub(crate) mod words;
pub(crate) mod written;
