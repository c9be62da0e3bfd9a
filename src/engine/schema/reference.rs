//! Where the references within a document lead.

use crate::engine::json::reader::whole;
use crate::engine::json::tree::Tree;
use crate::engine::json::writer::decimal;
use crate::engine::schema::push_segment;
use crate::engine::text::parts;

/// Walks the JSON pointer of a URI fragment; gives back its canonical form, and what it points to.
pub fn follow<'a>(root: &'a Tree<'a>, pointer: &str) -> Option<(String, &'a Tree<'a>)> {
    let (mut canonical, mut value) = (String::new(), root);
    let decoded = percent_decoded(pointer);
    for escaped in parts(&decoded, b"/").into_iter().skip(1) {
        let segment = unescaped(escaped);
        value = match value {
            Tree::Object(fields) => fields.get(&segment)?,
            Tree::Array(items) if segment == "0" || !segment.starts_with('0') => {
                items.get(whole(&segment)? as usize)?
            }
            _ => return None,
        };
        push_segment(&mut canonical, &segment);
    }
    Some((canonical, value))
}

/// `~1` stands for a slash, and `~0` for the tilde.
fn unescaped(segment: &str) -> String {
    let mut text = String::with_capacity(segment.len());
    let mut rest = segment.chars();
    while let Some(character) = rest.next() {
        let mut ahead = rest.clone();
        text.push(match (character, ahead.next()) {
            ('~', Some('0')) => '~',
            ('~', Some('1')) => '/',
            _ => {
                text.push(character);
                continue;
            }
        });
        rest = ahead;
    }
    text
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = |byte: &u8| char::from(*byte).to_digit(16);
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) => match (hex(high), hex(low)) {
                (Some(high), Some(low)) => {
                    bytes.push((high * 16 + low) as u8);
                    rest = after;
                }
                _ => bytes.push(first),
            },
            _ => bytes.push(first),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Name, pointer and value; of equal names the last one counts.
pub type Anchors<'a> = Vec<(&'a str, String, &'a Tree<'a>)>;

/// All anchors: `$anchor`, and draft-07's `$id` of a fragment.
pub fn anchors<'a>(root: &'a Tree<'a>) -> Anchors<'a> {
    let mut anchors = Vec::new();
    let mut pending = vec![(String::new(), root)];
    while let Some((pointer, value)) = pending.pop() {
        let mut visit = |segment: &str, child| {
            let mut pointer = pointer.clone();
            push_segment(&mut pointer, segment);
            pending.push((pointer, child));
        };
        match value {
            Tree::Object(fields) => {
                fields.iter().for_each(|(name, child)| visit(name, child));
                let text = |keyword| fields.get(keyword).and_then(Tree::as_str);
                let old = text("$id").and_then(|id| id.strip_prefix('#'));
                for anchor in [text("$anchor"), old].into_iter().flatten() {
                    anchors.push((anchor, pointer.clone(), value));
                }
            }
            Tree::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, child)| visit(&decimal(index), child));
            }
            _ => {}
        }
    }
    anchors
}
