//! What a request with vendors' tools needs in addition to their entries: headers, and fields of the body.
//!
//! [`with_fields`] is called once for each head, [`add_headers`] for each request. A tool with an entry in another
//! protocol's format needs nothing here: it is not sent, and [`not_sent`] names it. Nothing fails.

use std::borrow::Cow;

use serde_json::Value;

use crate::engine::model::config::{ModelConfig, ToolConfig, VendorTool};
use crate::engine::model::message::Json;
use crate::engine::protocol::{Protocol, RequestSpec};

/// The model with the fields that its tools need in the body. Objects are merged and lists are joined. For other
/// values, the caller's `body` wins.
pub fn with_fields<'a>(
    protocol: &Protocol,
    spec: &RequestSpec<'_>,
    model: Cow<'a, ModelConfig>,
) -> Cow<'a, ModelConfig> {
    let changes = spec.appended.head.iter().flat_map(|head| &head.changes);
    let added = changes.flat_map(|change| &change.added);
    let fields =
        sent(protocol, spec.tools.iter().chain(added)).filter_map(|vendor| value_of(vendor.body.as_ref()?));
    let mut needed = Value::Null;
    fields.for_each(|fields| join(&mut needed, fields));
    if needed.is_null() {
        return model;
    }
    let own = model.body.as_ref().map(|body| value_of(body).unwrap_or_default());
    let mut body = own.unwrap_or_default();
    join(&mut body, needed);
    Cow::Owned(ModelConfig {
        body: Some(Json::of(&body)),
        ..model.into_owned()
    })
}

/// Adds the headers that the tools need. A header that is there already becomes a list.
pub fn add_headers(protocol: &Protocol, tools: &[ToolConfig], headers: &mut Vec<(String, String)>) {
    for (name, value) in sent(protocol, tools.iter()).flat_map(|vendor| &vendor.headers) {
        add_header(headers, name, value);
    }
}

/// Adds a header, or its value to the list of the header that is there.
pub fn add_header(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    let known = headers
        .iter_mut()
        .find(|(other, _)| other.eq_ignore_ascii_case(name));
    match known {
        Some((_, values)) if values.split(',').any(|one| one.trim() == value) => {}
        Some((_, values)) => *values = format!("{values},{value}"),
        None => headers.push((name.to_owned(), value.to_owned())),
    }
}

/// Takes a value out of the list of a header.
pub fn remove_value(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    for (_, values) in headers
        .iter_mut()
        .filter(|(other, _)| other.eq_ignore_ascii_case(name))
    {
        let rest = values.split(',').filter(|one| one.trim() != value);
        *values = rest.collect::<Vec<_>>().join(",");
    }
    headers.retain(|(_, values)| !values.is_empty());
}

/// The names of the tools that a request in this protocol leaves out.
pub fn not_sent<'a>(protocol: &Protocol, tools: &'a [ToolConfig]) -> Vec<&'a str> {
    let is_sent = |vendor: &VendorTool| vendor.is_of(protocol.name) && protocol.accepts.is_some();
    let left_out = tools.iter().filter(|tool| {
        let vendor = tool.vendor.as_ref();
        vendor.is_some_and(|vendor| vendor.entry.is_some() && !is_sent(vendor))
    });
    left_out.map(|tool| tool.name.as_str()).collect()
}

fn sent<'a>(
    protocol: &'a Protocol,
    tools: impl Iterator<Item = &'a ToolConfig>,
) -> impl Iterator<Item = &'a VendorTool> {
    let vendors = tools.filter_map(|tool| tool.vendor.as_ref());
    vendors.filter(|vendor| vendor.is_of(protocol.name))
}

fn value_of(json: &Json) -> Option<Value> {
    serde_json::from_str(json.as_str()).ok()
}

/// Adds what `into` does not have.
fn join(into: &mut Value, more: Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (name, value) in more {
                match into.get_mut(&name) {
                    // The caller removes the field.
                    Some(Value::Null) => {}
                    Some(own) => join(own, value),
                    None => drop(into.insert(name, value)),
                }
            }
        }
        (Value::Array(into), Value::Array(more)) => {
            for value in more {
                if !into.contains(&value) {
                    into.push(value);
                }
            }
        }
        (into @ Value::Null, more) => *into = more,
        _ => {}
    }
}
