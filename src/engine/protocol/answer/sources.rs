//! The sources of an answer, stored next to its text: citations, search results, grounding.
//!
//! Decoders collect them in [`Sources`] and call [`attach_sources`] at the end of an answer. The engine
//! never interprets them. An answer without text loses its sources.

use std::collections::BTreeSet;

use crate::engine::json::writer::push_raw;
use crate::engine::model::answer::{ModelAnswer, PartKind};
use crate::engine::protocol::vendor_fields::{closed, push_vendor};

/// Puts the values that are not empty into `vendor` of the last text block. The first `lists` values lack their
/// brackets.
pub fn attach_sources(names: &[&str], values: &[&str], lists: usize, answer: &mut ModelAnswer) {
    let mut parts = answer.parts.iter_mut().rev();
    let text = parts.find(|part| part.kind == PartKind::Text);
    let (Some(text), true) = (text, values.iter().any(|json| !json.is_empty())) else {
        return;
    };
    let mut out = b"{".to_vec();
    push_vendor(&mut out, text.vendor.as_ref(), &[]);
    for (at, (name, json)) in names.iter().zip(values).enumerate() {
        let is_list = at < lists;
        if !json.is_empty() {
            push_raw(&mut out, name, if is_list { "[" } else { "" });
            out.extend_from_slice(json.as_bytes());
            out.extend_from_slice(if is_list { b"]" } else { b"" });
        }
    }
    text.vendor = closed(out);
}

/// A list of sources, each of them once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// JSON without its brackets.
    pub list: String,
    known: BTreeSet<String>,
}

impl Sources {
    /// Appends a source, unless the list has it.
    pub fn push(&mut self, source: &str, answer: &mut ModelAnswer) {
        if self.known.insert(source.to_owned()) {
            push_item(&mut self.list, source, answer);
        }
    }
}

/// Appends an item to a list without brackets.
pub fn push_item(list: &mut String, item: &str, answer: &mut ModelAnswer) {
    answer.count(item.len());
    list.push_str(if list.is_empty() { "" } else { "," });
    list.push_str(item);
}
