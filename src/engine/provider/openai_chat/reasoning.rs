//! Reasoning and how it goes back: the field that its text came in, and OpenRouter's `reasoning_details`.
//!
//! A thinking block of this protocol keeps `{"field":"reasoning_content"}` (or `reasoning`) in `vendor`, and
//! `reasoning_details` where there were any: signatures and encrypted pieces live there. DeepSeek, OpenRouter and others
//! demand that a turn with tool calls comes back with its reasoning.

use serde::{Deserialize, Serialize};

use super::super::super::json_reader::Object;
use super::super::super::json_writer::{push_any, push_comma, push_string};

/// The elements of `reasoning_details`, pieces of one element joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    list: Vec<Detail>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Detail {
    /// Type and index as JSON: pieces with the same ones belong together.
    key: [String; 2],
    /// The object without its text.
    rest: String,
    /// Where the text stands: `text` or `summary`.
    text_field: Option<String>,
    text: String,
}

impl Details {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a piece and returns the text in it.
    pub fn read(&mut self, json: &str) -> String {
        let Some(piece) = Object::parse(json) else {
            return String::new();
        };
        let key = ["type", "index"].map(|name| piece.get(name).unwrap_or_default().to_owned());
        let field = ["text", "summary"]
            .into_iter()
            .find(|name| piece.string(name).is_some());
        let text = field
            .and_then(|name| piece.string(name))
            .unwrap_or_default()
            .into_owned();
        let detail = match self
            .list
            .last_mut()
            .filter(|last| last.key == key && !key[1].is_empty())
        {
            Some(last) => last,
            None => {
                self.list.push(Detail {
                    key,
                    rest: "{}".to_owned(),
                    text_field: None,
                    text: String::new(),
                });
                match self.list.last_mut() {
                    Some(new) => new,
                    None => return text,
                }
            }
        };
        detail.text.push_str(&text);
        if detail.text_field.is_none() {
            detail.text_field = field.map(str::to_owned);
        }
        detail.read_rest(&piece);
        text
    }

    /// The whole list as JSON.
    pub fn to_json(&self) -> String {
        let mut out = b"[".to_vec();
        for detail in &self.list {
            push_comma(&mut out);
            out.extend_from_slice(detail.rest.strip_suffix('}').unwrap_or_default().as_bytes());
            if let Some(field) = &detail.text_field {
                push_comma(&mut out);
                push_string(&mut out, field);
                out.push(b':');
                push_string(&mut out, &detail.text);
            }
            out.push(b'}');
        }
        out.push(b']');
        String::from_utf8(out).unwrap_or_default()
    }
}

impl Detail {
    /// Further fields: what comes later replaces.
    fn read_rest(&mut self, piece: &Object<'_>) {
        let known = Object::parse(&self.rest);
        let news = |key: &str| key != "text" && key != "summary";
        let same = piece
            .fields()
            .filter(|(key, value)| news(key) && *value != "null")
            .all(|(key, value)| known.as_ref().and_then(|known| known.get(key)) == Some(value));
        if same {
            return;
        }
        let mut out = b"{".to_vec();
        for (key, value) in known.iter().flat_map(Object::fields) {
            push_any(&mut out, key, piece.get(key).unwrap_or(value));
        }
        for (key, value) in piece
            .fields()
            .filter(|(key, value)| news(key) && *value != "null")
        {
            if known.as_ref().is_none_or(|known| known.get(key).is_none()) {
                push_any(&mut out, key, value);
            }
        }
        out.push(b'}');
        self.rest = String::from_utf8(out).unwrap_or_default();
    }
}
