//! What the vendors of each protocol take in a request: one row for each protocol.
//!
//! One tool, id or picture that a vendor refuses makes every request of a conversation fail. The encoders write by
//! their row, and the agent warns of what is left out. Nothing fails. Each row cites the vendor's own pages. A rule
//! that no page has cites the error message that states it.

use std::borrow::Cow;

use crate::engine::model::config::ToolConfig;
use crate::engine::protocol::request::legal_id::{PLAIN, is_legal, push_id, with_checksum};
use crate::engine::protocol::request::tool_schema::renamed;

/// The properties of a tool with another name on the wire: the wire name, then the tool's own name.
pub type Renamed = Vec<(String, String)>;

/// A row: what the vendors of a protocol take.
#[derive(Debug)]
pub struct Accepts {
    /// The vendors in a warning.
    pub who: &'static str,
    /// False if the top of a tool's schema must be a plain object, without `anyOf`, `oneOf`, `allOf`, `enum` or `not`
    /// next to its type.
    pub combinators_at_top: bool,
    /// False if an array needs `items`, also after `prefixItems`, and an object at the top `properties`; `true` is
    /// not a schema then.
    pub short_forms: bool,
    /// False if names of properties match `^[a-zA-Z0-9_.-]{1,64}$`.
    pub any_names: bool,
    /// The maximum length of a tool's name. The name always consists of letters, digits, `_` and `-`.
    pub tool_name_chars: usize,
    /// True if a tool's name must begin with a letter or `_`.
    pub tool_name_begins_with_letter: bool,
    /// The characters that a call's id may contain in addition to letters and digits. `None` if it may have any
    /// characters.
    pub id_marks: Option<&'static str>,
    /// The most characters of a call's id.
    pub id_chars: usize,
    /// The types of files in addition to text, which every vendor takes in some form. A `*` matches any ending.
    pub media: &'static [&'static str],
}

/// - Names: `^[a-zA-Z0-9_-]{1,128}$`:
///   <https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools> (2026-11).
/// - Ids: the pattern `^[a-zA-Z0-9_-]+$`, without a length, of `RequestToolUseBlock` and `RequestToolResultBlock` in
///   the OpenAPI of <https://docs.claude.com/en/api/messages-count-tokens> (2025-10).
/// - Pictures: <https://platform.claude.com/docs/en/build-with-claude/vision>; PDF and text as documents:
///   <https://platform.claude.com/docs/en/build-with-claude/pdf-support> (2026-11).
/// - Schemas, on no page: `input_schema does not support oneOf, allOf, or anyOf at the top level`:
///   <https://github.com/anthropics/claude-code/issues/45106>; `Property keys should match pattern
///   '^[a-zA-Z0-9_.-]{1,64}$'`: <https://github.com/twilio-labs/mcp/issues/49> (2026-11-28).
pub const ANTHROPIC: Accepts = Accepts {
    who: "Claude",
    combinators_at_top: false,
    short_forms: true,
    any_names: false,
    tool_name_chars: 128,
    tool_name_begins_with_letter: false,
    id_marks: Some(PLAIN),
    id_chars: usize::MAX,
    media: &[
        "image/jpeg",
        "image/png",
        "image/gif",
        "image/webp",
        "application/pdf",
    ],
};

/// - Schemas like those of Claude, because most models of Converse are Claude.
/// - Names `[a-zA-Z0-9_-]+` and ids `[a-zA-Z0-9_.:-]+`, both of 1 to 64 characters:
///   <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html> and
///   `API_runtime_ToolUseBlock.md` there, as `ToolName` and `ToolUseId` in the service model of botocore 1.44.8
///   (2026-11-29).
/// - Files: `API_runtime_ImageBlock`, `API_runtime_DocumentBlock`, `API_runtime_AudioBlock` and
///   `API_runtime_VideoBlock` there.
pub const BEDROCK: Accepts = Accepts {
    who: "Bedrock",
    tool_name_chars: 64,
    id_marks: Some("_.:-"),
    id_chars: 64,
    media: &[
        "image/jpeg",
        "image/png",
        "image/gif",
        "image/webp",
        "audio/*",
        "video/*",
        "application/pdf",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ],
    ..ANTHROPIC
};

/// - Names: letters, digits, `_` and `-`, at most 64: `FunctionObject` in
///   <https://github.com/openai/openai-openapi> (2026-08-21) and in the types of openai 7.59.0 (2026-11).
/// - Files: PDF only: <https://developers.openai.com/api/docs/guides/file-inputs> (2026-11). Sounds as `wav` or `mp3`:
///   `ChatCompletionRequestMessageContentPartAudio` in that OpenAPI.
/// - Ids, on no page: `Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length
///   40`: <https://github.com/agno-agi/agno/issues/5382> (2026-11-28).
/// - Schemas, on no page: `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the
///   top level`: <https://github.com/langchain-ai/langchainjs/issues/9804>; `In context=(), object schema missing
///   properties`: <https://github.com/spring-projects/spring-ai/issues/4776>; `array schema missing items`:
///   <https://github.com/matthewhand/mcp-openapi-proxy/issues/16> (2026-11-28), also of a schema with `prefixItems`:
///   <https://github.com/PrefectHQ/fastmcp/issues/2464> (2026-11-29). That `true` is not a schema is an assumption.
pub const OPENAI_CHAT: Accepts = Accepts {
    who: "Chat Completions",
    combinators_at_top: false,
    short_forms: false,
    any_names: true,
    tool_name_chars: 64,
    tool_name_begins_with_letter: false,
    id_marks: None,
    id_chars: 40,
    media: &[
        "image/jpeg",
        "image/png",
        "image/gif",
        "image/webp",
        "audio/wav",
        "audio/mpeg",
        "application/pdf",
    ],
};

/// As Chat Completions, but:
/// - Ids of 1 to 64 characters: `FunctionCallOutputItemParam` in <https://github.com/openai/openai-openapi>
///   (2026-08-21). `FunctionToolParam` there has names of 1 to 128, but requests with more than 64 were refused:
///   <https://github.com/danny-avila/LibreChat/issues/7435> (2026-11-29).
/// - Files may be office documents: <https://developers.openai.com/api/docs/guides/file-inputs> (2026-11). No sounds:
///   <https://github.com/openai/openai-node/issues/1778> (2026-11-28).
pub const OPENAI_RESPONSES: Accepts = Accepts {
    who: "OpenAI",
    id_chars: 64,
    media: &[
        "image/jpeg",
        "image/png",
        "image/gif",
        "image/webp",
        "application/pdf",
        "application/msword",
        "application/rtf",
        "application/vnd.*",
    ],
    ..OPENAI_CHAT
};

/// - Names: at most 128 characters, of which the first is a letter or `_`: `FunctionDeclaration` of Vertex AI
///   (<https://aiplatform.googleapis.com/$discovery/rest?version=v1>, revision 20261106) and of @google/genai 3.3.0.
///   Dots and colons, which they also accept, are replaced for every vendor.
/// - Schemas: combinators go in `parametersJsonSchema`: `FunctionDeclaration` too. On no page:
///   `parameters.properties[params].items: missing field`:
///   <https://github.com/router-for-me/CLIProxyAPI/issues/5292> (2026-11-28).
/// - Ids are sent back only to the model that created them.
/// - Pictures, GIF not among them:
///   <https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/capabilities/image-understanding> (2026-11).
pub const GEMINI: Accepts = Accepts {
    who: "Gemini",
    combinators_at_top: true,
    short_forms: false,
    any_names: true,
    tool_name_chars: 128,
    tool_name_begins_with_letter: true,
    id_marks: None,
    id_chars: usize::MAX,
    media: &[
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/heic",
        "image/heif",
        "audio/*",
        "video/*",
        "application/pdf",
    ],
};

impl Accepts {
    /// The name of a tool on the wire. An invalid name keeps its valid characters and ends in its checksum.
    pub fn tool_name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        let begins_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            || (!self.tool_name_begins_with_letter && !name.is_empty());
        let is_short = name.len() <= self.tool_name_chars;
        if begins_well && is_short && name.chars().all(|c| is_legal(c, PLAIN)) {
            return Cow::Borrowed(name);
        }
        let mark = if begins_well { "" } else { "_" };
        let legal = with_checksum(name, PLAIN, self.tool_name_chars - mark.len());
        Cow::Owned(format!("{mark}{legal}"))
    }

    /// Appends a field with a call's id. A call and its result become alike, and two ids stay two.
    pub fn push_id(&self, into: &mut Vec<u8>, key: &str, id: &str) {
        push_id(into, key, id, self.id_marks, self.id_chars);
    }

    /// The names of the properties of this tool that differ on the wire.
    pub fn renamed(&self, tools: &[ToolConfig], name: &str) -> Renamed {
        if self.any_names {
            return Vec::new();
        }
        let tool = tools.iter().find(|tool| tool.name == name);
        tool.map_or(Vec::new(), |tool| renamed(tool.input_schema.as_str(), self))
    }

    /// True if a file of this type, by its usual name, can be sent as its bytes.
    pub fn takes(&self, media_type: &str) -> bool {
        let bare = media_type.split(';').next().unwrap_or_default();
        self.media.iter().any(|known| match known.strip_suffix('*') {
            Some(head) => bare.starts_with(head),
            None => bare == *known,
        })
    }
}

#[cfg(test)]
mod tests;
