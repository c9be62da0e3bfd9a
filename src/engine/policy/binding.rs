//! Input fields that your code fills in. They are hidden from the model, and its own values for them are dropped.
//!
//! The agent calls [`bound_input`] for each call of a tool with bindings, before the call is checked or run. A value
//! is one of the `inputs` of the run's options. [`unbound_input`] leaves them out where others read the input. A
//! binding without its input has no effect, and nothing fails.

use looplet_scan::reader::Object;

use crate::engine::json::writer::push_any;
use crate::engine::model::config::Binding;
use crate::engine::model::message::Json;

/// The input with the values of the bound fields. A field for which `inputs` has no value keeps the model's own.
pub fn bound_input(written: &Json, bindings: &[Binding], inputs: Option<&Json>) -> Json {
    if bindings.is_empty() {
        return written.clone();
    }
    let inputs = inputs.and_then(|inputs| Object::parse(inputs.as_str()));
    let value_of = |binding: &Binding| inputs.as_ref().and_then(|inputs| inputs.last(&binding.input));
    let is_filled = |name: &str| {
        let binding = bindings.iter().find(|binding| binding.field == name);
        binding.is_some_and(|binding| value_of(binding).is_some())
    };
    let Some(kept) = without(written.as_str(), &is_filled) else {
        return written.clone();
    };
    let mut out = kept.into_bytes();
    out.pop();
    for binding in bindings {
        if let Some(value) = value_of(binding) {
            push_any(&mut out, &binding.field, value);
        }
    }
    out.push(b'}');
    Json::from_valid(&String::from_utf8(out).unwrap_or_default())
}

/// The input without the fields that your code fills in.
pub fn unbound_input(input: &Json, bindings: &[Binding], inputs: Option<&Json>) -> Json {
    if bindings.is_empty() {
        return input.clone();
    }
    let inputs = inputs.and_then(|inputs| Object::parse(inputs.as_str()));
    let is_filled = |name: &str| {
        let mut bindings = bindings.iter().filter(|binding| binding.field == name);
        bindings.any(|binding| {
            inputs
                .as_ref()
                .is_some_and(|inputs| inputs.last(&binding.input).is_some())
        })
    };
    let kept = without(input.as_str(), &is_filled);
    kept.map_or_else(|| input.clone(), |kept| Json::from_valid(&kept))
}

/// An object without the fields of some names; `None` if `json` is not an object.
fn without(json: &str, is_left_out: &dyn Fn(&str) -> bool) -> Option<String> {
    let object = Object::parse(json)?;
    let mut out = b"{".to_vec();
    for (key, value) in object.fields().filter(|(key, _)| !is_left_out(key)) {
        push_any(&mut out, key, value);
    }
    out.push(b'}');
    String::from_utf8(out).ok()
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
