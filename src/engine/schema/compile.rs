//! From the JSON of a schema to its nodes. A queue stands in for recursion: depth costs no stack.
//!
//! The first problem is kept and the rest of its object is read all the same, so that a reader is a plain expression.

use crate::engine::json::tree::{Members, Tree, sorted};
use crate::engine::schema::equal::Choices;
use crate::engine::schema::reference::Anchors;
use crate::engine::schema::{
    Additional, Node, NodeIndex, Rule, Schema, SchemaError, SchemaWarning, Types, push_segment,
};
use crate::engine::text::listed;

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

pub struct Compiler<'a> {
    pub(super) root: &'a Tree<'a>,
    schema: Schema,
    /// The values of the nodes, of which the first ones have been read.
    queue: Vec<&'a Tree<'a>>,
    /// The nodes by their pointers.
    by_pointer: Vec<NodeIndex>,
    /// Collected for the first reference that needs them.
    pub(super) anchors: Option<Anchors<'a>>,
    problem: Option<SchemaError>,
}

/// One schema object while its keywords are read.
pub struct Object<'a> {
    pointer: String,
    pub(super) fields: &'a Members<'a>,
}

impl<'a> Compiler<'a> {
    /// The node for the schema at `pointer`, which is compiled once even if referred to.
    pub(super) fn node(&mut self, pointer: String, value: &'a Tree<'a>) -> NodeIndex {
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

    pub(super) fn refuse(&mut self, object: &Object<'a>, keyword: &str, problem: &str) {
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
            "required" => Rule::Required(self.names(object, keyword, value)),
            "properties" => self.properties(object),
            "additionalProperties" if !object.fields.has("properties") => self.properties(object),
            "items" if !matches!(value, Tree::Array(_)) && !object.fields.has("prefixItems") => Rule::Items {
                prefix: Vec::new(),
                rest: self.field(object, keyword),
            },
            "items" if !object.fields.has("prefixItems") => {
                return self.seldom_keyword(object, keyword, value);
            }
            "then" | "else" | "additionalProperties" | "items" | "additionalItems" => return None,
            "$id" if !object.pointer.is_empty() && !value.as_str().is_some_and(|id| id.starts_with('#')) => {
                return self.warn(object, keyword);
            }
            _ if is_annotation(keyword) => return None,
            _ if SELDOM.contains(&keyword) => return self.seldom_keyword(object, keyword, value),
            _ => return self.warn(object, keyword),
        })
    }

    pub(super) fn warn(&mut self, object: &Object<'a>, keyword: &str) -> Option<Rule> {
        let (keyword, pointer) = (keyword.to_owned(), object.pointer.clone());
        self.schema.warnings.push(SchemaWarning { keyword, pointer });
        None
    }

    pub(super) fn child(&mut self, object: &Object<'a>, keyword: &str, value: &'a Tree<'a>) -> NodeIndex {
        self.node(object.at(keyword), value)
    }

    pub(super) fn field(&mut self, object: &Object<'a>, keyword: &str) -> Option<NodeIndex> {
        object
            .fields
            .get(keyword)
            .map(|value| self.child(object, keyword, value))
    }

    /// The schemas in an object, sorted by name.
    pub(super) fn children(
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

    pub(super) fn named_child(
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

    pub(super) fn array(
        &mut self,
        object: &Object<'a>,
        keyword: &str,
        value: &'a Tree<'a>,
    ) -> &'a [Tree<'a>] {
        if let Tree::Array(items) = value {
            return items;
        }
        self.refuse(object, keyword, "must be an array");
        &[]
    }

    pub(super) fn object(
        &mut self,
        object: &Object<'a>,
        keyword: &str,
        value: &'a Tree<'a>,
    ) -> Option<&'a Members<'a>> {
        if let Tree::Object(members) = value {
            return Some(members);
        }
        self.refuse(object, keyword, "must be an object");
        None
    }

    pub(super) fn names(&mut self, object: &Object<'a>, keyword: &str, value: &Tree<'_>) -> Vec<String> {
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
}

impl Object<'_> {
    fn at(&self, keyword: &str) -> String {
        let mut pointer = self.pointer.clone();
        push_segment(&mut pointer, keyword);
        pointer
    }
}

/// What `Compiler::seldom_keyword` reads. `src/face/parts.ts` has the same list.
const SELDOM: [&str; 29] = [
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "$ref",
    "$defs",
    "definitions",
];

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
