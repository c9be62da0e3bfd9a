//! Framing of streamed bodies: bytes in, events out, wherever the chunks are cut.
//!
//! [`framing`] chooses between Server-Sent Events ([`looplet_scan::sse`]), lines of JSON, and AWS's binary messages
//! ([`eventstream`]). A model call feeds each chunk to them; the protocols decode the events. No framing knows what an
//! event means, and each fails only on an event that is too long or broken.

pub mod eventstream;
pub mod framing;
