//! The model of a request and the way it is asked: plain data, part of a [`crate::engine::model::config::Config`].
//!
//! A protocol's `encode` reads it for every request. `ActiveModel::checked` rejects an unknown vendor or protocol.
//! `Setup::new` calls it before any run, and each switch to another model calls it again. The configuration never
//! contains a key: `authorizeRequest` adds it in JavaScript after the request has left the engine.

use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;
use crate::engine::model::usage::Price;

/// A model, its address, and the way it is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ModelConfig {
    /// The number by which the TypeScript knows the model. Each request has it, so that the right key is used.
    pub slot: u32,
    /// The name of a vendor row (`anthropic`, `openai`, …), or `compatible` or `custom`.
    pub vendor: String,
    /// The wire protocol's name; default: the vendor's own.
    pub protocol: Option<String>,
    pub model: String,
    /// The URL before the protocol's path, for example the URL of your proxy, without a query or a hash. The version
    /// (`/v1`), a trailing slash and the endpoint's path are optional. A relative URL is resolved against the page.
    /// To add a query, pass your own `fetch`. Default: the vendor's.
    #[cfg_attr(test, schemars(extend("x-option" = "http")))]
    pub base_url: Option<String>,
    /// The vendor's own base URL, for a vendor without a row in the engine. It completes a `base_url` without a path.
    pub vendor_url: Option<String>,
    /// Additional request headers, in order. They never contain a key: `authorize` adds it.
    pub headers: Vec<(String, String)>,
    /// Whether the answer is streamed.
    #[cfg_attr(test, schemars(extend("x-option" = "http")))]
    pub stream: bool,
    /// Whether the vendor stores the conversation between requests, so that a request sends only what is new. The
    /// vendor stores the content for a short time. Tokens cost the same. Only for Anthropic's message threads.
    /// Default: false.
    /// <https://platform.claude.com/docs/en/build-with-claude/message-threads> (2026-11-29)
    #[cfg_attr(test, schemars(extend("x-option" = "http")))]
    pub server_state: Option<bool>,
    /// Maximum number of tokens in one answer, a positive integer. Default: the vendor's. If the protocol requires a
    /// number, it is 8192, 32,000 for a model that thinks, and 64,000 with an effort above `high`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "model")))]
    pub max_output_tokens: Option<u64>,
    /// Default: the vendor's.
    #[cfg_attr(test, schemars(with = "Option<f64>", extend("x-option" = "model")))]
    pub temperature: Option<Json>,
    /// Default: the vendor's.
    #[cfg_attr(test, schemars(with = "Option<f64>", extend("x-option" = "model")))]
    pub top_p: Option<Json>,
    /// Default: the vendor's.
    #[cfg_attr(test, schemars(with = "Option<f64>", extend("x-option" = "model")))]
    pub top_k: Option<Json>,
    /// A number for vendors that support it. Default: the vendor's.
    #[cfg_attr(test, schemars(with = "Option<f64>", extend("x-option" = "model")))]
    pub frequency_penalty: Option<Json>,
    /// A number for vendors that support it. Default: the vendor's.
    #[cfg_attr(test, schemars(with = "Option<f64>", extend("x-option" = "model")))]
    pub presence_penalty: Option<Json>,
    /// A number for vendors that support it. Default: the vendor's.
    #[cfg_attr(test, schemars(with = "Option<f64>", extend("x-option" = "model")))]
    pub seed: Option<Json>,
    /// Texts that end the answer. Default: none.
    #[cfg_attr(test, schemars(extend("x-option" = "model")))]
    pub stop_sequences: Vec<String>,
    /// `{ budgetTokens }` for extended thinking, as Anthropic has it, or the vendor's own object. Default: none.
    #[cfg_attr(test, schemars(with = "Option<Fields>", extend("x-option" = "model")))]
    pub thinking: Option<Json>,
    /// How much the model thinks, for vendors that support it. If a model is known to reject it, looplet leaves it
    /// out and emits the warning `effort_not_sent`. Default: the vendor's.
    #[cfg_attr(test, schemars(with = "Option<Effort>", extend("x-option" = "model")))]
    pub effort: Option<String>,
    /// Whether the model must call a tool, and which one. Default: the vendor's (`"auto"`).
    #[cfg_attr(test, schemars(extend("x-option" = "model")))]
    pub tool_choice: Option<ToolChoice>,
    /// Whether one answer may have several calls. With `false`, looplet asks the vendor for at most one. Default: the
    /// vendor's.
    #[cfg_attr(test, schemars(extend("x-option" = "model")))]
    pub parallel_tool_calls: Option<bool>,
    /// The schema of the answer's text, which is then JSON. Default: any text.
    #[cfg_attr(test, schemars(extend("x-option" = "model")))]
    pub response_format: Option<ResponseFormat>,
    pub prompt_caching: PromptCaching,
    /// Data that the vendor stores with the request, for example `{ user_id }` for Anthropic. Default: none.
    #[cfg_attr(test, schemars(with = "Option<Fields>", extend("x-option" = "model")))]
    pub metadata: Option<Json>,
    /// Fields that are added to the request body. They override looplet's own. Default: none.
    #[cfg_attr(test, schemars(with = "Option<Fields>", extend("x-option" = "model")))]
    pub body: Option<Json>,
    /// A JSON object that lists how the server deviates from its protocol's documentation: see
    /// [`crate::engine::protocol::quirks`]. Default: the deviations in the vendor's row.
    pub quirks: Option<Json>,
    pub price: Option<Price>,
    /// The prices of other models that the vendor uses within a request because `body` names them, such as an advisor
    /// or a fallback. Tokens of a model without a price here cost as much as those of the requested model.
    pub other_prices: Vec<(String, Price)>,
}

impl ModelConfig {
    /// Creates a model with default values for all other fields.
    pub fn new(vendor: impl Into<String>, model: impl Into<String>) -> ModelConfig {
        ModelConfig {
            vendor: vendor.into(),
            model: model.into(),
            ..ModelConfig::default()
        }
    }
}

impl Default for ModelConfig {
    fn default() -> ModelConfig {
        ModelConfig {
            slot: 0,
            vendor: String::new(),
            protocol: None,
            model: String::new(),
            base_url: None,
            vendor_url: None,
            headers: Vec::new(),
            stream: true,
            server_state: None,
            max_output_tokens: None,
            temperature: None,
            top_p: None,
            top_k: None,
            frequency_penalty: None,
            presence_penalty: None,
            seed: None,
            stop_sequences: Vec::new(),
            thinking: None,
            effort: None,
            tool_choice: None,
            parallel_tool_calls: None,
            response_format: None,
            prompt_caching: PromptCaching::default(),
            metadata: None,
            body: None,
            quirks: None,
            price: None,
            other_prices: Vec::new(),
        }
    }
}

/// The calls that the model may or must make. JSON: `"auto"`, `"none"`, `"required"` or `{"tool":"name"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    Tool(String),
}

/// A JSON object with any fields.
#[cfg(test)]
pub type Fields = serde_json::Map<String, serde_json::Value>;

/// How much the model thinks. The engine sends the word unchanged.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code)]
enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// Requests an answer that is JSON and matches a schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("x-options" = "none")))]
#[serde(rename_all = "camelCase", default)]
pub struct ResponseFormat {
    /// The JSON Schema, sent unchanged. Each vendor supports its own subset. Required.
    #[cfg_attr(test, schemars(with = "Fields", extend("x-required" = true)))]
    pub schema: Json,
    /// The schema's name, for vendors that need one.
    pub name: String,
    /// Whether the vendor enforces the schema, for vendors that let you choose.
    pub strict: bool,
}

/// How the vendor caches the prompt's prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("x-options" = "none")))]
#[serde(rename_all = "camelCase", default)]
pub struct PromptCaching {
    /// Whether cache markers are sent. Default: true where the vendor's own endpoint is known to take them and does
    /// not cache unasked. The TypeScript writes it for `true`, `false` and an object.
    #[cfg_attr(test, schemars(skip))]
    pub enabled: Option<bool>,
    /// How long the vendor caches the marked prefix, for example `"5m"` (Anthropic's default) or `"1h"`.
    #[cfg_attr(test, schemars(extend("x-type" = "\"5m\" | \"1h\" | \"24h\" | (string & {})")))]
    pub ttl: Option<String>,
    /// Requests with the same key go to the same cache (OpenAI).
    pub key: Option<String>,
}

impl Default for ResponseFormat {
    fn default() -> ResponseFormat {
        ResponseFormat {
            name: "answer".to_owned(),
            schema: Json::empty_object(),
            strict: true,
        }
    }
}
