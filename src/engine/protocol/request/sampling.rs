//! The options of sampling, which each protocol has under names of its own, or not at all.

use crate::engine::model::config::ModelConfig;
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::Json;
use crate::engine::protocol::request::body_fields::BodyFields;

/// A protocol's names of [`OPTIONS`]; empty for what it does not have.
pub type Names = [&'static str; 6];

/// The options, in the order of every list here.
pub const OPTIONS: Names = [
    "temperature",
    "topP",
    "topK",
    "frequencyPenalty",
    "presencePenalty",
    "seed",
];

/// What the configuration says.
pub fn values(model: &ModelConfig) -> [Option<&Json>; 6] {
    [
        model.temperature.as_ref(),
        model.top_p.as_ref(),
        model.top_k.as_ref(),
        model.frequency_penalty.as_ref(),
        model.presence_penalty.as_ref(),
        model.seed.as_ref(),
    ]
}

/// Writes the options that the protocol has.
pub fn push_sampling(fields: &BodyFields<'_>, model: &ModelConfig, names: &Names, into: &mut Vec<u8>) {
    for (name, value) in names.iter().zip(values(model)) {
        if !name.is_empty() {
            fields.json(into, name, value);
        }
    }
}

/// # Errors
/// When an option is set that the protocol does not have.
pub fn check_sampling(model: &ModelConfig, names: &Names, problem: &str) -> Result<(), ConfigError> {
    for (at, (name, value)) in names.iter().zip(values(model)).enumerate() {
        if name.is_empty() && value.is_some() {
            let option = OPTIONS.get(at).copied().unwrap_or_default();
            return Err(ConfigError::new(["model.", option].concat(), problem));
        }
    }
    Ok(())
}

/// # Errors
/// When a lifetime of cached prompts is set that is not one of `known`.
pub fn check_ttl(model: &ModelConfig, known: [&str; 2], problem: &str) -> Result<(), ConfigError> {
    match model.prompt_caching.ttl.as_deref() {
        Some(ttl) if !known.contains(&ttl) => Err(ConfigError::new("model.promptCaching.ttl", problem)),
        _ => Ok(()),
    }
}
