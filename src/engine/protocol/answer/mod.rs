//! Parts of an answer that several protocols read alike.
//!
//! The decoders call them; they call no decoder. [`opening`] reads the JSON of an event. [`finish_reason`] and
//! [`sources`] hold the vendors' vocabulary. Only [`opening`] can fail.

pub mod finish_reason;
pub mod made_media;
pub mod opening;
pub mod sources;
