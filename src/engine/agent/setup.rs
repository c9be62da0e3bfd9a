//! An agent that is prepared once: its options are checked, its schemas compiled, its models looked up. The agents
//! that its tools call are prepared with it.
//!
//! The shell creates a [`Setup`] for each new text of a configuration. The TypeScript writes that text once per
//! agent, or once per run if `sharedInstructions` is a function. All runs with this text share the setup through
//! their contexts, and none changes it. The changes of one run (its mode, raised limits, another model) are in the
//! run. An invalid configuration is rejected here, before any run.

use serde_json::Value;

use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::agent::profile::Profile;
use crate::engine::json::digest;
use crate::engine::json::writer::decimal;
use crate::engine::model::config::{Config, RunOptions};
use crate::engine::model::error::ConfigError;
use crate::engine::model::json;
use crate::engine::model::message::Block;
use crate::engine::model::usage::Bound;
use crate::engine::policy::bound::bound;

/// A saved run has the configurations of its profiles instead.
pub struct Setup {
    /// The run's own agent.
    pub root: Profile,
    /// The agents that tools call, from profile 1 on.
    agents: Vec<Profile>,
    /// A digest of each option, by name, for a run with a journal. They show what another process has changed.
    pub digests: Vec<(String, String)>,
    /// The name of each profile: the tools that lead to it, from the root on.
    pub names: Vec<String>,
}

impl Setup {
    /// Prepares an agent of the JSON of its configuration.
    ///
    /// # Errors
    /// As [`Setup::new`], or a configuration that is not valid JSON.
    pub fn read(text: &str) -> Result<Setup, ConfigError> {
        let setup = Setup::checked(json::read("", text)?)?;
        Ok(setup.with_digests(|| serde_json::from_str(text).unwrap_or_default()))
    }

    /// Prepares an agent of its configuration.
    ///
    /// # Errors
    /// A configuration that cannot run: an unknown vendor, a missing URL, two tools with the same name, a schema that
    /// is not valid, an option that the protocol cannot express.
    pub fn new(config: Config) -> Result<Setup, ConfigError> {
        let given = if config.journal {
            options_of(&config)
        } else {
            Value::Null
        };
        Ok(Setup::checked(config)?.with_digests(|| given))
    }

    fn with_digests(mut self, options: impl FnOnce() -> Value) -> Setup {
        if self.root.config.journal {
            self.digests = digests(&options(), "", &self.names);
        }
        self
    }

    fn checked(mut config: Config) -> Result<Setup, ConfigError> {
        let names = names_of(&config);
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
                config.add_to_system(shared);
            }
            config.limits.max_iterations = Some(config.max_iterations());
            if let Some(permissions) = &permissions {
                permissions.check(&config.tools)?;
                config.tools.retain(|tool| !permissions.removes(tool));
            }
            config.check_agents(count)?;
            config.check_answer_limits()?;
            config.equip_for_output()?;
            Profile::new(config)
        };
        Ok(Setup {
            root: profile(config)?,
            agents: agents.into_iter().map(profile).collect::<Result<_, _>>()?,
            digests: Vec::new(),
            names,
        })
    }

    /// The profile of the agent itself for 0, then those of the agents that tools call.
    pub fn profile(&self, index: u32) -> Option<&Profile> {
        match index.checked_sub(1) {
            None => Some(&self.root),
            Some(index) => self.agents.get(index as usize),
        }
    }

    /// The most that a run with this prompt may use.
    pub fn bound(&self, prompt: &[Block], options: &RunOptions) -> Bound {
        let configs: Vec<&Config> = self.profiles().map(|profile| &profile.config).collect();
        bound(&configs, prompt, options, |model| {
            let known = ActiveModel::new(model.clone()).map(|model| model.known_limits());
            known.unwrap_or_default()
        })
    }

    /// True if an agent of the run has a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.profiles()
            .any(|profile| profile.config.tools.iter().any(|tool| tool.name == name))
    }

    pub fn profiles(&self) -> impl Iterator<Item = &Profile> {
        std::iter::once(&self.root).chain(&self.agents)
    }
}

/// The options of a configuration that differ from their defaults. An option that a later version adds is not in it,
/// so a run that this version saved shows no change of it.
fn options_of(config: &Config) -> Value {
    let json = |config: &Config| serde_json::to_value(config).unwrap_or_default();
    let (mut options, defaults) = (json(config), json(&Config::default()));
    if let Some(options) = options.as_object_mut() {
        options.retain(|name, value| defaults.get(name) != Some(value));
        if !config.agents.is_empty() {
            options.insert(
                "agents".to_owned(),
                config.agents.iter().map(options_of).collect(),
            );
        }
    }
    options
}

/// The name of each profile: the names of the tools that lead to it, on the shortest way and the first of several. A
/// profile that no tool leads to has its number.
fn names_of(config: &Config) -> Vec<String> {
    let mut names: Vec<Option<String>> = vec![None; 1 + config.agents.len()];
    let mut found = vec![(0, String::new())];
    let mut next = 0;
    while let Some((profile, name)) = found.get(next).cloned() {
        next += 1;
        let free = names.get_mut(profile).filter(|name| name.is_none());
        let Some(free) = free else {
            continue;
        };
        *free = Some(name.clone());
        let tools = match profile.checked_sub(1) {
            None => Some(&config.tools),
            Some(at) => config.agents.get(at).map(|agent| &agent.tools),
        };
        for tool in tools.into_iter().flatten() {
            if let Some(agent) = tool.agent {
                let slash = if name.is_empty() { "" } else { "/" };
                found.push((agent.profile as usize, format!("{name}{slash}{}", tool.name)));
            }
        }
    }
    let numbered = |(at, name): (usize, Option<String>)| name.unwrap_or_else(|| decimal(at));
    names.into_iter().enumerate().map(numbered).collect()
}

/// A digest of each field of a configuration, of each of its tools, and of the agents that they call.
fn digests(config: &Value, path: &str, names: &[String]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (name, value) in config.as_object().into_iter().flatten() {
        let named = |name: &str| format!("{path}{name}");
        match (name.as_str(), value) {
            ("tools", Value::Array(tools)) => all.extend(tools.iter().map(|tool| {
                let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
                (named(&format!("tools.{name}")), digest::short(&tool.to_string()))
            })),
            ("agents", Value::Array(agents)) => {
                for (agent, name) in agents.iter().zip(names.iter().skip(1)) {
                    let path = named(&format!("agents.{name}."));
                    all.extend(digests(agent, &path, names));
                }
            }
            ("model", Value::Object(model)) => {
                // Headers may be secret.
                let fields = model.iter().filter(|(name, _)| *name != "headers");
                let text: String = fields.map(|(_, value)| value.to_string()).collect();
                all.push((named(name), digest::short(&text)));
            }
            _ => all.push((named(name), digest::short(&value.to_string()))),
        }
    }
    all
}

impl Config {
    /// Adds a paragraph to the system prompt.
    pub fn add_to_system(&mut self, text: &str) {
        self.system = Some(match self.system.take() {
            Some(system) => format!("{system}\n\n{text}"),
            None => text.to_owned(),
        });
    }

    /// # Errors
    /// An answer limit that is longer than a JavaScript string. V8 rejects strings of 512 MiB or more, and JSON
    /// escapes can double a text.
    fn check_answer_limits(&self) -> Result<(), ConfigError> {
        let answers = &self.answers;
        for (name, bytes, most) in [
            ("maxTextBytes", answers.max_text_bytes, 64 << 20),
            ("maxArgumentBytes", answers.max_argument_bytes, 128 << 20),
            ("maxEventBytes", answers.max_event_bytes, 256 << 20),
            ("maxErrorBodyBytes", answers.max_error_body_bytes, 64 << 20),
        ] {
            if bytes > most {
                return Err(ConfigError::new(
                    format!("answers.{name}"),
                    format!("must be at most {most}, got {bytes}"),
                ));
            }
        }
        Ok(())
    }

    /// # Errors
    /// A tool that names an agent with an index of `count` or more.
    fn check_agents(&self, count: usize) -> Result<(), ConfigError> {
        for tool in &self.tools {
            if tool.agent.is_some_and(|agent| agent.profile as usize >= count) {
                let field = format!("tools.{}.agent", tool.name);
                return Err(ConfigError::new(field, "there is no such agent"));
            }
        }
        Ok(())
    }
}
