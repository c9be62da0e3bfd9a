//! JSON as text: the engine checks, reads and repairs it mostly without building trees.
//!
//! [`check`] decides whether a text is valid. [`reader`] cuts the valid text of a provider apart, and [`cursor`] walks
//! its hot events. [`repair`] turns a model's arguments into an object, or says why it cannot. [`writer`] appends JSON
//! to bytes. [`value`] builds the trees for schemas and for [`canonical`] texts, which [`digest`] hashes. Our own types
//! never pass here, except on their way out: [`crate::engine::model::json`] reads them by serde.

pub mod canonical;
pub mod check;
pub mod cursor;
pub(crate) mod digest;
pub mod reader;
pub mod repair;
pub mod value;
pub(crate) mod writer;
