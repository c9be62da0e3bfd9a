//! Messages and their blocks: the neutral form of a conversation, equal for every provider.
//!
//! In JSON: `{"role":"assistant","content":[{"type":"text","text":"Hi"}]}`, with block types in snake_case and fields
//! in camelCase. Each protocol's `encode_message` turns messages into its own form. A block keeps the vendor's further
//! fields in `vendor`, so that it returns to the same protocol unchanged. The system prompt is not a message: it stands
//! in the configuration. A message never changes after it entered the transcript, except when the history is made
//! shorter.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::engine::json::check::{Fault, check};
use crate::engine::json::writer::push_string;

/// A JSON value that is kept as the text in which it arrived. Key order, spacing and large integers survive. Cloning is
/// cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(Arc<str>);

impl Json {
    /// Checks a text and keeps it.
    ///
    /// # Errors
    /// When `text` is not exactly one JSON value.
    pub fn parse(text: &str) -> Result<Json, Fault> {
        check(text).map(|()| Json(text.trim_ascii().into()))
    }

    /// Keeps text that has just been found to be one JSON value, without reading it again.
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

/// Any JSON value.
#[cfg(test)]
impl schemars::JsonSchema for Json {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

/// One message of the transcript. Tool results stand in the user message that follows their calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub role: Role,
    pub content: Vec<Block>,
    /// An abort or a limit cut the answer off. The part that arrived is kept and sent on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The thinking and the calls of this message were cut short. It is sent without its thinking.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
    /// The protocol and the model that wrote an assistant message. Vendor fields, signatures and raw blocks return only
    /// to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// The author of an assistant message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The protocol's name, for example `anthropic`.
    pub protocol: String,
    pub model: String,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WireBlock")]
pub enum Block {
    Text {
        text: String,
        /// A JSON object with the vendor's further fields (citations, …).
        vendor: Option<Json>,
    },
    /// The model's reasoning. It returns only to its origin, unchanged.
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
        /// The provider's id, sent back verbatim.
        id: String,
        name: String,
        input: ToolInput,
        vendor: Option<Json>,
    },
    ToolResult {
        /// The id of the call that this result answers.
        call_id: String,
        content: Vec<Block>,
        is_error: bool,
    },
    /// An image, a sound or a document.
    Media {
        /// For example `image/png` or `application/pdf`.
        media_type: String,
        source: MediaSource,
        /// A JSON object with further fields of the vendor that made it.
        vendor: Option<Json>,
    },
    /// A vendor's block without a neutral form (server tools, unknown types), kept and sent back as it is.
    Raw { json: Json },
}

/// The place of a [`Block::Media`]'s bytes.
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
    /// A JSON object, byte for byte as it was streamed or repaired.
    Json(Json),
    /// Text that is not a JSON object even after repair. The call was answered with an error.
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

    /// Stands for an empty answer, which no vendor accepts as a message.
    pub fn nothing() -> Message {
        Message::assistant(vec![Block::text(NOTHING)])
    }
}

/// The text of a required field that has none.
pub const NOTHING: &str = "(empty)";

/// The JSON form of a block: one flat object, because an internally tagged enum cannot hold JSON as text.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireBlock<'a> {
    r#type: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Cow<'a, Json>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Cow<'a, [Block]>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Cow<'a, Json>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vendor: Option<Cow<'a, Json>>,
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WireBlock::from(self).serialize(serializer)
    }
}

impl<'a> From<&'a Block> for WireBlock<'a> {
    fn from(block: &'a Block) -> WireBlock<'a> {
        let some = |text: &'a str| Some(Cow::Borrowed(text));
        let json = |json: &'a Json| Some(Cow::Borrowed(json));
        let vendor_of = |vendor: &'a Option<Json>| vendor.as_ref().map(Cow::Borrowed);
        let mut wire = WireBlock::default();
        match block {
            Block::Text { text, vendor } => {
                wire.r#type = "text".into();
                wire.text = some(text);
                wire.vendor = vendor_of(vendor);
            }
            Block::Thinking {
                text,
                signature,
                vendor,
            } => {
                wire.r#type = "thinking".into();
                wire.text = some(text);
                wire.signature = signature.as_deref().map(Cow::Borrowed);
                wire.vendor = vendor_of(vendor);
            }
            Block::RedactedThinking { data } => {
                wire.r#type = "redacted_thinking".into();
                wire.data = some(data);
            }
            Block::Refusal { text } => {
                wire.r#type = "refusal".into();
                wire.text = some(text);
            }
            Block::ToolCall {
                id,
                name,
                input,
                vendor,
            } => {
                wire.r#type = "tool_call".into();
                wire.id = some(id);
                wire.name = some(name);
                match input {
                    ToolInput::Json(input) => wire.input = json(input),
                    ToolInput::Invalid(text) => wire.input_text = some(text),
                }
                wire.vendor = vendor_of(vendor);
            }
            Block::ToolResult {
                call_id,
                content,
                is_error,
            } => {
                wire.r#type = "tool_result".into();
                wire.call_id = some(call_id);
                wire.content = Some(Cow::Borrowed(content));
                wire.is_error = *is_error;
            }
            Block::Media {
                media_type,
                source,
                vendor,
            } => {
                wire.r#type = "media".into();
                wire.media_type = some(media_type);
                match source {
                    MediaSource::Data(data) => wire.data = some(data),
                    MediaSource::Url(url) => wire.url = some(url),
                }
                wire.vendor = vendor_of(vendor);
            }
            Block::Raw { json: raw } => {
                wire.r#type = "raw".into();
                wire.json = json(raw);
            }
        }
        wire
    }
}

impl TryFrom<WireBlock<'_>> for Block {
    type Error = String;

    fn try_from(wire: WireBlock<'_>) -> Result<Block, String> {
        fn needed<T: ToOwned + ?Sized>(value: Option<Cow<'_, T>>, field: &str) -> Result<T::Owned, String> {
            value
                .map(Cow::into_owned)
                .ok_or_else(|| ["missing field `", field, "`"].concat())
        }
        let vendor = wire.vendor.map(Cow::into_owned);
        Ok(match &*wire.r#type {
            "text" => Block::Text {
                text: needed(wire.text, "text")?,
                vendor,
            },
            "thinking" => Block::Thinking {
                text: needed(wire.text, "text")?,
                signature: wire.signature.map(Cow::into_owned),
                vendor,
            },
            "redacted_thinking" => Block::RedactedThinking {
                data: needed(wire.data, "data")?,
            },
            "refusal" => Block::Refusal {
                text: needed(wire.text, "text")?,
            },
            "tool_call" => Block::ToolCall {
                id: needed(wire.id, "id")?,
                name: needed(wire.name, "name")?,
                input: match wire.input_text {
                    Some(text) if wire.input.is_none() => ToolInput::Invalid(text.into_owned()),
                    _ => ToolInput::Json(needed(wire.input, "input")?),
                },
                vendor,
            },
            "tool_result" => Block::ToolResult {
                call_id: needed(wire.call_id, "callId")?,
                content: needed(wire.content, "content")?,
                is_error: wire.is_error,
            },
            "media" => Block::Media {
                media_type: needed(wire.media_type, "mediaType")?,
                source: match wire.url {
                    Some(url) if wire.data.is_none() => MediaSource::Url(url.into_owned()),
                    _ => MediaSource::Data(needed(wire.data, "data")?),
                },
                vendor,
            },
            "raw" => Block::Raw {
                json: needed(wire.json, "json")?,
            },
            "" => return Err("missing field `type`".to_owned()),
            other => {
                return Err([
                    "type \"",
                    other,
                    "\" is unknown: use text, thinking, redacted_thinking, refusal, tool_call, tool_result, media or raw",
                ]
                .concat());
            }
        })
    }
}
