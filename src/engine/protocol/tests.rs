//! Tests of the decoders on any layout, of the encoders on small histories, and of failures on known bodies.

mod bedrock;
mod cache;
mod encode;
mod encode_responses;
mod failure;
mod gemini;
mod growth;
pub mod layouts;
mod matrix;
mod options;
mod session;
mod strict;
