//! Prints the TypeScript of our types, with their doc comments, into `src/typescript/core/generated`, and what
//! TypeScript needs of the table of models into `src/typescript/extras/model-rows.ts`.
//!
//! `cargo test --lib typescript` fails when a file there is stale. `LOOPLET_WRITE=1 cargo test --lib typescript`
//! writes the files, and prettier breaks their lines. Only types that leave the engine are printed, in the form that
//! serde writes. A link such as [`Outcome::stopped_by`] becomes the field's name in TypeScript.

mod options;
mod print;

use std::cmp::Reverse;
use std::path::Path;

use self::options::{DATA, TABLES};
use self::print::{at_point, declared, documented, is_of_null, mark, typed};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::engine::agent::questions::points::{Class, row};
use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::{Config, OnUnknownTool, context::Pruning, permission::PermissionMode};
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::input::Input;
use crate::engine::model::journal::{AgentTranscript, JournalTail};
use crate::engine::model::message::Message;
use crate::engine::model::outcome::{History, Outcome, Report};
use crate::engine::model::output::Output;
use crate::engine::model::question::{Answer, Facts, Point, Question};
use crate::engine::model::usage::Bound;
use crate::engine::model::usage::Usage;
use crate::engine::policy::models::{Row, TABLE, Unset};

const HEADER: &str = "// Printed from src/engine/model by `npm run format`: change the types there.\n";

#[test]
fn the_generated_typescript_is_that_of_the_types() {
    let mut text = HEADER.to_owned();
    let types = printed_types();
    for (name, schema) in &types {
        text += &match schema["x-facts"] == true {
            true => facts(&types, schema),
            false => declared(name, schema),
        };
    }
    check("core/generated/model.ts", &text);
}

#[test]
fn the_generated_models_are_those_of_the_table() {
    let rows = TABLE.iter().flat_map(|(_, rows)| *rows);
    let mut names: Vec<(&str, &Row)> = rows
        .flat_map(|row| row.names.iter().map(move |name| (*name, row)))
        .collect();
    // The longest name that matches counts, the last of several: here it is the first that matches.
    names.reverse();
    names.sort_by_key(|(name, _)| Reverse(name.trim_end_matches('*').len()));
    let lines = names.iter().map(|(name, row)| {
        let thinks = matches!(row.thinking.unset, Unset::On | Unset::Always);
        format!(
            "  {},\n",
            json!([name, row.vendors, row.window, row.output, thinks])
        )
    });
    let text = "// Printed from src/engine/policy/models by `npm run format`: change the rows there.\n\
        \n/**\n * A name, the vendors for which the row holds (all if there is none), the most tokens of a request and of \
        an answer,\n * and whether the model thinks unasked.\n */\n\
        export type ModelRow = readonly [\n  name: string,\n  vendors: readonly string[],\n  \
        window: number | null,\n  output: number | null,\n  thinks: boolean,\n];\n\
        \n/** The table of models. The first row that matches counts. */\n\
        export const MODELS: readonly ModelRow[] = [\n"
        .to_owned();
    check(
        "extras/model-rows.ts",
        &(text + &lines.collect::<String>() + "];\n"),
    );
}

/// The facts of all points, as an interface whose fields are the points. JSON in them may be of any type.
fn facts(types: &Map<String, Value>, schema: &Value) -> String {
    let mut text = documented(schema, "") + "export interface Facts {\n";
    let points = words_of(&types["Point"]);
    for point in points
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point.as_str().unwrap())
    {
        let is_here = |variant: &&Value| variant["x-of"].as_array().unwrap().contains(&point.into());
        let variants = schema["anyOf"].as_array().unwrap();
        let variant = variants
            .iter()
            .find(is_here)
            .unwrap_or_else(|| panic!("no facts at {point}"));
        let mut fields = at_point(resolved(types, variant), point);
        mark(&mut fields, "x-frozen");
        let point_schemas = types["Point"]["oneOf"].as_array().unwrap();
        let about = point_schemas.iter().find(|one| one["const"] == point).unwrap();
        text += &format!(
            "{}  {point}: {};\n",
            documented(about, "  "),
            typed(&fields, "  ")
        );
    }
    let hooked: Vec<String> = hook_points().iter().map(Value::to_string).collect();
    let hooked = format!(
        "/** A point at which hooks are asked. */\nexport type HookPoint = {};",
        hooked.join(" | ")
    );
    format!("\n{}}}\n\n{hooked}\n", text.replace(": unknown;", ": any;"))
}

/// The points at which hooks are asked.
fn hook_points() -> Vec<Value> {
    let mut points = words::<Point>().as_array().unwrap().clone();
    points.retain(|point| row(serde_json::from_value(point.clone()).unwrap()).class == Class::Hook);
    points
}

/// The type to which a schema refers, or the schema itself.
fn resolved<'a>(types: &'a Map<String, Value>, schema: &'a Value) -> &'a Value {
    let of = schema["$ref"].as_str().or(schema["anyOf"][0]["$ref"].as_str());
    of.map_or(schema, |of| &types[of.rsplit('/').next().unwrap()])
}

/// The types that leave the engine, and the options.
fn printed_types() -> Map<String, Value> {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let events = add::<EventKind>(&mut generator);
    for add in [
        add::<AgentTranscript>,
        add::<Bound>,
        add::<Facts<'_>>,
        add::<Failure>,
        add::<FinishReason>,
        add::<History<'_>>,
        add::<JournalTail>,
        add::<Message>,
        add::<Point>,
        add::<Outcome>,
        add::<PermissionMode>,
        add::<Question>,
        add::<Report<'_>>,
        add::<Output>,
        add::<Usage>,
    ] {
        add(&mut generator);
    }
    let mut definitions = generator.take_definitions(true);
    definitions.insert(events.0, events.1);
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    for add in [add::<Config>, add::<Pruning>, add::<Answer>] {
        add(&mut generator);
    }
    let types = generator.take_definitions(true);
    for (name, of, mark, doc) in DATA {
        let mut fields = options(&types, of, mark);
        let nulls = if mark == "repeat" { "null" } else { "none" };
        if matches!(mark, "raise" | "prepared" | "hook") {
            // A field of an answer that is left out changes nothing.
            fields
                .values_mut()
                .filter_map(Value::as_object_mut)
                .for_each(|field| {
                    field.remove("default");
                });
        }
        let schema = json!({"description": doc, "x-options": nulls, "properties": fields});
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
        "Effort",
        "Jitter",
        "OnCutOff",
        "OnOutputLimit",
        "PruneBy",
        "OnUnknownTool",
        "OutputMode",
        "QueueMode",
        "RuleKind",
        "StopCondition",
        "ToolAccess",
        "ToolChoice",
        "ToolExecution",
    ] {
        definitions.insert(name.to_owned(), types[name].clone());
    }
    let mut known = types;
    known.extend(definitions.clone());
    for schema in definitions.values_mut() {
        if let Some(tag) = schema["x-tag"].as_str() {
            let words = words_of(resolved(&known, &schema["properties"][tag]));
            schema["x-words"] = words;
        }
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
        mark(schema, "x-read");
        text += &declared(name, schema);
    }
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    shared.retain(|name| words.contains(&name.as_str()));
    let shared = shared.join(", ");
    let text = format!("{HEADER}import type {{ {shared} }} from \"./model.js\";\n{text}");
    check("core/generated/input.ts", &text);
}

#[test]
fn the_generated_tables_are_those_of_the_configuration() {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.subschema_for::<Config>();
    generator.subschema_for::<Pruning>();
    generator.subschema_for::<Answer>();
    let types = generator.take_definitions(true);
    let mut text = HEADER.to_owned();
    text += "import type { OptionTable } from \"../option-table.js\";\n";
    text += &format!(
        "\n/** The version of looplet. */\nexport const VERSION = \"{}\";\n",
        env!("CARGO_PKG_VERSION")
    );
    text += &format!(
        "\nexport const PERMISSION_MODES = {} as const;\n",
        words::<PermissionMode>()
    );
    text += &format!(
        "\nexport const ON_UNKNOWN_TOOL = {} as const;\n",
        words::<OnUnknownTool>()
    );
    text += &format!(
        "\nexport const HOOK_POINTS = {} as const;\n",
        Value::from(hook_points())
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
    for (name, of, mark, group) in TABLES {
        let fields = options(&types, of, mark);
        text += &format!(
            "\nexport const {name} = {} satisfies OptionTable;\n",
            table(&types, &fields, mark == "repeat")
        );
        if let Some(group) = group {
            add_defaults(&types, group, &fields, &mut defaults);
        }
    }
    for (name, of) in [
        ("PRUNING", "Pruning"),
        ("PROMPT_CACHING", "PromptCaching"),
        ("PERMISSION_RESULT", "PermissionResult"),
    ] {
        let fields = types[of]["properties"].as_object().unwrap();
        let table = table(&types, fields, false);
        text += &format!("\nexport const {name} = {table} satisfies OptionTable;\n");
    }
    text += "\n/** The default of each scalar option. */\nexport const DEFAULTS: { readonly [option: string]: unknown } = {\n";
    let config = Config::default();
    for (name, default) in defaults {
        let default = match name.as_str() {
            "limits.maxIterations" => config.max_iterations().into(),
            "retry.maxMs" => config.retry.longest_ms().into(),
            _ => default,
        };
        let quote = if name.contains('.') { "\"" } else { "" };
        text += &format!("  {quote}{name}{quote}: {default},\n");
    }
    check("core/generated/tables.ts", &(text + "};\n"));
}

/// The marked fields of this type.
fn options(types: &Map<String, Value>, of: &str, mark: &str) -> Map<String, Value> {
    let fields = types[of]["properties"].as_object().unwrap().iter();
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

/// An object of which every field is required, as a table.
fn required_table(types: &Map<String, Value>, schema: &Value) -> String {
    let mut fields = schema["properties"].as_object().cloned().unwrap_or_default();
    let each = fields.values_mut();
    each.for_each(|field| field["x-required"] = true.into());
    table(types, &fields, false)
}

/// The kind of an option: an `OptionKind`, a list of words or a table.
fn kind(types: &Map<String, Value>, field: &Value, is_nullable: bool) -> String {
    let of = resolved(types, field);
    if let Some(fields) = of["properties"].as_object() {
        return table(types, fields, is_of_null(of));
    }
    if of["enum"].is_array() {
        return of["enum"].to_string();
    }
    if let Some(choices) = of["oneOf"].as_array() {
        let choice = |choice: &Value| match choice["properties"].as_object() {
            Some(_) => required_table(types, choice),
            None => words_of(choice).to_string().trim_matches(['[', ']']).to_owned(),
        };
        return format!("[{}]", choices.iter().map(choice).collect::<Vec<_>>().join(", "));
    }
    let mark = match (is_nullable, field["x-required"] == true) {
        (true, _) => "?",
        (_, true) => "!",
        _ => "",
    };
    let given = field["x-kind"].as_str();
    let kind = match given.unwrap_or(first_type(field)) {
        "boolean" => "boolean",
        "array" if first_type(&field["items"]) == "integer" => "wholes",
        "array" if first_type(&field["items"]) == "string" => "texts",
        "array" if is_of_words(resolved(types, &field["items"])) => "texts",
        "array" | "" => "any",
        "string" if given.is_some() => "string",
        "string" => "text",
        "number" => "number",
        "object" => "object",
        "integer" if field["minimum"] == 1 => "count",
        "integer" => "whole",
        other => panic!("no kind of option is {other}: {field}"),
    };
    let width = if field["format"] == "uint64" { "64" } else { "" };
    format!("\"{kind}{width}{mark}\"")
}

fn is_of_words(schema: &Value) -> bool {
    schema["enum"].is_array() || schema["oneOf"].is_array()
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
        .join("src/typescript")
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
