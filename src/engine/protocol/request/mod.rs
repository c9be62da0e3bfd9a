//! Parts of a request that several protocols write alike.

pub mod body_fields;
pub mod cache_marks;
pub mod legal_id;
pub mod message_parts;
pub mod sampling;
pub mod thinking_turn;
