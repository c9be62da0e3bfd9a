//! Which model a request is for, and how it is asked: plain data, part of a [`crate::engine::model::config::Config`].

use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;
use crate::engine::model::usage::Price;

/// Which model, where, and how it is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelConfig {
    /// The host's number for it, told with each request, so that the right key is used.
    #[serde(default)]
    pub slot: u32,
    /// A vendor row's name (`anthropic`, `openai`, …) or `compatible` / `custom`.
    pub vendor: String,
    /// The wire protocol's name; default: the vendor's own.
    #[serde(default)]
    pub protocol: Option<String>,
    pub model: String,
    /// Default: the vendor's. Without a trailing slash or with one.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Further request headers, in order. Never a key: those come from `authorize`.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Ask for a stream; default true.
    #[serde(default = "yes")]
    pub stream: bool,
    /// Tokens of one answer; default 8192 where the protocol demands a number, else the vendor's own default.
    #[serde(default)]
    pub max_output_tokens: Option<u64>,
    /// Sampling numbers are kept as their JSON text.
    #[serde(default)]
    pub temperature: Option<Json>,
    #[serde(default)]
    pub top_p: Option<Json>,
    #[serde(default)]
    pub top_k: Option<Json>,
    #[serde(default)]
    pub frequency_penalty: Option<Json>,
    #[serde(default)]
    pub presence_penalty: Option<Json>,
    #[serde(default)]
    pub seed: Option<Json>,
    #[serde(default)]
    pub stop_sequences: Vec<String>,
    /// `{ "budgetTokens": n }` for Anthropic's extended thinking, or the vendor's own object.
    #[serde(default)]
    pub thinking: Option<Json>,
    /// `low`, `medium`, `high`, `xhigh` or `max`, where the vendor has such a thing.
    #[serde(default)]
    pub effort: Option<String>,
    #[serde(default)]
    pub tool_choice: Option<ToolChoice>,
    /// `false` asks the vendor for at most one call per answer.
    #[serde(default)]
    pub parallel_tool_calls: Option<bool>,
    /// What the text of an answer must look like; default: anything.
    #[serde(default)]
    pub response_format: Option<ResponseFormat>,
    #[serde(default)]
    pub prompt_caching: PromptCaching,
    /// A JSON object that the vendor keeps with the request, where it has such a thing.
    #[serde(default)]
    pub metadata: Option<Json>,
    /// A JSON object whose fields are added to the request body; they win over ours.
    #[serde(default)]
    pub body: Option<Json>,
    /// What the server does otherwise than its protocol's documentation, a JSON object: see
    /// [`crate::engine::protocol::quirks`]. Default: those of the vendor's row.
    #[serde(default)]
    pub quirks: Option<Json>,
    #[serde(default)]
    pub price: Option<Price>,
}

/// Whether and what the model must call. JSON: `"auto"`, `"none"`, `"required"` or `{"tool":"name"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    Auto,
    None,
    Required,
    Tool(String),
}

/// Asks for an answer that is JSON of a schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseFormat {
    /// The schema's name where the vendor wants one; default `answer`.
    #[serde(default = "default_format_name")]
    pub name: String,
    /// JSON Schema, sent as it is.
    pub schema: Json,
    /// The vendor enforces the schema, where it can; default true.
    #[serde(default = "yes")]
    pub strict: bool,
}

/// Whether and how the vendor is asked to keep the prompt's prefix. Vendors that cache by themselves need none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PromptCaching {
    /// Markers are sent; default: where the vendor's own endpoint is known to take them and does not cache unasked.
    pub enabled: Option<bool>,
    /// How long the vendor keeps what is marked; default: its own (`5m` or `1h`).
    pub ttl: Option<String>,
    /// Requests with one key are sent to the same cache, where the vendor has such a thing.
    pub key: Option<String>,
}

fn default_format_name() -> String {
    "answer".to_owned()
}

fn yes() -> bool {
    true
}
