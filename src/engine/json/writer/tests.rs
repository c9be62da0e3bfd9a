use super::*;

#[test]
fn every_character_survives_a_round_trip() {
    let text: String = (0u32..0x300)
        .chain([0x2028, 0xFFFD, 0x1F600])
        .filter_map(char::from_u32)
        .collect();
    let mut out = Vec::new();
    push_string(&mut out, &text);
    assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
}

#[test]
fn numbers_are_written_in_full() {
    for number in [0, 7, 10, 1234, u64::MAX] {
        let mut out = Vec::new();
        push_number(&mut out, number);
        assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
    }
}
