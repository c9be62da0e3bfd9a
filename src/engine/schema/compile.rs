//! From the JSON of a schema to its nodes. A queue stands in for recursion: depth costs no stack.
//!
//! The first problem is kept and the rest of its object is read all the same, so that a reader is a plain expression.

use super::super::json_number::float;
use super::super::json_reader::whole;
use super::super::json_tree::{Members, Tree, sorted};
use super::super::json_writer::decimal;
use super::super::text::listed;
use super::equal::Choices;
use super::reference::{Anchors, anchors, follow};
use super::{
    Additional, Counted, Node, NodeIndex, Rule, Schema, SchemaError, SchemaWarning, Types, push_segment,
};

pub fn compile(root: &Tree<'_>) -> Result<Schema, SchemaError> {
    let mut compiler = Compiler {
        root,
        schema: Schema::default(),
        queue: Vec::new(),
        by_pointer: Vec::new(),
        anchors: None,
        problem: None,
    };
    compiler.node(String::new(), root);
    let mut index = 0;
    while let Some(value) = compiler.queue.get(index) {
        compiler.fill(index, value);
        if let Some(problem) = compiler.problem {
            return Err(problem);
        }
        index += 1;
    }
    Ok(compiler.schema)
}

struct Compiler<'a> {
    root: &'a Tree<'a>,
    schema: Schema,
    /// The values of the nodes, of which the first ones have been read.
    queue: Vec<&'a Tree<'a>>,
    /// The nodes by their pointers.
    by_pointer: Vec<NodeIndex>,
    /// Collected for the first reference that needs them.
    anchors: Option<Anchors<'a>>,
    problem: Option<SchemaError>,
}

/// One schema object while its keywords are read.
struct Object<'a> {
    pointer: String,
    fields: &'a Members<'a>,
}

impl<'a> Compiler<'a> {
    /// The node for the schema at `pointer`, which is compiled once even if referred to.
    fn node(&mut self, pointer: String, value: &'a Tree<'a>) -> NodeIndex {
        let nodes = &self.schema.nodes;
        let known = self.by_pointer.binary_search_by(|index| {
            let known = nodes.get(*index).map_or("", |node| &node.pointer);
            known.cmp(&pointer)
        });
        let place = match known {
            Ok(place) => return self.by_pointer.get(place).copied().unwrap_or_default(),
            Err(place) => place,
        };
        let index = nodes.len();
        self.by_pointer.insert(place, index);
        self.queue.push(value);
        self.schema.nodes.push(Node {
            pointer,
            rules: Vec::new(),
        });
        index
    }

    fn fill(&mut self, index: NodeIndex, value: &'a Tree<'a>) {
        let pointer = self
            .schema
            .nodes
            .get(index)
            .map(|node| node.pointer.clone())
            .unwrap_or_default();
        let mut rules = Vec::new();
        match value {
            Tree::Bool(true) => {}
            Tree::Bool(false) => rules.push(Rule::Nothing),
            Tree::Object(fields) => {
                let object = Object { pointer, fields };
                for (keyword, value) in fields.iter() {
                    rules.extend(self.keyword(&object, keyword, value));
                }
            }
            _ => self.refuse_at(pointer, "must be an object or a boolean"),
        }
        if let Some(node) = self.schema.nodes.get_mut(index) {
            node.rules = rules;
        }
    }

    fn refuse(&mut self, object: &Object<'a>, keyword: &str, problem: &str) {
        self.refuse_at(object.at(keyword), problem);
    }

    fn refuse_at(&mut self, pointer: String, problem: &str) {
        if self.problem.is_none() {
            let problem = problem.to_owned();
            self.problem = Some(SchemaError { pointer, problem });
        }
    }

    /// The rule of a keyword; of keywords that belong together, the first makes the rule of all.
    fn keyword(&mut self, object: &Object<'a>, keyword: &'a str, value: &'a Tree<'a>) -> Option<Rule> {
        Some(match keyword {
            "type" => Rule::Type(self.types(object, value)),
            "enum" => Rule::Enum(Choices::new(self.array(object, keyword, value))),
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
            "required" => Rule::Required(self.names(object, keyword, value)),
            "properties" => self.properties(object),
            "additionalProperties" if !object.fields.has("properties") => self.properties(object),
            "propertyNames" => Rule::PropertyNames(self.child(object, keyword, value)),
            "dependentRequired" => Rule::DependentRequired(self.name_lists(object, value)),
            "dependentSchemas" => Rule::DependentSchemas(self.children(object, keyword, value)),
            "dependencies" => self.dependencies(object, value),
            "prefixItems" => self.items(object),
            "items" if !object.fields.has("prefixItems") => self.items(object),
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
            "then" | "else" | "additionalProperties" | "items" | "additionalItems" => return None,
            "$ref" => return self.reference(object, value),
            "$defs" | "definitions" => {
                self.children(object, keyword, value);
                return None;
            }
            "$id" if !object.pointer.is_empty() && !value.as_str().is_some_and(|id| id.starts_with('#')) => {
                return self.warn(object, keyword);
            }
            _ if is_annotation(keyword) => return None,
            _ => return self.warn(object, keyword),
        })
    }

    fn warn(&mut self, object: &Object<'a>, keyword: &str) -> Option<Rule> {
        let (keyword, pointer) = (keyword.to_owned(), object.pointer.clone());
        self.schema.warnings.push(SchemaWarning { keyword, pointer });
        None
    }

    fn child(&mut self, object: &Object<'a>, keyword: &str, value: &'a Tree<'a>) -> NodeIndex {
        self.node(object.at(keyword), value)
    }

    fn field(&mut self, object: &Object<'a>, keyword: &str) -> Option<NodeIndex> {
        object
            .fields
            .get(keyword)
            .map(|value| self.child(object, keyword, value))
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

    /// The schemas in an object, sorted by name.
    fn children(
        &mut self,
        object: &Object<'a>,
        keyword: &str,
        value: &'a Tree<'a>,
    ) -> Vec<(String, NodeIndex)> {
        let mut children = Vec::new();
        if let Some(fields) = self.object(object, keyword, value) {
            for (name, value) in fields.iter() {
                children.push((name.to_owned(), self.named_child(object, keyword, name, value)));
            }
        }
        let name = |at: u32| children.get(at as usize).map_or("", |(name, _)| name);
        let order = sorted(children.len(), &mut |a, b| name(a) < name(b));
        let mut by_name = Vec::with_capacity(order.len());
        for at in order {
            if let Some((name, index)) = children.get_mut(at as usize) {
                by_name.push((std::mem::take(name), *index));
            }
        }
        by_name
    }

    fn named_child(
        &mut self,
        object: &Object<'a>,
        keyword: &str,
        name: &str,
        value: &'a Tree<'a>,
    ) -> NodeIndex {
        let mut pointer = object.at(keyword);
        push_segment(&mut pointer, name);
        self.node(pointer, value)
    }

    fn properties(&mut self, object: &Object<'a>) -> Rule {
        let named = match object.fields.get("properties") {
            Some(value) => self.children(object, "properties", value),
            None => Vec::new(),
        };
        let additional = match object.fields.get("additionalProperties") {
            // Which properties the patterns would have named is not known.
            _ if object.fields.has("patternProperties") => Additional::Allowed,
            None | Some(Tree::Bool(true)) => Additional::Allowed,
            Some(Tree::Bool(false)) => Additional::Refused,
            Some(value) => Additional::Checked(self.child(object, "additionalProperties", value)),
        };
        Rule::Properties { named, additional }
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

    fn types(&mut self, object: &Object<'a>, value: &Tree<'_>) -> Types {
        let names = match value {
            Tree::Array(names) => names.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut types = Types(0);
        for name in names {
            match name.as_str().and_then(Types::named) {
                Some(one) => types.0 |= one.0,
                None => {
                    let known = listed(&Types::NAMES);
                    let problem = ["must be one or several of ", &known, ", not ", &name.to_json()];
                    self.refuse(object, "type", &problem.concat());
                }
            }
        }
        if names.is_empty() {
            self.refuse(object, "type", "must not be empty");
        }
        types
    }

    fn array(&mut self, object: &Object<'a>, keyword: &str, value: &'a Tree<'a>) -> &'a [Tree<'a>] {
        if let Tree::Array(items) = value {
            return items;
        }
        self.refuse(object, keyword, "must be an array");
        &[]
    }

    fn object(&mut self, object: &Object<'a>, keyword: &str, value: &'a Tree<'a>) -> Option<&'a Members<'a>> {
        if let Tree::Object(members) = value {
            return Some(members);
        }
        self.refuse(object, keyword, "must be an object");
        None
    }

    fn names(&mut self, object: &Object<'a>, keyword: &str, value: &Tree<'_>) -> Vec<String> {
        let items = match value {
            Tree::Array(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            names.extend(item.as_str().map(str::to_owned));
        }
        if !matches!(value, Tree::Array(_)) || names.len() < items.len() {
            self.refuse(object, keyword, "must be an array of strings");
        }
        names
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

impl Object<'_> {
    fn at(&self, keyword: &str) -> String {
        let mut pointer = self.pointer.clone();
        push_segment(&mut pointer, keyword);
        pointer
    }
}

fn is_annotation(keyword: &str) -> bool {
    let known = [
        "title",
        "description",
        "default",
        "example",
        "examples",
        "format",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$schema",
        "$comment",
        "$id",
        "id",
        "$anchor",
        "$vocabulary",
        "~standard",
    ];
    known.contains(&keyword) || keyword.starts_with("x-")
}
