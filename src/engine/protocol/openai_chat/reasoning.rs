//! Stores reasoning so that it can be sent back: its original field, and OpenRouter's `reasoning_details`.
//!
//! A thinking block of this protocol has `{"field":"reasoning_content"}` (or `reasoning`) in `vendor`, and its
//! `reasoning_details` with their signatures and encrypted pieces. DeepSeek, OpenRouter and others require the
//! reasoning of a turn with tool calls. The decoder collects the pieces in [`Details`]. The encoder writes them
//! unchanged. A piece that is not an object is ignored.

use looplet_scan::piece::{Join, Piece};
use looplet_scan::reader::Object;

use crate::engine::json::writer::{push_comma, push_string, written};
use crate::engine::protocol::vendor_fields::Fields;

/// The elements of `reasoning_details`, with the pieces of each joined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    list: Vec<Detail>,
}

#[derive(Clone, Debug, PartialEq)]
struct Detail {
    /// Type and index as JSON. Pieces with equal ones belong together.
    key: [String; 2],
    /// The object without its text.
    rest: Fields,
    /// The field of the text: `text` or `summary`.
    text_field: Option<String>,
    text: String,
    half: Join,
}

impl Details {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds a piece and returns its text.
    pub fn read<'a>(&mut self, json: &'a str) -> Piece<'a> {
        let Some(piece) = Object::parse(json) else {
            return Piece::default();
        };
        let of = |name: &str| piece.get(name).unwrap_or_default().to_owned();
        let key = [of("type"), of("index")];
        let of = |name: &str| piece.get(name).and_then(Piece::of_json);
        let (field, text) = match (of("text"), of("summary")) {
            (Some(text), _) => (Some("text"), text),
            (None, Some(text)) => (Some("summary"), text),
            (None, None) => (None, Piece::default()),
        };
        let detail = match self
            .list
            .last_mut()
            .filter(|last| last.key == key && !key[1].is_empty())
        {
            Some(last) => last,
            None => {
                self.list.push(Detail {
                    key,
                    rest: Fields::default(),
                    text_field: None,
                    text: String::new(),
                    half: Join::default(),
                });
                match self.list.last_mut() {
                    Some(new) => new,
                    None => return text,
                }
            }
        };
        detail.half.push(&mut detail.text, &text);
        if detail.text_field.is_none() {
            detail.text_field = field.map(str::to_owned);
        }
        detail.read_rest(&piece);
        text
    }

    /// The complete list as JSON.
    pub fn to_json(&self) -> String {
        let mut out = b"[".to_vec();
        for detail in &self.list {
            push_comma(&mut out);
            out.push(b'{');
            detail.rest.push(&mut out);
            if let Some(field) = &detail.text_field {
                push_comma(&mut out);
                push_string(&mut out, field);
                out.push(b':');
                let (mut text, mut half) = (detail.text.clone(), detail.half);
                half.end(&mut text);
                push_string(&mut out, &text);
            }
            out.push(b'}');
        }
        out.push(b']');
        written(out)
    }
}

impl Detail {
    /// Adds other fields. A later value replaces an earlier one.
    fn read_rest(&mut self, piece: &Object<'_>) {
        for (key, value) in piece.fields() {
            if key != "text" && key != "summary" && value != "null" {
                self.rest.set(key, value);
            }
        }
    }
}
