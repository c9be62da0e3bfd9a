//! Parts of an answer that several protocols read alike.

pub mod finish_reason;
pub mod layout;
pub mod made_media;
pub mod numbered;
pub mod opening;
pub mod scan;
pub mod sources;
