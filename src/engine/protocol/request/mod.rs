//! Parts of a request that several protocols write alike.
//!
//! The encoders call them, and they call no encoder. [`body_fields`] is the top level of a body, [`sampling`] the
//! sampling options, [`message_parts`], [`media`], [`tool_schema`] and [`legal_id`] are parts of messages, by the
//! rows of [`accepts`]. [`prefix`] has what reasoning is tied to, and the form of changes at the end.
//! [`cache_marks`] and [`thinking_turn`] serve the model call itself, [`address`] its URL, [`vendor_tools`] the
//! tools of the vendor. Only options can fail, with a `ConfigError`.

pub mod accepts;
pub mod address;
pub mod body_fields;
pub mod cache_marks;
pub mod claude_thinking;
pub mod legal_id;
pub mod media;
pub mod message_parts;
pub mod prefill;
pub mod prefix;
pub mod sampling;
pub mod thinking_turn;
pub mod tool_schema;
pub mod vendor_tools;
