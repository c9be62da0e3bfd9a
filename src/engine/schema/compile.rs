//! From the JSON of a schema to its nodes. A queue stands in for recursion: depth costs no stack.

use super::super::json_number::float;
use super::super::json_reader::whole;
use super::super::json_tree::{Members, Tree, sorted};
use super::super::json_writer::decimal;
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
    };
    compiler.node(String::new(), root);
    let mut index = 0;
    while let Some(value) = compiler.queue.get(index) {
        compiler.fill(index, value)?;
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

    fn fill(&mut self, index: NodeIndex, value: &'a Tree<'a>) -> Result<(), SchemaError> {
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
                    rules.extend(self.keyword(&object, keyword, value)?);
                }
            }
            _ => {
                return Err(SchemaError {
                    pointer,
                    problem: "must be an object or a boolean".into(),
                });
            }
        }
        if let Some(node) = self.schema.nodes.get_mut(index) {
            node.rules = rules;
        }
        Ok(())
    }

    /// The rule of a keyword; of keywords that belong together, the first makes the rule of all.
    fn keyword(
        &mut self,
        object: &Object<'a>,
        keyword: &'a str,
        value: &'a Tree<'a>,
    ) -> Result<Option<Rule>, SchemaError> {
        Ok(Some(match keyword {
            "type" => Rule::Type(object.types(value)?),
            "enum" => Rule::Enum(Choices::new(object.list(keyword, value)?)),
            "const" => Rule::Const(value.detached()),
            "minimum" => object.bound("minimum", "exclusiveMinimum", value)?,
            "maximum" => object.bound("maximum", "exclusiveMaximum", value)?,
            "exclusiveMinimum" | "exclusiveMaximum" if matches!(value, Tree::Bool(_)) => {
                return self.warn(object, keyword);
            }
            "exclusiveMinimum" => object.bound("exclusiveMinimum", "", value)?,
            "exclusiveMaximum" => object.bound("exclusiveMaximum", "", value)?,
            "multipleOf" => match object.number(keyword, value)? {
                divisor if float(&divisor) > 0.0 => Rule::MultipleOf(divisor),
                _ => return Err(object.error(keyword, "must be above 0")),
            },
            "minLength" => object.count("minLength", Counted::Characters, value)?,
            "maxLength" => object.count("maxLength", Counted::Characters, value)?,
            "minItems" => object.count("minItems", Counted::Items, value)?,
            "maxItems" => object.count("maxItems", Counted::Items, value)?,
            "minProperties" => object.count("minProperties", Counted::Properties, value)?,
            "maxProperties" => object.count("maxProperties", Counted::Properties, value)?,
            "uniqueItems" => match value {
                Tree::Bool(true) => Rule::UniqueItems,
                Tree::Bool(false) => return Ok(None),
                _ => return Err(object.error(keyword, "must be true or false")),
            },
            "required" => Rule::Required(object.names(keyword, value)?),
            "properties" => self.properties(object)?,
            "additionalProperties" if !object.fields.has("properties") => self.properties(object)?,
            "propertyNames" => Rule::PropertyNames(self.child(object, keyword, value)),
            "dependentRequired" => Rule::DependentRequired(object.name_lists(value)?),
            "dependentSchemas" => Rule::DependentSchemas(self.children(object, keyword, value)?),
            "dependencies" => return self.dependencies(object, value),
            "prefixItems" => self.items(object)?,
            "items" if !object.fields.has("prefixItems") => self.items(object)?,
            "contains" => self.contains(object, value)?,
            "minContains" | "maxContains" => return object.whole_number(keyword, value).map(|_| None),
            "allOf" => Rule::All(self.list(object, keyword, value)?),
            "anyOf" => Rule::Any(self.list(object, keyword, value)?),
            "oneOf" => Rule::One(self.list(object, keyword, value)?),
            "not" => Rule::Not(self.child(object, keyword, value)),
            "if" => Rule::If {
                condition: self.child(object, keyword, value),
                then: self.field(object, "then"),
                otherwise: self.field(object, "else"),
            },
            "then" | "else" | "additionalProperties" | "items" | "additionalItems" => return Ok(None),
            "$ref" => match self.resolve(object, value)? {
                Some((pointer, target)) => Rule::Ref(self.node(pointer, target)),
                None => return self.warn(object, keyword),
            },
            "$defs" | "definitions" => return self.children(object, keyword, value).map(|_| None),
            "$id" if !object.pointer.is_empty() && !value.as_str().is_some_and(|id| id.starts_with('#')) => {
                return self.warn(object, keyword);
            }
            _ if is_annotation(keyword) => return Ok(None),
            _ => return self.warn(object, keyword),
        }))
    }

    fn warn(&mut self, object: &Object<'a>, keyword: &str) -> Result<Option<Rule>, SchemaError> {
        let (keyword, pointer) = (keyword.to_owned(), object.pointer.clone());
        self.schema.warnings.push(SchemaWarning { keyword, pointer });
        Ok(None)
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

    fn list(
        &mut self,
        object: &Object<'a>,
        keyword: &str,
        value: &'a Tree<'a>,
    ) -> Result<Vec<NodeIndex>, SchemaError> {
        let list = object.list(keyword, value)?;
        if list.is_empty() && keyword.ends_with("Of") {
            return Err(object.error(keyword, "must not be empty"));
        }
        let nodes = list.iter().enumerate();
        Ok(nodes
            .map(|(index, value)| self.named_child(object, keyword, &decimal(index), value))
            .collect())
    }

    /// The schemas in an object, sorted by name.
    fn children(
        &mut self,
        object: &Object<'a>,
        keyword: &str,
        value: &'a Tree<'a>,
    ) -> Result<Vec<(String, NodeIndex)>, SchemaError> {
        let fields = object.object(keyword, value)?;
        let mut children = Vec::with_capacity(fields.len());
        for (name, value) in fields.iter() {
            children.push((name.to_owned(), self.named_child(object, keyword, name, value)));
        }
        let name = |at: u32| children.get(at as usize).map_or("", |(name, _)| name);
        let order = sorted(children.len(), &mut |a, b| name(a) < name(b));
        let by_name = order.iter().filter_map(|at| children.get(*at as usize).cloned());
        Ok(by_name.collect())
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

    fn properties(&mut self, object: &Object<'a>) -> Result<Rule, SchemaError> {
        let named = match object.fields.get("properties") {
            Some(value) => self.children(object, "properties", value)?,
            None => Vec::new(),
        };
        let additional = match object.fields.get("additionalProperties") {
            // Which properties the patterns would have named is not known.
            _ if object.fields.has("patternProperties") => Additional::Allowed,
            None | Some(Tree::Bool(true)) => Additional::Allowed,
            Some(Tree::Bool(false)) => Additional::Refused,
            Some(value) => Additional::Checked(self.child(object, "additionalProperties", value)),
        };
        Ok(Rule::Properties { named, additional })
    }

    /// `prefixItems` and `items` of 2020-12, or `items` and `additionalItems` of draft-07.
    fn items(&mut self, object: &Object<'a>) -> Result<Rule, SchemaError> {
        let items = object.fields.get("items");
        let (prefix, rest) = match (object.fields.get("prefixItems"), items) {
            (Some(prefix), _) => (self.list(object, "prefixItems", prefix)?, "items"),
            (None, Some(prefix @ Tree::Array(_))) => (self.list(object, "items", prefix)?, "additionalItems"),
            (None, _) => (Vec::new(), "items"),
        };
        Ok(Rule::Items {
            prefix,
            rest: self.field(object, rest),
        })
    }

    fn contains(&mut self, object: &Object<'a>, value: &'a Tree<'a>) -> Result<Rule, SchemaError> {
        let limit = |keyword| {
            object
                .fields
                .get(keyword)
                .map(|value| object.whole_number(keyword, value))
                .transpose()
        };
        let (least, most) = (limit("minContains")?.unwrap_or(1), limit("maxContains")?);
        Ok(Rule::Contains {
            node: self.child(object, "contains", value),
            least,
            most,
        })
    }

    /// Draft-07's mixture of the two that followed it.
    fn dependencies(
        &mut self,
        object: &Object<'a>,
        value: &'a Tree<'a>,
    ) -> Result<Option<Rule>, SchemaError> {
        let mut lists = Vec::new();
        let mut schemas = Vec::new();
        for (name, value) in object.object("dependencies", value)?.iter() {
            if matches!(value, Tree::Array(_)) {
                lists.push((name.to_owned(), object.names("dependencies", value)?));
            } else {
                schemas.push((
                    name.to_owned(),
                    self.named_child(object, "dependencies", name, value),
                ));
            }
        }
        Ok(Some(Rule::Dependencies(lists, schemas)))
    }

    /// The pointer and the value that a reference leads to; `None` if it leads out of the document.
    fn resolve(
        &mut self,
        object: &Object<'a>,
        value: &'a Tree<'a>,
    ) -> Result<Option<(String, &'a Tree<'a>)>, SchemaError> {
        let Some(reference) = value.as_str() else {
            return Err(object.error("$ref", "must be a string"));
        };
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
            None => return Ok(None),
        };
        match found {
            Some(found) => Ok(Some(found)),
            None => {
                let mut problem = String::from("leads nowhere: ");
                problem.push_str(reference);
                Err(object.error("$ref", &problem))
            }
        }
    }
}

impl<'a> Object<'a> {
    fn at(&self, keyword: &str) -> String {
        let mut pointer = self.pointer.clone();
        push_segment(&mut pointer, keyword);
        pointer
    }

    fn error(&self, keyword: &str, problem: &str) -> SchemaError {
        SchemaError {
            pointer: self.at(keyword),
            problem: problem.to_owned(),
        }
    }

    fn types(&self, value: &Tree<'_>) -> Result<Types, SchemaError> {
        let names = match value {
            Tree::Array(names) => names.as_slice(),
            one => std::slice::from_ref(one),
        };
        let mut types = Types(0);
        for name in names {
            match name.as_str().and_then(Types::named) {
                Some(one) => types.0 |= one.0,
                None => {
                    let mut problem = String::from("must be one or several of ");
                    problem.push_str(&Types::NAMES.join(", "));
                    problem.push_str(", not ");
                    problem.push_str(&name.to_json());
                    return Err(self.error("type", &problem));
                }
            }
        }
        if names.is_empty() {
            Err(self.error("type", "must not be empty"))
        } else {
            Ok(types)
        }
    }

    fn list(&self, keyword: &str, value: &'a Tree<'a>) -> Result<&'a [Tree<'a>], SchemaError> {
        match value {
            Tree::Array(items) => Ok(items),
            _ => Err(self.error(keyword, "must be an array")),
        }
    }

    fn object(&self, keyword: &str, value: &'a Tree<'a>) -> Result<&'a Members<'a>, SchemaError> {
        match value {
            Tree::Object(members) => Ok(members),
            _ => Err(self.error(keyword, "must be an object")),
        }
    }

    fn names(&self, keyword: &str, value: &Tree<'_>) -> Result<Vec<String>, SchemaError> {
        let refused = || self.error(keyword, "must be an array of strings");
        let Tree::Array(items) = value else {
            return Err(refused());
        };
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            names.push(item.as_str().ok_or_else(refused)?.to_owned());
        }
        Ok(names)
    }

    fn name_lists(&self, value: &'a Tree<'a>) -> Result<Vec<(String, Vec<String>)>, SchemaError> {
        let mut lists = Vec::new();
        for (name, value) in self.object("dependentRequired", value)?.iter() {
            lists.push((name.to_owned(), self.names("dependentRequired", value)?));
        }
        Ok(lists)
    }

    fn number(&self, keyword: &str, value: &Tree<'_>) -> Result<String, SchemaError> {
        match value {
            Tree::Number(number) => Ok(number.clone().into_owned()),
            _ => Err(self.error(keyword, "must be a number")),
        }
    }

    /// Draft-04 made a bound exclusive by a boolean beside it; that is followed, with a warning.
    fn bound(
        &self,
        inclusive: &'static str,
        exclusive: &'static str,
        value: &Tree<'_>,
    ) -> Result<Rule, SchemaError> {
        let is_exclusive = matches!(self.fields.get(exclusive), Some(Tree::Bool(true)));
        let limit = self.number(inclusive, value)?;
        Ok(Rule::Bound {
            keyword: if is_exclusive { exclusive } else { inclusive },
            limit,
        })
    }

    fn count(&self, keyword: &'static str, what: Counted, value: &Tree<'_>) -> Result<Rule, SchemaError> {
        Ok(Rule::Count {
            keyword,
            what,
            limit: self.whole_number(keyword, value)?,
        })
    }

    fn whole_number(&self, keyword: &str, value: &Tree<'_>) -> Result<u64, SchemaError> {
        if let Tree::Number(number) = value {
            if let Some(number) = whole(number) {
                return Ok(number);
            }
            let number = float(number);
            if number >= 0.0 && number.fract() == 0.0 {
                return Ok(number as u64);
            }
        }
        Err(self.error(keyword, "must be a whole number from 0"))
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
