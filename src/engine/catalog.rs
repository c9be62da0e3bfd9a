//! What a configuration refers to, looked up and compiled once: protocol, vendor, URL, headers, schemas.
//!
//! Derived data: a restored run makes it again.

use super::config::Config;
use super::error::ConfigError;
use super::json_tree::Tree;
use super::provider::{self, Protocol, Vendor};
use super::schema::{self, Schema};

pub struct Catalog {
    pub protocol: &'static Protocol,
    pub vendor: &'static Vendor,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// One per tool of the configuration; `None` where the host validates.
    pub schemas: Vec<Option<Schema>>,
    /// Keywords of the tools' schemas that are not checked, as text for a warning each.
    pub schema_warnings: Vec<String>,
}

impl Catalog {
    /// # Errors
    /// An unknown vendor or protocol, a missing base URL, two tools of one name, a schema that is none.
    pub fn new(config: &Config) -> Result<Catalog, ConfigError> {
        let model = &config.model;
        let (vendor, protocol) = provider::find(model)?;
        let base_url = model.base_url.as_deref().unwrap_or(vendor.base_url);
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let fixed = protocol
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let own = |name: &str| {
            model
                .headers
                .iter()
                .any(|(other, _)| other.eq_ignore_ascii_case(name))
        };
        headers.extend(fixed);
        headers.retain(|(name, _)| !own(name));
        headers.extend(model.headers.iter().cloned());
        let mut catalog = Catalog {
            protocol,
            vendor,
            url: protocol.url(base_url, model),
            headers,
            schemas: Vec::new(),
            schema_warnings: Vec::new(),
        };
        catalog.compile_schemas(config)?;
        Ok(catalog)
    }

    fn compile_schemas(&mut self, config: &Config) -> Result<(), ConfigError> {
        for (index, tool) in config.tools.iter().enumerate() {
            let field = |tail: &str| ["tools.", &tool.name, tail].concat();
            if tool.name.is_empty() {
                return Err(ConfigError::new("tools", "a tool needs a name"));
            }
            if config
                .tools
                .iter()
                .take(index)
                .any(|other| other.name == tool.name)
            {
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
