//! Framing of streamed bodies: bytes in, events out, whatever the chunks they are cut into.

pub mod eventstream;
pub mod framing;
pub mod lane;
pub mod sse;
