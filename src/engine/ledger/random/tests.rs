use super::*;
use proptest::prelude::*;

#[test]
fn the_sequence_is_splitmix64() {
    // Reference values of the published algorithm for the seed 1234567.
    let mut random = Random(1_234_567);
    let drawn: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
    assert_eq!(
        drawn,
        [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423
        ]
    );
}

#[test]
fn every_digit_of_an_id_varies() {
    let mut random = Random(7);
    let ids: Vec<Vec<char>> = (0..200).map(|_| random.id("").chars().collect()).collect();
    for place in 0..24 {
        let mut seen: Vec<char> = ids.iter().map(|id| id[place]).collect();
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 20, "place {place} shows only {seen:?}");
    }
}

proptest! {
    #[test]
    fn an_id_is_the_prefix_and_24_letters_or_digits(seed: u64) {
        let id = Random(seed).id("call_");
        prop_assert_eq!(id.len(), 29);
        prop_assert!(id.starts_with("call_"));
        prop_assert!(id.bytes().skip(5).all(|byte| byte.is_ascii_alphanumeric()));
    }

    #[test]
    fn different_seeds_give_different_ids(one: u64, other: u64) {
        prop_assume!(one != other);
        prop_assert_ne!(Random(one).id(""), Random(other).id(""));
    }

    #[test]
    fn a_unit_number_lies_from_0_to_below_1(seed: u64) {
        let number = Random(seed).unit_f64();
        prop_assert!((0.0..1.0).contains(&number));
    }
}
