//! The model of an agent in the journal: a name, and what another process needs to ask it again.
//!
//! A model of the options is found by its vendor and name, and is used with the current options. A model of
//! `setModel` may be missing in the options, or have another effort there. It is used with the key of a model in the
//! options with the same vendor, protocol and URL, because a key must not be sent elsewhere. Nothing here stores a
//! key, a header or a URL.

use crate::engine::agent::identity::active_model::inherited;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::setup::Setup;
use crate::engine::json::digest;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::journal::{ModelName, OwnModel};
use crate::engine::model::json;
use crate::engine::model::message::Json;

pub fn name_of(model: &ModelConfig, setup: &Setup) -> ModelName {
    let mut name = ModelName::from(model);
    let own = bare(model);
    let mut models = setup.profiles().filter_map(|profile| profile.model_named(&name));
    if !models.any(|model| bare(model) == own || bare(&inherited(model)) == own) {
        name.own = Some(OwnModel {
            place: place_of(model),
            config: Json::of(&own),
        });
    }
    name
}

/// The model without its place, its key and its headers.
fn bare(model: &ModelConfig) -> ModelConfig {
    ModelConfig {
        slot: 0,
        base_url: None,
        vendor_url: None,
        headers: Vec::new(),
        metadata: None,
        body: None,
        quirks: None,
        ..model.clone()
    }
}

/// The model of this name for an agent with this profile. `None` if the options of now cannot ask it.
pub fn model_of(name: &ModelName, profile: &Profile, setup: &Setup) -> Option<ModelConfig> {
    let of_options = || {
        let other = || setup.profiles().find_map(|other| other.model_named(name));
        profile
            .model_named(name)
            .cloned()
            .or_else(|| other().map(inherited))
    };
    own_model(name, setup).or_else(of_options)
}

fn own_model(name: &ModelName, setup: &Setup) -> Option<ModelConfig> {
    let own = name.own.as_ref()?;
    let models = setup.profiles().flat_map(Profile::models);
    let at_place: Vec<&ModelConfig> = models.filter(|model| place_of(model) == own.place).collect();
    let same = at_place.iter().find(|model| model.model == name.model);
    let known = same.or_else(|| at_place.first())?;
    let bare: ModelConfig = json::read("model", own.config.as_str()).ok()?;
    Some(ModelConfig {
        slot: known.slot,
        base_url: known.base_url.clone(),
        vendor_url: known.vendor_url.clone(),
        headers: known.headers.clone(),
        body: known.body.clone(),
        metadata: known.metadata.clone(),
        quirks: known.quirks.clone(),
        ..bare
    })
}

fn place_of(model: &ModelConfig) -> String {
    let ModelConfig {
        vendor,
        protocol,
        base_url,
        vendor_url,
        ..
    } = model;
    digest::short(Json::of(&(vendor, protocol, base_url, vendor_url)).as_str())
}
