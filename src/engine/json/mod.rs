//! JSON as text: the engine repairs and writes it mostly without building trees.
//!
//! [`repair`] turns a model's arguments into an object, or reports why it cannot. [`writer`] appends JSON to bytes.
//! [`value`] builds the trees for schemas and for [`canonical`] texts, which [`digest`] hashes. `looplet_scan` checks
//! and reads the JSON of providers. Our own types are only written here. [`crate::engine::model::json`] reads them
//! with serde.

pub mod canonical;
pub mod checksum;
pub(crate) mod digest;
pub mod own_names;
pub mod repair;
pub mod value;
pub(crate) mod writer;
