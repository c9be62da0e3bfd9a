//! Names that the policies have for a few functions of the standard library.

/// The texts with `between` them.
pub fn join(texts: &[&str], between: &str) -> String {
    texts.join(between)
}

/// As [`join`], of texts with an owner.
pub fn join_owned(texts: &[String], between: &str) -> String {
    texts.join(between)
}

/// The parts of `text` between bytes out of `between`, which are ASCII.
pub fn parts<'a>(text: &'a str, between: &[u8]) -> Vec<&'a str> {
    text.split(|character| between.iter().any(|byte| char::from(*byte) == character))
        .collect()
}

/// Where `part` begins in `text`.
pub fn find(text: &str, part: &str) -> Option<usize> {
    text.find(part)
}
