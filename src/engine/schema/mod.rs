//! JSON Schema for tool inputs: draft-07 and 2020-12, without regular expressions and remote documents.
//!
//! Checked: `type enum const`, `properties required additionalProperties propertyNames minProperties
//! maxProperties dependencies dependentRequired dependentSchemas`, `items prefixItems additionalItems contains
//! minContains maxContains minItems maxItems uniqueItems`, `minLength maxLength` (code points), `minimum maximum
//! exclusiveMinimum exclusiveMaximum multipleOf`, `allOf anyOf oneOf not if then else`, `$ref` within the
//! document (`#`, `#/pointer`, `#anchor`) also beside other keywords, boolean schemas. Annotations, `format`
//! among them, are ignored; any other keyword is ignored with a [`SchemaWarning`].
//!
//! [`compile()`] once, [`Schema::validate`] for each call. A schema is saved as its JSON and compiled again.

mod check;
mod check_seldom;
mod compile;
mod compile_seldom;
mod equal;
mod reference;
mod report;

use crate::engine::json::number::float;
use crate::engine::json::tree::Tree;
use equal::Choices;
use std::fmt;

/// A compiled schema.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The root is the first; they refer to each other by index.
    nodes: Vec<Node>,
    warnings: Vec<SchemaWarning>,
}

/// A part of a schema that is not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaWarning {
    /// The keyword.
    pub keyword: String,
    /// The JSON pointer of the schema that has it; empty for the root.
    pub pointer: String,
}

/// Why a JSON value is no schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The JSON pointer of what is wrong; empty for the root.
    pub pointer: String,
    /// What is wrong, as half a sentence: `must be an array of strings`.
    pub problem: String,
}

/// One reason why an instance does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The JSON pointer of the value, of the missing or of the unexpected property; empty for the root.
    pub instance_pointer: String,
    /// The JSON pointer of the keyword.
    pub schema_pointer: String,
    /// What was expected and what was found, as half a sentence that a model can act on.
    pub message: String,
}

/// Compiles `schema`, which must be an object or a boolean.
///
/// # Errors
/// [`SchemaError`] for the first place where a checked keyword has a value that means nothing, or a `$ref`
/// within the document leads nowhere.
pub fn compile(schema: &Tree<'_>) -> Result<Schema, SchemaError> {
    compile::compile(schema)
}

impl Schema {
    /// The parts that are not checked.
    pub fn warnings(&self) -> &[SchemaWarning] {
        &self.warnings
    }

    /// Checks `instance` and gives at most `max_errors` violations (at least 1 if it does not fit), in the
    /// order of the schema's keywords. After [`MAX_STEPS`] of work, or [`MAX_DEPTH`] schemas within each other,
    /// it gives up with a violation that says so.
    pub fn validate(&self, instance: &Tree<'_>, max_errors: usize) -> Vec<Violation> {
        check::validate(self, instance, max_errors.max(1))
    }
}

/// The most steps of one validation; a step is one keyword on one value, one property or item, or 64 bytes of a
/// string: enough for 4 MiB of arguments, and less than a second.
pub const MAX_STEPS: usize = 10_000_000;

/// The most schemas within each other while validating, references included: what the stack of a
/// WebAssembly instance (1 MiB) holds with room to spare.
pub const MAX_DEPTH: usize = 400;

/// An index into `Schema::nodes`.
type NodeIndex = usize;

#[derive(Clone, Debug, Default)]
struct Node {
    pointer: String,
    rules: Vec<Rule>,
}

/// What a keyword, or a few that belong together, ask of a value.
#[derive(Clone, Debug)]
enum Rule {
    Nothing,
    Type(Types),
    Enum(Choices),
    Const(Tree<'static>),
    Bound {
        keyword: &'static str,
        limit: String,
    },
    MultipleOf(String),
    Count {
        keyword: &'static str,
        what: Counted,
        limit: u64,
    },
    UniqueItems,
    Required(Vec<String>),
    Properties {
        named: Vec<(String, NodeIndex)>,
        additional: Additional,
    },
    PropertyNames(NodeIndex),
    DependentRequired(Vec<(String, Vec<String>)>),
    DependentSchemas(Vec<(String, NodeIndex)>),
    Dependencies(Vec<(String, Vec<String>)>, Vec<(String, NodeIndex)>),
    Items {
        prefix: Vec<NodeIndex>,
        rest: Option<NodeIndex>,
    },
    Contains {
        node: NodeIndex,
        least: u64,
        most: Option<u64>,
    },
    All(Vec<NodeIndex>),
    Any(Vec<NodeIndex>),
    One(Vec<NodeIndex>),
    Not(NodeIndex),
    If {
        condition: NodeIndex,
        then: Option<NodeIndex>,
        otherwise: Option<NodeIndex>,
    },
    Ref(NodeIndex),
}

#[derive(Clone, Copy, Debug)]
enum Counted {
    Characters,
    Items,
    Properties,
}

#[derive(Clone, Copy, Debug)]
enum Additional {
    Allowed,
    Refused,
    Checked(NodeIndex),
}

/// A set of the seven type names, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Types(u8);

impl Types {
    const NAMES: [&'static str; 7] = [
        "null", "boolean", "object", "array", "string", "integer", "number",
    ];
    const INTEGER: u8 = 1 << 5;
    const NUMBER: u8 = 1 << 6;

    fn named(name: &str) -> Option<Types> {
        Types::NAMES
            .iter()
            .position(|known| *known == name)
            .map(|index| Types(1 << index))
    }

    /// All that a value is: an integer, such as 1.0, is a number too.
    fn of(value: &Tree<'_>) -> Types {
        Types(match value {
            Tree::Null => 1,
            Tree::Bool(_) => 1 << 1,
            Tree::Object(_) => 1 << 2,
            Tree::Array(_) => 1 << 3,
            Tree::String(_) => 1 << 4,
            Tree::Number(number) if float(number).fract() == 0.0 => Types::INTEGER | Types::NUMBER,
            Tree::Number(_) => Types::NUMBER,
        })
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        Types::NAMES
            .into_iter()
            .enumerate()
            .filter(move |(index, _)| self.0 >> index & 1 == 1)
            .map(|(_, name)| name)
    }
}

/// Appends `segment` to a JSON pointer.
fn push_segment(pointer: &mut String, segment: &str) {
    pointer.push('/');
    for character in segment.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

fn push_located(into: &mut String, pointer: &str, text: &str) {
    into.push_str(if pointer.is_empty() { "(root)" } else { pointer });
    into.push_str(": ");
    into.push_str(text);
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        push_located(&mut text, &self.pointer, &self.problem);
        f.write_str(&text)
    }
}

impl std::error::Error for SchemaError {}

impl Violation {
    /// Appends the place and what is wrong there.
    pub fn describe(&self, into: &mut String) {
        push_located(into, &self.instance_pointer, &self.message);
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.describe(&mut text);
        f.write_str(&text)
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
