//! Checks an instance against compiled nodes, within bounded work.
//!
//! Text is made only for violations that are kept: whether one of several alternatives fits is first found
//! out quietly, and only if none does, each is checked again to tell which came closest.

use crate::engine::json::tree::{Members, Tree};
use crate::engine::schema::{
    Additional, MAX_DEPTH, MAX_STEPS, Node, NodeIndex, Rule, Schema, Types, Violation,
};

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

    pub(super) fn count(&mut self, steps: usize) {
        self.steps += steps;
        if self.steps > MAX_STEPS && self.gave_up.is_none() {
            self.gave_up = Some("too much work: the value is too large for this schema to check");
        }
    }

    /// Whether a value that does not fit needs no further look.
    pub(super) fn is_done(&self) -> bool {
        self.gave_up.is_some() || self.quiet || self.found.len() >= self.max_errors
    }

    pub(super) fn fits(&mut self, index: NodeIndex, at: &At<'_>) -> bool {
        self.fits_value(index, at.instance, at.path)
    }

    pub(super) fn fits_value(&mut self, index: NodeIndex, instance: &Tree<'_>, path: &Path<'_>) -> bool {
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
            (Rule::Required(names), Tree::Object(fields)) => self.required("required", names, fields, at),
            (Rule::Properties { named, additional }, Tree::Object(fields)) => {
                self.properties(named, *additional, fields, at)
            }
            (Rule::Items { prefix, rest }, Tree::Array(items)) => self.items(prefix, *rest, items, at),
            (Rule::Required(_) | Rule::Properties { .. } | Rule::Items { .. }, _) => true,
            (rule, _) => self.seldom_rule(rule, at),
        }
    }

    pub(super) fn required(
        &mut self,
        keyword: &str,
        names: &[String],
        fields: &Members<'_>,
        at: &At<'_>,
    ) -> bool {
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
}
