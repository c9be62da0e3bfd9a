//! Checksums find damage and differences. They do not protect against an attacker.
//!
//! CRC-32 is used in a journal's entries and in AWS's event streams. [`fnv`] distinguishes texts of this engine.

use crc::{CRC_32_ISO_HDLC, Crc};

/// A table of 1 kB: the tables of faster ways weigh more than the decoder of event streams.
static CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

pub fn crc32(bytes: &[u8]) -> u32 {
    CRC32.checksum(bytes)
}

/// The seed of [`fnv`], that of FNV-1a: <http://www.isthe.com/chongo/tech/comp/fnv/>
pub const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// Mixes a word into a hash, as in FNV-1a.
pub fn mixed(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x0100_0000_01b3)
}

/// Mixes bytes and their number into a hash, eight bytes at a time. Journals store such hashes.
pub fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let tail = tail.iter().map(|byte| u64::from(*byte));
    mixed(words.chain(tail).fold(hash, mixed), bytes.len() as u64)
}
