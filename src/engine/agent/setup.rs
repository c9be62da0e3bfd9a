//! An agent that is prepared once: its options are checked, its schemas compiled, its models looked up. The agents
//! behind its tools are prepared with it.
//!
//! The shell makes a [`Setup`] of each new text of a configuration. The face writes that text once per agent, or once
//! per run if `instructions` is a function. All runs with this text share the setup and read it through their desks;
//! none changes it. The changes of one run (its mode, raised limits, another model)
//! stand in the run. A configuration that cannot run is refused here, before any run.

use serde::{Deserialize, Serialize};

use crate::engine::agent::profile::Profile;
use crate::engine::model::config::Config;
use crate::engine::model::error::ConfigError;

/// A saved run holds the configurations of its profiles in its place.
#[derive(Serialize, Deserialize)]
pub struct Setup {
    /// The run's own agent.
    pub root: Profile,
    /// The agents behind tools, from profile 1 on.
    agents: Vec<Profile>,
}

impl Setup {
    /// # Errors
    /// A configuration that cannot run: an unknown vendor, a missing URL, two tools with the same name, a schema that
    /// is not valid, an option that the protocol cannot express.
    pub fn new(mut config: Config) -> Result<Setup, ConfigError> {
        let agents = std::mem::take(&mut config.agents);
        let (permissions, shared) = (config.permissions.clone(), config.shared_instructions.take());
        let count = 1 + agents.len();
        let profile = |mut config: Config| {
            if !config.agents.is_empty() {
                return Err(ConfigError::new(
                    "agents",
                    "belong into the run's own configuration",
                ));
            }
            if let Some(shared) = &shared {
                config.share_instructions(shared);
            }
            config.limits.max_iterations = Some(config.max_iterations());
            if let Some(permissions) = &permissions {
                permissions.check(&config.tools)?;
                config.tools.retain(|tool| !permissions.removes(tool));
            }
            config.check_agents(count)?;
            config.equip_for_output()?;
            Profile::new(config)
        };
        Ok(Setup {
            root: profile(config)?,
            agents: agents.into_iter().map(profile).collect::<Result<_, _>>()?,
        })
    }

    /// The profile of the agent itself for 0, then those of the agents behind tools.
    pub fn profile(&self, index: u32) -> Option<&Profile> {
        match index.checked_sub(1) {
            None => Some(&self.root),
            Some(index) => self.agents.get(index as usize),
        }
    }

    pub fn profiles(&self) -> impl Iterator<Item = &Profile> {
        std::iter::once(&self.root).chain(&self.agents)
    }
}

impl Config {
    fn share_instructions(&mut self, shared: &str) {
        self.system = Some(match self.system.take() {
            Some(system) => [&system, "\n\n", shared].concat(),
            None => shared.to_owned(),
        });
    }

    /// # Errors
    /// A tool that names an agent beyond the `count` that there are.
    fn check_agents(&self, count: usize) -> Result<(), ConfigError> {
        for tool in &self.tools {
            if tool.agent.is_some_and(|agent| agent.profile as usize >= count) {
                let field = ["tools.", &tool.name, ".agent"].concat();
                return Err(ConfigError::new(field, "there is no such agent"));
            }
        }
        Ok(())
    }
}
