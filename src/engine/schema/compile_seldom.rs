//! The keywords that plain schemas do not have (`SELDOM` in `compile.rs`): a part of the engine that is loaded for schemas
//! with them.

use crate::engine::json::number::float;
use crate::engine::json::reader::whole;
use crate::engine::json::tree::Tree;
use crate::engine::json::writer::decimal;
use crate::engine::schema::compile::{Compiler, Object};
use crate::engine::schema::reference::{anchors, follow};
use crate::engine::schema::{Counted, NodeIndex, Rule};

impl<'a> Compiler<'a> {
    /// As `keyword`, for one of `SELDOM`, and for `items` that is an array.
    #[inline(never)]
    pub(super) fn seldom_keyword(
        &mut self,
        object: &Object<'a>,
        keyword: &'a str,
        value: &'a Tree<'a>,
    ) -> Option<Rule> {
        Some(match keyword {
            "const" => Rule::Const(value.detached()),
            "minimum" => self.bound(object, "minimum", "exclusiveMinimum", value),
            "maximum" => self.bound(object, "maximum", "exclusiveMaximum", value),
            "exclusiveMinimum" | "exclusiveMaximum" if matches!(value, Tree::Bool(_)) => {
                return self.warn(object, keyword);
            }
            "exclusiveMinimum" => self.bound(object, "exclusiveMinimum", "", value),
            "exclusiveMaximum" => self.bound(object, "exclusiveMaximum", "", value),
            "multipleOf" => {
                let divisor = self.number(object, keyword, value);
                if float(&divisor) <= 0.0 {
                    self.refuse(object, keyword, "must be above 0");
                }
                Rule::MultipleOf(divisor)
            }
            "minLength" => self.count(object, "minLength", Counted::Characters, value),
            "maxLength" => self.count(object, "maxLength", Counted::Characters, value),
            "minItems" => self.count(object, "minItems", Counted::Items, value),
            "maxItems" => self.count(object, "maxItems", Counted::Items, value),
            "minProperties" => self.count(object, "minProperties", Counted::Properties, value),
            "maxProperties" => self.count(object, "maxProperties", Counted::Properties, value),
            "uniqueItems" => match value {
                Tree::Bool(true) => Rule::UniqueItems,
                Tree::Bool(false) => return None,
                _ => {
                    self.refuse(object, keyword, "must be true or false");
                    return None;
                }
            },
            "propertyNames" => Rule::PropertyNames(self.child(object, keyword, value)),
            "dependentRequired" => Rule::DependentRequired(self.name_lists(object, value)),
            "dependentSchemas" => Rule::DependentSchemas(self.children(object, keyword, value)),
            "dependencies" => self.dependencies(object, value),
            "prefixItems" | "items" => self.items(object),
            "contains" => self.contains(object, value),
            "minContains" | "maxContains" => {
                self.whole_number(object, keyword, value);
                return None;
            }
            "allOf" => Rule::All(self.list(object, keyword, value)),
            "anyOf" => Rule::Any(self.list(object, keyword, value)),
            "oneOf" => Rule::One(self.list(object, keyword, value)),
            "not" => Rule::Not(self.child(object, keyword, value)),
            "if" => Rule::If {
                condition: self.child(object, keyword, value),
                then: self.field(object, "then"),
                otherwise: self.field(object, "else"),
            },
            "$ref" => return self.reference(object, value),
            "$defs" | "definitions" => {
                self.children(object, keyword, value);
                return None;
            }
            _ => return None,
        })
    }

    fn list(&mut self, object: &Object<'a>, keyword: &str, value: &'a Tree<'a>) -> Vec<NodeIndex> {
        let list = self.array(object, keyword, value);
        if list.is_empty() && keyword.ends_with("Of") {
            self.refuse(object, keyword, "must not be empty");
        }
        let mut nodes = Vec::with_capacity(list.len());
        for (index, value) in list.iter().enumerate() {
            nodes.push(self.named_child(object, keyword, &decimal(index), value));
        }
        nodes
    }

    /// `prefixItems` and `items` of 2020-12, or `items` and `additionalItems` of draft-07.
    fn items(&mut self, object: &Object<'a>) -> Rule {
        let items = object.fields.get("items");
        let (prefix, rest) = match (object.fields.get("prefixItems"), items) {
            (Some(prefix), _) => (self.list(object, "prefixItems", prefix), "items"),
            (None, Some(prefix @ Tree::Array(_))) => (self.list(object, "items", prefix), "additionalItems"),
            (None, _) => (Vec::new(), "items"),
        };
        Rule::Items {
            prefix,
            rest: self.field(object, rest),
        }
    }

    fn contains(&mut self, object: &Object<'a>, value: &'a Tree<'a>) -> Rule {
        let mut limit = |keyword| {
            let value = object.fields.get(keyword)?;
            Some(self.whole_number(object, keyword, value))
        };
        let (least, most) = (limit("minContains").unwrap_or(1), limit("maxContains"));
        Rule::Contains {
            node: self.child(object, "contains", value),
            least,
            most,
        }
    }

    /// Draft-07's mixture of the two that followed it.
    fn dependencies(&mut self, object: &Object<'a>, value: &'a Tree<'a>) -> Rule {
        let mut lists = Vec::new();
        let mut schemas = Vec::new();
        if let Some(fields) = self.object(object, "dependencies", value) {
            for (name, value) in fields.iter() {
                let name = name.to_owned();
                if matches!(value, Tree::Array(_)) {
                    lists.push((name, self.names(object, "dependencies", value)));
                } else {
                    let index = self.named_child(object, "dependencies", &name, value);
                    schemas.push((name, index));
                }
            }
        }
        Rule::Dependencies(lists, schemas)
    }

    fn reference(&mut self, object: &Object<'a>, value: &'a Tree<'a>) -> Option<Rule> {
        let Some(reference) = value.as_str() else {
            self.refuse(object, "$ref", "must be a string");
            return None;
        };
        let Some(found) = self.resolve(reference) else {
            return self.warn(object, "$ref");
        };
        match found {
            Some((pointer, target)) => Some(Rule::Ref(self.node(pointer, target))),
            None => {
                self.refuse(object, "$ref", &["leads nowhere: ", reference].concat());
                None
            }
        }
    }

    /// The pointer and the value that a reference leads to, if there is one; `None` if it leads out of the document.
    fn resolve(&mut self, reference: &str) -> Option<Option<(String, &'a Tree<'a>)>> {
        let own_id = self
            .root
            .get("$id")
            .and_then(Tree::as_str)
            .map(|id| id.strip_suffix('#').unwrap_or(id));
        let local = own_id
            .and_then(|id| reference.strip_prefix(id))
            .filter(|rest| rest.is_empty() || rest.starts_with('#'))
            .unwrap_or(reference);
        let found = match local.strip_prefix('#') {
            Some("") => Some((String::new(), self.root)),
            Some(pointer) if pointer.starts_with('/') => follow(self.root, pointer),
            Some(anchor) => {
                let root = self.root;
                let anchors = self.anchors.get_or_insert_with(|| anchors(root));
                let mut found = anchors.iter().rev().filter(|(name, ..)| *name == anchor);
                found.next().map(|(_, pointer, value)| (pointer.clone(), *value))
            }
            None if local.is_empty() => Some((String::new(), self.root)),
            None => return None,
        };
        Some(found)
    }

    fn name_lists(&mut self, object: &Object<'a>, value: &'a Tree<'a>) -> Vec<(String, Vec<String>)> {
        let mut lists = Vec::new();
        if let Some(fields) = self.object(object, "dependentRequired", value) {
            for (name, value) in fields.iter() {
                let names = self.names(object, "dependentRequired", value);
                lists.push((name.to_owned(), names));
            }
        }
        lists
    }

    fn number(&mut self, object: &Object<'a>, keyword: &str, value: &Tree<'_>) -> String {
        if let Tree::Number(number) = value {
            return number.clone().into_owned();
        }
        self.refuse(object, keyword, "must be a number");
        String::new()
    }

    /// Draft-04 made a bound exclusive by a boolean beside it; that is followed, with a warning.
    fn bound(
        &mut self,
        object: &Object<'a>,
        inclusive: &'static str,
        exclusive: &'static str,
        value: &Tree<'_>,
    ) -> Rule {
        let is_exclusive = matches!(object.fields.get(exclusive), Some(Tree::Bool(true)));
        Rule::Bound {
            limit: self.number(object, inclusive, value),
            keyword: if is_exclusive { exclusive } else { inclusive },
        }
    }

    fn count(&mut self, object: &Object<'a>, keyword: &'static str, what: Counted, value: &Tree<'_>) -> Rule {
        Rule::Count {
            keyword,
            what,
            limit: self.whole_number(object, keyword, value),
        }
    }

    fn whole_number(&mut self, object: &Object<'a>, keyword: &str, value: &Tree<'_>) -> u64 {
        if let Tree::Number(number) = value {
            if let Some(number) = whole(number) {
                return number;
            }
            let number = float(number);
            if number >= 0.0 && number.fract() == 0.0 {
                return number as u64;
            }
        }
        self.refuse(object, keyword, "must be a whole number from 0");
        0
    }
}
