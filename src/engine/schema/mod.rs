//! JSON Schema for tool inputs and structured answers: the keywords of draft-07 and 2020-12 that tool schemas use.
//!
//! These keywords are checked: `type enum const`, `properties required additionalProperties propertyNames
//! minProperties maxProperties`, `items prefixItems additionalItems minItems maxItems uniqueItems`, `minLength
//! maxLength` (code points), `minimum maximum exclusiveMinimum exclusiveMaximum multipleOf`, `allOf anyOf oneOf not
//! if then else`, and `$ref` within the document (`#`, `#/pointer`, with or without the root's `$id` before it), also
//! next to other keywords. Boolean schemas work. Annotations such as `format` are ignored. Any other keyword is
//! ignored with a [`SchemaWarning`].
//!
//! The agent calls [`compile()`] once per tool and [`Schema::validate`] for each call. A saved run has a schema as
//! its JSON and compiles it again. A schema that cannot be compiled is a [`SchemaError`] with a pointer.

mod checker;
mod compiler;
mod report;
mod rule;

use std::fmt;

use crate::engine::json::value::read;
use rule::Node;

/// A compiled schema.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The nodes, which refer to each other by index. The root is the first.
    nodes: Vec<Node>,
    warnings: Vec<SchemaWarning>,
}

/// A keyword that is not checked, or that names a property which the schema does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaWarning {
    /// The keyword. Each is reported once.
    pub keyword: String,
    /// The problem as the end of a sentence about the keyword: `is not checked`.
    pub problem: String,
    /// The JSON pointer of the first schema that has it; empty for the root.
    pub pointer: String,
}

/// The reason why JSON text is not a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The JSON pointer of the fault; empty for the root.
    pub pointer: String,
    /// The fault as half a sentence: `must be an array of strings`.
    pub problem: String,
}

/// One reason why an instance is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The JSON pointer of the value, of the missing property or of the unexpected property; empty for the root.
    pub instance_pointer: String,
    /// The expected and the found value, as half a sentence that a model can act on.
    pub message: String,
}

/// Compiles a schema from its JSON text, which is an object or a boolean.
///
/// # Errors
/// [`SchemaError`] for text that [`read`] rejects, for the first checked keyword with an invalid value, or for a
/// `$ref` within the document without a target.
pub fn compile(json: &str) -> Result<Schema, SchemaError> {
    let root = read(json).map_err(|error| SchemaError {
        pointer: String::new(),
        problem: format!("cannot be read: {error}"),
    })?;
    compiler::compile(&root)
}

impl Schema {
    /// The keywords that are not checked, or that have no effect.
    pub fn warnings(&self) -> &[SchemaWarning] {
        &self.warnings
    }

    /// Checks an instance in JSON text. Returns at most `max_errors` violations, and at least 1 if it is not valid,
    /// in the order of the schema's keywords. Text that [`read`] rejects is one violation. After [`MAX_STEPS`] of
    /// work, or at a depth of [`MAX_DEPTH`] schemas, it stops with a violation that says so.
    pub fn validate(&self, json: &str, max_errors: usize) -> Vec<Violation> {
        match read(json) {
            Ok(instance) => checker::validate(self, &instance, max_errors.max(1)),
            Err(error) => vec![Violation::of_the_whole(format!("cannot be read: {error}"))],
        }
    }

    /// The first violations of an instance in one text for the model. `None` if it is valid.
    pub fn problem(&self, json: &str) -> Option<String> {
        let violations = self.validate(json, MAX_TOLD);
        let told: Vec<String> = violations.iter().map(Violation::to_string).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// The maximum number of violations that are sent to the model together.
const MAX_TOLD: usize = 5;

/// The most steps of one validation. A step is one keyword on one value, one property or item, or 64 bytes of a
/// string. The limit allows 4 MiB of arguments and takes less than a second.
pub const MAX_STEPS: usize = 10_000_000;

/// The maximum depth of schemas during a validation, including references. It fits easily in the stack of a
/// WebAssembly instance (1 MiB).
pub const MAX_DEPTH: usize = 400;

impl Violation {
    fn of_the_whole(message: String) -> Violation {
        let instance_pointer = String::new();
        Violation {
            instance_pointer,
            message,
        }
    }
}

/// Appends `segment` to a JSON pointer.
fn push_segment(pointer: &mut String, segment: &str) {
    pointer.push('/');
    pointer.push_str(&segment.replace('~', "~0").replace('/', "~1"));
}

fn write_located(f: &mut fmt::Formatter<'_>, pointer: &str, text: &str) -> fmt::Result {
    let place = if pointer.is_empty() { "(root)" } else { pointer };
    write!(f, "{place}: {text}")
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_located(f, &self.pointer, &self.problem)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_located(f, &self.instance_pointer, &self.message)
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
