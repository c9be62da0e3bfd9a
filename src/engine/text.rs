//! The few things done with text that the standard library does with more code: its searches weigh 5 kB.

/// The texts with commas between them.
pub fn listed(texts: &[&str]) -> String {
    join(texts, ", ")
}

/// The texts with `between` them.
pub fn join(texts: &[&str], between: &str) -> String {
    let mut joined = String::new();
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            joined.push_str(between);
        }
        joined.push_str(text);
    }
    joined
}

/// The same of texts with an owner.
pub fn join_owned(texts: &[String], between: &str) -> String {
    let mut borrowed = Vec::with_capacity(texts.len());
    for text in texts {
        borrowed.push(text.as_str());
    }
    join(&borrowed, between)
}

/// Appends `text` as a part of a URL's path: all but letters, digits and `plain` is escaped.
pub fn push_path(into: &mut String, text: &str, plain: &[u8]) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push('%');
            for digit in [byte >> 4, byte & 15] {
                let digit = char::from_digit(digit.into(), 16).unwrap_or('0');
                into.push(digit.to_ascii_uppercase());
            }
        }
    }
}

/// The parts of `text` between bytes out of `between`, which are ASCII.
pub fn parts<'a>(text: &'a str, between: &[u8]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if between.contains(&byte) {
            parts.extend(text.get(from..at));
            from = at + 1;
        }
    }
    parts.extend(text.get(from..));
    parts
}

/// With one ASCII byte in place of another.
pub fn replaced(text: &str, byte: u8, by: u8) -> String {
    join(&parts(text, &[byte]), char::from(by).encode_utf8(&mut [0; 4]))
}

/// Where `part`, which is not empty, begins in `text`.
pub fn find(text: &str, part: &str) -> Option<usize> {
    text.as_bytes()
        .windows(part.len().max(1))
        .position(|window| window == part.as_bytes())
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_joined() {
        assert_eq!(join(&[], ", "), "");
        assert_eq!(join(&["a", "", "b"], ", "), "a, , b");
        assert_eq!(join_owned(&["a".to_owned(), "b".to_owned()], "-"), "a-b");
    }

    proptest! {
        #[test]
        fn searching_finds_what_the_standard_library_finds(text in "[abé]{0,12}", part in "[abé]{1,3}") {
            prop_assert_eq!(find(&text, &part), text.find(&part));
        }

        #[test]
        fn splitting_gives_what_the_standard_library_gives(text in "[abé/:]{0,12}") {
            prop_assert_eq!(parts(&text, b"/:"), text.split(['/', ':']).collect::<Vec<_>>());
        }
    }
}
