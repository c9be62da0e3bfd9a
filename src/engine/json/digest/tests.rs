use super::*;

#[test]
fn a_hash_is_the_sha_256_of_the_canonical_text() {
    // The expected values are those of FIPS 180-4 over the texts `{}` and `{"a":1}`, as `sha256sum` prints them.
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
