//! Prints the TypeScript of our types, with their doc comments, into `src/face/generated`.
//!
//! `cargo test --lib typescript` fails when a file there is stale. `LOOPLET_WRITE=1 cargo test --lib typescript` writes
//! the files, and prettier breaks their lines. Only types that leave the engine are printed, in the form that serde
//! writes. A link such as [`Outcome::stopped_by`] becomes the field's name in TypeScript.

use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::{Config, ToolExecution};
use crate::engine::model::error::Failure;
use crate::engine::model::event::EventKind;
use crate::engine::model::message::Message;
use crate::engine::model::outcome::Outcome;
use crate::engine::model::output_format::OutputFormat;
use crate::engine::model::permission::PermissionMode;
use crate::engine::model::question::Point;
use crate::engine::model::usage::Usage;

const HEADER: &str = "// Printed from src/engine/model by `npm run format`: change the types there.\n";

#[test]
fn the_generated_typescript_is_that_of_the_types() {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let events = add::<EventKind>(&mut generator);
    for add in [
        add::<Failure>,
        add::<FinishReason>,
        add::<Message>,
        add::<Point>,
        add::<Outcome>,
        add::<PermissionMode>,
        add::<Usage>,
    ] {
        add(&mut generator);
    }
    let mut definitions = generator.take_definitions(true);
    definitions.insert(events.0, events.1);
    let mut text = HEADER.to_owned();
    for (name, schema) in &definitions {
        text += &declared(name, schema);
    }
    check("model.ts", &text);
}

fn declared(name: &str, schema: &Value) -> String {
    let doc = documented(schema, "");
    if schema["properties"].is_object() {
        return format!("\n{doc}export interface {name} {}\n", object(schema, ""));
    }
    let Some(variants) = schema["oneOf"].as_array().filter(|_| schema["x-named"] == true) else {
        return format!("\n{doc}export type {name} = {};\n", typed(schema, ""));
    };
    let mut names = Vec::new();
    let mut text = String::new();
    for variant in variants {
        let tag = variant["properties"]["type"]["const"]
            .as_str()
            .unwrap_or_default();
        let variant_name = tag.split('_').map(capitalised).collect::<String>() + name;
        text += &declared(&variant_name, variant);
        names.push(variant_name);
    }
    format!("\n{doc}export type {name} = {};\n{text}", names.join(" | "))
}

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// The scalar options of `createAgent`: the name, the shape, and the pointer into the configuration that leads to the
/// default.
const OPTIONS: &[(&str, &str, &str)] = &[
    ("maxIterations", "count", "/limits/maxIterations"),
    ("maxTotalTokens", "count", "/limits/maxTotalTokens"),
    ("maxToolRounds", "count", "/limits/maxToolRounds"),
    ("maxToolCalls", "count", "/limits/maxToolCalls"),
    ("maxStructuredOutputRetries", "whole", "/output/maxRetries"),
    ("maxSubagentDepth", "count", "/limits/maxSubagentDepth"),
    ("contextWindow", "count", "/context/windowTokens"),
    ("contextBudget", "count", "/context/budgetChars"),
    ("timeouts.totalMs", "milliseconds", "/timeouts/totalMs"),
    ("timeouts.iterationMs", "milliseconds", "/timeouts/iterationMs"),
    ("timeouts.firstChunkMs", "milliseconds", "/timeouts/firstChunkMs"),
    ("timeouts.chunkMs", "milliseconds", "/timeouts/chunkMs"),
    ("timeouts.toolMs", "milliseconds", "/timeouts/toolMs"),
    ("retry.maxRetries", "whole", "/retry/maxRetries"),
    ("retry.baseMs", "milliseconds", "/retry/baseMs"),
    ("retry.factor", "count", "/retry/factor"),
    ("retry.jitterMs", "milliseconds", "/retry/jitterMs"),
    ("retry.maxMs", "milliseconds", "/retry/maxMs"),
    ("retry.respectRetryAfter", "boolean", "/retry/respectRetryAfter"),
    ("retry.maxCalls", "count", "/retry/maxCalls"),
    ("toolExecution", "tool-execution", "/toolExecution"),
    ("maxToolConcurrency", "count", "/maxToolConcurrency"),
    ("strictStopReason", "boolean", "/strictStopReason"),
    ("maxToolResultChars", "count", "/maxToolResultChars"),
    ("eagerTools", "boolean", "/eagerTools"),
    ("estimateUsage", "boolean", "/estimateUsage"),
    ("joinDeltas", "boolean", "/joinDeltas"),
];

#[test]
fn the_generated_tables_are_those_of_the_configuration() {
    let mut defaults = Config {
        output: Some(OutputFormat::default()),
        ..Config::default()
    };
    defaults.limits.max_iterations = Some(defaults.max_iterations());
    defaults.retry.max_ms = Some(defaults.retry.longest_ms());
    let defaults = serde_json::to_value(defaults).unwrap();
    let mut text = HEADER.to_owned();
    text += "import type { OptionRow } from \"../options/options.js\";\n";
    text += &words::<PermissionMode>("PERMISSION_MODES");
    text += &words::<ToolExecution>("TOOL_EXECUTIONS");
    text +=
        "\n/** The scalar options of an agent. */\nexport const SCALAR_OPTIONS: readonly OptionRow[] = [\n";
    for (name, kind, path) in OPTIONS {
        let default = match defaults.pointer(path) {
            Some(Value::Null) => "none".to_owned(),
            Some(Value::String(word)) => word.clone(),
            Some(value) => value.to_string(),
            None => panic!("the configuration has no {path}"),
        };
        text += &format!("  {{ name: \"{name}\", kind: \"{kind}\", default: \"{default}\" }},\n");
    }
    check("tables.ts", &(text + "];\n"));
}

/// Prints the words of an enum as a list.
fn words<T: JsonSchema>(name: &str) -> String {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let schema = generator.root_schema_for::<T>().to_value();
    let of = |schema: &Value| match (&schema["enum"], &schema["const"]) {
        (Value::Array(words), _) => words.clone(),
        (_, word) => vec![word.clone()],
    };
    let words: Vec<Value> = match schema["oneOf"].as_array() {
        Some(variants) => variants.iter().flat_map(of).collect(),
        None => of(&schema),
    };
    format!("\nexport const {name} = {} as const;\n", Value::from(words))
}

fn check(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/face/generated")
        .join(file);
    if std::env::var_os("LOOPLET_WRITE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        same(&found, text),
        "{} is stale: run `npm run format`",
        path.display()
    );
}

/// Compares two texts without the line breaks, bars, brackets and commas that prettier sets.
fn same(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        text.replace(
            |character: char| character.is_whitespace() || "|(),".contains(character),
            "",
        )
    };
    plain(one) == plain(other)
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) -> (String, Value) {
    let schema = generator.root_schema_for::<T>().to_value();
    generator.subschema_for::<T>();
    (T::schema_name().into_owned(), schema)
}

/// The description of a schema as a doc comment.
fn documented(schema: &Value, indent: &str) -> String {
    let Some(text) = schema["description"].as_str() else {
        return String::new();
    };
    let text = in_typescript(text);
    let lines: Vec<&str> = text.lines().collect();
    match lines.as_slice() {
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines: String = lines
                .iter()
                .map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n")
                .collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

/// Replaces links to fields and types by their names in TypeScript.
fn in_typescript(text: &str) -> String {
    let mut parts = text.split("[`");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, rest) = part.split_once("`]").unwrap_or((part, ""));
        let mut words = link.rsplit("::").next().unwrap_or_default().split('_');
        out += "`";
        out += words.next().unwrap_or_default();
        out.extend(words.map(capitalised));
        out += "`";
        out += rest;
    }
    out
}

fn object(schema: &Value, indent: &str) -> String {
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let required = schema["required"].as_array();
    if let fields @ (Value::Object(_) | Value::Bool(true)) = &schema["additionalProperties"] {
        return format!("{{ [field: string]: {} }}", typed(fields, indent));
    }
    // A flattened enum: each of its variants is a field of this object.
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        properties.extend(variant["properties"].as_object().cloned().unwrap_or_default());
    }
    let mut text = "{\n".to_owned();
    for (name, field) in &properties {
        let is_required = required.is_some_and(|names| names.iter().any(|known| known == name));
        let inner = format!("{indent}  ");
        text += &documented(field, &inner);
        let mark = if is_required { "" } else { "?" };
        let mut field = field.clone();
        if !is_required {
            // Serde leaves an absent field out and writes no `null`.
            remove_null(&mut field);
        }
        text += &format!("{inner}{name}{mark}: {};\n", typed(&field, &inner));
    }
    text + indent + "}"
}

fn remove_null(schema: &mut Value) {
    for key in ["anyOf", "type"] {
        if let Some(variants) = schema.get_mut(key).and_then(Value::as_array_mut) {
            variants.retain(|variant| *variant != "null" && variant["type"] != "null");
        }
    }
}

fn typed(schema: &Value, indent: &str) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    for key in ["oneOf", "anyOf"] {
        if let Some([only]) = schema[key].as_array().map(Vec::as_slice) {
            return typed(only, indent);
        }
        if let Some(variants) = schema[key].as_array() {
            let inner = format!("{indent}  ");
            return variants
                .iter()
                .map(|variant| {
                    let doc = documented(variant, &inner);
                    format!("\n{doc}{inner}| {}", typed(variant, &inner))
                })
                .collect();
        }
    }
    if let Some(word) = schema.get("const") {
        return word.to_string();
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return words.join(" | ");
    }
    match &schema["type"] {
        Value::Array(types) => {
            let types: Vec<String> = types
                .iter()
                .map(|one| {
                    let mut schema = schema.clone();
                    schema["type"] = one.clone();
                    typed(&schema, indent)
                })
                .collect();
            types.join(" | ")
        }
        Value::String(name) => match name.as_str() {
            "integer" | "number" => "number".to_owned(),
            "array" => format!("{}[]", typed(&schema["items"], indent)),
            "object" => object(schema, indent),
            other => other.to_owned(),
        },
        _ => "unknown".to_owned(),
    }
}
