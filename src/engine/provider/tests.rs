//! The scanner against the general reader, the encoders against small histories, failures against known bodies.

mod encode;
mod failure;
mod scan;
