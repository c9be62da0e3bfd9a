//! What a trace tells about a call without telling its input: the SHA-256 of the input's canonical JSON.
//!
//! The hash is written out here because a crate for it weighs 3.7 kB of the packed WebAssembly and this 0.4 kB.

use crate::engine::json::canonical::canonical;

/// 64 hexadecimal digits; equal for inputs that differ in blanks or in the order of keys only.
pub fn input_hash(json: &str) -> String {
    let mut hex = Vec::with_capacity(64);
    for word in sha256(canonical(json).as_bytes()) {
        for shift in (0..8).rev() {
            hex.push(
                HEX.get((word >> (shift * 4)) as usize & 15)
                    .copied()
                    .unwrap_or(b'0'),
            );
        }
    }
    String::from_utf8(hex).unwrap_or_default()
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// FIPS 180-4, section 6.2. <https://doi.org/10.6028/NIST.FIPS.180-4>
fn sha256(bytes: &[u8]) -> [u32; 8] {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((bytes.len() + 9).next_multiple_of(64) - 8, 0);
    padded.extend_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    let mut state = START;
    for block in padded.as_chunks::<64>().0 {
        compress(&mut state, block);
    }
    state
}

fn compress(state: &mut [u32; 8], block: &[u8; 64]) {
    // The 16 words of the schedule that the next round needs.
    let mut words = [0u32; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    let mut round = *state;
    for constant in ROUNDS {
        let [a, b, c, d, e, f, g, h] = round;
        let [w0, w1, _, _, _, _, _, _, _, w9, _, _, _, _, w14, _] = words;
        let first = h
            .wrapping_add(e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25))
            .wrapping_add((e & f) ^ (!e & g))
            .wrapping_add(constant)
            .wrapping_add(w0);
        let second = (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22))
            .wrapping_add((a & b) ^ (a & c) ^ (b & c));
        round = [
            first.wrapping_add(second),
            a,
            b,
            c,
            d.wrapping_add(first),
            e,
            f,
            g,
        ];
        let next = w0
            .wrapping_add(w1.rotate_right(7) ^ w1.rotate_right(18) ^ (w1 >> 3))
            .wrapping_add(w9)
            .wrapping_add(w14.rotate_right(17) ^ w14.rotate_right(19) ^ (w14 >> 10));
        words.rotate_left(1);
        let [.., last] = &mut words;
        *last = next;
    }
    for (word, more) in state.iter_mut().zip(round) {
        *word = word.wrapping_add(more);
    }
}

const START: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

#[rustfmt::skip]
const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        sha256(bytes).iter().map(|word| format!("{word:08x}")).collect()
    }

    #[test]
    fn the_published_examples_have_their_hashes() {
        let million = vec![b'a'; 1_000_000];
        let rows: [(&[u8], &str); 4] = [
            (
                b"",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                b"abc",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (
                &million,
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
            ),
        ];
        for (bytes, expected) in rows {
            assert_eq!(hex(bytes), expected);
        }
    }

    #[test]
    fn s003_22_equal_inputs_have_equal_hashes_and_different_ones_do_not() {
        let one = input_hash(r#"{"city": "Paris", "days": [1, 2]}"#);
        assert_eq!(one, input_hash(r#"{"days":[1,2],"city":"Paris"}"#));
        assert_ne!(one, input_hash(r#"{"days":[2,1],"city":"Paris"}"#));
        assert_eq!(input_hash("{}"), hex(b"{}"));
    }
}
