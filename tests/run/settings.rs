//! Settings of a run that a test needs, over those that it does not care about.

use looplet::engine::model::config::Config;
use serde_json::{Value, json};

/// A configuration on the Anthropic protocol with these tools; `fields` is merged over it.
pub fn config(tools: Value, fields: Value) -> Config {
    let mut config = json!({
        "model": { "vendor": "anthropic", "model": "claude-test" },
        "system": "Be brief.",
        "tools": tools,
        "retry": { "jitterMs": 0 },
        "journal": true,
    });
    merge(&mut config, fields);
    looplet::engine::model::json::read::<Config>("config", &config.to_string()).unwrap()
}

pub fn merge(into: &mut Value, fields: Value) {
    match (into, fields) {
        (Value::Object(into), Value::Object(fields)) => {
            for (key, value) in fields {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, value) => *into = value,
    }
}

/// A tool that takes `{"n": integer}`.
pub fn tool(name: &str, fields: Value) -> Value {
    let mut tool = json!({
        "name": name,
        "description": name,
        "inputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } },
    });
    merge(&mut tool, fields);
    tool
}
