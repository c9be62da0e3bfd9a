//! The arguments of a call that Vertex AI streams value by value, written on as the text of one JSON object.
//!
//! `{"jsonPath":"$.operations[0].action","stringValue":"add","willContinue":true}` names where a value stands; a string
//! comes in pieces with one path. The model writes from front to back, so the text only grows; a path that leads back to
//! what is closed cannot be followed.
//! <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling> (2026-11-21)

use serde::{Deserialize, Serialize};

use super::super::super::json_reader::{Object, string};
use super::super::super::json_writer::{decimal, push_escaped, push_string};

/// Where the last value stands, and what is open around it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartialArgs {
    /// From the root to the last value: a key as a JSON string, an index as a number.
    path: Vec<String>,
    /// The object or array in which each step of `path` stands: its steps so far.
    open: Vec<Vec<String>>,
    /// The last value is a string, whose closing quote is not written.
    in_string: bool,
}

impl PartialArgs {
    /// The text that one element of `partialArgs` adds; `None` if it fits nowhere.
    pub fn write(&mut self, json: &str) -> Option<String> {
        let arg = Object::parse(json)?;
        let path = steps(&arg.string("jsonPath")?)?;
        let text = arg.string("stringValue");
        let mut out = Vec::new();
        if self.in_string && path == self.path {
            push_escaped(&mut out, &text?);
            return String::from_utf8(out).ok();
        }
        let common = path.iter().zip(&self.path).take_while(|(a, b)| a == b).count();
        if common >= path.len() || (common >= self.path.len() && !self.path.is_empty()) {
            return None;
        }
        self.close_to(common + 1, &mut out);
        for (depth, step) in path.iter().enumerate().skip(common) {
            let is_key = step.starts_with('"');
            if self.open.len() == depth {
                out.push(if is_key { b'{' } else { b'[' });
                self.open.push(Vec::new());
            }
            let known = self.open.get_mut(depth)?;
            let fits = match known.first() {
                _ if !is_key => *step == decimal(known.len()),
                Some(first) => first.starts_with('"') && !known.contains(step),
                None => true,
            };
            if !fits
                || known
                    .first()
                    .is_some_and(|first| first.starts_with('"') != is_key)
            {
                return None;
            }
            if !known.is_empty() {
                out.push(b',');
            }
            if is_key {
                out.extend_from_slice(step.as_bytes());
                out.push(b':');
            }
            known.push(step.clone());
        }
        self.path = path;
        match text {
            Some(text) => {
                out.push(b'"');
                push_escaped(&mut out, &text);
                self.in_string = true;
            }
            None => {
                let value = arg.get("numberValue").or_else(|| arg.get("boolValue"));
                out.extend_from_slice(value.unwrap_or("null").as_bytes());
            }
        }
        String::from_utf8(out).ok()
    }

    /// The text that is missing at the end.
    pub fn close(&mut self) -> String {
        let mut out = Vec::new();
        self.close_to(0, &mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// Closes the string and all containers but the outer `depth`.
    fn close_to(&mut self, depth: usize, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.in_string) {
            out.push(b'"');
        }
        while self.open.len() > depth {
            let closed = self.open.pop();
            let is_object =
                closed.is_some_and(|steps| steps.first().is_some_and(|step| step.starts_with('"')));
            out.push(if is_object { b'}' } else { b']' });
        }
    }
}

/// `$.a[0]['b']` as `"a"`, `0`, `"b"`. The root is an object.
fn steps(path: &str) -> Option<Vec<String>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step;
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.bytes().position(|byte| matches!(byte, b'.' | b'['));
            let end = end.unwrap_or(after.len());
            let (name, behind) = after.split_at_checked(end)?;
            let mut key = Vec::new();
            push_string(&mut key, name);
            step = String::from_utf8(key).ok()?;
            rest = behind;
        } else {
            let after = rest.strip_prefix('[')?;
            let quote = after.chars().next().filter(|first| matches!(first, '\'' | '"'));
            let end = match quote {
                Some(quote) => 1 + end_of_string(after.get(1..)?, quote)?,
                None => after.bytes().position(|byte| byte == b']')?,
            };
            let (inside, behind) = after.split_at_checked(end)?;
            step = match quote {
                Some(_) => quoted(inside.get(1..)?)?,
                None => inside.to_owned(),
            };
            rest = behind.get(usize::from(quote.is_some())..)?.strip_prefix(']')?;
        }
        steps.push(step);
    }
    steps.first().filter(|first| first.starts_with('"'))?;
    Some(steps)
}

fn end_of_string(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, character)| {
        let ends = character == quote && !escaped;
        escaped = character == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// The inside of a string of either quote as a JSON string.
fn quoted(inside: &str) -> Option<String> {
    let mut json = String::from("\"");
    let mut escaped = false;
    for character in inside.chars() {
        match (escaped, character) {
            (true, '\'') => json.push('\''),
            (true, _) => json.extend(['\\', character]),
            (false, '"') => json.push_str("\\\""),
            (false, '\\') => {}
            (false, _) => json.push(character),
        }
        escaped = character == '\\' && !escaped;
    }
    json.push('"');
    string(&json)?;
    Some(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(args: &[&str]) -> Option<String> {
        let mut partial = PartialArgs::default();
        let mut text = String::new();
        for arg in args {
            text.push_str(&partial.write(arg)?);
        }
        Some(text + &partial.close())
    }

    #[test]
    fn values_are_written_where_their_paths_say() {
        let args = [
            r#"{"jsonPath":"$.list[0].name","stringValue":"a\n","willContinue":true}"#,
            r#"{"jsonPath":"$.list[0].name","stringValue":"\"b","willContinue":true}"#,
            r#"{"jsonPath":"$.list[0].name","stringValue":""}"#,
            r#"{"jsonPath":"$.list[0].price","numberValue":0.50}"#,
            r#"{"jsonPath":"$.list[1].tags[0]","boolValue":true}"#,
            r#"{"jsonPath":"$.list[1].tags[1]","nullValue":"NULL_VALUE"}"#,
            r#"{"jsonPath":"$['it\\'s \"x\"'].y","stringValue":"z"}"#,
            r#"{"jsonPath":"$[\"last]\"]","numberValue":-1}"#,
        ];
        assert_eq!(
            text(&args).unwrap(),
            r#"{"list":[{"name":"a\n\"b","price":0.50},{"tags":[true,null]}],"it's \"x\"":{"y":"z"},"last]":-1}"#
        );
        assert_eq!(text(&[]).unwrap(), "");
    }

    #[test]
    fn a_path_that_leads_back_or_is_none_fits_nowhere() {
        let first = r#"{"jsonPath":"$.a.b","numberValue":1}"#;
        for second in [
            r#"{"jsonPath":"$.a.b","numberValue":2}"#,
            r#"{"jsonPath":"$.a","numberValue":2}"#,
            r#"{"jsonPath":"$.a.b.c","numberValue":2}"#,
            r#"{"jsonPath":"$.a[0]","numberValue":2}"#,
            r#"{"jsonPath":"$[0]","numberValue":2}"#,
            r#"{"jsonPath":"$.c[1]","numberValue":2}"#,
            r#"{"jsonPath":"$","numberValue":2}"#,
            r#"{"jsonPath":"$['open","numberValue":2}"#,
            r#"{"numberValue":2}"#,
        ] {
            assert_eq!(text(&[first, second]), None, "{second}");
        }
        let back = [first, r#"{"jsonPath":"$.c","numberValue":2}"#, first];
        assert_eq!(text(&back), None);
    }
}
