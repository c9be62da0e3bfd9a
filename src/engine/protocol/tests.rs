//! Tests of the decoders on any layout, of the encoders on small histories, and of failures on known bodies.

mod addresses;
mod bedrock;
mod cache;
mod encode;
mod encode_responses;
mod failure;
mod gemini;
mod growth;
pub mod layouts;
mod many_blocks;
mod matrix;
mod media_names;
mod options;
mod session;
mod strict;
