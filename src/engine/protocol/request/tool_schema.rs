//! A tool's schema in the form that a protocol's vendors accept, and the original names of its properties.
//!
//! One tool with a schema that a vendor rejects makes every request fail. [`Accepts`] lists what they accept, and
//! [`in_draft_2020`] what none of them accepts. [`mended`] writes a schema for the wire. The engine still checks a
//! call against the original one. [`renamed`] lists the properties with another name on the wire, and the answer
//! restores the tool's own names in an input. A schema that is valid remains unchanged, byte for byte. Nothing fails.

use looplet_scan::reader::{Object, items, string};

use crate::engine::json::checksum::crc32;
use crate::engine::json::writer::{decimal, push_any, push_comma, push_string, written};
use crate::engine::protocol::request::accepts::Accepts;
use crate::engine::protocol::request::media::percent_decoded;

/// The nesting that is mended. Deeper schemas go as they are.
const MAX_DEPTH: usize = 64;
const MAX_KEY_CHARS: usize = 64;
const AT_TOP: &[&str] = &["anyOf", "oneOf", "allOf", "enum", "not"];

/// The schema for the wire; `None` if it can go as it is.
pub fn mended(schema: &str, accepts: &Accepts) -> Option<String> {
    let mut writer = Writer {
        accepts,
        has_changed: false,
        renamed: Vec::new(),
    };
    let mut out = Vec::new();
    writer.top(schema, &mut out);
    writer.has_changed.then(|| written(out))
}

/// The names on the wire and the tool's own ones, where they differ.
pub fn renamed(schema: &str, accepts: &Accepts) -> Vec<(String, String)> {
    let mut writer = Writer {
        accepts,
        has_changed: false,
        renamed: Vec::new(),
    };
    writer.top(schema, &mut Vec::new());
    writer.renamed
}

/// The keyword at the top that is not sent; the call is checked against it all the same.
pub fn left_out(schema: &str, accepts: &Accepts) -> Option<&'static str> {
    let object = Object::parse(schema).filter(|_| !accepts.combinators_at_top)?;
    AT_TOP.iter().copied().find(|key| object.last(key).is_some())
}

/// A keyword in the form of JSON Schema 2020-12. `None` for one without such a form. Claude rejects a request with a
/// tool schema that violates that draft, and OpenAI a list as `items`:
/// <https://github.com/openclaw/openclaw/issues/98588>, <https://github.com/Dokploy/mcp/issues/74> (2026-11-29).
fn in_draft_2020<'k, 'v>(object: &Object<'v>, key: &'k str, value: &'v str) -> Option<(&'k str, &'v str)> {
    let is_tuple = || object.last("items").is_some_and(|items| items.starts_with('['));
    let is_bool = matches!(value, "true" | "false");
    match key {
        "items" if is_tuple() => Some(("prefixItems", value)),
        "additionalItems" => is_tuple().then_some(("items", value)),
        // Draft 4 has `true` next to the bound.
        "exclusiveMinimum" | "exclusiveMaximum" if is_bool => {
            let bound = object.last(if key == "exclusiveMinimum" {
                "minimum"
            } else {
                "maximum"
            });
            bound.filter(|_| value == "true").map(|bound| (key, bound))
        }
        "minimum" if object.last("exclusiveMinimum") == Some("true") => None,
        "maximum" if object.last("exclusiveMaximum") == Some("true") => None,
        "title" | "description" | "format" | "$comment" if !value.starts_with('"') => None,
        "examples" if !value.starts_with('[') => None,
        "deprecated" | "readOnly" | "writeOnly" if !is_bool => None,
        _ => Some((key, value)),
    }
}

struct Writer<'a> {
    accepts: &'a Accepts,
    has_changed: bool,
    renamed: Vec<(String, String)>,
}

impl Writer<'_> {
    /// Writes the top: an object, for vendors that take nothing else.
    fn top(&mut self, schema: &str, out: &mut Vec<u8>) {
        if self.accepts.combinators_at_top && Object::parse(schema).is_some() {
            return self.schema(schema, out, 0);
        }
        let object = Object::parse(schema).unwrap_or_default();
        let is_plain = object.is("type", "object");
        self.has_changed |= !is_plain;
        out.push(b'{');
        push_any(out, "type", "\"object\"");
        let mut properties: Vec<(String, &str)> = owned_fields(object.object("properties").as_ref());
        let mut required: Vec<String> = Vec::new();
        for (key, value) in object.fields() {
            let Some((key, value)) = self.keyword(&object, key, value) else {
                continue;
            };
            let is_refused = AT_TOP.contains(&key);
            match key {
                "type" | "properties" => {}
                _ if is_refused => {
                    self.has_changed = true;
                    let branches = items(value).unwrap_or_default();
                    for branch in branches.into_iter().filter_map(Object::parse) {
                        for (name, one) in owned_fields(branch.object("properties").as_ref()) {
                            if !properties.iter().any(|(known, _)| *known == name) {
                                properties.push((name, one));
                            }
                        }
                        if key == "allOf" {
                            required.extend(branch.items("required").into_iter().filter_map(text));
                        }
                    }
                }
                "required" => required.extend(object.items(key).into_iter().filter_map(text)),
                _ => self.field(key, value, out, 0),
            }
        }
        let has_properties = object.get("properties").is_some();
        self.has_changed |= !has_properties && !self.accepts.short_forms;
        if has_properties || !properties.is_empty() || !self.accepts.short_forms {
            push_comma(out);
            out.extend_from_slice(b"\"properties\":");
            self.map(&properties, true, out, 0);
        }
        if !required.is_empty() || object.get("required").is_some() {
            required.dedup();
            push_comma(out);
            out.extend_from_slice(b"\"required\":");
            self.names(&required, out);
        }
        out.push(b'}');
    }

    fn schema(&mut self, json: &str, out: &mut Vec<u8>, depth: usize) {
        let is_short = !self.accepts.short_forms && matches!(json, "true" | "false");
        let (Some(object), true) = (Object::parse(json), depth < MAX_DEPTH) else {
            self.has_changed |= is_short;
            let sent = match json {
                "true" if is_short => "{}",
                "false" if is_short => "{\"not\":{}}",
                _ => json,
            };
            return out.extend_from_slice(sent.as_bytes());
        };
        out.push(b'{');
        let mut has_items = false;
        for (key, value) in object.fields() {
            let Some((key, value)) = self.keyword(&object, key, value) else {
                continue;
            };
            has_items |= key == "items";
            self.field(key, value, out, depth);
        }
        let types = object.items("type");
        let is_array = object.is("type", "array") || types.contains(&"\"array\"");
        if is_array && !has_items && !self.accepts.short_forms {
            self.has_changed = true;
            push_any(out, "items", "{}");
        }
        out.push(b'}');
    }

    fn keyword<'k, 'v>(
        &mut self,
        object: &Object<'v>,
        key: &'k str,
        value: &'v str,
    ) -> Option<(&'k str, &'v str)> {
        let sent = in_draft_2020(object, key, value);
        self.has_changed |= sent != Some((key, value));
        sent
    }

    fn field(&mut self, key: &str, value: &str, out: &mut Vec<u8>, depth: usize) {
        push_comma(out);
        push_string(out, key);
        out.push(b':');
        match key {
            "properties" | "dependentSchemas" | "patternProperties" | "$defs" | "definitions" => {
                let are_names = matches!(key, "properties" | "dependentSchemas");
                let Some(object) = Object::parse(value) else {
                    return out.extend_from_slice(value.as_bytes());
                };
                self.map(&owned_fields(Some(&object)), are_names, out, depth);
            }
            "required" if !self.accepts.any_names => {
                let names: Vec<String> = items(value)
                    .unwrap_or_default()
                    .into_iter()
                    .filter_map(text)
                    .collect();
                self.names(&names, out);
            }
            "dependentRequired" if !self.accepts.any_names => {
                out.push(b'{');
                for (name, list) in Object::parse(value).unwrap_or_default().fields() {
                    push_comma(out);
                    let sent = self.name(name);
                    push_string(out, &sent);
                    out.push(b':');
                    let names: Vec<String> = items(list)
                        .unwrap_or_default()
                        .into_iter()
                        .filter_map(text)
                        .collect();
                    self.names(&names, out);
                }
                out.push(b'}');
            }
            "items" | "contains" | "propertyNames" | "not" | "if" | "then" | "else" => match items(value) {
                Some(list) => self.list(&list, out, depth),
                None => self.schema(value, out, depth + 1),
            },
            "$ref" if !self.accepts.any_names => {
                let sent = self.pointer(&text(value).unwrap_or_default());
                push_string(out, &sent);
            }
            "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems"
                if value.starts_with('{') =>
            {
                self.schema(value, out, depth + 1);
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => match items(value) {
                Some(list) => self.list(&list, out, depth),
                None => out.extend_from_slice(value.as_bytes()),
            },
            _ => out.extend_from_slice(value.as_bytes()),
        }
    }

    fn list(&mut self, list: &[&str], out: &mut Vec<u8>, depth: usize) {
        out.push(b'[');
        for one in list {
            push_comma(out);
            self.schema(one, out, depth + 1);
        }
        out.push(b']');
    }

    fn map(&mut self, fields: &[(String, &str)], are_names: bool, out: &mut Vec<u8>, depth: usize) {
        out.push(b'{');
        for (name, schema) in fields {
            push_comma(out);
            let sent = if are_names { self.name(name) } else { name.clone() };
            push_string(out, &sent);
            out.push(b':');
            self.schema(schema, out, depth + 1);
        }
        out.push(b'}');
    }

    fn names(&mut self, names: &[String], out: &mut Vec<u8>) {
        out.push(b'[');
        for name in names {
            push_comma(out);
            let sent = self.name(name);
            push_string(out, &sent);
        }
        out.push(b']');
    }

    /// A reference to another part of the schema, by the names on the wire.
    fn pointer(&mut self, reference: &str) -> String {
        let mut names_follow = false;
        let segments = reference.split('/').map(|segment| {
            let is_name = std::mem::replace(&mut names_follow, segment == "properties");
            if is_name {
                self.name(&unescaped(segment))
            } else {
                segment.to_owned()
            }
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// The name on the wire. An invalid one keeps its valid characters and ends in its checksum.
    fn name(&mut self, name: &str) -> String {
        let is_legal = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let fits = (1..=MAX_KEY_CHARS).contains(&name.len()) && name.chars().all(is_legal);
        if self.accepts.any_names || fits {
            return name.to_owned();
        }
        self.has_changed = true;
        let legal = name.chars().map(|c| if is_legal(c) { c } else { '_' });
        // A checksum has at most ten digits.
        let head: String = legal.take(MAX_KEY_CHARS - 11).collect();
        let wire = format!("{head}_{}", decimal(crc32(name.as_bytes()) as usize));
        if !self.renamed.iter().any(|(known, _)| *known == wire) {
            self.renamed.push((wire.clone(), name.to_owned()));
        }
        wire
    }
}

fn owned_fields<'a>(object: Option<&Object<'a>>) -> Vec<(String, &'a str)> {
    let fields = object.into_iter().flat_map(Object::fields);
    fields.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// A segment of a JSON pointer in a URL without its escapes: <https://www.rfc-editor.org/rfc/rfc6901#section-6>.
fn unescaped(segment: &str) -> String {
    let bytes = percent_decoded(segment);
    String::from_utf8_lossy(&bytes)
        .replace("~1", "/")
        .replace("~0", "~")
}

fn text(json: &str) -> Option<String> {
    Some(string(json)?.into_owned())
}

#[cfg(test)]
mod tests;
