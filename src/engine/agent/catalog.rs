//! The schemas of an agent's tools and of its structured answer, compiled once.
//!
//! [`Profile::new`](crate::engine::agent::profile::Profile::new) compiles them when an agent is prepared, and reports
//! the first schema that is not valid. All runs of the agent read them and never change them. The catalog is derived
//! data: a restored run makes it again.

use std::collections::HashSet;

use crate::engine::model::config::ToolConfig;
use crate::engine::model::config::output_format::OutputFormat;
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::Json;
use crate::engine::schema::{self, Schema};

#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// One entry for each tool of the configuration. `None` if your code validates the input, and
    /// for the answer tool.
    pub schemas: Vec<Option<Schema>>,
    /// The schema of the answer. `None` if your code validates it.
    pub output: Option<Schema>,
    /// The keywords of the schemas that are not checked or have no effect, each as the text of a warning.
    pub schema_warnings: Vec<String>,
}

impl Catalog {
    /// # Errors
    /// Two tools with the same name, a tool without a name, or a schema that is not valid.
    pub fn new(tools: &[ToolConfig]) -> Result<Catalog, ConfigError> {
        let mut catalog = Catalog::default();
        catalog.compile_schemas(tools)?;
        Ok(catalog)
    }

    fn compile_schemas(&mut self, tools: &[ToolConfig]) -> Result<(), ConfigError> {
        let mut names = HashSet::new();
        for tool in tools {
            let field = |tail: &str| format!("tools.{}{tail}", tool.name);
            if tool.name.is_empty() {
                return Err(ConfigError::new("tools", "a tool needs a name"));
            }
            if !names.insert(tool.name.as_str()) {
                return Err(ConfigError::new(
                    field(""),
                    "two tools have this name: rename one of them",
                ));
            }
            if tool.answers {
                self.schemas.push(None);
                continue;
            }
            let compiled = self.compile(
                &field(".inputSchema"),
                tool.full_schema.as_ref().unwrap_or(&tool.input_schema),
            )?;
            self.schemas.push(tool.validate.then_some(compiled));
        }
        Ok(())
    }

    /// # Errors
    /// A schema of the structured answer that is not valid.
    pub fn add_output(&mut self, format: &OutputFormat) -> Result<(), ConfigError> {
        let compiled = self.compile("output.schema", &format.schema)?;
        self.output = format.validate.then_some(compiled);
        Ok(())
    }

    fn compile(&mut self, field: &str, json: &Json) -> Result<Schema, ConfigError> {
        let compiled = schema::compile(json.as_str())
            .map_err(|error| ConfigError::new(format!("{field}{}", error.pointer), error.problem))?;
        for warning in compiled.warnings() {
            let words = [
                field,
                &warning.pointer,
                ": the keyword ",
                &warning.keyword,
                " ",
                &warning.problem,
            ];
            self.schema_warnings.push(words.concat());
        }
        Ok(compiled)
    }
}
