//! The scanner against the general reader, and the encoders against small histories.
