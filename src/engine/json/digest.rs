//! The hash that identifies a call's input in a trace without revealing it: the SHA-256 of the canonical JSON.
//!
//! Only traced runs compute it, once for each tool call, with the crate `sha2`. A text that is not valid JSON is
//! hashed unchanged.

use sha2::{Digest, Sha256};

use crate::engine::json::canonical::canonical;

/// The hash in 64 hexadecimal digits. Inputs that differ only in blanks or in the order of keys have equal hashes.
pub fn input_hash(json: &str) -> String {
    let digest = Sha256::digest(canonical(json));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The beginning of [`input_hash`], which is enough to distinguish two texts.
pub fn short(json: &str) -> String {
    let mut hash = input_hash(json);
    hash.truncate(16);
    hash
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
