//! Prints the TypeScript of our types, with their doc comments, into `src/face/generated`.
//!
//! `cargo test --lib typescript` fails when a file there is stale. `LOOPLET_WRITE=1 cargo test --lib typescript` writes
//! the files, and prettier breaks their lines. Only types that leave the engine are printed, in the form that serde
//! writes. A link such as [`Outcome::stopped_by`] becomes the field's name in TypeScript.

mod print;

use std::path::Path;

use self::print::{declared, is_of_null, mark_read};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::{
    Config, OnUnknownTool, context::Pruning, permission::PermissionMode,
};
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
    for add in [add::<Config>, add::<Pruning>] {
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
        ("ToolData", "tool", "The options of a tool that are plain data."),
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
    for name in [
        "Jitter",
        "OnOutputLimit",
        "OnUnknownTool",
        "QueueMode",
        "ToolAccess",
        "ToolExecution",
    ] {
        definitions.insert(name.to_owned(), types[name].clone());
    }
    definitions
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

/// The types that hold options of `createAgent`. A field's mark says whose option it is: each `agent` may have its own,
/// or the `run` has one.
const OPTION_TYPES: [&str; 5] = ["Config", "Limits", "ContextPolicy", "OutputFormat", "ToolConfig"];

#[test]
fn the_generated_tables_are_those_of_the_configuration() {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<Config>();
    generator.subschema_for::<Pruning>();
    let types = generator.take_definitions(true);
    let mut text = HEADER.to_owned();
    text += "import type { OptionTable } from \"../options/options.js\";\n";
    text += &format!(
        "\nexport const PERMISSION_MODES = {} as const;\n",
        words::<PermissionMode>()
    );
    text += &format!(
        "\nexport const ON_UNKNOWN_TOOL = {} as const;\n",
        words::<OnUnknownTool>()
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
        ("AGENT_OUTPUT", &OPTION_TYPES[3..4], "agent"),
        ("RUN_OPTIONS", &OPTION_TYPES[..1], "run"),
        ("RUN_LIMITS", &OPTION_TYPES[1..2], "run"),
        ("TOOL_DATA", &OPTION_TYPES[4..], "tool"),
    ] {
        let fields = options(&types, of, mark);
        text += &format!(
            "\nexport const {name} = {} satisfies OptionTable;\n",
            table(&types, &fields, false)
        );
        if mark != "tool" {
            add_defaults(&types, "", &fields, &mut defaults);
        }
    }
    let fields = types["Pruning"]["properties"].as_object().unwrap();
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
    let of = field["$ref"].as_str().or(field["anyOf"][0]["$ref"].as_str());
    if let Some(of) = of {
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
        "string" => "text",
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
