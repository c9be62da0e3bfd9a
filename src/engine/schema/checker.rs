//! Validates an instance against compiled nodes, within bounded work.
//!
//! [`super::Schema::validate`] calls [`validate`]. It builds text only for violations that are returned. An
//! alternative (`anyOf`, `oneOf`) is first checked without texts. If none matches, each is checked again to find the
//! closest one. Work and depth are bounded. A check that exceeds a bound ends with a violation that says so.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use crate::engine::json::canonical::canonical_value;
use crate::engine::schema::rule::{Additional, NodeIndex, Rule, compare, is_multiple, is_of_type, weight};
use crate::engine::schema::{MAX_DEPTH, MAX_STEPS, Schema, Violation};

/// Checks `instance`, which comes from [`crate::engine::json::value::read`], and returns at most `max_errors`
/// violations.
pub fn validate(schema: &Schema, instance: &Value, max_errors: usize) -> Vec<Violation> {
    let mut checker = Checker {
        schema,
        steps: 0,
        depth: 0,
        gave_up: None,
        quiet: false,
        found: Vec::new(),
        max_errors,
    };
    let path = &Path::Root;
    checker.node(
        0,
        Instance {
            value: instance,
            path,
        },
    );
    if let Some(reason) = checker.gave_up {
        checker.found.truncate(max_errors - 1);
        checker.found.push(Violation::of_the_whole(reason.to_owned()));
    }
    checker.found
}

pub struct Checker<'s> {
    schema: &'s Schema,
    steps: usize,
    depth: usize,
    gave_up: Option<&'static str>,
    quiet: bool,
    pub(super) found: Vec<Violation>,
    pub(super) max_errors: usize,
}

/// The path of a value, as a list on the stack.
pub enum Path<'a> {
    Root,
    Property(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

/// A value and its path.
#[derive(Clone, Copy)]
pub struct Instance<'a> {
    pub(super) value: &'a Value,
    pub(super) path: &'a Path<'a>,
}

impl<'s> Checker<'s> {
    /// Checks a value against a node and collects the requested violations. Returns true if the value is valid.
    pub(super) fn node(&mut self, index: NodeIndex, at: Instance<'_>) -> bool {
        if self.depth >= MAX_DEPTH {
            self.gave_up = Some("too deep: the schema and the value nest too many levels");
            return false;
        }
        let Some(node) = self.schema.nodes.get(index) else {
            return true;
        };
        self.depth += 1;
        let fits = self.all(&node.rules, |checker, rule| {
            checker.count(1);
            checker.gave_up.is_none() && checker.rule(rule, at)
        });
        self.depth -= 1;
        fits
    }

    /// Checks all parts. Continues after an invalid part while more violations are requested.
    fn all<I: IntoIterator>(&mut self, parts: I, mut fits: impl FnMut(&mut Self, I::Item) -> bool) -> bool {
        let mut all_fit = true;
        for part in parts {
            all_fit &= fits(self, part);
            if !all_fit && self.is_done() {
                break;
            }
        }
        all_fit
    }

    pub(super) fn count(&mut self, steps: usize) {
        self.steps += steps;
        if self.steps > MAX_STEPS && self.gave_up.is_none() {
            self.gave_up = Some("too much work: the value is too large for this schema to check");
        }
    }

    /// True if an invalid value needs no further checks.
    pub(super) fn is_done(&self) -> bool {
        self.gave_up.is_some() || self.quiet || self.found.len() >= self.max_errors
    }

    fn fits(&mut self, index: NodeIndex, at: Instance<'_>) -> bool {
        let was_quiet = std::mem::replace(&mut self.quiet, true);
        let fits = self.node(index, at);
        self.quiet = was_quiet;
        fits
    }

    fn rule(&mut self, rule: &'s Rule, at: Instance<'_>) -> bool {
        match (rule, at.value) {
            (Rule::Nothing, _) => self.fail(at, || "nothing is allowed here".to_owned()),
            (Rule::Type(types), value) => {
                types.iter().any(|name| is_of_type(value, name)) || self.fail_type(types, at)
            }
            (Rule::Choice(choices), value) => {
                choices.has(value, &mut self.steps) || self.fail_choice(choices, at)
            }
            (Rule::Bound(keyword, limit), Value::Number(number)) => self.bound(keyword, limit, number, at),
            (Rule::MultipleOf(divisor), Value::Number(number)) => {
                is_multiple(number, divisor) || self.fail_number(at, "a multiple of", divisor)
            }
            (Rule::Size(keyword, limit), _) => self.size(keyword, *limit, at),
            (Rule::UniqueItems, Value::Array(items)) => self.unique(items, at),
            (Rule::Required(names), Value::Object(fields)) => self.required(names, fields, at),
            (Rule::Properties(named, others), Value::Object(fields)) => {
                self.properties(named, *others, fields, at)
            }
            (Rule::PropertyNames(index), Value::Object(fields)) => self.property_names(*index, fields, at),
            (Rule::Items(first, others), Value::Array(items)) => self.items(first, *others, items, at),
            (Rule::All(list), _) => self.all(list, |checker, index| checker.node(*index, at)),
            (Rule::Any(list), _) => {
                list.iter().any(|index| self.fits(*index, at)) || self.fail_none(at, list)
            }
            (Rule::One(list), _) => self.one(list, at),
            (Rule::Not(index), _) => {
                !self.fits(*index, at) || self.fail(at, || "is what \"not\" forbids".to_owned())
            }
            (Rule::If(condition, then, otherwise), _) => {
                let holds = self.fits(*condition, at);
                let branch = if holds { then } else { otherwise };
                branch.is_none_or(|index| self.node(index, at))
            }
            (Rule::Ref(index), _) => self.node(*index, at),
            // The keyword concerns values of another type.
            _ => true,
        }
    }

    fn bound(&mut self, keyword: &str, limit: &Number, number: &Number, at: Instance<'_>) -> bool {
        let order = compare(number, limit);
        let (fits, expected) = match keyword {
            "minimum" => (order != Some(Ordering::Less), "at least"),
            "maximum" => (order != Some(Ordering::Greater), "at most"),
            "exclusiveMinimum" => (order == Some(Ordering::Greater), "more than"),
            _ => (order == Some(Ordering::Less), "less than"),
        };
        fits || self.fail_number(at, expected, limit)
    }

    fn size(&mut self, keyword: &str, limit: u64, at: Instance<'_>) -> bool {
        let (bound, what) = keyword.split_at_checked(3).unwrap_or_default();
        let (size, unit) = match (what, at.value) {
            ("Length", Value::String(text)) => {
                self.count(text.len() / 64);
                (text.chars().count(), "characters")
            }
            ("Items", Value::Array(items)) => (items.len(), "items"),
            ("Properties", Value::Object(fields)) => (fields.len(), "properties"),
            _ => return true,
        };
        let (fits, word) = match bound {
            "min" => (size as u64 >= limit, "least"),
            _ => (size as u64 <= limit, "most"),
        };
        fits || self.fail(at, || format!("expected at {word} {limit} {unit}, got {size}"))
    }

    fn unique(&mut self, items: &[Value], at: Instance<'_>) -> bool {
        self.count(items.iter().map(weight).sum());
        let mut places = BTreeMap::new();
        let mut items = items.iter().enumerate();
        let pair =
            items.find_map(|(place, item)| Some((places.insert(canonical_value(item), place)?, place)));
        pair.is_none_or(|(first, second)| {
            self.fail(at, || {
                format!("items must differ, but {first} and {second} are equal (counted from 0)")
            })
        })
    }

    fn required(&mut self, names: &[String], fields: &Map<String, Value>, at: Instance<'_>) -> bool {
        self.all(names, |checker, name| {
            checker.count(1);
            let path = &Path::Property(at.path, name);
            let missing = || "required property is missing".to_owned();
            fields.contains_key(name) || checker.fail(Instance { path, ..at }, missing)
        })
    }

    fn properties(
        &mut self,
        named: &[(String, NodeIndex)],
        others: Additional,
        fields: &Map<String, Value>,
        at: Instance<'_>,
    ) -> bool {
        self.all(fields, |checker, (name, value)| {
            checker.count(1);
            let path = &Path::Property(at.path, name);
            let known = named.binary_search_by(|(known, _)| known.cmp(name)).ok();
            match (known.and_then(|place| named.get(place)), others) {
                (Some((_, index)), _) => checker.node(*index, Instance { value, path }),
                (None, Additional::Checked(index)) => checker.node(index, Instance { value, path }),
                (None, Additional::Allowed) => true,
                (None, Additional::Refused) => checker.fail_unexpected(named, Instance { value, path }),
            }
        })
    }

    fn property_names(&mut self, index: NodeIndex, fields: &Map<String, Value>, at: Instance<'_>) -> bool {
        self.all(fields.keys(), |checker, name| {
            checker.count(1 + name.len() / 64);
            let value = &Value::String(name.clone());
            let path = &Path::Property(at.path, name);
            checker.fits(index, Instance { value, path })
                || checker.fail_name(index, Instance { value, path })
        })
    }

    fn items(
        &mut self,
        first: &[NodeIndex],
        others: Option<NodeIndex>,
        items: &[Value],
        at: Instance<'_>,
    ) -> bool {
        let schemas = first.iter().copied().map(Some).chain(std::iter::repeat(others));
        let checked = schemas.map_while(|index| index).zip(items).enumerate();
        self.all(checked, |checker, (place, (index, value))| {
            checker.count(1);
            let path = &Path::Item(at.path, place);
            checker.node(index, Instance { value, path })
        })
    }

    fn one(&mut self, list: &[NodeIndex], at: Instance<'_>) -> bool {
        let mut fitting = Vec::new();
        for (place, index) in list.iter().enumerate() {
            if self.fits(*index, at) {
                fitting.push(place + 1);
            }
            if let [first, second] = fitting.as_slice() {
                return self.fail(at, || {
                    format!("matches more than one alternative of oneOf: numbers {first} and {second}")
                });
            }
        }
        !fitting.is_empty() || self.fail_none(at, list)
    }
}
