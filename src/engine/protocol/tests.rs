//! The scanner against the general reader, the encoders against small histories, failures against known bodies.

mod bedrock;
mod cache;
mod encode;
mod encode_responses;
mod failure;
mod gemini;
mod matrix;
mod options;
mod scan;
mod session;
mod steady;
mod strict;
