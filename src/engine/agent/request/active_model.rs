//! The model that an agent asks, with its protocol, URL and headers.
//!
//! It is a part of the agent's state, because it can change within a run: by a fallback, by `prepareIteration`, or by
//! [`crate::engine::model::input::Input::SetModel`]. Nothing here sends a request or knows a key.

use serde::{Deserialize, Serialize};

use crate::engine::model::config::{Config, ModelConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::protocol::{self, Protocol, RequestSpec, Vendor};

/// A model, and the data that derives from its configuration. Only the configuration is saved.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "ModelConfig", into = "ModelConfig")]
pub struct ActiveModel {
    pub config: ModelConfig,
    pub protocol: &'static Protocol,
    pub vendor: &'static Vendor,
    pub url: String,
    pub headers: Vec<(String, String)>,
}

impl ActiveModel {
    /// # Errors
    /// An unknown vendor or protocol, a missing base URL.
    pub fn new(config: ModelConfig) -> Result<ActiveModel, ConfigError> {
        let (vendor, protocol) = protocol::find(&config)?;
        let base_url = config.base_url.as_deref().unwrap_or(vendor.base_url);
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let fixed = protocol
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let own = |name: &str| {
            config
                .headers
                .iter()
                .any(|(other, _)| other.eq_ignore_ascii_case(name))
        };
        headers.extend(fixed);
        headers.retain(|(name, _)| !own(name));
        headers.extend(config.headers.iter().cloned());
        Ok(ActiveModel {
            protocol,
            vendor,
            url: protocol.url(base_url, &config),
            headers,
            config,
        })
    }

    /// Makes the model after a check that this configuration can ask it.
    ///
    /// # Errors
    /// An unknown vendor or protocol, a missing base URL, or an option that the protocol cannot express.
    pub fn checked(mut model: ModelConfig, config: &Config) -> Result<ActiveModel, ConfigError> {
        config.hold_to_output(&mut model);
        let model = ActiveModel::new(model)?;
        (model.protocol.encode_head)(&model.spec(config), &mut Vec::new())?;
        Ok(model)
    }

    /// The parts of a request of an agent with this configuration.
    pub fn spec<'a>(&'a self, config: &'a Config) -> RequestSpec<'a> {
        RequestSpec {
            model: &self.config,
            system: config.system.as_deref(),
            tools: &config.tools,
            before: None,
        }
    }
}

impl TryFrom<ModelConfig> for ActiveModel {
    type Error = ConfigError;

    fn try_from(config: ModelConfig) -> Result<ActiveModel, ConfigError> {
        ActiveModel::new(config)
    }
}

impl From<ActiveModel> for ModelConfig {
    fn from(model: ActiveModel) -> ModelConfig {
        model.config
    }
}
