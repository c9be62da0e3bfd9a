//! Compiles the JSON of a schema to nodes.
//!
//! [`super::compile()`] calls [`compile`] once. A queue replaces recursion, so the depth of a schema costs no
//! stack. Each keyword becomes a [`Rule`] or a warning. The first checked keyword with a meaningless value is the
//! error, and so is a reference to nowhere.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Number, Value};

use crate::engine::schema::rule::{Additional, Choices, Node, NodeIndex, Rule, TYPES, is_whole};
use crate::engine::schema::{Schema, SchemaError, SchemaWarning, push_segment};

/// Compiles `root`, which comes from [`crate::engine::json::value::read`].
///
/// # Errors
/// The first place that is not a schema.
pub fn compile(root: &Value) -> Result<Schema, SchemaError> {
    let mut compiler = Compiler {
        root,
        schema: Schema::default(),
        queue: Vec::new(),
        known: BTreeMap::new(),
    };
    compiler.node(0, String::new(), root);
    let mut next = 0;
    while let Some(value) = compiler.queue.get(next).copied() {
        let rules = compiler.rules(next, value)?;
        if let Some(node) = compiler.schema.nodes.get_mut(next) {
            node.rules = rules;
        }
        next += 1;
    }
    Ok(compiler.schema)
}

struct Compiler<'a> {
    root: &'a Value,
    schema: Schema,
    /// The schemas of the nodes.
    queue: Vec<&'a Value>,
    /// The nodes by the addresses of their schemas, so that the target of a reference is compiled once.
    known: BTreeMap<*const Value, NodeIndex>,
}

/// A keyword of a schema, with the other keywords of that schema.
#[derive(Clone, Copy)]
struct Keyword<'a> {
    name: &'a str,
    value: &'a Value,
    /// All keywords of the schema.
    fields: &'a Map<String, Value>,
    index: NodeIndex,
}

impl<'a> Keyword<'a> {
    fn sibling(self, name: &'a str) -> Option<Keyword<'a>> {
        let value = self.fields.get(name)?;
        Some(Keyword { name, value, ..self })
    }
}

type Read<T> = Result<T, SchemaError>;

impl<'a> Compiler<'a> {
    /// The node of the schema at the pointer `tail` below `parent`.
    fn node(&mut self, parent: NodeIndex, tail: String, value: &'a Value) -> NodeIndex {
        let index = self.schema.nodes.len();
        let known = *self.known.entry(value).or_insert(index);
        if known == index {
            self.queue.push(value);
            let rules = Vec::new();
            self.schema.nodes.push(Node { parent, tail, rules });
        }
        known
    }

    fn rules(&mut self, index: NodeIndex, value: &'a Value) -> Read<Vec<Rule>> {
        let fields = match value {
            Value::Bool(true) => return Ok(Vec::new()),
            Value::Bool(false) => return Ok(vec![Rule::Nothing]),
            Value::Object(fields) => fields,
            _ => {
                let pointer = self.schema.pointer(index);
                let problem = "must be an object or a boolean".to_owned();
                return Err(SchemaError { pointer, problem });
            }
        };
        let keywords = fields.iter().map(|(name, value)| Keyword {
            name,
            value,
            fields,
            index,
        });
        keywords
            .filter_map(|keyword| self.rule(keyword).transpose())
            .collect()
    }

    /// The rule of a keyword. Among keywords that belong together, one makes the rule of all.
    fn rule(&mut self, at: Keyword<'a>) -> Read<Option<Rule>> {
        let has = |name: &str| at.fields.contains_key(name);
        Ok(Some(match at.name {
            "type" => Rule::Type(self.types(at)?),
            "enum" => Rule::Choice(Choices::new("one of ", self.array(at)?)),
            "const" => Rule::Choice(Choices::new("", std::slice::from_ref(at.value))),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => return self.bound(at),
            "multipleOf" => match self.number(at)? {
                divisor if divisor.as_f64() > Some(0.0) => Rule::MultipleOf(divisor.clone()),
                _ => return Err(self.refusal(at, "must be above 0")),
            },
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                Rule::Size(at.name.to_owned(), self.size(at)?)
            }
            "uniqueItems" => match at.value.as_bool() {
                Some(is_wanted) => return Ok(is_wanted.then_some(Rule::UniqueItems)),
                None => return Err(self.refusal(at, "must be true or false")),
            },
            "required" => Rule::Required(self.required(at)?),
            "properties" => self.properties(at)?,
            "additionalProperties" if !has("properties") => self.properties(at)?,
            "propertyNames" => Rule::PropertyNames(self.child(at)),
            "prefixItems" => self.items(at)?,
            "items" if !has("prefixItems") => self.items(at)?,
            "allOf" => Rule::All(self.list(at)?),
            "anyOf" => Rule::Any(self.list(at)?),
            "oneOf" => Rule::One(self.list(at)?),
            "not" => Rule::Not(self.child(at)),
            "if" => {
                let condition = self.child(at);
                let mut branch = |name| at.sibling(name).map(|at| self.child(at));
                Rule::If(condition, branch("then"), branch("else"))
            }
            "$ref" => return self.reference(at),
            "$defs" | "definitions" => return self.children(at).map(|_| None),
            "then" | "else" | "additionalProperties" | "items" | "additionalItems" => return Ok(None),
            "$id" if at.index > 0 => return Ok(self.warn(at, NOT_CHECKED)),
            name if is_annotation(name) => return Ok(None),
            _ => return Ok(self.warn(at, NOT_CHECKED)),
        }))
    }

    /// The names of required properties. A name that is missing in `properties` is probably misspelt.
    fn required(&mut self, at: Keyword<'a>) -> Read<Vec<String>> {
        let names = self.names(at)?;
        let known = at.fields.get("properties").and_then(Value::as_object);
        let is_whole = ["$ref", "allOf", "anyOf", "oneOf"]
            .iter()
            .all(|name| !at.fields.contains_key(*name));
        let missing = |name: &&String| is_whole && known.is_some_and(|known| !known.contains_key(*name));
        if let Some(name) = names.iter().find(missing) {
            self.warn(at, &format!("names {name}, which properties does not have"));
        }
        Ok(names)
    }

    fn warn(&mut self, at: Keyword<'a>, problem: &str) -> Option<Rule> {
        let warnings = &self.schema.warnings;
        if warnings.len() < MAX_WARNINGS && warnings.iter().all(|known| known.keyword != at.name) {
            let pointer = self.schema.pointer(at.index);
            let keyword = at.name.to_owned();
            let problem = problem.to_owned();
            self.schema.warnings.push(SchemaWarning {
                keyword,
                problem,
                pointer,
            });
        }
        None
    }

    fn refusal(&self, at: Keyword<'a>, problem: &str) -> SchemaError {
        let mut pointer = self.schema.pointer(at.index);
        push_segment(&mut pointer, at.name);
        let problem = problem.to_owned();
        SchemaError { pointer, problem }
    }

    /// The node of a keyword with a schema as its value.
    fn child(&mut self, at: Keyword<'a>) -> NodeIndex {
        self.node(at.index, format!("/{}", at.name), at.value)
    }

    fn named_child(&mut self, at: Keyword<'a>, name: &str, value: &'a Value) -> NodeIndex {
        let mut tail = format!("/{}", at.name);
        push_segment(&mut tail, name);
        self.node(at.index, tail, value)
    }

    /// The nodes of a keyword with an array of schemas as its value.
    fn list(&mut self, at: Keyword<'a>) -> Read<Vec<NodeIndex>> {
        let list = self.array(at)?;
        if list.is_empty() && at.name.ends_with("Of") {
            return Err(self.refusal(at, "must not be empty"));
        }
        let child = |(place, value): (usize, &'a Value)| self.named_child(at, &place.to_string(), value);
        Ok(list.iter().enumerate().map(child).collect())
    }

    /// The nodes of a keyword with an object of schemas as its value, sorted by name.
    fn children(&mut self, at: Keyword<'a>) -> Read<Vec<(String, NodeIndex)>> {
        let Some(fields) = at.value.as_object() else {
            return Err(self.refusal(at, "must be an object"));
        };
        let child = |(name, value): (&String, _)| (name.clone(), self.named_child(at, name, value));
        let mut children: Vec<_> = fields.iter().map(child).collect();
        children.sort_unstable();
        Ok(children)
    }

    fn properties(&mut self, at: Keyword<'a>) -> Read<Rule> {
        let named = at.sibling("properties").map(|at| self.children(at));
        // The engine does not know which properties the patterns match.
        let is_open = at.fields.contains_key("patternProperties");
        let others = at.sibling("additionalProperties").filter(|_| !is_open);
        let others = match others.map(|at| (at, at.value)) {
            None | Some((_, Value::Bool(true))) => Additional::Allowed,
            Some((_, Value::Bool(false))) => Additional::Refused,
            Some((at, _)) => Additional::Checked(self.child(at)),
        };
        let named = named.transpose()?.unwrap_or_default();
        Ok(Rule::Properties(named, others))
    }

    /// `prefixItems` and `items` of 2020-12, or `items` and `additionalItems` of draft-07.
    fn items(&mut self, at: Keyword<'a>) -> Read<Rule> {
        let (first, others) = match at.value {
            Value::Array(_) if at.name == "items" => (self.list(at)?, "additionalItems"),
            _ if at.name == "items" => (Vec::new(), "items"),
            _ => (self.list(at)?, "items"),
        };
        Ok(Rule::Items(first, at.sibling(others).map(|at| self.child(at))))
    }

    fn types(&self, at: Keyword<'a>) -> Read<Vec<&'static str>> {
        let names = match at.value {
            Value::Array(names) => names.as_slice(),
            one => std::slice::from_ref(one),
        };
        if let Some(name) = names.iter().find(|name| TYPES.iter().all(|known| known != *name)) {
            let known = TYPES.join(", ");
            return Err(self.refusal(at, &format!("must be one or several of {known}, not {name}")));
        }
        if names.is_empty() {
            return Err(self.refusal(at, "must not be empty"));
        }
        let is_named = |known: &&str| names.iter().any(|name| name == known);
        Ok(TYPES.into_iter().filter(is_named).collect())
    }

    /// A bound. Draft-04 makes one exclusive by a boolean next to it. A `true` without a bound has no effect.
    fn bound(&mut self, at: Keyword<'a>) -> Read<Option<Rule>> {
        let exclusive = match (at.name, at.value) {
            ("minimum", _) => "exclusiveMinimum",
            ("maximum", _) => "exclusiveMaximum",
            (own, Value::Bool(is_exclusive)) => {
                let bound = if own == "exclusiveMinimum" {
                    "minimum"
                } else {
                    "maximum"
                };
                let has_effect = !is_exclusive || at.fields.contains_key(bound);
                return Ok(if has_effect {
                    None
                } else {
                    self.warn(at, NOT_CHECKED)
                });
            }
            (own, _) => own,
        };
        let is_exclusive = at.fields.get(exclusive) == Some(&Value::Bool(true));
        let name = if is_exclusive { exclusive } else { at.name };
        Ok(Some(Rule::Bound(name.to_owned(), self.number(at)?.clone())))
    }

    fn size(&self, at: Keyword<'a>) -> Read<u64> {
        match at.value {
            // A float beyond the integers exceeds any size.
            Value::Number(number) if is_whole(number) && number.as_f64() >= Some(0.0) => {
                Ok(number.as_u64().unwrap_or(u64::MAX))
            }
            _ => Err(self.refusal(at, "must be a whole number from 0")),
        }
    }

    /// A reference. References to other documents and to anchors are not followed.
    fn reference(&mut self, at: Keyword<'a>) -> Read<Option<Rule>> {
        let Some(reference) = at.value.as_str() else {
            return Err(self.refusal(at, "must be a string"));
        };
        let own_id = self.root.get("$id").and_then(Value::as_str);
        let local = own_id
            .and_then(|id| reference.strip_prefix(id.trim_end_matches('#')))
            .filter(|rest| rest.is_empty() || rest.starts_with('#'))
            .unwrap_or(reference);
        let pointer = match local.strip_prefix('#') {
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => pointer,
            None if local.is_empty() => "",
            _ => return Ok(self.warn(at, NOT_CHECKED)),
        };
        let pointer = percent_decode_str(pointer).decode_utf8_lossy();
        match self.root.pointer(&pointer) {
            Some(target) => Ok(Some(Rule::Ref(self.node(0, pointer.into_owned(), target)))),
            None => Err(self.refusal(at, &format!("leads nowhere: {reference}"))),
        }
    }

    fn array(&self, at: Keyword<'a>) -> Read<&'a [Value]> {
        let items = at.value.as_array().map(Vec::as_slice);
        items.ok_or_else(|| self.refusal(at, "must be an array"))
    }

    fn names(&self, at: Keyword<'a>) -> Read<Vec<String>> {
        let items = at.value.as_array().map(|items| items.iter());
        let names = items.and_then(|items| items.map(|item| item.as_str().map(str::to_owned)).collect());
        names.ok_or_else(|| self.refusal(at, "must be an array of strings"))
    }

    fn number(&self, at: Keyword<'a>) -> Read<&'a Number> {
        at.value
            .as_number()
            .ok_or_else(|| self.refusal(at, "must be a number"))
    }
}

/// The problem of a keyword that looplet does not know.
const NOT_CHECKED: &str = "is not checked";

/// The most warnings for one schema.
const MAX_WARNINGS: usize = 32;

#[rustfmt::skip]
fn is_annotation(keyword: &str) -> bool {
    let known = [
        "title", "description", "default", "example", "examples", "format", "deprecated", "readOnly", "writeOnly",
        "$schema", "$comment", "$id", "id", "$anchor", "$vocabulary", "~standard",
    ];
    known.contains(&keyword) || keyword.starts_with("x-")
}
