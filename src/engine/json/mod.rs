//! JSON as text: what providers send and models write is checked, read and repaired without trees.

pub mod canonical;
pub mod check;
pub mod cursor;
pub(crate) mod digest;
pub mod reader;
pub mod repair;
pub mod value;
pub(crate) mod writer;
