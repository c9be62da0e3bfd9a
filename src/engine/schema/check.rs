//! Checks an instance against compiled nodes, within bounded work.
//!
//! Text is made only for violations that are kept: whether one of several alternatives fits is first found
//! out quietly, and only if none does, each is checked again to tell which came closest.

use super::super::json_tree::{Members, Tree};
use super::super::json_writer::decimal;
use super::equal::{compare, duplicate, is_multiple, same};
use super::{Additional, Counted, MAX_DEPTH, MAX_STEPS, Node, NodeIndex, Rule, Schema, Types, Violation};
use std::borrow::Cow;
use std::cmp::Ordering;

pub fn validate(schema: &Schema, instance: &Tree<'_>, max_errors: usize) -> Vec<Violation> {
    let mut check = Check {
        schema,
        steps: 0,
        depth: 0,
        gave_up: None,
        quiet: false,
        found: Vec::new(),
        max_errors,
    };
    check.node(0, instance, &Path::Root);
    if let Some(reason) = check.gave_up {
        check.found.truncate(max_errors - 1);
        check.found.push(Violation {
            instance_pointer: String::new(),
            schema_pointer: String::new(),
            message: reason.to_owned(),
        });
    }
    check.found
}

pub struct Check<'s> {
    pub(super) schema: &'s Schema,
    pub(super) steps: usize,
    pub(super) depth: usize,
    pub(super) gave_up: Option<&'static str>,
    pub(super) quiet: bool,
    pub(super) found: Vec<Violation>,
    pub(super) max_errors: usize,
}

/// Where a value lies, as a list on the stack.
pub enum Path<'a> {
    Root,
    Property(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

/// One keyword on one value.
pub struct At<'a> {
    pub(super) node: &'a Node,
    pub(super) instance: &'a Tree<'a>,
    pub(super) path: &'a Path<'a>,
}

impl<'s> Check<'s> {
    pub(super) fn node(&mut self, index: NodeIndex, instance: &Tree<'_>, path: &Path<'_>) -> bool {
        if self.depth >= MAX_DEPTH {
            self.gave_up = Some("too deep: the schema and the value nest too many levels");
            return false;
        }
        let Some(node) = self.schema.nodes.get(index) else {
            return true;
        };
        let at = At { node, instance, path };
        let mut fits = true;
        self.depth += 1;
        for rule in &node.rules {
            self.count(1);
            fits &= self.gave_up.is_none() && self.rule(rule, &at);
            if !fits && self.is_done() {
                break;
            }
        }
        self.depth -= 1;
        fits
    }

    fn count(&mut self, steps: usize) {
        self.steps += steps;
        if self.steps > MAX_STEPS && self.gave_up.is_none() {
            self.gave_up = Some("too much work: the value is too large for this schema to check");
        }
    }

    /// Whether a value that does not fit needs no further look.
    pub(super) fn is_done(&self) -> bool {
        self.gave_up.is_some() || self.quiet || self.found.len() >= self.max_errors
    }

    fn fits(&mut self, index: NodeIndex, at: &At<'_>) -> bool {
        self.fits_value(index, at.instance, at.path)
    }

    fn fits_value(&mut self, index: NodeIndex, instance: &Tree<'_>, path: &Path<'_>) -> bool {
        let was_quiet = std::mem::replace(&mut self.quiet, true);
        let fits = self.node(index, instance, path);
        self.quiet = was_quiet;
        fits
    }

    fn rule(&mut self, rule: &'s Rule, at: &At<'_>) -> bool {
        match (rule, at.instance) {
            (Rule::Nothing, _) => self.fail(at, "", "nothing is allowed here"),
            (Rule::Type(types), value) => types.0 & Types::of(value).0 != 0 || self.fail_type(*types, at),
            (Rule::Enum(choices), value) => {
                choices.has(value, &mut self.steps) || self.fail_enum(choices, at)
            }
            (Rule::Const(expected), value) => {
                same(expected, value, &mut self.steps) || self.fail_const(expected, at)
            }
            (Rule::Bound { keyword, limit }, Tree::Number(number)) => self.bound(keyword, limit, number, at),
            (Rule::MultipleOf(divisor), Tree::Number(number)) => {
                is_multiple(number, divisor) || self.fail_number(at, "multipleOf", "a multiple of ", divisor)
            }
            (Rule::Count { keyword, what, limit }, value) => self.size(keyword, *what, *limit, value, at),
            (Rule::UniqueItems, Tree::Array(items)) => self.unique(items, at),
            (Rule::Required(names), Tree::Object(fields)) => self.required("required", names, fields, at),
            (Rule::Properties { named, additional }, Tree::Object(fields)) => {
                self.properties(named, *additional, fields, at)
            }
            (Rule::PropertyNames(index), Tree::Object(fields)) => self.property_names(*index, fields, at),
            (Rule::DependentRequired(lists), Tree::Object(fields)) => {
                self.dependent_required("dependentRequired", lists, fields, at)
            }
            (Rule::DependentSchemas(schemas), Tree::Object(fields)) => self.dependent(schemas, fields, at),
            (Rule::Dependencies(lists, schemas), Tree::Object(fields)) => {
                self.dependent_required("dependencies", lists, fields, at)
                    & self.dependent(schemas, fields, at)
            }
            (Rule::Items { prefix, rest }, Tree::Array(items)) => self.items(prefix, *rest, items, at),
            (Rule::Contains { node, least, most }, Tree::Array(items)) => {
                self.contains(*node, *least, *most, items, at)
            }
            (Rule::All(list), _) => self.all(list, at),
            (Rule::Any(list), _) => {
                list.iter().any(|index| self.fits(*index, at)) || self.fail_any("anyOf", list, at)
            }
            (Rule::One(list), _) => self.one(list, at),
            (Rule::Not(index), _) => {
                !self.fits(*index, at) || self.fail(at, "not", "is what \"not\" forbids")
            }
            (
                Rule::If {
                    condition,
                    then,
                    otherwise,
                },
                _,
            ) => {
                let branch = if self.fits(*condition, at) {
                    then
                } else {
                    otherwise
                };
                branch.is_none_or(|index| self.node(index, at.instance, at.path))
            }
            (Rule::Ref(index), _) => self.node(*index, at.instance, at.path),
            _ => true,
        }
    }

    fn bound(&mut self, keyword: &'static str, limit: &str, number: &str, at: &At<'_>) -> bool {
        let order = compare(number, limit);
        let (fits, expected) = match keyword {
            "minimum" => (order != Some(Ordering::Less), "at least "),
            "maximum" => (order != Some(Ordering::Greater), "at most "),
            "exclusiveMinimum" => (order == Some(Ordering::Greater), "more than "),
            _ => (order == Some(Ordering::Less), "less than "),
        };
        fits || self.fail_number(at, keyword, expected, limit)
    }

    fn size(
        &mut self,
        keyword: &'static str,
        what: Counted,
        limit: u64,
        value: &Tree<'_>,
        at: &At<'_>,
    ) -> bool {
        let (size, unit) = match (what, value) {
            (Counted::Characters, Tree::String(text)) => {
                self.count(text.len() / 64);
                (text.chars().count(), " characters")
            }
            (Counted::Items, Tree::Array(items)) => (items.len(), " items"),
            (Counted::Properties, Tree::Object(fields)) => (fields.len(), " properties"),
            _ => return true,
        };
        let is_least = keyword.starts_with("min");
        let fits = if is_least {
            size as u64 >= limit
        } else {
            size as u64 <= limit
        };
        if fits || self.is_done() {
            return fits;
        }
        let mut message = String::from(if is_least {
            "expected at least "
        } else {
            "expected at most "
        });
        message.push_str(&decimal(limit as usize));
        message.push_str(unit);
        message.push_str(", got ");
        message.push_str(&decimal(size));
        self.fail(at, keyword, &message)
    }

    fn unique(&mut self, items: &[Tree<'_>], at: &At<'_>) -> bool {
        let pair = duplicate(items, &mut self.steps, MAX_STEPS);
        self.count(0);
        let Some((first, second)) = pair else { return true };
        if self.is_done() {
            return false;
        }
        let mut message = String::from("items must differ, but ");
        message.push_str(&decimal(first));
        message.push_str(" and ");
        message.push_str(&decimal(second));
        message.push_str(" are equal (counted from 0)");
        self.fail(at, "uniqueItems", &message)
    }

    fn required(&mut self, keyword: &str, names: &[String], fields: &Members<'_>, at: &At<'_>) -> bool {
        let mut fits = true;
        for name in names {
            self.count(1);
            if !fields.has(name) {
                let path = Path::Property(at.path, name);
                fits = self.fail(
                    &At { path: &path, ..*at },
                    keyword,
                    "required property is missing",
                );
            }
            if !fits && self.is_done() {
                break;
            }
        }
        fits
    }

    fn properties(
        &mut self,
        named: &[(String, NodeIndex)],
        additional: Additional,
        fields: &Members<'_>,
        at: &At<'_>,
    ) -> bool {
        let mut fits = true;
        for (name, value) in fields.iter() {
            self.count(1);
            let path = Path::Property(at.path, name);
            let known = named.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok();
            let index = known.and_then(|place| named.get(place)).map(|(_, index)| *index);
            fits &= match (index, additional) {
                (Some(index), _) | (None, Additional::Checked(index)) => self.node(index, value, &path),
                (None, Additional::Allowed) => true,
                (None, Additional::Refused) => self.fail_unexpected(named, &At { path: &path, ..*at }),
            };
            if !fits && self.is_done() {
                break;
            }
        }
        fits
    }

    fn property_names(&mut self, index: NodeIndex, fields: &Members<'_>, at: &At<'_>) -> bool {
        let mut fits = true;
        for (name, _) in fields.iter() {
            self.count(1 + name.len() / 64);
            let path = Path::Property(at.path, name);
            let name_value = Tree::String(Cow::Borrowed(name));
            if !self.fits_value(index, &name_value, &path) {
                fits = self.fail_closest(
                    &At {
                        path: &path,
                        instance: &name_value,
                        ..*at
                    },
                    "propertyNames",
                    "the property's name does not fit",
                    &[index],
                );
            }
            if !fits && self.is_done() {
                break;
            }
        }
        fits
    }

    fn dependent_required(
        &mut self,
        keyword: &'static str,
        lists: &[(String, Vec<String>)],
        fields: &Members<'_>,
        at: &At<'_>,
    ) -> bool {
        let mut fits = true;
        for (name, names) in lists {
            self.count(1);
            if fields.has(name) {
                fits &= self.required(keyword, names, fields, at);
            }
        }
        fits
    }

    fn dependent(&mut self, schemas: &[(String, NodeIndex)], fields: &Members<'_>, at: &At<'_>) -> bool {
        let mut fits = true;
        for (name, index) in schemas {
            self.count(1);
            fits &= !fields.has(name) || self.node(*index, at.instance, at.path);
            if !fits && self.is_done() {
                break;
            }
        }
        fits
    }

    fn items(
        &mut self,
        prefix: &[NodeIndex],
        rest: Option<NodeIndex>,
        items: &[Tree<'_>],
        at: &At<'_>,
    ) -> bool {
        let mut fits = true;
        for (position, item) in items.iter().enumerate() {
            let Some(index) = prefix.get(position).copied().or(rest) else {
                break;
            };
            self.count(1);
            fits &= self.node(index, item, &Path::Item(at.path, position));
            if !fits && self.is_done() {
                break;
            }
        }
        fits
    }

    fn contains(
        &mut self,
        index: NodeIndex,
        least: u64,
        most: Option<u64>,
        items: &[Tree<'_>],
        at: &At<'_>,
    ) -> bool {
        let mut count = 0;
        for (position, item) in items.iter().enumerate() {
            if self.gave_up.is_some() || (most.is_none() && count >= least) {
                break;
            }
            self.count(1);
            count += u64::from(self.fits_value(index, item, &Path::Item(at.path, position)));
        }
        let (keyword, word, limit) = match most {
            Some(most) if count > most => ("maxContains", "at most ", most),
            _ if count < least => ("contains", "at least ", least),
            _ => return true,
        };
        if self.is_done() {
            return false;
        }
        let mut message = String::from("expected ");
        message.push_str(word);
        message.push_str(&decimal(limit as usize));
        message.push_str(" items that fit \"contains\", got ");
        message.push_str(&decimal(count as usize));
        self.fail(at, keyword, &message)
    }

    fn all(&mut self, list: &[NodeIndex], at: &At<'_>) -> bool {
        let mut fits = true;
        for index in list {
            fits &= self.node(*index, at.instance, at.path);
            if !fits && self.is_done() {
                break;
            }
        }
        fits
    }

    fn one(&mut self, list: &[NodeIndex], at: &At<'_>) -> bool {
        let mut fitting = None;
        for (number, index) in list.iter().enumerate() {
            if !self.fits(*index, at) {
                continue;
            }
            let Some(first) = fitting.replace(number) else {
                continue;
            };
            if self.is_done() {
                return false;
            }
            let mut message = String::from("fits more than one alternative of oneOf: numbers ");
            message.push_str(&decimal(first + 1));
            message.push_str(" and ");
            message.push_str(&decimal(number + 1));
            return self.fail(at, "oneOf", &message);
        }
        fitting.is_some() || self.fail_any("oneOf", list, at)
    }
}
