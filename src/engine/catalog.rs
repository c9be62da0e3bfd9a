//! The schemas of an agent's tools, compiled once.
//!
//! Derived data: a restored run makes it again.

use super::config::ToolConfig;
use super::error::ConfigError;
use super::json_tree::Tree;
use super::schema::{self, Schema};

#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// One per tool of the configuration; `None` where the host validates.
    pub schemas: Vec<Option<Schema>>,
    /// Keywords of the tools' schemas that are not checked, as text for a warning each.
    pub schema_warnings: Vec<String>,
}

impl Catalog {
    /// # Errors
    /// Two tools of one name, a schema that is none.
    pub fn new(tools: &[ToolConfig]) -> Result<Catalog, ConfigError> {
        let mut catalog = Catalog::default();
        catalog.compile_schemas(tools)?;
        Ok(catalog)
    }

    fn compile_schemas(&mut self, tools: &[ToolConfig]) -> Result<(), ConfigError> {
        for (index, tool) in tools.iter().enumerate() {
            let field = |tail: &str| ["tools.", &tool.name, tail].concat();
            if tool.name.is_empty() {
                return Err(ConfigError::new("tools", "a tool needs a name"));
            }
            if tools.iter().take(index).any(|other| other.name == tool.name) {
                return Err(ConfigError::new(
                    field(""),
                    "two tools have this name: rename one of them",
                ));
            }
            let value = Tree::parse(tool.input_schema.as_str())
                .ok_or_else(|| ConfigError::new(field(".inputSchema"), "nests too many levels"))?;
            let compiled = schema::compile(&value).map_err(|error| {
                ConfigError::new([field(".inputSchema"), error.pointer].concat(), error.problem)
            })?;
            for warning in compiled.warnings() {
                self.schema_warnings.push(
                    [
                        &field(".inputSchema"),
                        &*warning.pointer,
                        ": the keyword ",
                        &*warning.keyword,
                        " is not checked",
                    ]
                    .concat(),
                );
            }
            self.schemas.push(tool.validate.then_some(compiled));
        }
        Ok(())
    }
}
