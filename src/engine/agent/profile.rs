//! One kind of agent: its configuration, and the data that derives from it.
//!
//! [`Setup`](crate::engine::agent::setup::Setup) creates a profile for the agent itself and for each agent that its
//! tools call. Runs read profiles and never change them. An invalid configuration fails in [`Profile::new`].

use crate::engine::agent::catalog::Catalog;
use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::model::config::{Config, ModelConfig};
use crate::engine::model::error::ConfigError;
use crate::engine::model::journal::ModelName;
use crate::engine::protocol::find;

/// Only its configuration is saved.
#[derive(Clone)]
pub struct Profile {
    pub config: Config,
    pub catalog: Catalog,
    /// The model that a new agent asks, unless it asks the model of its caller.
    pub model: ActiveModel,
}

impl Profile {
    /// # Errors
    /// A model that cannot be asked, two tools with the same name, a schema that is not valid.
    pub fn new(mut config: Config) -> Result<Profile, ConfigError> {
        let (_, protocol) = find(&config.model)?;
        for vendor in config.tools.iter_mut().filter_map(|tool| tool.vendor.as_mut()) {
            vendor.protocol.get_or_insert_with(|| protocol.name.to_owned());
        }
        let model = ActiveModel::checked(config.model.clone(), &config)?;
        if let Some(wanted) = model.call_in_words() {
            config.add_to_system(&wanted);
        }
        for fallback in &config.fallback_models {
            ActiveModel::checked(fallback.clone(), &config)?;
        }
        let mut catalog = Catalog::new(&config.tools)?;
        if let Some(format) = &config.output {
            catalog.add_output(format)?;
        }
        Ok(Profile {
            config,
            catalog,
            model,
        })
    }

    /// The model of this configuration with this name.
    pub fn model_named(&self, name: &ModelName) -> Option<&ModelConfig> {
        let is_named = |own: &&ModelConfig| own.vendor == name.vendor && own.model == name.model;
        let of_slot = self.models().find(|own| own.slot == name.slot && is_named(own));
        of_slot.or_else(|| self.models().find(is_named))
    }

    /// The models of this configuration.
    pub fn models(&self) -> impl Iterator<Item = &ModelConfig> {
        self.config.fallback_models.iter().chain([&self.config.model])
    }
}
