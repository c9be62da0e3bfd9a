//! Finds the tool call to which a delta belongs: servers identify it in five ways, or not at all.
//!
//! The decoder passes each element of `tool_calls` to [`Calls::read`], and the old `function_call` to
//! [`Calls::read_legacy`]. They open calls in the answer and append arguments to them. Nothing fails: a delta without
//! an identification continues the last call.

use std::collections::BTreeMap;

use looplet_scan::piece::Piece;
use looplet_scan::reader::Object;

use crate::engine::model::answer::ModelAnswer;
use crate::engine::protocol::openai_parts::{CUSTOM_HEAD, CUSTOM_TAIL, escaped_piece};
use crate::engine::protocol::vendor_fields::{closed, others, push_vendor};

/// The calls of an answer, in the order of their first delta.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    calls: Vec<Call>,
    /// The last call with an index of the vendor's.
    by_index: BTreeMap<u32, usize>,
    /// The first call with an id of the vendor's.
    by_id: BTreeMap<String, usize>,
}

#[derive(Clone, Debug, PartialEq)]
struct Call {
    /// The vendor's id, empty until it is received. The block may already have an id from looplet, which then
    /// remains.
    id: String,
    part: usize,
    /// True for the call of a custom tool, which has plain text as its input.
    is_custom: bool,
}

/// The type of a custom tool's call, stored in `vendor`.
/// <https://platform.openai.com/docs/api-reference/chat/object> (2026-11-24)
pub const CUSTOM: &str = "custom";

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub fn parts(&self) -> impl Iterator<Item = usize> {
        self.calls.iter().map(|call| call.part)
    }

    /// Reads one element of `tool_calls`.
    pub fn read(&mut self, json: &str, answer: &mut ModelAnswer) {
        if answer.is_overfull {
            return;
        }
        let Some(call) = Object::parse(json) else { return };
        // Snowflake sends an empty `custom` next to each function.
        let own = call.object("function").filter(|_| !call.is("type", CUSTOM));
        let custom = call.object(CUSTOM).filter(|_| own.is_none());
        let is_custom = custom.is_some();
        let function = own.or(custom).or_else(|| call.object("function"));
        let function = function.as_ref().unwrap_or(&call);
        let index = call.number("index").and_then(|index| u32::try_from(index).ok());
        let at = self.resolve(index, &call, function, answer);
        let Some(known) = self.calls.get_mut(at) else {
            return;
        };
        let part = known.part;
        known.is_custom |= is_custom;
        let is_custom = known.is_custom;
        if let Some(open) = answer.parts.get_mut(part) {
            if let Some(id) = call.filled("id").filter(|_| known.id.is_empty()) {
                known.id = id.into_owned();
                self.by_id.entry(known.id.clone()).or_insert(at);
                if open.id.is_empty() {
                    open.id.push_str(&known.id);
                }
            }
            if let Some(vendor) = others(&call, OURS) {
                open.vendor = Some(vendor);
            }
        }
        if let Some(name) = function.filled("name") {
            answer.name_call(part, &name);
        }
        if is_custom {
            push_custom(part, &function.piece("input"), answer);
        } else {
            let arguments = function.get("arguments").or_else(|| function.get("input"));
            push_arguments(part, arguments, answer);
        }
    }

    /// Completes the calls of custom tools. An interrupted one remains an object without its end.
    pub fn close_custom(&self, is_cut_off: bool, answer: &mut ModelAnswer) {
        for call in self.calls.iter().filter(|call| call.is_custom) {
            if !is_cut_off {
                push_custom(call.part, &Piece::default(), answer);
                answer.push(call.part, CUSTOM_TAIL);
            }
            if let Some(part) = answer.parts.get_mut(call.part) {
                let mut vendor = br#"{"type":"custom""#.to_vec();
                push_vendor(&mut vendor, part.vendor.as_ref(), &[]);
                part.vendor = closed(vendor);
            }
        }
    }

    /// Reads the old `function_call`: one call, without an id.
    pub fn read_legacy(&mut self, function: &Object<'_>, answer: &mut ModelAnswer) {
        if self.calls.is_empty() {
            self.start(None, answer);
        }
        let Some(part) = self.calls.last().map(|call| call.part) else {
            return;
        };
        if let Some(name) = function.filled("name") {
            answer.name_call(part, &name);
        }
        push_arguments(part, function.get("arguments"), answer);
    }

    /// The call of a delta. A known index continues its call, unless id and name show another call (some servers give
    /// every call the index 0). Without an index, a known id continues its call, a new id or a name without an id
    /// starts one, and any other delta continues the last call.
    fn resolve(
        &mut self,
        index: Option<u32>,
        call: &Object<'_>,
        function: &Object<'_>,
        answer: &mut ModelAnswer,
    ) -> usize {
        let id = call.filled("id");
        let named = function.is_filled("name");
        let by_index = |index: u32| self.by_index.get(&index).copied();
        let known = match (index, id.as_deref()) {
            (Some(index), Some(id)) => by_index(index).filter(|at| {
                let known = self.calls.get(*at).map_or("", |call| &call.id);
                !named || known.is_empty() || known == id
            }),
            (Some(index), None) => by_index(index),
            (None, Some(id)) => self.by_id.get(id).copied(),
            (None, None) if named => None,
            (None, None) => self.calls.len().checked_sub(1),
        };
        known.unwrap_or_else(|| self.start(index, answer))
    }

    /// Starts a call and returns its index in the list.
    fn start(&mut self, index: Option<u32>, answer: &mut ModelAnswer) -> usize {
        let part = answer.start_tool_call("", "");
        let at = self.calls.len();
        self.calls.push(Call {
            id: String::new(),
            part,
            is_custom: false,
        });
        self.by_index.extend(index.map(|index| (index, at)));
        at
    }
}

/// The fields of a call that have a neutral form.
const OURS: &[&str] = &[
    "index",
    "id",
    "type",
    "function",
    "custom",
    "name",
    "arguments",
    "input",
];

/// Appends plain text to a custom tool's input.
fn push_custom(part: usize, text: &Piece<'_>, answer: &mut ModelAnswer) {
    if answer.parts.get(part).is_some_and(|call| call.text.is_empty()) {
        answer.push(part, CUSTOM_HEAD);
    }
    answer.push(part, &escaped_piece(text));
}

/// Appends arguments. They are JSON text in a string. Some servers send the object itself.
fn push_arguments(part: usize, arguments: Option<&str>, answer: &mut ModelAnswer) {
    match arguments.map(|json| (json, Piece::of_json(json))) {
        Some((_, Some(text))) => {
            answer.push_piece(part, &text);
        }
        Some((json, None)) => answer.push(part, json),
        None => {}
    }
}
