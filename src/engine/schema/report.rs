//! The texts of violations: the expected value, and the actual one.
//!
//! The checker calls one function per kind of rule when a value is not valid. The texts are for a model: they name
//! the expected value and show a shortened form of the actual one. Malicious schemas and inputs cannot make a text
//! long.

use std::borrow::Cow;

use serde_json::{Number, Value};

use crate::engine::json::value::written;
use crate::engine::schema::checker::{Checker, Instance, Path};
use crate::engine::schema::rule::{Choices, NodeIndex};
use crate::engine::schema::{Violation, push_segment};

/// Each function returns `false`, which means that the value is not valid, and builds text only for a violation that
/// is returned.
impl Checker<'_> {
    pub(super) fn fail_type(&mut self, types: &[&str], at: Instance<'_>) -> bool {
        self.fail(at, || {
            format!("expected {}, got {}", types.join(" or "), shown(at.value))
        })
    }

    pub(super) fn fail_choice(&mut self, choices: &Choices, at: Instance<'_>) -> bool {
        let all = || listed(choices.all.iter().map(short_json));
        self.fail(at, || {
            format!("expected {}{}, got {}", choices.word, all(), shown(at.value))
        })
    }

    pub(super) fn fail_number(&mut self, at: Instance<'_>, expected: &str, limit: &Number) -> bool {
        self.fail(at, || {
            format!("expected {expected} {limit}, got {}", shown(at.value))
        })
    }

    pub(super) fn fail_unexpected(&mut self, named: &[(String, NodeIndex)], at: Instance<'_>) -> bool {
        let names = named.iter().map(|(name, _)| shortened(name, MAX_SHOWN_CHARS));
        self.fail(at, || format!("unexpected property; allowed: {}", listed(names)))
    }

    pub(super) fn fail_name(&mut self, index: NodeIndex, at: Instance<'_>) -> bool {
        self.fail_closest(at, &[index], || "the property's name is not valid".to_owned())
    }

    pub(super) fn fail_none(&mut self, at: Instance<'_>, list: &[NodeIndex]) -> bool {
        self.fail_closest(at, list, || {
            format!("matches none of the {} alternatives", list.len())
        })
    }

    /// Adds the violations of the closest alternative to the summary. It is the one with the deepest violations in
    /// the value, and among equals the one with the fewest.
    fn fail_closest(
        &mut self,
        at: Instance<'_>,
        list: &[NodeIndex],
        summary: impl FnOnce() -> String,
    ) -> bool {
        if self.is_done() {
            return false;
        }
        let kept = std::mem::take(&mut self.found);
        let max_errors = std::mem::replace(&mut self.max_errors, MAX_COMPARED);
        let mut closest: Option<((usize, usize), usize, Violation)> = None;
        for (place, index) in list.iter().enumerate() {
            self.node(*index, at);
            let found = std::mem::take(&mut self.found);
            let depths = found
                .iter()
                .map(|violation| segments(&violation.instance_pointer));
            let rank = (
                depths.min().unwrap_or(0),
                MAX_COMPARED.saturating_sub(found.len()),
            );
            if let Some(first) = found.into_iter().next()
                && closest.as_ref().is_none_or(|(best, ..)| rank > *best)
            {
                closest = Some((rank, place + 1, first));
            }
        }
        self.found = kept;
        self.max_errors = max_errors;
        self.fail(at, || {
            let mut message = summary();
            if let Some((_, number, violation)) = closest {
                if list.len() > 1 {
                    message += &format!("; closest is number {number}");
                }
                if segments(&violation.instance_pointer) > segments(&at.path.pointer()) {
                    message += &format!(": {}", violation.instance_pointer);
                }
                message += &format!(": {}", shortened(&violation.message, MAX_CLOSEST_CHARS));
            }
            message
        })
    }

    /// Records the violation if more are requested.
    pub(super) fn fail(&mut self, at: Instance<'_>, message: impl FnOnce() -> String) -> bool {
        if !self.is_done() {
            let instance_pointer = at.path.pointer();
            self.count(instance_pointer.len() / 64);
            let message = message();
            self.found.push(Violation {
                instance_pointer,
                message,
            });
        }
        false
    }
}

impl Path<'_> {
    fn pointer(&self) -> String {
        let (above, segment) = match self {
            Path::Root => return String::new(),
            Path::Property(above, name) => (above, Cow::Owned(shortened(name, MAX_SEGMENT_CHARS))),
            Path::Item(above, place) => (above, place.to_string().into()),
        };
        let mut pointer = above.pointer();
        push_segment(&mut pointer, &segment);
        pointer
    }
}

fn segments(pointer: &str) -> usize {
    pointer.matches('/').count()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(_) => format!("string {}", short_json(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => written(value),
    }
}

/// The most violations that are found for each alternative to compare them.
const MAX_COMPARED: usize = 8;
const MAX_LISTED: usize = 10;
const MAX_SHOWN_CHARS: usize = 40;
/// The most characters of a property's name in a path.
const MAX_SEGMENT_CHARS: usize = 200;
/// The longest text about the closest alternative, in characters, because alternatives nest and each level adds its
/// line.
const MAX_CLOSEST_CHARS: usize = 400;

fn listed(texts: impl ExactSizeIterator<Item = String>) -> String {
    let more = if texts.len() > MAX_LISTED { ", …" } else { "" };
    let first: Vec<String> = texts.take(MAX_LISTED).collect();
    format!("{}{more}", first.join(", "))
}

fn short_json(value: &Value) -> String {
    match value {
        // A long string is cut before it is encoded.
        Value::String(text) => written(&Value::String(shortened(text, MAX_SHOWN_CHARS))),
        other => shortened(&written(other), MAX_SHOWN_CHARS),
    }
}

fn shortened(text: &str, max_chars: usize) -> String {
    match text
        .char_indices()
        .nth(max_chars)
        .and_then(|(end, _)| text.get(..end))
    {
        None => text.to_owned(),
        Some(head) => format!("{head}…"),
    }
}
