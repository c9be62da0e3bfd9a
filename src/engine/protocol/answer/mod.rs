//! Parts of an answer that several protocols read identically.
//!
//! The decoders call them. They call no decoder. [`opening`] reads the JSON of an event. [`finish_reason`] and
//! [`sources`] have the vendors' vocabulary. Only [`opening`] can fail.

pub mod finish_reason;
pub mod made_media;
pub mod opening;
pub mod sources;
