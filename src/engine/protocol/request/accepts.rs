//! What the vendors of each protocol take in a request: one row for each protocol.
//!
//! One tool, id or picture that a vendor refuses makes every request of a conversation fail. The encoders write by
//! their row, and the agent warns of what is left out. The pages and reports behind a row stand beside it. Nothing
//! fails.

use std::borrow::Cow;

use crate::engine::model::config::ToolConfig;
use crate::engine::protocol::request::legal_id::{PLAIN, is_legal, push_id, with_checksum};
use crate::engine::protocol::request::tool_schema::renamed;

/// The names of properties of a tool that differ on the wire: each with the tool's own name behind it.
pub type Renamed = Vec<(String, String)>;

/// A row: what the vendors of a protocol take.
#[derive(Debug)]
pub struct Accepts {
    /// The vendors in a warning.
    pub who: &'static str,
    /// False if the top of a tool's schema must be a plain object: no `anyOf`, `oneOf`, `allOf`, `enum`, `not` beside
    /// its type.
    pub combinators_at_top: bool,
    /// False if an array needs `items`, and an object at the top `properties`; `true` is no schema then.
    pub short_forms: bool,
    /// False if names of properties match `^[a-zA-Z0-9_.-]{1,64}$`.
    pub any_names: bool,
    /// The most characters of a tool's name, which consists of letters, digits, `_` and `-` everywhere.
    pub tool_name_chars: usize,
    /// True if a tool's name begins with a letter or `_`.
    pub tool_name_begins_with_letter: bool,
    /// The marks of a call's id besides letters and digits; `None` if it may have any characters.
    pub id_marks: Option<&'static str>,
    /// The most characters of a call's id.
    pub id_chars: usize,
    /// The types of files besides text, which every vendor takes in some form. A `*` stands for any ending.
    pub media: &'static [&'static str],
}

/// - Schemas: `input_schema does not support oneOf, allOf, or anyOf at the top level`, `Property keys should match
///   pattern '^[a-zA-Z0-9_.-]{1,64}$'`: <https://github.com/anthropics/claude-code/issues/45106>,
///   <https://github.com/twilio-labs/mcp/issues/49>.
/// - Names: `tools.16.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`:
///   <https://github.com/modelcontextprotocol/modelcontextprotocol/issues/1345>.
/// - Ids: `tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`:
///   <https://github.com/maximhq/bifrost/issues/5097>.
/// - Files: <https://platform.claude.com/docs/en/build-with-claude/vision>.
///
/// All read 2026-11-28.
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

/// Schemas as Claude takes them, because most models behind Converse are Claude. Names and ids of at most 64
/// characters, and files:
/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.md>,
/// `API_runtime_ToolSpecification`, `API_runtime_ImageBlock` and `API_runtime_DocumentBlock` there (2026-11-23).
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

/// - Schemas: `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level`:
///   <https://github.com/langchain-ai/langchainjs/issues/9804>; `In context=(), object schema missing properties`:
///   <https://github.com/spring-projects/spring-ai/issues/4776>; `array schema missing items`:
///   <https://github.com/matthewhand/mcp-openapi-proxy/issues/16>. That `true` is no schema is an assumption.
/// - Names: `Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64`:
///   <https://github.com/anomalyco/opencode/issues/3523>.
/// - Ids: `Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40`:
///   <https://github.com/agno-agi/agno/issues/5382>.
/// - Files: PDF, and sounds as `wav` or `mp3`.
///
/// All read 2026-11-28.
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

/// As Chat Completions, with ids of at most 64 characters:
/// <https://platform.openai.com/docs/api-reference/responses/create#responses-create-input> (2026-11-21). Files
/// may be office documents, but no sounds: <https://github.com/openai/openai-node/issues/1778> (2026-11-28).
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

/// - Schemas: combinators go in `parametersJsonSchema`: <https://ai.google.dev/api/caching#FunctionDeclaration>
///   (2026-11-21). `parameters.properties[params].items: missing field`:
///   <https://github.com/router-for-me/CLIProxyAPI/issues/5292>.
/// - Names: at most 64 characters; on Vertex AI the first is a letter or `_`: `FunctionDeclaration` in
///   <https://docs.cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Tool>.
/// - Ids go back to the model that gave them alone.
/// - Pictures, GIF not among them: thread 71468 of <https://discuss.ai.google.dev>.
///
/// All read 2026-11-28.
pub const GEMINI: Accepts = Accepts {
    who: "Gemini",
    combinators_at_top: true,
    short_forms: false,
    any_names: true,
    tool_name_chars: 64,
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
    /// The name of a tool on the wire. One that the vendors refuse keeps its legal characters and ends in its
    /// checksum.
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
