//! Messages and their blocks: the neutral form of a conversation, the same for every provider.
//!
//! JSON: `{"role":"assistant","content":[{"type":"text","text":"Hi"}]}`, block types in snake_case, fields in
//! camelCase. A block keeps what its vendor wrote beyond the neutral fields in `vendor`, so that it goes back to the
//! same protocol unchanged. The system prompt is no message: it stands in the configuration.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::engine::json::check::{Fault, check};
use crate::engine::json::writer::push_string;

/// A JSON value kept as the text that it arrived in: key order, spacing and large integers survive. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(Arc<str>);

impl Json {
    /// # Errors
    /// When `text` is not one JSON value.
    pub fn parse(text: &str) -> Result<Json, Fault> {
        check(text).map(|()| Json(text.trim_ascii().into()))
    }

    /// Takes text that has just been found to be one JSON value, without reading it again.
    pub(crate) fn from_valid(text: &str) -> Json {
        Json(text.into())
    }

    /// A value of ours, as JSON.
    pub fn of(value: &impl Serialize) -> Json {
        Json(serde_json::to_string(value).unwrap_or_default().into())
    }

    /// An empty object.
    pub fn empty_object() -> Json {
        Json("{}".into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The JSON string that holds `text`.
    pub fn string(text: &str) -> Json {
        let mut json = Vec::new();
        push_string(&mut json, text);
        Json(String::from_utf8(json).unwrap_or_default().into())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0)
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Json(raw.get().into()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

/// One message of the transcript. Tool results stand in the user message that follows the calls they answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub role: Role,
    pub content: Vec<Block>,
    /// The answer was cut off by an abort or a limit; what arrived is kept and sent on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Its thinking and its calls were cut short: it goes back without the former.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
    /// Which protocol and model wrote an assistant message. Vendor fields, signatures and raw blocks only go back there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// Who wrote an assistant message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The protocol's name, for example `anthropic`.
    pub protocol: String,
    pub model: String,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WireBlock", into = "WireBlock")]
pub enum Block {
    Text {
        text: String,
        /// A JSON object of the vendor's further fields (citations, …).
        vendor: Option<Json>,
    },
    /// The model's reasoning. Goes back only to its origin, and there unchanged.
    Thinking {
        text: String,
        signature: Option<String>,
        vendor: Option<Json>,
    },
    /// Reasoning that the vendor encrypted.
    RedactedThinking { data: String },
    /// A refusal that the vendor marks as such (OpenAI's `refusal`).
    Refusal { text: String },
    ToolCall {
        /// The provider's id, echoed verbatim.
        id: String,
        name: String,
        input: ToolInput,
        vendor: Option<Json>,
    },
    ToolResult {
        /// The id of the call that this answers.
        call_id: String,
        content: Vec<Block>,
        is_error: bool,
    },
    /// An image, a sound or a document.
    Media {
        /// For example `image/png` or `application/pdf`.
        media_type: String,
        source: MediaSource,
        /// A JSON object of further fields of the vendor that made it.
        vendor: Option<Json>,
    },
    /// A block of the vendor that has no neutral form (server tools, unknown types), kept and sent back as it is.
    Raw { json: Json },
}

/// Where the bytes of a [`Block::Media`] are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MediaSource {
    /// Base64, without a `data:` prefix.
    Data(String),
    Url(String),
}

/// The arguments of a tool call, as the model wrote them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToolInput {
    /// A JSON object, byte for byte as it was streamed (or as it was repaired).
    Json(Json),
    /// Text that is no JSON object even after repair; the call was answered with an error.
    Invalid(String),
}

impl Block {
    pub fn text(text: impl Into<String>) -> Block {
        Block::Text {
            text: text.into(),
            vendor: None,
        }
    }
}

impl Message {
    pub fn user(content: Vec<Block>) -> Message {
        Message {
            role: Role::User,
            content,
            partial: false,
            compacted: false,
            origin: None,
        }
    }

    pub fn assistant(content: Vec<Block>) -> Message {
        Message {
            role: Role::Assistant,
            content,
            partial: false,
            compacted: false,
            origin: None,
        }
    }

    /// Stands for an answer that has nothing in it, which no vendor takes.
    pub fn nothing() -> Message {
        Message::assistant(vec![Block::text(NOTHING)])
    }
}

/// Stands for what a message would need and does not have.
pub const NOTHING: &str = "(empty)";

/// The JSON form of a block: one flat object. Flat, because an internally tagged enum cannot hold raw JSON and
/// weighs 11 kB of wasm.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireBlock {
    r#type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<Vec<Block>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vendor: Option<Json>,
}

impl WireBlock {
    fn of(r#type: &str) -> WireBlock {
        WireBlock {
            r#type: r#type.to_owned(),
            text: None,
            signature: None,
            data: None,
            url: None,
            media_type: None,
            id: None,
            name: None,
            input: None,
            input_text: None,
            call_id: None,
            content: None,
            is_error: false,
            json: None,
            vendor: None,
        }
    }
}

impl From<Block> for WireBlock {
    fn from(block: Block) -> WireBlock {
        match block {
            Block::Text { text, vendor } => WireBlock {
                text: Some(text),
                vendor,
                ..WireBlock::of("text")
            },
            Block::Thinking {
                text,
                signature,
                vendor,
            } => WireBlock {
                text: Some(text),
                signature,
                vendor,
                ..WireBlock::of("thinking")
            },
            Block::RedactedThinking { data } => WireBlock {
                data: Some(data),
                ..WireBlock::of("redacted_thinking")
            },
            Block::Refusal { text } => WireBlock {
                text: Some(text),
                ..WireBlock::of("refusal")
            },
            Block::ToolCall {
                id,
                name,
                input,
                vendor,
            } => {
                let (input, input_text) = match input {
                    ToolInput::Json(json) => (Some(json), None),
                    ToolInput::Invalid(text) => (None, Some(text)),
                };
                WireBlock {
                    id: Some(id),
                    name: Some(name),
                    input,
                    input_text,
                    vendor,
                    ..WireBlock::of("tool_call")
                }
            }
            Block::ToolResult {
                call_id,
                content,
                is_error,
            } => WireBlock {
                call_id: Some(call_id),
                content: Some(content),
                is_error,
                ..WireBlock::of("tool_result")
            },
            Block::Media {
                media_type,
                source,
                vendor,
            } => {
                let (data, url) = match source {
                    MediaSource::Data(data) => (Some(data), None),
                    MediaSource::Url(url) => (None, Some(url)),
                };
                WireBlock {
                    media_type: Some(media_type),
                    data,
                    url,
                    vendor,
                    ..WireBlock::of("media")
                }
            }
            Block::Raw { json } => WireBlock {
                json: Some(json),
                ..WireBlock::of("raw")
            },
        }
    }
}

impl TryFrom<WireBlock> for Block {
    type Error = String;

    fn try_from(wire: WireBlock) -> Result<Block, String> {
        let missing = |field: &str| {
            let mut problem = String::from("a block of type ");
            problem.push_str(&wire.r#type);
            problem.push_str(" needs the field ");
            problem.push_str(field);
            problem
        };
        Ok(match wire.r#type.as_str() {
            "text" => Block::Text {
                text: wire.text.clone().ok_or_else(|| missing("text"))?,
                vendor: wire.vendor,
            },
            "thinking" => Block::Thinking {
                text: wire.text.clone().ok_or_else(|| missing("text"))?,
                signature: wire.signature,
                vendor: wire.vendor,
            },
            "redacted_thinking" => Block::RedactedThinking {
                data: wire.data.clone().ok_or_else(|| missing("data"))?,
            },
            "refusal" => Block::Refusal {
                text: wire.text.clone().ok_or_else(|| missing("text"))?,
            },
            "tool_call" => Block::ToolCall {
                id: wire.id.clone().ok_or_else(|| missing("id"))?,
                name: wire.name.clone().ok_or_else(|| missing("name"))?,
                input: match (wire.input.clone(), wire.input_text.clone()) {
                    (Some(json), _) => ToolInput::Json(json),
                    (None, Some(text)) => ToolInput::Invalid(text),
                    (None, None) => return Err(missing("input")),
                },
                vendor: wire.vendor,
            },
            "tool_result" => Block::ToolResult {
                call_id: wire.call_id.clone().ok_or_else(|| missing("callId"))?,
                content: wire.content.clone().ok_or_else(|| missing("content"))?,
                is_error: wire.is_error,
            },
            "media" => Block::Media {
                media_type: wire.media_type.clone().ok_or_else(|| missing("mediaType"))?,
                source: match (wire.data.clone(), wire.url.clone()) {
                    (Some(data), _) => MediaSource::Data(data),
                    (None, Some(url)) => MediaSource::Url(url),
                    (None, None) => return Err(missing("data or url")),
                },
                vendor: wire.vendor,
            },
            "raw" => Block::Raw {
                json: wire.json.clone().ok_or_else(|| missing("json"))?,
            },
            other => {
                let mut problem = String::from("unknown block type \"");
                problem.push_str(other);
                problem.push_str("\": use text, thinking, redacted_thinking, refusal, tool_call, tool_result, media or raw");
                return Err(problem);
            }
        })
    }
}
