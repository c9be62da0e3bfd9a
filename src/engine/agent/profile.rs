//! One kind of agent: its configuration, and what derives from that. The first profile is the run's own.

use serde::{Deserialize, Serialize};

use crate::engine::agent::catalog::Catalog;
use crate::engine::model::config::Config;
use crate::engine::model::error::ConfigError;

/// Only the configuration is saved.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Config", into = "Config")]
pub struct Profile {
    pub config: Config,
    pub catalog: Catalog,
}

impl Profile {
    /// # Errors
    /// Two tools of one name, a schema that is none.
    pub fn new(config: Config) -> Result<Profile, ConfigError> {
        let mut catalog = Catalog::new(&config.tools)?;
        if let Some(format) = &config.output {
            catalog.add_output(format)?;
        }
        Ok(Profile { config, catalog })
    }
}

impl TryFrom<Config> for Profile {
    type Error = ConfigError;

    fn try_from(config: Config) -> Result<Profile, ConfigError> {
        Profile::new(config)
    }
}

impl From<Profile> for Config {
    fn from(profile: Profile) -> Config {
        profile.config
    }
}
