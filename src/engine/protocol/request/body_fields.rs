//! The top level of a request's body, where the configuration's `body` may add and replace fields.
//!
//! Each encoder creates a [`BodyFields`] for its head. It opens each of its fields with [`BodyFields::key`], which
//! returns false for a field that `body` replaces. [`BodyFields::finish`] is last and appends the rest of `body`.
//! Only the run may write `stream` and the messages: a `body` with either of them is a [`ConfigError`].

use std::borrow::Cow;

use looplet_scan::reader::{Object, items};

use crate::engine::json::writer::{
    push_any, push_comma, push_key, push_number, push_raw, push_string, written,
};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::Json;

/// The top level of a body: our fields except the ones that the configured `body` has, then the fields of `body`.
#[derive(Default)]
pub struct BodyFields<'a> {
    over: Option<Object<'a>>,
}

impl<'a> BodyFields<'a> {
    /// Reads the configured `body`.
    ///
    /// # Errors
    /// If `body` is not an object, or has `stream` or the protocol's field of messages, which only the run may write.
    pub fn new(body: Option<&'a Json>, messages_field: &str) -> Result<BodyFields<'a>, ConfigError> {
        let Some(body) = body else {
            return Ok(BodyFields { over: None });
        };
        let over = Object::parse(body.as_str());
        let fields = BodyFields { over };
        if fields.over.is_none() {
            return Err(ConfigError::new(
                "model.body",
                "must be an object of further request fields",
            ));
        }
        if fields.has(messages_field) {
            return Err(ConfigError::new(
                format!("model.body.{messages_field}"),
                "is written by the run: use messages",
            ));
        }
        if fields.has("stream") {
            return Err(ConfigError::new(
                "model.body.stream",
                "cannot be set here because it decides how answers are read; use model.stream",
            ));
        }
        Ok(fields)
    }

    /// The value that `body` gives to `key`.
    pub fn over(&self, key: &str) -> Option<&'a str> {
        self.over.as_ref()?.get(key)
    }

    /// True when `body` has the key, even if its value is null.
    pub fn has(&self, key: &str) -> bool {
        self.over.as_ref().is_some_and(|object| object.has(key))
    }

    /// Opens a field, unless `body` has it.
    pub fn key(&self, into: &mut Vec<u8>, key: &str) -> bool {
        if self.has(key) {
            return false;
        }
        push_key(into, key);
        true
    }

    pub fn text(&self, into: &mut Vec<u8>, key: &str, text: &str) {
        if self.key(into, key) {
            push_string(into, text);
        }
    }

    pub fn raw(&self, into: &mut Vec<u8>, key: &str, json: &str) {
        if self.key(into, key) {
            into.extend_from_slice(json.as_bytes());
        }
    }

    pub fn json(&self, into: &mut Vec<u8>, key: &str, json: Option<&Json>) {
        if let Some(json) = json {
            self.raw(into, key, json.as_str());
        }
    }

    pub fn number(&self, into: &mut Vec<u8>, key: &str, number: u64) {
        if self.key(into, key) {
            push_number(into, number);
        }
    }

    /// Writes the list of tools: `ours`, without its closing bracket, then those of `body`. If one of ours and one of
    /// `body` have the same name, ours is left out. A null in `body` leaves out all, and so does a value that is not
    /// a list.
    pub fn tools(&self, into: &mut Vec<u8>, mut ours: Vec<u8>) {
        let over = self.over("tools");
        if self.has("tools") && over.and_then(items).is_none() {
            return;
        }
        let theirs = over.and_then(items).unwrap_or_default();
        ours.push(b']');
        let ours = written(ours);
        let names: Vec<_> = theirs.iter().filter_map(|tool| tool_name(tool)).collect();
        let is_free = |tool: &&str| tool_name(tool).is_none_or(|name| !names.contains(&name));
        let ours = items(&ours).unwrap_or_default();
        let all: Vec<&str> = ours.into_iter().filter(is_free).chain(theirs).collect();
        if all.is_empty() && over.is_none() {
            return;
        }
        push_raw(into, "tools", "[");
        for tool in all {
            push_comma(into);
            into.extend_from_slice(tool.as_bytes());
        }
        into.push(b']');
    }

    /// True if `body` has a tool that declares a function of this name, as Gemini's do.
    pub fn declares(&self, name: &str) -> bool {
        let tools = self.over("tools").and_then(items).unwrap_or_default();
        let lists = tools.into_iter().filter_map(|tool| {
            let tool = Object::parse(tool)?;
            tool.get("functionDeclarations")
                .or(tool.get("function_declarations"))
        });
        let mut functions = lists.filter_map(items).flatten();
        functions.any(|function| tool_name(function).is_some_and(|own| own == name))
    }

    pub fn texts(&self, into: &mut Vec<u8>, key: &str, texts: &[String]) {
        if !texts.is_empty() && self.key(into, key) {
            into.push(b'[');
            for text in texts {
                push_comma(into);
                push_string(into, text);
            }
            into.push(b']');
        }
    }

    /// Writes a field that is an object: `ours`, without its closing brace, with the value in `body` merged over it.
    /// An empty object is not sent, and neither is a null in `body`.
    pub fn merged(&self, into: &mut Vec<u8>, key: &str, mut ours: Vec<u8>) {
        ours.push(b'}');
        let over = self.over(key);
        let inner = BodyFields {
            over: over.and_then(Object::parse),
        };
        if over.is_none() && self.has(key) {
            return;
        }
        let start = into.len();
        push_key(into, key);
        into.push(b'{');
        let head = into.len();
        let ours = str::from_utf8(&ours)
            .ok()
            .and_then(Object::parse)
            .unwrap_or_default();
        for (name, value) in ours.fields() {
            match value.strip_suffix(']') {
                Some(list) if name == "tools" => inner.tools(into, list.into()),
                _ => inner.raw(into, name, value),
            }
        }
        let done: &[&str] = if ours.has("tools") { &["tools"] } else { &[] };
        inner.finish(into, done);
        if into.len() == head {
            into.truncate(start);
        } else {
            into.push(b'}');
        }
    }

    /// Appends the fields of `body`, except the ones in `done`. A null removes a field of ours and is not sent.
    /// The last value of a repeated key counts.
    pub fn finish(&self, into: &mut Vec<u8>, done: &[&str]) {
        let Some(object) = &self.over else { return };
        for (key, value) in object.fields() {
            // The field is the last with its key when both texts are the very same.
            let is_last = object.last(key).map(str::as_ptr) == Some(value.as_ptr());
            if value != "null" && is_last && !done.contains(&key) {
                push_any(into, key, value);
            }
        }
    }
}

/// The name of a tool in a request's list. Chat Completions and Converse have it in an object.
fn tool_name(tool: &str) -> Option<Cow<'_, str>> {
    let tool = Object::parse(tool)?;
    let inner = tool.object("function").or_else(|| tool.object("toolSpec"));
    tool.string("name").or_else(|| inner?.string("name"))
}

#[cfg(test)]
mod tests;
