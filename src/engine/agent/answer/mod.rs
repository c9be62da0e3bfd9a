//! An answer that is complete: from its parts to a message, past its guardrails, held to a schema.

pub(crate) mod guardrail;
pub(crate) mod message;
pub mod output_format;
pub(crate) mod structured;
