//! What a trace tells about a call without telling its input: the SHA-256 of the input's canonical JSON.

use sha2::{Digest, Sha256};

use crate::engine::json::canonical::canonical;

/// 64 hexadecimal digits; equal for inputs that differ in blanks or in the order of keys only.
pub fn input_hash(json: &str) -> String {
    let digest = Sha256::digest(canonical(json));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_sha_256_of_the_canonical_text() {
        // FIPS 180-4 over the texts `{}` and `{"a":1}`, as `sha256sum` gives them.
        for (input, expected) in [
            (
                "{ }",
                "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
            ),
            (
                "{\"a\": 1.0}",
                "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862",
            ),
        ] {
            assert_eq!(input_hash(input), expected);
        }
    }

    #[test]
    fn s003_22_equal_inputs_have_equal_hashes_and_different_ones_do_not() {
        let one = input_hash(r#"{"city": "Paris", "days": [1, 2]}"#);
        assert_eq!(one, input_hash(r#"{"days":[1,2],"city":"Paris"}"#));
        assert_ne!(one, input_hash(r#"{"days":[2,1],"city":"Paris"}"#));
    }
}
