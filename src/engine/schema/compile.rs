//! From the JSON of a schema to its nodes. A queue stands in for recursion: depth costs no stack.

use super::equal::Choices;
use super::reference::{anchors, follow};
use super::{
    Additional, Counted, Node, NodeIndex, Rule, Schema, SchemaError, SchemaWarning, Types, push_segment,
};
use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, VecDeque};

pub fn compile(root: &Value) -> Result<Schema, SchemaError> {
    let mut compiler = Compiler {
        root,
        schema: Schema::default(),
        known: BTreeMap::new(),
        queue: VecDeque::new(),
        anchors: None,
    };
    compiler.node(String::new(), root);
    while let Some((index, value)) = compiler.queue.pop_front() {
        compiler.fill(index, value)?;
    }
    Ok(compiler.schema)
}

struct Compiler<'a> {
    root: &'a Value,
    schema: Schema,
    known: BTreeMap<String, NodeIndex>,
    queue: VecDeque<(NodeIndex, &'a Value)>,
    /// Pointer and value by anchor; collected for the first reference that needs it.
    anchors: Option<BTreeMap<&'a str, (String, &'a Value)>>,
}

/// One schema object while its keywords are read.
struct Object<'a> {
    pointer: String,
    fields: &'a Map<String, Value>,
}

impl<'a> Compiler<'a> {
    /// The node for the schema at `pointer`, which is compiled once even if referred to.
    fn node(&mut self, pointer: String, value: &'a Value) -> NodeIndex {
        if let Some(&index) = self.known.get(&pointer) {
            return index;
        }
        let index = self.schema.nodes.len();
        self.schema.nodes.push(Node {
            pointer: pointer.clone(),
            rules: Vec::new(),
        });
        self.known.insert(pointer, index);
        self.queue.push_back((index, value));
        index
    }

    fn fill(&mut self, index: NodeIndex, value: &'a Value) -> Result<(), SchemaError> {
        let pointer = self
            .schema
            .nodes
            .get(index)
            .map(|node| node.pointer.clone())
            .unwrap_or_default();
        let mut rules = Vec::new();
        match value {
            Value::Bool(true) => {}
            Value::Bool(false) => rules.push(Rule::Nothing),
            Value::Object(fields) => {
                let object = Object { pointer, fields };
                for (keyword, value) in fields {
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
        value: &'a Value,
    ) -> Result<Option<Rule>, SchemaError> {
        Ok(Some(match keyword {
            "type" => Rule::Type(object.types(value)?),
            "enum" => Rule::Enum(Choices::new(object.list(keyword, value)?)),
            "const" => Rule::Const(value.clone()),
            "minimum" => object.bound("minimum", "exclusiveMinimum", value)?,
            "maximum" => object.bound("maximum", "exclusiveMaximum", value)?,
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                return self.warn(object, keyword);
            }
            "exclusiveMinimum" => object.bound("exclusiveMinimum", "", value)?,
            "exclusiveMaximum" => object.bound("exclusiveMaximum", "", value)?,
            "multipleOf" => match object.number(keyword, value)? {
                divisor if divisor.as_f64().is_some_and(|divisor| divisor > 0.0) => Rule::MultipleOf(divisor),
                _ => return Err(object.error(keyword, "must be above 0")),
            },
            "minLength" => object.count("minLength", Counted::Characters, value)?,
            "maxLength" => object.count("maxLength", Counted::Characters, value)?,
            "minItems" => object.count("minItems", Counted::Items, value)?,
            "maxItems" => object.count("maxItems", Counted::Items, value)?,
            "minProperties" => object.count("minProperties", Counted::Properties, value)?,
            "maxProperties" => object.count("maxProperties", Counted::Properties, value)?,
            "uniqueItems" => match value.as_bool() {
                Some(true) => Rule::UniqueItems,
                Some(false) => return Ok(None),
                None => return Err(object.error(keyword, "must be true or false")),
            },
            "required" => Rule::Required(object.names(keyword, value)?),
            "properties" => self.properties(object)?,
            "additionalProperties" if !object.fields.contains_key("properties") => self.properties(object)?,
            "propertyNames" => Rule::PropertyNames(self.child(object, keyword, value)),
            "dependentRequired" => Rule::DependentRequired(object.name_lists(value)?),
            "dependentSchemas" => Rule::DependentSchemas(self.children(object, keyword, value)?),
            "dependencies" => return self.dependencies(object, value),
            "prefixItems" => self.items(object)?,
            "items" if !object.fields.contains_key("prefixItems") => self.items(object)?,
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

    fn child(&mut self, object: &Object<'a>, keyword: &str, value: &'a Value) -> NodeIndex {
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
        value: &'a Value,
    ) -> Result<Vec<NodeIndex>, SchemaError> {
        let list = object.list(keyword, value)?;
        if list.is_empty() && keyword.ends_with("Of") {
            return Err(object.error(keyword, "must not be empty"));
        }
        let nodes = list.iter().enumerate();
        Ok(nodes
            .map(|(index, value)| self.named_child(object, keyword, &index.to_string(), value))
            .collect())
    }

    /// The schemas in an object, sorted by name.
    fn children(
        &mut self,
        object: &Object<'a>,
        keyword: &str,
        value: &'a Value,
    ) -> Result<Vec<(String, NodeIndex)>, SchemaError> {
        let fields = object.object(keyword, value)?;
        let mut children = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            children.push((name.clone(), self.named_child(object, keyword, name, value)));
        }
        children.sort_unstable();
        Ok(children)
    }

    fn named_child(&mut self, object: &Object<'a>, keyword: &str, name: &str, value: &'a Value) -> NodeIndex {
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
            _ if object.fields.contains_key("patternProperties") => Additional::Allowed,
            None | Some(Value::Bool(true)) => Additional::Allowed,
            Some(Value::Bool(false)) => Additional::Refused,
            Some(value) => Additional::Checked(self.child(object, "additionalProperties", value)),
        };
        Ok(Rule::Properties { named, additional })
    }

    /// `prefixItems` and `items` of 2020-12, or `items` and `additionalItems` of draft-07.
    fn items(&mut self, object: &Object<'a>) -> Result<Rule, SchemaError> {
        let items = object.fields.get("items");
        let (prefix, rest) = match (object.fields.get("prefixItems"), items) {
            (Some(prefix), _) => (self.list(object, "prefixItems", prefix)?, "items"),
            (None, Some(prefix @ Value::Array(_))) => {
                (self.list(object, "items", prefix)?, "additionalItems")
            }
            (None, _) => (Vec::new(), "items"),
        };
        Ok(Rule::Items {
            prefix,
            rest: self.field(object, rest),
        })
    }

    fn contains(&mut self, object: &Object<'a>, value: &'a Value) -> Result<Rule, SchemaError> {
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
    fn dependencies(&mut self, object: &Object<'a>, value: &'a Value) -> Result<Option<Rule>, SchemaError> {
        let mut lists = Vec::new();
        let mut schemas = Vec::new();
        for (name, value) in object.object("dependencies", value)? {
            if value.is_array() {
                lists.push((name.clone(), object.names("dependencies", value)?));
            } else {
                schemas.push((
                    name.clone(),
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
        value: &'a Value,
    ) -> Result<Option<(String, &'a Value)>, SchemaError> {
        let Some(reference) = value.as_str() else {
            return Err(object.error("$ref", "must be a string"));
        };
        let own_id = self
            .root
            .get("$id")
            .and_then(Value::as_str)
            .map(|id| id.trim_end_matches('#'));
        let local = own_id
            .and_then(|id| reference.strip_prefix(id))
            .filter(|rest| rest.is_empty() || rest.starts_with('#'))
            .unwrap_or(reference);
        let found = match local.strip_prefix('#') {
            Some("") => Some((String::new(), self.root)),
            Some(pointer) if pointer.starts_with('/') => follow(self.root, pointer),
            Some(anchor) => {
                let root = self.root;
                self.anchors
                    .get_or_insert_with(|| anchors(root))
                    .get(anchor)
                    .cloned()
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

    fn types(&self, value: &Value) -> Result<Types, SchemaError> {
        let names = match value {
            Value::Array(names) => names.as_slice(),
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
                    problem.push_str(&name.to_string());
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

    fn list(&self, keyword: &str, value: &'a Value) -> Result<&'a [Value], SchemaError> {
        value
            .as_array()
            .map(Vec::as_slice)
            .ok_or_else(|| self.error(keyword, "must be an array"))
    }

    fn object(&self, keyword: &str, value: &'a Value) -> Result<&'a Map<String, Value>, SchemaError> {
        value
            .as_object()
            .ok_or_else(|| self.error(keyword, "must be an object"))
    }

    fn names(&self, keyword: &str, value: &Value) -> Result<Vec<String>, SchemaError> {
        let names = value.as_array().and_then(|names| {
            names
                .iter()
                .map(|name| name.as_str().map(str::to_owned))
                .collect::<Option<Vec<String>>>()
        });
        names.ok_or_else(|| self.error(keyword, "must be an array of strings"))
    }

    fn name_lists(&self, value: &'a Value) -> Result<Vec<(String, Vec<String>)>, SchemaError> {
        let mut lists = Vec::new();
        for (name, value) in self.object("dependentRequired", value)? {
            lists.push((name.clone(), self.names("dependentRequired", value)?));
        }
        Ok(lists)
    }

    fn number(&self, keyword: &str, value: &Value) -> Result<Number, SchemaError> {
        value
            .as_number()
            .cloned()
            .ok_or_else(|| self.error(keyword, "must be a number"))
    }

    /// Draft-04 made a bound exclusive by a boolean beside it; that is followed, with a warning.
    fn bound(
        &self,
        inclusive: &'static str,
        exclusive: &'static str,
        value: &Value,
    ) -> Result<Rule, SchemaError> {
        let is_exclusive = self.fields.get(exclusive) == Some(&Value::Bool(true));
        let limit = self.number(inclusive, value)?;
        Ok(Rule::Bound {
            keyword: if is_exclusive { exclusive } else { inclusive },
            limit,
        })
    }

    fn count(&self, keyword: &'static str, what: Counted, value: &Value) -> Result<Rule, SchemaError> {
        Ok(Rule::Count {
            keyword,
            what,
            limit: self.whole_number(keyword, value)?,
        })
    }

    fn whole_number(&self, keyword: &str, value: &Value) -> Result<u64, SchemaError> {
        let whole = value.as_u64().or_else(|| {
            let float = value.as_f64()?;
            (float >= 0.0 && float.fract() == 0.0).then_some(float as u64)
        });
        whole.ok_or_else(|| self.error(keyword, "must be a whole number from 0"))
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
