//! Random numbers and ids that derive from one seed.
//!
//! The engine never asks your platform for randomness. Each input has a seed, and everything that follows from the
//! input uses that seed, so a replayed input has the same ids and the same jitter. The numbers are not for
//! cryptography.

/// A splitmix64 generator; equal seeds give equal sequences.
///
/// Serialises as 16 hexadecimal digits, because a JavaScript number would lose the low bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(pub u64);

impl Random {
    /// The numbers of one part of an answer; `seed` is below 2^53.
    pub fn of_part(seed: u64, part: usize) -> Random {
        Random(seed | (part as u64) << 53)
    }

    /// Draws the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number from 0 (included) to 1 (excluded), with 53 random bits.
    pub fn unit_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Makes an id: `prefix` and 24 letters or digits, out of two draws (128 bits).
    pub fn id(&mut self, prefix: &str) -> String {
        let mut id = String::with_capacity(prefix.len() + 2 * DIGITS_PER_DRAW);
        id.push_str(prefix);
        for _ in 0..2 {
            let mut fraction = self.next_u64();
            for _ in 0..DIGITS_PER_DRAW {
                id.push(base62(integer_part_of_62_times(fraction)));
                fraction = fraction.wrapping_mul(62);
            }
        }
        id
    }
}

/// Twelve, because 62^11 is the first power of 62 above 2^64: no two draws share their digits.
const DIGITS_PER_DRAW: usize = 12;

/// The draw is read as a binary fraction. Digits that are taken from its top are never constant.
fn integer_part_of_62_times(fraction: u64) -> u8 {
    ((u128::from(fraction) * 62) >> 64) as u8
}

fn base62(digit: u8) -> char {
    char::from(match digit {
        0..=9 => b'0' + digit,
        10..=35 => b'A' + digit - 10,
        _ => b'a' + digit.saturating_sub(36),
    })
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
