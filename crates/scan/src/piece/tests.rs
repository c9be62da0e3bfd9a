use super::*;

fn joined(pieces: &[&str]) -> String {
    let (mut text, mut join) = (String::new(), Join::default());
    for piece in pieces {
        join.push(&mut text, &Piece::of_json(piece).unwrap());
    }
    join.end(&mut text);
    text
}

#[test]
fn two_halves_that_meet_are_one_letter() {
    assert_eq!(joined(&[r#""a\ud83d""#, r#""\ude00b""#]), "a😀b");
    assert_eq!(joined(&[r#""\uD83D""#, r#""""#, r#""\uDE00""#]), "😀");
    assert_eq!(
        joined(&[r#""\ud83d""#, r#""\ude00\ud83d""#, r#""\ude00""#]),
        "😀😀"
    );
}

#[test]
fn a_half_without_its_other_half_is_the_replacement_character() {
    assert_eq!(joined(&[r#""a\ud83d""#, r#""b""#]), "a\u{fffd}b");
    assert_eq!(joined(&[r#""a""#, r#""\ude00b""#]), "a\u{fffd}b");
    assert_eq!(joined(&[r#""a\ud83d""#]), "a\u{fffd}");
    assert_eq!(
        joined(&[r#""\ud83d""#, r#""\ud83d""#, r#""\ude00""#]),
        "\u{fffd}😀"
    );
    assert_eq!(joined(&[r#""\ude00""#, r#""\ud83d""#]), "\u{fffd}\u{fffd}");
}

#[test]
fn a_pair_in_one_piece_and_an_escaped_backslash_are_no_halves() {
    assert_eq!(joined(&[r#""\ud83d\ude00""#, r#""\ude00""#]), "😀\u{fffd}");
    assert_eq!(joined(&[r#""a\\ud83d""#, r#""\ude00""#]), "a\\ud83d\u{fffd}");
    assert_eq!(joined(&[r#""a\\\ud83d""#, r#""\ude00""#]), "a\\😀");
    assert_eq!(joined(&[r#""\n\u00e9""#]), "\né");
}
