//! Encodes one message in Converse's form.
//!
//! Roles alternate, the first message is the user's, and no message is empty: a text replaces a missing message. The
//! encoder leaves out blank text, reasoning that another protocol or model wrote, and reasoning without a signature
//! or at the end of a message. An assistant's images and documents become text. Calls and results become text in a
//! request without tools, because Converse rejects them there.
//!
//! A message is encoded once, when the transcript grows, and its bytes are never rewritten. Nothing fails.

use looplet_scan::reader::Object;

use crate::engine::json::writer::{decimal, push_comma, push_key, push_raw, push_text};
use crate::engine::model::config::ToolConfig;
use crate::engine::model::message::{Block, MediaSource, Message, NOTHING, Role, ToolInput};
use crate::engine::protocol::RequestSpec;
use crate::engine::protocol::answer::made_media::told;
use crate::engine::protocol::bedrock::encode::has_tools;
use crate::engine::protocol::bedrock::{Family, NAME, family};
use crate::engine::protocol::request::accepts::BEDROCK;
use crate::engine::protocol::request::message_parts::{push_input, without_last_thinking};
use crate::engine::protocol::vendor_fields::push_vendor;

/// The end of an assistant's message. Its role is the last field, so that the next message can read which role it
/// follows.
const ASSISTANT_END: &[u8] = br#"],"role":"assistant"}"#;

/// Appends `,{"role":"user","content":[…]}` or `,{"content":[…],"role":"assistant"}`.
pub fn encode_message(spec: &RequestSpec<'_>, message: &Message, into: &mut Vec<u8>) {
    let message = &*told(message);
    let start = into.len();
    let follows_assistant = into.ends_with(ASSISTANT_END);
    let follows_user = !follows_assistant && into.ends_with(b"}");
    let is_user = message.role == Role::User;
    if is_user && follows_user {
        push_filler(into, Role::Assistant);
    } else if !is_user && !follows_user {
        push_filler(into, Role::User);
    }
    open(into, message.role);
    let content = into.len();
    let own = spec.wrote(message, NAME);
    let mut writer = Writer {
        own: own || is_user,
        reads: spec.reads(message, NAME),
        role: message.role,
        tools: has_tools(spec),
        declared: spec.tools,
        status: family(spec.model) != Family::Other,
        into,
    };
    if is_user {
        writer.push_user(&message.content);
    } else {
        writer.push_assistant(&message.content, message.partial);
    }
    if into.len() == content {
        into.truncate(start);
    } else {
        close(into, message.role);
    }
}

fn open(into: &mut Vec<u8>, role: Role) {
    into.extend_from_slice(match role {
        Role::User => br#",{"role":"user","content":["#,
        Role::Assistant => br#",{"content":["#,
    });
}

fn close(into: &mut Vec<u8>, role: Role) {
    into.extend_from_slice(match role {
        Role::User => b"]}",
        Role::Assistant => ASSISTANT_END,
    });
}

fn push_filler(into: &mut Vec<u8>, role: Role) {
    open(into, role);
    push_text_block(into, NOTHING);
    close(into, role);
}

fn push_text_block(into: &mut Vec<u8>, text: &str) {
    push_comma(into);
    into.push(b'{');
    push_text(into, "text", text);
    into.push(b'}');
}

struct Writer<'a> {
    /// True when vendor fields and raw blocks may be sent.
    own: bool,
    /// True when reasoning may be sent.
    reads: bool,
    role: Role,
    /// True when the request has tools.
    tools: bool,
    declared: &'a [ToolConfig],
    /// True when the model knows error results.
    status: bool,
    into: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// Writes a user's message: results first, then documents. A cache marker cannot follow a document, and a
    /// document must have text next to it.
    fn push_user(&mut self, content: &[Block]) {
        let order = |block: &Block| match block {
            Block::ToolResult { .. } => 0,
            Block::Media {
                media_type, source, ..
            } if is_document(media_type, source) => 1,
            _ => 2,
        };
        let rest = |blocks: &[Block]| blocks.iter().any(|block| order(block) == 2);
        for place in 0..3 {
            for block in content.iter().filter(|block| order(block) == place) {
                self.push(block);
            }
        }
        let documents = content.iter().any(|block| order(block) == 1);
        if documents && !rest(content) {
            push_text_block(self.into, NOTHING);
        }
    }

    /// Writes an assistant's message. Converse refuses a server tool's call that was cut off before its result.
    fn push_assistant(&mut self, content: &[Block], partial: bool) {
        let raw = |block: &Block| matches!(block, Block::Raw { .. });
        for (at, block) in without_last_thinking(content).iter().enumerate() {
            let after = content.get(at + 1..).unwrap_or_default();
            let is_open = partial && raw_key(block) == "toolUse" && !after.iter().any(raw);
            if !is_open {
                self.push(block);
            }
        }
    }

    fn open(&mut self, key: &str) {
        push_comma(self.into);
        self.into.push(b'{');
        push_key(self.into, key);
        self.into.push(b'{');
    }

    fn push(&mut self, block: &Block) {
        match block {
            Block::Text { text, vendor, .. } => {
                let vendor = vendor.as_ref().filter(|_| self.own);
                let vendor = vendor.and_then(|json| Object::parse(json.as_str()));
                match vendor.and_then(|vendor| vendor.get("citations")) {
                    _ if text.trim().is_empty() => {}
                    Some(citations) => {
                        self.open("citationsContent");
                        push_raw(self.into, "citations", citations);
                        self.into.extend_from_slice(br#","content":["#);
                        push_text_block(self.into, text);
                        self.into.extend_from_slice(b"]}}");
                    }
                    None => push_text_block(self.into, text),
                }
            }
            Block::Refusal { text } => self.push(&Block::text(text.as_str())),
            Block::Thinking {
                text,
                signature: Some(signature),
                ..
            } if self.reads => {
                self.open("reasoningContent");
                self.into.extend_from_slice(br#""reasoningText":{"#);
                push_text(self.into, "text", text);
                push_text(self.into, "signature", signature);
                self.into.extend_from_slice(b"}}}");
            }
            Block::RedactedThinking { data } if self.reads => {
                self.open("reasoningContent");
                push_text(self.into, "redactedContent", data);
                self.into.extend_from_slice(b"}}");
            }
            Block::Thinking { .. } | Block::RedactedThinking { .. } => {}
            Block::ToolCall { .. } => self.push_call(block),
            Block::ToolResult { .. } => self.push_result(block),
            Block::Media {
                media_type,
                source,
                name,
                ..
            } => self.push_media(media_type, source, name.as_deref()),
            Block::Raw { json } => {
                let refused = match raw_key(block).as_str() {
                    "image" | "document" | "video" | "audio" => self.role == Role::Assistant,
                    "toolUse" | "toolResult" => !self.tools,
                    _ => false,
                };
                if self.own && !refused {
                    push_comma(self.into);
                    self.into.extend_from_slice(json.as_str().as_bytes());
                }
            }
        }
    }

    fn push_call(&mut self, block: &Block) {
        let Block::ToolCall {
            id,
            name,
            input,
            vendor,
        } = block
        else {
            return;
        };
        if !self.tools {
            let input = match input {
                ToolInput::Json(json) => json.as_str(),
                ToolInput::Invalid(text) => text,
            };
            push_text_block(self.into, &format!("[Call of {name}: {input}]"));
            return;
        }
        self.open("toolUse");
        BEDROCK.push_id(self.into, "toolUseId", id);
        push_text(self.into, "name", &BEDROCK.tool_name(name));
        push_input("input", input, &BEDROCK.renamed(self.declared, name), self.into);
        push_vendor(
            self.into,
            vendor.as_ref().filter(|_| self.own),
            &["toolUseId", "name", "input", "type"],
        );
        self.into.extend_from_slice(b"}}");
    }

    /// Writes a result, which is never empty.
    fn push_result(&mut self, block: &Block) {
        let Block::ToolResult {
            call_id,
            content,
            is_error,
            ..
        } = block
        else {
            return;
        };
        if self.tools {
            self.open("toolResult");
            BEDROCK.push_id(self.into, "toolUseId", call_id);
            self.into.extend_from_slice(br#","content":["#);
        } else {
            push_text_block(self.into, "[Result of a call:]");
        }
        let empty = self.into.len();
        for inner in content {
            if !matches!(inner, Block::ToolCall { .. } | Block::ToolResult { .. }) {
                self.push(inner);
            }
        }
        if self.into.len() == empty {
            push_text_block(self.into, NOTHING);
        }
        if self.tools {
            self.into.push(b']');
            if *is_error && self.status {
                push_text(self.into, "status", "error");
            }
            self.into.extend_from_slice(b"}}");
        }
    }

    /// Writes media as bytes or as a place in S3. Any other URL becomes text, and only a user's message has media.
    fn push_media(&mut self, media_type: &str, source: &MediaSource, name: Option<&str>) {
        let (key, format) = kind_and_format(media_type);
        let (field, value) = match source {
            MediaSource::Data(data) => ("bytes", data),
            MediaSource::Url(url) if url.starts_with("s3://") => ("uri", url),
            MediaSource::Url(url) => return push_text_block(self.into, url),
        };
        let name = (key == "document").then(|| document_name(name, self.into));
        self.open(key);
        push_text(self.into, "format", format);
        if let Some(name) = name {
            push_text(self.into, "name", &name);
        }
        self.into.extend_from_slice(br#","source":{"#);
        if field == "uri" {
            self.into.extend_from_slice(br#""s3Location":{"#);
        }
        push_text(self.into, field, value);
        self.into
            .extend_from_slice(if field == "uri" { b"}}}}" } else { b"}}}" });
    }
}

/// The name of a document after this body: letters, digits, single blanks, hyphens, parentheses and square brackets.
/// Converse rejects two documents with the same name, and a name must never change. The name contains the document's
/// position, which ensures both.
/// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_DocumentBlock.html> (2026-11-23)
fn document_name(name: Option<&str>, body: &[u8]) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "-()[]".contains(c);
    let legal = |c: char| if is_legal(c) { c } else { ' ' };
    let words: String = name.unwrap_or_default().chars().map(legal).collect();
    let words: Vec<&str> = words.split_ascii_whitespace().collect();
    let mut legal = words.join(" ");
    legal.truncate(MAX_DOCUMENT_NAME);
    let legal = legal.trim_end();
    let known = format!("\"name\":\"{legal}\"");
    let is_taken = || body.windows(known.len()).any(|there| there == known.as_bytes());
    let at = decimal(body.len());
    if legal.is_empty() {
        format!("Document {at}")
    } else if is_taken() {
        format!("{legal} ({at})")
    } else {
        legal.to_owned()
    }
}

/// The characters of a document's name that leave room for its position; Converse takes 200.
const MAX_DOCUMENT_NAME: usize = 170;

/// The key of a raw block; empty for any other block.
fn raw_key(block: &Block) -> String {
    let Block::Raw { json } = block else {
        return String::new();
    };
    let object = Object::parse(json.as_str()).unwrap_or_default();
    let first = object.fields().next();
    first.map_or(String::new(), |(key, _)| key.to_owned())
}

fn is_document(media_type: &str, source: &MediaSource) -> bool {
    let sent = !matches!(source, MediaSource::Url(url) if !url.starts_with("s3://"));
    sent && kind_and_format(media_type).0 == "document"
}

/// The block's key and the name of the format. A document of an unknown format is sent as plain text.
fn kind_and_format(media_type: &str) -> (&'static str, &str) {
    let (kind, format) = media_type.split_once('/').unwrap_or(("", media_type));
    let known = FORMATS.iter().find(|(name, _)| *name == format);
    match kind {
        "image" => ("image", if format == "jpg" { "jpeg" } else { format }),
        "video" => ("video", known.map_or(format, |(_, format)| *format)),
        "audio" => ("audio", if format == "mpeg" { "mp3" } else { format }),
        _ => ("document", known.map_or("txt", |(_, format)| *format)),
    }
}

const FORMATS: &[(&str, &str)] = &[
    ("pdf", "pdf"),
    ("csv", "csv"),
    ("html", "html"),
    ("markdown", "md"),
    ("msword", "doc"),
    ("vnd.ms-excel", "xls"),
    (
        "vnd.openxmlformats-officedocument.wordprocessingml.document",
        "docx",
    ),
    ("vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("quicktime", "mov"),
    ("x-matroska", "mkv"),
    ("3gpp", "three_gp"),
];
