//! What a violation says: what was expected, and what was found instead.

use crate::engine::json::tree::Tree;
use crate::engine::json::writer::decimal;
use crate::engine::schema::check::{At, Check, Path};
use crate::engine::schema::equal::Choices;
use crate::engine::schema::{NodeIndex, Types, Violation, push_segment};

/// Each returns `false`, the answer to whether the value fits, and makes text only for a violation that is kept.
impl Check<'_> {
    pub(super) fn fail_type(&mut self, types: Types, at: &At<'_>) -> bool {
        if self.is_done() {
            return false;
        }
        let mut message = String::from("expected ");
        for (place, name) in types.names().enumerate() {
            message.push_str(if place == 0 { "" } else { " or " });
            message.push_str(name);
        }
        push_got(&mut message, at.instance);
        self.fail(at, "type", &message)
    }

    pub(super) fn fail_enum(&mut self, choices: &Choices, at: &At<'_>) -> bool {
        if self.is_done() {
            return false;
        }
        let mut message = String::from("expected one of ");
        push_list(&mut message, &mut choices.all.iter().map(short_json));
        push_got(&mut message, at.instance);
        self.fail(at, "enum", &message)
    }

    pub(super) fn fail_const(&mut self, expected: &Tree<'_>, at: &At<'_>) -> bool {
        if self.is_done() {
            return false;
        }
        let mut message = String::from("expected ");
        message.push_str(&short_json(expected));
        push_got(&mut message, at.instance);
        self.fail(at, "const", &message)
    }

    pub(super) fn fail_number(
        &mut self,
        at: &At<'_>,
        keyword: &'static str,
        expected: &str,
        limit: &str,
    ) -> bool {
        if self.is_done() {
            return false;
        }
        let mut message = String::from("expected ");
        message.push_str(expected);
        message.push_str(limit);
        push_got(&mut message, at.instance);
        self.fail(at, keyword, &message)
    }

    pub(super) fn fail_unexpected(&mut self, named: &[(String, NodeIndex)], at: &At<'_>) -> bool {
        if self.is_done() {
            return false;
        }
        let mut message = String::from("unexpected property; allowed: ");
        push_list(
            &mut message,
            &mut named.iter().map(|(name, _)| shortened(name, MAX_SHOWN_CHARS)),
        );
        self.fail(at, "additionalProperties", &message)
    }

    pub(super) fn fail_any(&mut self, keyword: &'static str, list: &[NodeIndex], at: &At<'_>) -> bool {
        if self.is_done() {
            return false;
        }
        let mut summary = String::from("fits none of the ");
        summary.push_str(&decimal(list.len()));
        summary.push_str(" alternatives");
        self.fail_closest(at, keyword, &summary, list)
    }

    /// Adds to `summary` what keeps the closest of the alternatives from fitting: the one whose violations
    /// lie deepest within the value, and of these the one with the fewest.
    pub(super) fn fail_closest(
        &mut self,
        at: &At<'_>,
        keyword: &'static str,
        summary: &str,
        list: &[NodeIndex],
    ) -> bool {
        if self.is_done() {
            return false;
        }
        let kept = std::mem::take(&mut self.found);
        let max_errors = std::mem::replace(&mut self.max_errors, 8);
        let mut closest: Option<(usize, usize, usize, Violation)> = None;
        for (number, index) in list.iter().enumerate() {
            self.node(*index, at.instance, at.path);
            let found = std::mem::take(&mut self.found);
            let depth = found
                .iter()
                .map(|violation| segments(&violation.instance_pointer))
                .min();
            let rank = (depth.unwrap_or(0), 8usize.saturating_sub(found.len()));
            let Some(first) = found.into_iter().next() else {
                continue;
            };
            if closest
                .as_ref()
                .is_none_or(|(depth, few, ..)| rank > (*depth, *few))
            {
                closest = Some((rank.0, rank.1, number, first));
            }
        }
        self.found = kept;
        self.max_errors = max_errors;
        let mut message = summary.to_owned();
        if let Some((_, _, number, violation)) = closest {
            if list.len() > 1 {
                message.push_str("; closest is number ");
                message.push_str(&decimal(number + 1));
            }
            message.push_str(": ");
            if segments(&violation.instance_pointer) > path_segments(at.path) {
                message.push_str(&violation.instance_pointer);
                message.push_str(": ");
            }
            message.push_str(&shortened(&violation.message, MAX_CLOSEST_CHARS));
        }
        self.fail(at, keyword, &message)
    }

    /// Always `false`; keeps the violation unless nobody asks for it.
    pub(super) fn fail(&mut self, at: &At<'_>, keyword: &str, message: &str) -> bool {
        if !self.is_done() {
            let mut schema_pointer = at.node.pointer.clone();
            if !keyword.is_empty() {
                push_segment(&mut schema_pointer, keyword);
            }
            let mut instance_pointer = String::new();
            push_path(&mut instance_pointer, at.path);
            self.found.push(Violation {
                instance_pointer,
                schema_pointer,
                message: message.to_owned(),
            });
        }
        false
    }
}

fn push_path(pointer: &mut String, path: &Path<'_>) {
    match path {
        Path::Root => {}
        Path::Property(parent, name) => {
            push_path(pointer, parent);
            push_segment(pointer, name);
        }
        Path::Item(parent, position) => {
            push_path(pointer, parent);
            push_segment(pointer, &decimal(*position));
        }
    }
}

fn path_segments(mut path: &Path<'_>) -> usize {
    let mut segments = 0;
    while let Path::Property(parent, _) | Path::Item(parent, _) = path {
        segments += 1;
        path = parent;
    }
    segments
}

fn segments(pointer: &str) -> usize {
    pointer.bytes().filter(|byte| *byte == b'/').count()
}

fn push_got(message: &mut String, value: &Tree<'_>) {
    message.push_str(", got ");
    match value {
        Tree::Null => message.push_str("null"),
        Tree::Array(_) => message.push_str("an array"),
        Tree::Object(_) => message.push_str("an object"),
        Tree::String(_) => {
            message.push_str("string ");
            message.push_str(&short_json(value));
        }
        Tree::Bool(_) | Tree::Number(_) => message.push_str(&short_json(value)),
    }
}

const MAX_LISTED: usize = 10;
const MAX_SHOWN_CHARS: usize = 40;
/// Alternatives nest, and each adds its line.
const MAX_CLOSEST_CHARS: usize = 400;

fn push_list(message: &mut String, texts: &mut dyn Iterator<Item = String>) {
    for (place, text) in texts.enumerate() {
        if place == MAX_LISTED {
            message.push_str(", …");
            break;
        }
        message.push_str(if place == 0 { "" } else { ", " });
        message.push_str(&text);
    }
}

fn short_json(value: &Tree<'_>) -> String {
    match value {
        // A long string is cut before it is encoded.
        Tree::String(text) => Tree::String(shortened(text, MAX_SHOWN_CHARS).into()).to_json(),
        other => shortened(&other.to_json(), MAX_SHOWN_CHARS),
    }
}

fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => [text.get(..end).unwrap_or_default(), "…"].concat(),
    }
}
