//! The repair of arguments: JSON comes through untouched, anything else is refused or loses something, never gains.

use looplet::engine::json::repair::{Repair, parse_arguments};
use looplet_scan::check;

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let is_object = check::check(&text).is_ok() && text.trim_start().starts_with('{');
    let parsed = match parse_arguments(&text) {
        Ok(parsed) => parsed,
        Err(error) => {
            let told = error.to_string();
            assert!(told.len() <= 1200, "the model is told {} bytes", told.len());
            assert!(
                !is_object || told.contains("levels"),
                "an object is refused: {told}"
            );
            return;
        }
    };
    let json = parsed.json.as_ref();
    assert!(check::check(json).is_ok(), "{json:?} is no JSON");
    assert!(json.trim_start().starts_with('{'), "{json:?} is no object");
    if is_object {
        assert_eq!(json, text, "valid arguments were changed");
        assert_eq!(parsed.repaired_by, None);
    }
    let again = parse_arguments(json).unwrap();
    assert_eq!(
        (again.json.as_ref(), again.repaired_by),
        (json, None),
        "a repair is not repaired again"
    );
    match parsed.repaired_by {
        Some(Repair::DoubleEncoded) => {
            assert_eq!(
                serde_json::from_str::<String>(text.trim_matches(is_around)).unwrap(),
                json
            );
        }
        Some(_) => assert!(is_taken_from(json, &text), "{json:?} is more than {text:?}"),
        None if is_object => {}
        None => assert_eq!(json, "{}"),
    }
}

fn is_around(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Whether `part` is `text` with something left out.
fn is_taken_from(part: &str, text: &str) -> bool {
    let mut text = text.chars();
    part.chars().all(|wanted| text.any(|found| found == wanted))
}
