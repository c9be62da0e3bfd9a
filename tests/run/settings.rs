//! Settings of a run that a test needs, over those that it does not care about.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use looplet::engine::agent::setup::Setup;
use looplet::engine::model::config::{Config, RunOptions};
use looplet::engine::model::error::ConfigError;
use looplet::engine::model::journal::Checkpoint;
use looplet::engine::model::json;
use looplet::engine::run::Run;
use serde_json::{Value, json};

/// An agent's configuration and the options of a run of it.
#[derive(Clone)]
pub struct Settings {
    pub config: Config,
    pub options: RunOptions,
}

impl Settings {
    /// Each of the two takes its own fields.
    pub fn of(fields: &Value) -> Settings {
        let text = fields.to_string();
        Settings {
            config: json::read("config", &text).unwrap(),
            options: json::read("options", &text).unwrap(),
        }
    }

    pub fn open(self) -> Result<Run, ConfigError> {
        Run::new(Arc::new(Setup::new(self.config)?), self.options)
    }

    /// The run of a checkpoint, with this configuration.
    pub fn restore(self, checkpoint: Checkpoint) -> Result<Run, ConfigError> {
        Run::restore(Arc::new(Setup::new(self.config)?), checkpoint)
    }
}

impl Deref for Settings {
    type Target = Config;

    fn deref(&self) -> &Config {
        &self.config
    }
}

impl DerefMut for Settings {
    fn deref_mut(&mut self) -> &mut Config {
        &mut self.config
    }
}

/// A configuration on the Anthropic protocol with these tools; `fields` is merged over it.
pub fn config(tools: Value, fields: Value) -> Settings {
    let mut config = json!({
        "model": { "vendor": "anthropic", "model": "claude-test" },
        "system": "Be brief.",
        "tools": tools,
        "retry": { "jitterMs": 0 },
        "journal": true,
    });
    merge(&mut config, fields);
    Settings::of(&config)
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
