//! Messages and their blocks: the neutral form of a conversation, the same for every provider.
//!
//! In JSON: `{"role":"assistant","content":[{"type":"text","text":"Hi"}]}`, with block types in snake_case and fields
//! in camelCase. Each protocol's `encode_message` converts messages to its own form. A block stores other fields of
//! the vendor in `vendor`, so that it is sent back to the same protocol unchanged. The system prompt is not a
//! message: it is in the configuration. A message in the transcript never changes, except when the history is
//! shortened.

use std::borrow::Cow;
use std::sync::Arc;

use looplet_scan::check::{Fault, check};
use looplet_scan::reader::string;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::engine::model::error::ConfigError;
use crate::engine::model::json;

/// A JSON value, stored as the text in which it arrived. Key order, spacing and large integers are preserved. A line
/// break becomes a blank, because an entry of a journal is one line. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Json(Arc<RawValue>);

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl AsRef<str> for Json {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Json {
    /// Checks a text and stores it.
    ///
    /// # Errors
    /// When `text` is not exactly one JSON value.
    pub fn parse(text: &str) -> Result<Json, Fault> {
        check(text).map(|()| Json::from_valid(text.trim_ascii()))
    }

    /// Stores a text that is already known to be one JSON value, without checking it again.
    pub(crate) fn from_valid(text: &str) -> Json {
        // JSON strings contain no raw line breaks, so all of them are between values.
        let text = match has_line_break(text) {
            true => text.replace(['\n', '\r'], " "),
            false => text.to_owned(),
        };
        RawValue::from_string(text).unwrap_or_default().into()
    }

    /// Writes one of our values as JSON.
    pub fn of(value: &impl Serialize) -> Json {
        to_raw_value(value).unwrap_or_default().into()
    }

    /// Reads one of our types.
    ///
    /// # Errors
    /// The first missing or invalid value, with its path.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        json::read("", self.as_str())
    }

    /// The JSON text `{}`.
    pub fn empty_object() -> Json {
        Json::from_valid("{}")
    }

    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The text that a model is shown: a string as it is, any other value as JSON.
    pub fn text(&self) -> Cow<'_, str> {
        string(self.as_str()).unwrap_or(Cow::Borrowed(self.as_str()))
    }

    /// Returns `text` as a JSON string.
    pub fn string(text: &str) -> Json {
        Json::of(&text)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(match has_line_break(raw.get()) {
            true => Json::from_valid(raw.get()),
            false => raw.into(),
        })
    }
}

/// Two searches for a byte are faster than one for two characters.
fn has_line_break(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.contains(&b'\n') || bytes.contains(&b'\r')
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Json {
        Json(raw.into())
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

/// One message. Tool results are in the user message after the calls that they answer. The system prompt is not a
/// message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub role: Role,
    pub content: Vec<Block>,
    /// True if an abort or a limit interrupted the answer. The received part is in the history and is sent to the
    /// model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// True if `pruning` shortened its thinking and its calls. The thinking is not sent back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compacted: bool,
    /// The protocol and the model that wrote an assistant message. Vendor fields, signatures and raw blocks are sent
    /// back only to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// The author of an assistant message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    /// The protocol's name, for example `anthropic`.
    pub protocol: String,
    pub model: String,
    /// A digest of the request's prefix, for a message with signed reasoning. The reasoning is sent back only after
    /// the same prefix. An empty text means that the vendor has rejected the reasoning. Without a digest the vendor
    /// decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// With the option `serverState`: the vendor's id of the answer, a digest of the conversation up to it, and its
    /// time in seconds since 1970. If nothing before it has changed, the next request sends only what follows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(extend("x-named" = true)))]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    try_from = "AnyBlock"
)]
#[non_exhaustive]
pub enum Block {
    Text {
        text: String,
        /// Why looplet has written this text. Absent for text of the user or of the model.
        #[serde(skip_serializing_if = "Option::is_none")]
        purpose: Option<TextPurpose>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(with = "VendorFields"))]
        vendor: Option<Json>,
    },
    /// The model's reasoning. It returns only to its origin, unchanged.
    Thinking {
        text: String,
        /// Proves to the vendor that it wrote this text itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(with = "VendorFields"))]
        vendor: Option<Json>,
    },
    /// Reasoning that the vendor encrypted.
    RedactedThinking { data: String },
    /// A refusal that the vendor marks as such.
    Refusal { text: String },
    /// The model calls a tool. The call has `input`, or `inputText` when the model's arguments are not a JSON object.
    ToolCall {
        /// The provider's id, echoed in the result.
        id: String,
        name: String,
        #[serde(flatten)]
        input: ToolInput,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(with = "VendorFields"))]
        vendor: Option<Json>,
    },
    ToolResult {
        /// The id of the call that this answers.
        call_id: String,
        content: Vec<Block>,
        /// Whether the call failed. Default false.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        /// Set if the call has no result yet because its run has not ended. The block is in the position of the
        /// result.
        #[serde(skip_serializing_if = "Option::is_none")]
        pending: Option<PendingCall>,
    },
    /// An image, a sound or a document, as base64 (`data`, without a `data:` prefix) or by `url`.
    Media {
        /// For example `image/png` or `application/pdf`.
        media_type: String,
        #[serde(flatten)]
        source: MediaSource,
        /// The file's name, for example `report.pdf`. Vendors pass it to the model, except Gemini, which has no field
        /// for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Additional fields of the vendor that produced it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(with = "VendorFields"))]
        vendor: Option<Json>,
    },
    /// A vendor's block that has no neutral form. looplet stores it and sends it back unchanged.
    Raw { json: Json },
}

/// The state of a call that has no result yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PendingCall {
    /// A user has been asked about it, or by its tool or a subagent below it.
    Waiting,
    /// It has started.
    Running,
    /// It has not started.
    Queued,
}

/// Fields of the vendor that have no neutral form; they return unchanged to the same protocol.
#[cfg(test)]
type VendorFields = Option<std::collections::BTreeMap<String, Json>>;

/// The place of a [`Block::Media`]'s bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MediaSource {
    Data(String),
    Url(String),
}

/// The arguments of a tool call, as the model wrote them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ToolInput {
    /// A JSON object, byte for byte as it was streamed or repaired.
    #[serde(rename = "input")]
    Json(Json),
    /// Text that is not a JSON object even after repair. The call was answered with an error.
    #[serde(rename = "inputText")]
    Invalid(String),
}

/// The beginning of a summary's text.
pub const SUMMARY_HEAD: &str = "[Context summary: ";

/// Why looplet has written a text of the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TextPurpose {
    /// A summary that replaces the messages before it.
    Summary,
    /// A note for the model: a repeated round, an answer that was cut off or does not match its schema, or a hook's
    /// text.
    Notice,
}

impl Block {
    pub fn text(text: impl Into<String>) -> Block {
        Block::Text {
            text: text.into(),
            purpose: None,
            vendor: None,
        }
    }

    /// A text of looplet or of a hook for the model.
    pub fn notice(text: impl Into<String>) -> Block {
        Block::Text {
            text: text.into(),
            purpose: Some(TextPurpose::Notice),
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

    /// A placeholder for an empty answer, which no vendor accepts as a message.
    pub fn nothing() -> Message {
        Message::assistant(vec![Block::text(NOTHING)])
    }
}

/// The text of a required field that has none.
pub const NOTHING: &str = "(empty)";

/// Every field that a block can have: serde cannot read JSON as text inside a tagged enum.
#[derive(Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
struct AnyBlock {
    r#type: String,
    text: Option<String>,
    purpose: Option<TextPurpose>,
    signature: Option<String>,
    data: Option<String>,
    url: Option<String>,
    media_type: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Json>,
    input_text: Option<String>,
    call_id: Option<String>,
    content: Option<Vec<Block>>,
    is_error: bool,
    pending: Option<PendingCall>,
    json: Option<Json>,
    vendor: Option<Json>,
}

impl TryFrom<AnyBlock> for Block {
    type Error = String;

    fn try_from(read: AnyBlock) -> Result<Block, String> {
        fn needed<T>(value: Option<T>, field: &str) -> Result<T, String> {
            value.ok_or_else(|| format!("missing field `{field}`"))
        }
        let vendor = read.vendor;
        Ok(match read.r#type.as_str() {
            "text" => Block::Text {
                text: needed(read.text, "text")?,
                purpose: read.purpose,
                vendor,
            },
            "thinking" => Block::Thinking {
                text: needed(read.text, "text")?,
                signature: read.signature,
                vendor,
            },
            "redacted_thinking" => Block::RedactedThinking {
                data: needed(read.data, "data")?,
            },
            "refusal" => Block::Refusal {
                text: needed(read.text, "text")?,
            },
            "tool_call" => Block::ToolCall {
                id: needed(read.id, "id")?,
                name: needed(read.name, "name")?,
                input: match read.input_text {
                    Some(text) if read.input.is_none() => ToolInput::Invalid(text),
                    _ => ToolInput::Json(needed(read.input, "input")?),
                },
                vendor,
            },
            "tool_result" => Block::ToolResult {
                call_id: needed(read.call_id, "callId")?,
                content: needed(read.content, "content")?,
                is_error: read.is_error,
                pending: read.pending,
            },
            "media" => Block::Media {
                media_type: needed(read.media_type, "mediaType")?,
                source: match read.url {
                    Some(url) if read.data.is_none() => MediaSource::Url(url),
                    _ => MediaSource::Data(needed(read.data, "data")?),
                },
                name: read.name,
                vendor,
            },
            "raw" => Block::Raw {
                json: needed(read.json, "json")?,
            },
            "" => return Err("missing field `type`".to_owned()),
            other => {
                return Err(format!(
                    "type \"{other}\" is unknown: use text, thinking, redacted_thinking, refusal, tool_call, tool_result, media or raw"
                ));
            }
        })
    }
}

/// A valid name for the history. Models invent names that no tool can have, and vendors reject them:
/// <https://github.com/vercel/ai/pull/17769>, <https://github.com/anomalyco/opencode/pull/48750> (2026-11-21).
pub fn sendable_name(name: &str) -> String {
    if name.is_empty() {
        return "_".to_owned();
    }
    let legal = name.chars().map(|c| if is_legal(c) { c } else { '_' });
    legal.take(64).collect()
}

fn is_legal(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
