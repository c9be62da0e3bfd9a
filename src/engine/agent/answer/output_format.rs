//! The schema of a structured answer, and how it is enforced.
//!
//! A vendor that can enforce the schema gets it with the request, and the model answers in text (native mode). If the
//! vendor cannot, or does not accept this schema, the model gets a tool that takes the answer as its input (tool
//! mode). The mode is chosen once, for the model in the agent's options. `structured.rs` checks the answer in both
//! modes.

use looplet_scan::reader::Object;
use serde_json::{Map, Value};

use crate::engine::json::value::read;
use crate::engine::model::config::output_format::{OutputFormat, OutputMode};
use crate::engine::model::config::{Config, ModelConfig, ResponseFormat, ToolChoice, ToolConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::Json;
use crate::engine::protocol;

impl Config {
    /// The tool with which the model answers, in tool mode.
    pub fn answer_tool(&self) -> Option<&ToolConfig> {
        self.tools.iter().find(|tool| tool.answers)
    }

    pub fn is_answer_tool(&self, name: &str) -> bool {
        self.answer_tool().is_some_and(|tool| tool.name == name)
    }

    /// The tools of your code.
    pub fn own_tools(&self) -> impl Iterator<Item = &ToolConfig> {
        self.tools.iter().filter(|tool| !tool.answers)
    }

    /// Chooses the mode. In tool mode, adds the answer tool to the others.
    ///
    /// # Errors
    /// One of your tools has the same name as the answer tool.
    pub fn equip_for_output(&mut self) -> Result<(), ConfigError> {
        let Some(format) = &self.output else { return Ok(()) };
        let is_native = match format.mode {
            OutputMode::Auto => can_enforce(&self.model, format, !self.tools.is_empty()),
            mode => mode == OutputMode::Native,
        };
        if is_native {
            return Ok(());
        }
        if self.tools.iter().any(|tool| tool.name == format.name) {
            return Err(ConfigError::new(
                "output.name",
                "is the name of a tool: give one of them another name",
            ));
        }
        let mut tool = ToolConfig::new(format.name.clone(), format.schema.clone());
        tool.description = format!(
            "Gives the final answer. Call it once, without other calls, when everything else is done. {}",
            format.description
        );
        tool.validate = false;
        tool.answers = true;
        self.tools.push(tool);
        Ok(())
    }

    /// Adds the schema or the answer tool to the options of a model.
    pub fn hold_to_output(&self, model: &mut ModelConfig) {
        let Some(format) = &self.output else { return };
        if self.answer_tool().is_some() {
            model.response_format = None;
            // Vendors refuse a forced call together with reasoning:
            // <https://platform.claude.com/docs/en/build-with-claude/extended-thinking> (2026-11-21)
            let has_said = !matches!(model.tool_choice, None | Some(ToolChoice::None));
            if !has_said && model.thinking.is_none() {
                model.tool_choice = Some(match self.own_tools().next() {
                    Some(_) => ToolChoice::Required,
                    None => ToolChoice::Tool(format.name.clone()),
                });
            }
            return;
        }
        let has_tools = self.own_tools().next().is_some();
        if format.mode == OutputMode::Auto && !can_enforce(model, format, has_tools) {
            return;
        }
        let schema = read(format.schema.as_str()).ok();
        let wants_less = matches!(protocol_of(model), "anthropic" | "bedrock_converse");
        let narrowed = schema.as_ref().filter(|_| wants_less).and_then(narrowed);
        let is_strict = || schema.as_ref().is_some_and(is_strict);
        model.response_format = Some(ResponseFormat {
            name: format.name.clone(),
            schema: narrowed.unwrap_or_else(|| format.schema.clone()),
            strict: format.strict.unwrap_or_else(is_strict),
        });
    }
}

fn protocol_of(model: &ModelConfig) -> &'static str {
    protocol::find(model).map_or("", |(_, protocol)| protocol.name)
}

/// Returns true if the vendor is known to enforce this schema on the text of an answer.
/// <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>,
/// <https://platform.openai.com/docs/guides/structured-outputs>,
/// <https://ai.google.dev/gemini-api/docs/structured-output> (2026-11-21)
fn can_enforce(model: &ModelConfig, format: &OutputFormat, has_tools: bool) -> bool {
    match protocol_of(model) {
        // Other vendors that speak the protocol do not know the field, and neither do models before Claude 4.
        "anthropic" => {
            model.vendor == "anthropic"
                && !model.model.starts_with("claude-3")
                && read(format.schema.as_str()).is_ok_and(|schema| narrowed(&schema).is_some())
        }
        "openai_responses" => true,
        // A server with a quirk that has no field for the schema promises only JSON.
        "openai_chat" => {
            let quirks = model
                .quirks
                .as_ref()
                .and_then(|json| Object::parse(json.as_str()));
            let quirk = quirks.and_then(|quirks| quirks.get("responseFormat"));
            quirk.is_none_or(|quirk| quirk != "false" && (quirk.starts_with('"') || quirk.contains('$')))
        }
        // Most Gemini models refuse a schema together with tools.
        "gemini" => !has_tools,
        _ => false,
    }
}

/// The schema in the subset that Anthropic accepts: keywords that shape a value, and closed objects. The engine
/// checks the rest. Returns `None` for a schema with objects of any properties.
fn narrowed(schema: &Value) -> Option<Json> {
    Some(Json::of(&narrow(schema)?))
}

fn narrow(schema: &Value) -> Option<Value> {
    let mut kept = Map::new();
    for (key, value) in schema.as_object()? {
        let (key, value) = match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                let schemas = schemas
                    .iter()
                    .map(|(name, schema)| Some((name.clone(), narrow(schema)?)));
                (key.as_str(), schemas.collect::<Option<Value>>()?)
            }
            ("anyOf" | "oneOf", Value::Array(schemas)) => {
                ("anyOf", schemas.iter().map(narrow).collect::<Option<Value>>()?)
            }
            ("allOf", Value::Array(schemas)) => {
                ("allOf", schemas.iter().map(narrow).collect::<Option<Value>>()?)
            }
            ("items", schema) => ("items", narrow(schema)?),
            ("type" | "enum" | "const" | "title" | "description" | "required" | "$ref", value) => {
                (key.as_str(), value.clone())
            }
            ("additionalProperties", Value::Bool(false)) => continue,
            ("additionalProperties", _) => return None,
            _ => continue,
        };
        if kept.insert(key.to_owned(), value).is_some() {
            // A schema with both `anyOf` and `oneOf` has no such form.
            return None;
        }
    }
    if is_object(schema) {
        schema.get("properties")?;
        kept.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Some(Value::Object(kept))
}

/// Returns true if OpenAI's strict mode accepts the schema: each object lists all of its properties and requires
/// them.
fn is_strict(schema: &Value) -> bool {
    let Value::Object(members) = schema else {
        return false;
    };
    if is_object(schema) {
        let (Some(Value::Object(properties)), Some(Value::Array(required)), Some(Value::Bool(false))) = (
            schema.get("properties"),
            schema.get("required"),
            schema.get("additionalProperties"),
        ) else {
            return false;
        };
        let requires = |name: &str| required.iter().any(|known| known.as_str() == Some(name));
        if !properties.keys().all(|name| requires(name)) {
            return false;
        }
    }
    members.iter().all(|(key, value)| match (key.as_str(), value) {
        ("properties" | "$defs" | "definitions", Value::Object(schemas)) => schemas.values().all(is_strict),
        ("anyOf", Value::Array(schemas)) => schemas.iter().all(is_strict),
        ("items", schema) => is_strict(schema),
        ("oneOf" | "allOf" | "not" | "if", _) => false,
        _ => true,
    })
}

fn is_object(schema: &Value) -> bool {
    let object = |kind: &Value| kind.as_str() == Some("object");
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(object),
        Some(kind) => object(kind),
        None => schema.get("properties").is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anthropic_gets_what_shapes_and_closed_objects() {
        let schema = r##"{"type":"object","$schema":"x","required":["a"],"properties":{
            "a":{"type":"integer","minimum":1,"description":"n"},"b":{"oneOf":[{"const":1},{"$ref":"#/$defs/c"}]},
            "l":{"type":"array","minItems":2,"items":{"type":"object","properties":{}}}},
            "$defs":{"c":{"type":["object","null"],"properties":{"d":{"enum":["x"]}},"additionalProperties":false}}}"##;
        assert_eq!(
            narrowed(&read(schema).unwrap()).unwrap().as_str(),
            r##"{"type":"object","required":["a"],"properties":{"a":{"type":"integer","description":"n"},"b":{"anyOf":[{"const":1},{"$ref":"#/$defs/c"}]},"l":{"type":"array","items":{"type":"object","properties":{},"additionalProperties":false}}},"$defs":{"c":{"type":["object","null"],"properties":{"d":{"enum":["x"]}},"additionalProperties":false}},"additionalProperties":false}"##
        );
        for open in [
            r#"{"type":"object"}"#,
            r#"{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}"#,
            r#"{"type":"object","properties":{"a":true}}"#,
        ] {
            assert!(narrowed(&read(open).unwrap()).is_none(), "{open}");
        }
    }

    #[test]
    fn strict_is_a_schema_whose_objects_name_and_require_all_that_they_have() {
        for (schema, expected) in [
            (
                r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#,
                true,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}"#,
                false,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#,
                false,
            ),
            (
                r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{}}}},"required":["a"],"additionalProperties":false}"#,
                false,
            ),
        ] {
            assert_eq!(is_strict(&read(schema).unwrap()), expected, "{schema}");
        }
    }
}
