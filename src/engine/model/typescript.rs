//! Prints the TypeScript of our types, with their doc comments, into `src/face/generated`.
//!
//! `cargo test --lib typescript` fails when a file there is stale. `LOOPLET_WRITE=1 cargo test --lib typescript` writes
//! the files, and prettier breaks their lines. Only types that leave the engine are printed, in the form that serde
//! writes. A link such as [`Outcome::stopped_by`] becomes the field's name in TypeScript.

use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::{Config, context::HistoryPolicy, permission::PermissionMode};
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::input::Input;
use crate::engine::model::message::Message;
use crate::engine::model::outcome::Outcome;
use crate::engine::model::output::ToolInvocation;
use crate::engine::model::question::{Point, Question};
use crate::engine::model::usage::Usage;

const HEADER: &str = "// Printed from src/engine/model by `npm run format`: change the types there.\n";

#[test]
fn the_generated_typescript_is_that_of_the_types() {
    let mut text = HEADER.to_owned();
    for (name, schema) in &printed_types() {
        text += &declared(name, schema);
    }
    check("model.ts", &text);
}

/// The types that leave the engine, and the options.
fn printed_types() -> Map<String, Value> {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let events = add::<EventKind>(&mut generator);
    for add in [
        add::<Failure>,
        add::<FinishReason>,
        add::<Message>,
        add::<Point>,
        add::<Outcome>,
        add::<PermissionMode>,
        add::<Question>,
        add::<ToolInvocation>,
        add::<Usage>,
    ] {
        add(&mut generator);
    }
    let mut definitions = generator.take_definitions(true);
    definitions.insert(events.0, events.1);
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    for add in [add::<Config>, add::<HistoryPolicy>] {
        add(&mut generator);
    }
    let types = generator.take_definitions(true);
    for (name, mark, doc) in [
        (
            "AgentData",
            "agent",
            "The options of an agent that are plain data.",
        ),
        (
            "RunData",
            "run",
            "The options of a run with all of its agents that are plain data.",
        ),
    ] {
        let fields = options(&types, &OPTION_TYPES, mark);
        let schema = json!({"description": doc, "x-options": "none", "properties": fields});
        definitions.insert(name.to_owned(), schema);
    }
    // Types that these options lead to.
    let is_wanted = |schema: &Value| schema.get("x-options").is_some();
    definitions.extend(
        types
            .iter()
            .filter(|(_, schema)| is_wanted(schema))
            .map(|(name, schema)| (name.clone(), schema.clone())),
    );
    for name in ["Jitter", "OnOutputLimit", "ToolExecution"] {
        definitions.insert(name.to_owned(), types[name].clone());
    }
    definitions
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

#[test]
fn the_generated_inputs_are_those_that_the_engine_reads() {
    let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    generator.subschema_for::<Input<'_>>();
    generator.subschema_for::<Config>();
    let mut types = generator.take_definitions(true);
    let printed = printed_types();
    let mut shared = Vec::new();
    types.retain(|name, _| {
        let is_shared = printed.contains_key(name);
        if is_shared {
            shared.push(name.clone());
        }
        // `AnyBlock` is how serde reads a `Block`.
        !is_shared && name != "AnyBlock"
    });
    shared.sort();
    let mut text = String::new();
    for (name, schema) in &mut types {
        mark_read(schema);
        text += &declared(name, schema);
    }
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    shared.retain(|name| words.contains(&name.as_str()));
    let shared = shared.join(", ");
    let text = format!("{HEADER}import type {{ {shared} }} from \"./model.js\";\n{text}");
    check("input.ts", &text);
}

/// Marks every schema within this one: the engine reads such a value, so `null` and lists that do not change will do.
fn mark_read(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (key, inner) in fields.iter_mut() {
                match inner.as_object_mut().filter(|_| key == "properties") {
                    Some(properties) => properties.values_mut().for_each(mark_read),
                    None => mark_read(inner),
                }
            }
            fields.insert("x-read".to_owned(), true.into());
        }
        Value::Array(items) => items.iter_mut().for_each(mark_read),
        _ => {}
    }
}

/// The types that hold options of `createAgent`. A field's mark says whose option it is: each `agent` may have its own,
/// or the `run` has one.
const OPTION_TYPES: [&str; 4] = ["Config", "Limits", "ContextPolicy", "OutputFormat"];

#[test]
fn the_generated_tables_are_those_of_the_configuration() {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<Config>();
    generator.subschema_for::<HistoryPolicy>();
    let types = generator.take_definitions(true);
    let mut text = HEADER.to_owned();
    text += "import type { OptionTable } from \"../options/options.js\";\n";
    text += &format!(
        "\nexport const PERMISSION_MODES = {} as const;\n",
        words::<PermissionMode>()
    );
    let mut codes = words::<FailureCode>();
    codes.as_array_mut().unwrap().retain(|code| {
        let code = serde_json::from_value(code.clone()).unwrap();
        Failure::new(code, "").retryable
    });
    text += &format!(
        "\n/** The codes of failures that may go away. */\nexport const RETRYABLE = {codes} as const;\n"
    );
    let mut defaults = Vec::new();
    for (name, of, mark) in [
        ("AGENT_OPTIONS", &OPTION_TYPES[..1], "agent"),
        ("AGENT_LIMITS", &OPTION_TYPES[1..2], "agent"),
        ("AGENT_CONTEXT", &OPTION_TYPES[2..3], "agent"),
        ("AGENT_OUTPUT", &OPTION_TYPES[3..], "agent"),
        ("RUN_OPTIONS", &OPTION_TYPES[..1], "run"),
        ("RUN_LIMITS", &OPTION_TYPES[1..2], "run"),
    ] {
        let fields = options(&types, of, mark);
        text += &format!(
            "\nexport const {name} = {} satisfies OptionTable;\n",
            table(&types, &fields, false)
        );
        add_defaults(&types, "", &fields, &mut defaults);
    }
    let fields = types["HistoryCompaction"]["properties"].as_object().unwrap();
    text += &format!(
        "\nexport const HISTORY = {} satisfies OptionTable;\n",
        table(&types, fields, false)
    );
    text += "\n/** The default of each scalar option. */\nexport const DEFAULTS: { readonly [option: string]: unknown } = {\n";
    let config = Config::default();
    for (name, default) in defaults {
        let default = match name.as_str() {
            "maxIterations" => config.max_iterations().into(),
            "retry.maxMs" => config.retry.longest_ms().into(),
            _ => default,
        };
        let quote = if name.contains('.') { "\"" } else { "" };
        text += &format!("  {quote}{name}{quote}: {default},\n");
    }
    check("tables.ts", &(text + "};\n"));
}

/// The marked fields of these types.
fn options(types: &Map<String, Value>, of: &[&str], mark: &str) -> Map<String, Value> {
    let fields = of
        .iter()
        .flat_map(|name| types[*name]["properties"].as_object().unwrap());
    fields
        .filter(|(_, field)| field["x-option"] == mark)
        .map(|(name, field)| (name.clone(), field.clone()))
        .collect()
}

/// Fields as a table for `checkOptions`.
fn table(types: &Map<String, Value>, fields: &Map<String, Value>, is_nullable: bool) -> String {
    let mut text = "{\n".to_owned();
    for (name, field) in fields {
        text += &format!("  {name}: {},\n", kind(types, field, is_nullable));
    }
    text + "}"
}

/// The kind of an option: an `OptionKind`, a list of words or a table.
fn kind(types: &Map<String, Value>, field: &Value, is_nullable: bool) -> String {
    if let Some(of) = field["$ref"].as_str() {
        let of = &types[of.rsplit('/').next().unwrap()];
        return match of["properties"].as_object() {
            Some(fields) => table(types, fields, is_of_null(of)),
            None => words_of(of).to_string(),
        };
    }
    let mark = if is_nullable { "?" } else { "" };
    let kind = match first_type(field) {
        "boolean" => "boolean",
        "array" if first_type(&field["items"]) == "integer" => "wholes",
        "array" => "texts",
        "integer" if field["minimum"] == 1 => "count",
        "integer" => "whole",
        other => panic!("no kind of option is {other}: {field}"),
    };
    let width = if field["format"] == "uint64" { "64" } else { "" };
    format!("\"{kind}{width}{mark}\"")
}

fn first_type(field: &Value) -> &str {
    field["type"][0]
        .as_str()
        .or(field["type"].as_str())
        .unwrap_or_default()
}

/// True when `null` is a value of the fields of this type; else it stands for a field that is left out.
fn is_of_null(schema: &Value) -> bool {
    schema["x-options"] == "null"
}

fn add_defaults(
    types: &Map<String, Value>,
    path: &str,
    fields: &Map<String, Value>,
    into: &mut Vec<(String, Value)>,
) {
    for (name, field) in fields {
        let of = field["$ref"].as_str().and_then(|of| of.rsplit('/').next());
        let inner = of.and_then(|of| types[of]["properties"].as_object());
        match (inner, &field["default"]) {
            (Some(inner), _) => add_defaults(types, &format!("{path}{name}."), inner, into),
            (None, Value::Array(_)) => {}
            (None, default) => into.push((format!("{path}{name}"), default.clone())),
        }
    }
}

/// The words of an enum.
fn words<T: JsonSchema>() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    words_of(generator.root_schema_for::<T>().as_value())
}

fn words_of(schema: &Value) -> Value {
    let of = |schema: &Value| match (&schema["enum"], &schema["const"]) {
        (Value::Array(words), _) => words.clone(),
        (_, word) => vec![word.clone()],
    };
    match schema["oneOf"].as_array() {
        Some(variants) => variants.iter().flat_map(of).collect(),
        None => of(schema).into(),
    }
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
        [line] if line.len() < 108 => format!("{indent}/** {line} */\n"),
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
    let inner = format!("{indent}  ");
    let is_options = schema.get("x-options").is_some();
    let mut text = "{\n".to_owned();
    for (name, field) in &properties {
        let is_required = required.is_some_and(|names| names.iter().any(|known| known == name));
        let mut field = field.clone();
        // Serde leaves an absent field out and writes no `null`.
        if !is_of_null(schema) && (is_options || !is_required && schema["x-read"] != true) {
            remove_null(&mut field);
        }
        if is_options {
            mark_read(&mut field);
        }
        let of = typed(&field, &inner);
        text += &match (is_options, is_required) {
            (true, _) => format!(
                "{}{inner}{name}?: {of} | undefined;\n",
                option_doc(&field, &inner)
            ),
            (false, true) => format!("{}{inner}{name}: {of};\n", documented(&field, &inner)),
            (false, false) => format!("{}{inner}{name}?: {of};\n", documented(&field, &inner)),
        };
    }
    text + indent + "}"
}

/// The doc comment of an option. Its default is added, unless the comment explains it.
fn option_doc(field: &Value, indent: &str) -> String {
    let mut doc = field["description"].as_str().unwrap_or_default().to_owned();
    let default = match &field["default"] {
        Value::Null => " Default: none.".to_owned(),
        Value::Number(number) => format!(" Default {}.", with_commas(&number.to_string())),
        Value::String(word) => format!(" Default `\"{word}\"`."),
        Value::Bool(is_on) => format!(" Default {is_on}."),
        _ => String::new(),
    };
    if !doc.contains("Default") {
        let last = doc.lines().last().unwrap_or_default();
        let fits = last.len() + default.len() < 116;
        doc += if fits { &default } else { "\n" };
        doc += if fits { "" } else { default.trim_start() };
    }
    documented(&json!({"description": doc}), indent)
}

/// A number with a comma before each three digits.
fn with_commas(digits: &str) -> String {
    match digits.len().checked_sub(3) {
        Some(at @ 1..) => with_commas(&digits[..at]) + "," + &digits[at..],
        _ => digits.to_owned(),
    }
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
            "array" if schema["prefixItems"].is_array() => {
                let items = schema["prefixItems"].as_array().into_iter().flatten();
                let items: Vec<String> = items.map(|item| typed(item, indent)).collect();
                format!("[{}]", items.join(", "))
            }
            "array" => {
                let mark = if schema["x-read"] == true { "readonly " } else { "" };
                format!("{mark}{}[]", typed(&schema["items"], indent))
            }
            "object" => object(schema, indent),
            other => other.to_owned(),
        },
        _ => "unknown".to_owned(),
    }
}
