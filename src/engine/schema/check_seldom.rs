//! The rules of keywords that plain schemas do not have (`SELDOM` in `compile.rs`): a part of the engine that is loaded
//! for schemas with them.

use crate::engine::json::tree::{Members, Tree};
use crate::engine::json::writer::decimal;
use crate::engine::schema::check::{At, Check, Path};
use crate::engine::schema::equal::{compare, duplicate, is_multiple, same};
use crate::engine::schema::{Counted, MAX_STEPS, NodeIndex, Rule};
use std::borrow::Cow;
use std::cmp::Ordering;

impl<'s> Check<'s> {
    #[inline(never)]
    pub(super) fn seldom_rule(&mut self, rule: &'s Rule, at: &At<'_>) -> bool {
        match (rule, at.instance) {
            (Rule::Const(expected), value) => {
                same(expected, value, &mut self.steps) || self.fail_const(expected, at)
            }
            (Rule::Bound { keyword, limit }, Tree::Number(number)) => self.bound(keyword, limit, number, at),
            (Rule::MultipleOf(divisor), Tree::Number(number)) => {
                is_multiple(number, divisor) || self.fail_number(at, "multipleOf", "a multiple of ", divisor)
            }
            (Rule::Count { keyword, what, limit }, value) => self.size(keyword, *what, *limit, value, at),
            (Rule::UniqueItems, Tree::Array(items)) => self.unique(items, at),
            (Rule::PropertyNames(index), Tree::Object(fields)) => self.property_names(*index, fields, at),
            (Rule::DependentRequired(lists), Tree::Object(fields)) => {
                self.dependent_required("dependentRequired", lists, fields, at)
            }
            (Rule::DependentSchemas(schemas), Tree::Object(fields)) => self.dependent(schemas, fields, at),
            (Rule::Dependencies(lists, schemas), Tree::Object(fields)) => {
                self.dependent_required("dependencies", lists, fields, at)
                    & self.dependent(schemas, fields, at)
            }
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
