//! The sampling options. Each protocol has its own names for them, or none.
//!
//! An encoder passes its list of [`Names`] to [`check_sampling`] and then to [`push_sampling`]. An option that the
//! protocol does not have is a [`ConfigError`] with its path. It is never dropped silently.

use crate::engine::model::config::ModelConfig;
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::Json;
use crate::engine::protocol::request::body_fields::BodyFields;

/// A protocol's names of [`OPTIONS`]; an empty name means that it lacks the option.
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

/// The configured values.
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

/// Refuses options that the protocol lacks.
///
/// # Errors
/// The path of the first such option that is set.
pub fn check_sampling(model: &ModelConfig, names: &Names, problem: &str) -> Result<(), ConfigError> {
    for (at, (name, value)) in names.iter().zip(values(model)).enumerate() {
        if name.is_empty() && value.is_some() {
            let option = OPTIONS.get(at).copied().unwrap_or_default();
            return Err(ConfigError::new(format!("model.{option}"), problem));
        }
    }
    Ok(())
}

/// Refuses unknown lifetimes of cached prompts.
///
/// # Errors
/// When a lifetime is set that is not in `known`.
pub fn check_ttl(model: &ModelConfig, known: [&str; 2], problem: &str) -> Result<(), ConfigError> {
    match model.prompt_caching.ttl.as_deref() {
        Some(ttl) if !known.contains(&ttl) => Err(ConfigError::new("model.promptCaching.ttl", problem)),
        _ => Ok(()),
    }
}
