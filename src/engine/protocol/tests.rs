//! Tests of the scanner against the general reader, of the encoders on small histories, and of failures on known
//! bodies.

mod bedrock;
mod cache;
mod encode;
mod encode_responses;
mod failure;
mod gemini;
mod growth;
mod matrix;
mod options;
mod scan;
mod session;
mod strict;
