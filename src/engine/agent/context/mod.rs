//! The length of the history, and how it is made shorter.

pub(crate) mod summary;
