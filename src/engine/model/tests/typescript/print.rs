//! Prints a JSON Schema as TypeScript: an interface or a type, with the doc comments of its fields.

use serde_json::{Value, json};

pub fn declared(name: &str, schema: &Value) -> String {
    let doc = documented(schema, "");
    if schema["x-tag"].is_string() {
        return format!("\n{doc}export type {name} = {};\n", tagged(schema));
    }
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

/// A struct as a union: the field `x-tag` is a word, and the mark `x-of` of another field names the words with which
/// it occurs, with `!` where it always does. Words with the same fields share a variant.
fn tagged(schema: &Value) -> String {
    let tag = schema["x-tag"].as_str().unwrap_or_default();
    let mut variants: Vec<(Vec<String>, Value)> = Vec::new();
    for word in schema["x-words"].as_array().into_iter().flatten() {
        let mut of_word = at_point(schema, word.as_str().unwrap_or_default());
        if let Some(fields) = of_word["properties"].as_object_mut() {
            fields.remove(tag);
            for (name, _) in schema["properties"].as_object().into_iter().flatten() {
                if name != tag && !fields.contains_key(name) {
                    fields.insert(name.clone(), json!({"x-type": "undefined"}));
                }
            }
        }
        match variants.iter_mut().find(|(_, known)| *known == of_word) {
            Some((words, _)) => words.push(word.to_string()),
            None => variants.push((vec![word.to_string()], of_word)),
        }
    }
    let printed = variants.iter().map(|(words, fields)| {
        let rest = object(fields, "  ");
        format!("\n  | {{\n    {tag}: {};{}", words.join(" | "), &rest[1..])
    });
    printed.collect()
}

/// The fields of a schema that stand at this point, or with this word: see [`tagged`].
pub fn at_point(schema: &Value, point: &str) -> Value {
    let mut schema = schema.clone();
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    if let Some(fields) = schema["properties"].as_object_mut() {
        fields.retain(|name, field| {
            let Some(points) = field["x-of"].as_array() else {
                return true;
            };
            let always = points.contains(&format!("{point}!").into());
            let is_here = always || points.contains(&point.into());
            required.retain(|known| known != name);
            if always {
                required.push(name.as_str().into());
                field["x-required"] = true.into();
            }
            is_here
        });
        fields
            .values_mut()
            .filter_map(Value::as_object_mut)
            .for_each(|field| {
                field.remove("x-of");
            });
    }
    schema["required"] = required.into();
    schema
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
        let is_always = field["x-required"] == true;
        if !is_of_null(schema) && (is_options || is_always || !is_required && schema["x-read"] != true) {
            remove_null(&mut field);
        }
        if is_options {
            mark(&mut field, "x-read");
        }
        let of = typed(&field, &inner);
        let name = match schema["x-frozen"] == true {
            true => format!("readonly {name}"),
            false => name.clone(),
        };
        text += &match (is_options, is_always || is_required && !is_options) {
            (true, true) => format!("{}{inner}{name}: {of};\n", documented(&field, &inner)),
            (true, false) if of == "undefined" => format!("{inner}{name}?: {of};\n"),
            (true, false) => format!(
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
        Value::Null if field.get("default").is_some() => " Default: none.".to_owned(),
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

pub fn typed(schema: &Value, indent: &str) -> String {
    if let Some(text) = schema["x-type"].as_str() {
        return text.to_owned();
    }
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
                let mark = if schema["x-read"] == true || schema["x-frozen"] == true {
                    "readonly "
                } else {
                    ""
                };
                match typed(&schema["items"], indent) {
                    union if union.starts_with('\n') => format!("{mark}({union})[]"),
                    item => format!("{mark}{item}[]"),
                }
            }
            "object" => object(schema, indent),
            other => other.to_owned(),
        },
        _ => "unknown".to_owned(),
    }
}

/// The description of a schema as a doc comment.
pub fn documented(schema: &Value, indent: &str) -> String {
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

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
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

/// Marks every schema within this one. `x-read`: the engine reads such a value, so `null` and lists that do not
/// change will do. `x-frozen`: no code changes such a value.
pub fn mark(schema: &mut Value, name: &str) {
    match schema {
        Value::Object(fields) => {
            for (key, inner) in fields.iter_mut() {
                match inner.as_object_mut().filter(|_| key == "properties") {
                    Some(properties) => properties.values_mut().for_each(|field| mark(field, name)),
                    None => mark(inner, name),
                }
            }
            fields.insert(name.to_owned(), true.into());
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mark(item, name)),
        _ => {}
    }
}

/// True if `null` is a value of the fields of this type. Otherwise it marks a field that is left out.
pub fn is_of_null(schema: &Value) -> bool {
    schema["x-options"] == "null"
}
