//! Where servers that speak Chat Completions have their options, if they deviate from OpenAI.
//!
//! Quirks are data: a JSON object in [`ModelConfig::quirks`]. The TypeScript's vendor rows set it, and so can a user
//! of `compatible()`. A key is the name of an option in [`ModelConfig`]. `thinking: { budgetTokens }` has the key
//! `budgetTokens`, and `thinking: { type }` has `thinking.<type>`. A value is the field's name, or an object of
//! fields in which the string `"$"` is replaced by the option's value, or `false` if the server does not have the
//! option.
//!
//! Other keys are `systemRole` (the role of the system prompt), `streamUsage: false` (the server rejects
//! `stream_options`), `requiredReasoning` (the field of reasoning that every message with a call must have) and
//! `callIdChars` (the length of each call's id, which consists of letters and digits). The encoder calls
//! [`Quirks::push`] for each option. An option that the server does not have is a [`ConfigError`].

use looplet_scan::reader::{Object, string};

use crate::engine::json::writer::push_any;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::error::ConfigError;
use crate::engine::protocol::request::body_fields::BodyFields;
use crate::engine::protocol::vendor;

/// The placeholder for an option's value, as JSON text.
const PLACE: &str = "\"$\"";

/// Writes options in the places where a server wants them.
pub struct Quirks<'a> {
    fields: &'a BodyFields<'a>,
    own: Object<'a>,
    row: Object<'a>,
    vendor: &'a str,
    written: Vec<String>,
}

impl<'a> Quirks<'a> {
    /// The model's own quirks; its vendor's row fills in for the rest.
    ///
    /// # Errors
    /// When `quirks` is not an object.
    pub fn new(model: &'a ModelConfig, fields: &'a BodyFields<'a>) -> Result<Quirks<'a>, ConfigError> {
        let own = match &model.quirks {
            None => Object::default(),
            Some(json) => Object::parse(json.as_str()).ok_or_else(|| {
                ConfigError::new(
                    "model.quirks",
                    "must be an object of options and the fields that they are sent in",
                )
            })?,
        };
        let row = vendor(&model.vendor).and_then(|row| Object::parse(row.quirks));
        Ok(Quirks {
            fields,
            own,
            row: row.unwrap_or_default(),
            vendor: &model.vendor,
            written: Vec::new(),
        })
    }

    /// The quirk of `option`, as JSON text.
    pub fn get(&self, option: &str) -> Option<&'a str> {
        self.own.get(option).or_else(|| self.row.get(option))
    }

    /// Writes the option, if it has a value, in the place that a quirk names, or else in the field `usual`. An empty
    /// `usual` means that the protocol has no such option.
    ///
    /// # Errors
    /// When the server has no such option, or another option has been written to this field.
    pub fn push(
        &mut self,
        into: &mut Vec<u8>,
        option: &str,
        usual: &str,
        value: Option<&str>,
    ) -> Result<(), ConfigError> {
        let Some(value) = value else { return Ok(()) };
        match self.get(option) {
            Some("false") => self.refuse(option),
            Some(template) => self.fill(into, option, template, value),
            None if usual.is_empty() => self.refuse(option),
            None => {
                self.fields.raw(into, usual, value);
                Ok(())
            }
        }
    }

    fn fill(
        &mut self,
        into: &mut Vec<u8>,
        option: &str,
        template: &str,
        value: &str,
    ) -> Result<(), ConfigError> {
        if let Some(name) = string(template) {
            return self.field(into, option, &name, value);
        }
        let object = Object::parse(template).unwrap_or_default();
        for (key, template) in object.fields() {
            self.field(into, option, key, &template.replace(PLACE, value))?;
        }
        Ok(())
    }

    fn field(&mut self, into: &mut Vec<u8>, option: &str, key: &str, value: &str) -> Result<(), ConfigError> {
        if self.written.iter().any(|other| other == key) {
            let problem = format!("goes into the field {key}, as another option does: give only one of them");
            return Err(ConfigError::new(path(option), problem));
        }
        self.written.push(key.to_owned());
        if !self.fields.has(key) {
            push_any(into, key, value);
        }
        Ok(())
    }

    fn refuse(&self, option: &str) -> Result<(), ConfigError> {
        let problem = format!(
            "\"{}\" has no such option: leave it out, or send the server's own field in body",
            self.vendor
        );
        Err(ConfigError::new(path(option), problem))
    }
}

/// The path of an option as the user wrote it.
fn path(option: &str) -> String {
    match option {
        "budgetTokens" => "model.thinking.budgetTokens".to_owned(),
        "cacheKey" => "model.promptCaching.key".to_owned(),
        "cacheTtl" => "model.promptCaching.ttl".to_owned(),
        _ if option.starts_with("thinking.") => "model.thinking".to_owned(),
        _ => format!("model.{option}"),
    }
}
