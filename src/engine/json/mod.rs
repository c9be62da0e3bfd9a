//! JSON as text: the engine repairs and writes it mostly without building trees.
//!
//! [`repair`] turns a model's arguments into an object, or says why it cannot. [`writer`] appends JSON to bytes.
//! [`value`] builds the trees for schemas and for [`canonical`] texts, which [`digest`] hashes. `looplet_scan` checks
//! and reads what providers send. Our own types never pass here, except on their way out:
//! [`crate::engine::model::json`] reads them by serde.

pub mod canonical;
pub mod checksum;
pub(crate) mod digest;
pub mod own_names;
pub mod repair;
pub mod value;
pub(crate) mod writer;
