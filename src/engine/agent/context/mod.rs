//! The length of the history, and how it is made shorter.

pub(crate) mod hooks;
pub(crate) mod summary;
