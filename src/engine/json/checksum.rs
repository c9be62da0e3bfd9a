//! The checksum of entries of a journal and of AWS's event streams: CRC-32, which finds damage and keeps nobody out.

use crc::{CRC_32_ISO_HDLC, Crc};

/// A table of 1 kB: the tables of faster ways weigh more than the decoder of event streams.
static CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

pub fn crc32(bytes: &[u8]) -> u32 {
    CRC32.checksum(bytes)
}
