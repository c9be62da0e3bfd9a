//! Wire protocols and vendors: a table row for each, with plain functions.
//!
//! Encoding is incremental. [`Protocol::encode_head`] writes the body up to and including `"messages":[`, with a
//! system message if the protocol has it there. [`Protocol::encode_message`] appends the wire form of one message,
//! each item with a leading comma, and its bytes are never rewritten. [`Protocol::encode_tail`] closes the body.
//! [`crate::engine::agent::history::body::Body`] joins the three.
//!
//! Decoding is incremental, too. The framing splits bytes into events, and [`Decoder::decode_event`] writes them to
//! an [`ModelAnswer`]. [`Decoder::decode_body`] reads a body that is one JSON value, and [`failure::decode_failure`]
//! a failed status. The transcript and the model call use them.

mod answer;
pub mod anthropic;
pub mod bedrock;
pub mod eventstream;
pub mod failure;
pub mod framing;
pub mod gemini;
pub mod likeness;
pub mod ndjson;
pub mod openai_chat;
mod openai_parts;
pub mod openai_responses;
pub mod quirks;
pub mod reader;
pub mod request;
#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
mod vendor_fields;
pub mod vertex;

use looplet_scan::lane::Keys;

pub use request::cache_marks::Marks;
pub use request::prefill::Prefill;
pub use request::prefix::append::Appended;

use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::config::context::Pruning;
use crate::engine::model::config::{Loader, ModelConfig, ToolConfig};
use crate::engine::model::error::{ConfigError, Failure};
use crate::engine::model::journal::head::Head;
use crate::engine::model::message::{Block, Json, Message};
use crate::engine::model::output::AuthSlot;
use crate::engine::policy::models::row;
use crate::engine::protocol::framing::Framing;
use crate::engine::protocol::request::accepts::Accepts;
use crate::engine::protocol::request::address::{ends_in_version, is_version};
use crate::engine::protocol::request::prefix::append::{AppendForm, EffortForm, WriteFormat, format_json};
use crate::engine::protocol::request::prefix::summary::SummaryForm;
use crate::engine::protocol::request::prefix::{Bound, is_signed};

/// The ingredients of a request, except its messages.
#[derive(Clone, Copy, Debug)]
pub struct RequestSpec<'a> {
    pub model: &'a ModelConfig,
    pub system: Option<&'a str>,
    pub tools: &'a [ToolConfig],
    /// When a message is encoded: the previous message, which has the calls for its results. At the tail: the message
    /// before the last.
    pub before: Option<&'a Message>,
    /// The bytes are digested, not sent: ids are left out that the vendor does not compare. Whether an item has its
    /// id depends on the asked model.
    pub is_digested: bool,
    /// The head of the request, and the changes that are sent at its end.
    pub appended: Appended<'a>,
    pub clearing: Clearing<'a>,
}

/// How the vendor hides the calls and results of old answers from the model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clearing<'a> {
    /// What makes an answer old; `None` if the vendor hides nothing.
    pub policy: Option<&'a Pruning>,
    /// At the tail: the number of the latest calls that it shows; `None` for all.
    pub keep: Option<usize>,
}

impl RequestSpec<'_> {
    /// True when the requested model wrote this message unchanged, in the protocol with this name.
    pub fn wrote(&self, message: &Message, protocol: &str) -> bool {
        let origin = message.origin.as_ref().filter(|_| !message.compacted);
        origin.is_some_and(|origin| origin.protocol == protocol && origin.model == self.model.model)
    }

    /// True when the requested model gets the reasoning of this message: its own, and that of another model as the
    /// table has it.
    pub fn reads(&self, message: &Message, protocol: &str) -> bool {
        let origin = message.origin.as_ref().filter(|_| !message.compacted);
        let ModelConfig { vendor, model, .. } = self.model;
        self.wrote(message, protocol)
            || origin.is_some_and(|origin| {
                origin.protocol == protocol
                    && row(protocol, vendor, model).is_sent_reasoning_of(&origin.model)
            })
    }

    /// The number of blocks of reasoning in this message that the requested model is known to read.
    pub fn blocks_read(&self, message: &Message, protocol: &str) -> usize {
        let ModelConfig { vendor, model, .. } = self.model;
        let author = message.origin.as_ref().map(|origin| origin.model.as_str());
        let is_known = self.wrote(message, protocol)
            || author.is_some_and(|author| row(protocol, vendor, model).is_known_to_read(author));
        let signed = message.content.iter().filter(|block| is_signed(block));
        if is_known { signed.count() } else { 0 }
    }

    /// The effort before the messages.
    pub fn effort(&self) -> Option<&str> {
        match self.settled() {
            Some((_, head)) => head.effort.as_deref(),
            None => self.model.effort.as_deref(),
        }
    }

    /// The format of answers before the messages, as this function writes it; `None` for text.
    pub fn format(&self, write: WriteFormat) -> Option<Json> {
        if let Some((_, head)) = self.settled().filter(|(form, _)| form.format.is_some()) {
            return head.format.clone();
        }
        let format = self.model.response_format.as_ref()?;
        Some(format_json(write, Some(format)))
    }

    /// The head of the request, if changes of its effort are sent at the end.
    fn settled(&self) -> Option<(&EffortForm, &Head)> {
        self.appended.form?.effort.as_ref().zip(self.appended.head)
    }

    /// The tools of a request in the protocol with this name, in order. A vendor's tool has its entry, and is
    /// included only if that is in this protocol's format. Tools with `defer_loading` are included only if the vendor
    /// searches for them. Otherwise the tools that search for them and call them are included.
    pub fn declared<'a>(
        &'a self,
        protocol: &'a str,
    ) -> impl Iterator<Item = (&'a ToolConfig, Option<&'a str>)> {
        let searches = self.vendor_searches(protocol);
        let is_shown = move |tool: &&ToolConfig| match tool.loader {
            Some(_) => !searches,
            None => searches || !tool.defer_loading,
        };
        let shown = self.tools.iter().filter(is_shown);
        shown.filter_map(move |tool| match &tool.vendor {
            None => Some((tool, None)),
            Some(vendor) if vendor.is_of(protocol) => Some((tool, Some(vendor.entry.as_ref()?.as_str()))),
            Some(_) => None,
        })
    }

    /// True if the vendor finds the tools with `defer_loading`.
    fn vendor_searches(&self, protocol: &str) -> bool {
        let has_own = |tool: &ToolConfig| tool.loader == Some(Loader::OwnSearch);
        self.tools.iter().any(|tool| tool.defer_loading)
            && !self.tools.iter().any(has_own)
            && matches!(protocol, "anthropic" | "openai_responses")
            && row(protocol, &self.model.vendor, &self.model.model).finds_tools
    }

    /// The entry of the vendor's search, if tools wait to be found and the caller has given no such entry.
    pub fn search_entry(&self, protocol: &str) -> Option<&'static str> {
        let mut declared = self.declared(protocol);
        let waits = declared.any(|(tool, _)| tool.defer_loading);
        let is_search = |entry: Option<&str>| entry.is_some_and(|entry| entry.contains("\"tool_search"));
        let has_search = self.declared(protocol).any(|(_, entry)| is_search(entry));
        (waits && !has_search).then_some(match protocol {
            "anthropic" => r#"{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}"#,
            _ => r#"{"type":"tool_search"}"#,
        })
    }

    /// True if a request in the protocol with this name has tools.
    pub fn has_tools(&self, protocol: &str) -> bool {
        self.declared(protocol).next().is_some()
    }

    /// True when cache markers are wanted. `by_default` decides if the configuration does not.
    pub fn marks_cache(&self, by_default: bool) -> bool {
        self.model.prompt_caching.enabled.unwrap_or(by_default)
    }
}

/// The end of the encoded messages in a protocol that takes a cache marker there: last block, its list, its message.
pub const END: &[u8] = b"}]}";

/// A wire protocol.
pub struct Protocol {
    /// The name in configurations and in [`crate::engine::model::message::Origin`].
    pub name: &'static str,
    pub framing: Framing,
    /// The path after the base URL, with a query if the protocol has one. Its first segment is a version.
    pub path: fn(&ModelConfig) -> String,
    /// The path of most base URLs of servers that speak this protocol.
    pub base_path: &'static str,
    /// The base URL in a URL that ends with the protocol's complete endpoint.
    pub before_endpoint: fn(&str) -> Option<&str>,
    /// The protocol's name in messages, and the constructor of models that speak it; empty for none.
    pub title: &'static str,
    pub constructor: &'static str,
    /// Texts at the beginning of its answers, quotes included, that no other protocol's answers have.
    pub marks: &'static [&'static str],
    /// The headers of every request in this protocol, in addition to `content-type: application/json`.
    pub headers: &'static [(&'static str, &'static str)],
    /// Writes the body up to the messages.
    ///
    /// # Errors
    /// The path of an option that this protocol cannot express.
    pub encode_head: fn(&RequestSpec<'_>, &mut Vec<u8>) -> Result<(), ConfigError>,
    /// What its vendors take; `None` for everything.
    pub accepts: Option<&'static Accepts>,
    /// What reasoning is tied to; `None` where it is tied to nothing.
    pub bound: Option<&'static Bound>,
    /// How a change of those fields is sent at the end; `None` if it cannot be.
    pub append: Option<&'static AppendForm>,
    /// How its vendor summarises on demand; `None` if it does not.
    pub summary: Option<&'static SummaryForm>,
    /// False where a result has no place for a block of the vendor: it is left out, and the agent warns of it.
    pub raw_in_results: bool,
    /// True if its servers continue this answer of a model only after a message with nothing but results. The second
    /// argument is the next answer's content, or empty without one.
    pub waits_for_results: fn(&Message, &[Block]) -> bool,
    /// True if some servers reject a history that begins with the model. It then gets a text of the user before it.
    /// The encoder of Bedrock writes one itself.
    pub begins_with_user: bool,
    pub encode_message: fn(&RequestSpec<'_>, &Message, &mut Vec<u8>),
    pub encode_tail: fn(&RequestSpec<'_>, &mut Vec<u8>),
    /// How a request ends with the beginning of the answer. `None` for a model that would not continue it.
    pub prefill: for<'a> fn(&'a ModelConfig) -> Option<Prefill<'a>>,
    /// True if the provider continues an answer after a disconnect, and returns its stream again by its id.
    pub is_background: fn(&ModelConfig) -> bool,
    /// The text that replaces an [`END`] of messages to mark it for the vendor's prompt cache. Empty for no marker.
    /// Only the sent body has it, never the stored bytes. [`Marks`] knows the position.
    pub marked_end: fn(&RequestSpec<'_>) -> String,
    pub decoder: fn() -> Decoder,
    /// The keys with which the text-delta lane reads a stream's deltas. `None` if the decoder is fast enough.
    pub lane: Option<&'static Keys>,
}

impl Protocol {
    /// The protocol's URL under a base URL without a trailing slash. The base URL may already have the path's first
    /// segment (`https://gateway/v1` and `https://gateway` both work for a path of `/v1/messages`) or another
    /// version. On Vertex AI the version precedes the project or the publisher. A base URL may end with `/models`
    /// after a version.
    pub fn url(&self, base: &str, model: &ModelConfig) -> String {
        let base = match base.strip_suffix("/models") {
            Some(above) if vertex::has_version(base) || ends_in_version(above) => above,
            _ => base,
        };
        let path = (self.path)(model);
        let second = path
            .get(1..)
            .and_then(|path| path.find('/'))
            .map_or(0, |at| at + 1);
        let (first, rest) = path.split_at_checked(second).unwrap_or(("", &path));
        let is_versioned = ends_in_version(base) || vertex::has_version(base);
        let has_first = base.ends_with(first) || (is_version(first) && is_versioned);
        let rest = if !first.is_empty() && has_first {
            rest
        } else {
            &path
        };
        format!("{base}{rest}")
    }
}

/// Returns true if the vendor continues this answer only after a message that has only results.
pub fn waits_for_results(answer: &Message, next: &[Block]) -> bool {
    let origin = answer.origin.as_ref();
    let mut protocols = PROTOCOLS.iter();
    let author = protocols.find(|protocol| origin.is_some_and(|origin| origin.protocol == protocol.name));
    author.is_some_and(|protocol| (protocol.waits_for_results)(answer, next))
}

/// Returns no marker, for vendors that cache by themselves.
pub fn no_marker(_spec: &RequestSpec<'_>) -> String {
    String::new()
}

/// A vendor: its address, its key's header and its protocol.
pub struct Vendor {
    pub name: &'static str,
    /// The name of its [`Protocol`].
    pub protocol: &'static str,
    /// The base URL; empty for `compatible`, where the configuration must name it.
    pub base_url: &'static str,
    /// The header of the key and the text before the key; empty for none.
    pub auth: (&'static str, &'static str),
    /// Its [`quirks`] as JSON.
    pub quirks: &'static str,
    /// The page that this row was written from, and when it was read.
    pub source: &'static str,
}

impl Vendor {
    pub fn auth_slot(&self) -> AuthSlot {
        AuthSlot {
            header: self.auth.0.to_owned(),
            prefix: self.auth.1.to_owned(),
        }
    }
}

/// Every wire protocol.
pub const PROTOCOLS: &[Protocol] = &[
    anthropic::PROTOCOL,
    openai_chat::PROTOCOL,
    openai_responses::PROTOCOL,
    gemini::PROTOCOL,
    bedrock::PROTOCOL,
    ndjson::PROTOCOL,
];

/// Every vendor that a configuration can name.
pub const VENDORS: &[Vendor] = &[
    Vendor {
        name: "anthropic",
        protocol: "anthropic",
        base_url: "https://api.anthropic.com",
        auth: ("x-api-key", ""),
        quirks: "{}",
        source: "https://platform.claude.com/docs/en/api/overview 2026-11-20",
    },
    Vendor {
        name: "openai",
        protocol: "openai_chat",
        base_url: "https://api.openai.com/v1",
        auth: ("authorization", "Bearer "),
        // Reasoning models refuse `max_tokens`.
        quirks: r#"{"maxOutputTokens":"max_completion_tokens","topK":false,"thinking":false}"#,
        source: "https://platform.openai.com/docs/api-reference/chat/create 2026-11-20",
    },
    Vendor {
        name: "google",
        protocol: "gemini",
        base_url: "https://generativelanguage.googleapis.com",
        auth: ("x-goog-api-key", ""),
        quirks: "{}",
        source: "https://ai.google.dev/api 2026-11-21",
    },
    Vendor {
        name: "compatible",
        protocol: "openai_chat",
        base_url: "",
        auth: ("authorization", "Bearer "),
        quirks: "{}",
        source: "https://platform.openai.com/docs/api-reference/chat/create 2026-11-20",
    },
    Vendor {
        name: "bedrock",
        protocol: "bedrock_converse",
        base_url: "https://bedrock-runtime.us-east-1.amazonaws.com",
        auth: ("authorization", "Bearer "),
        quirks: "{}",
        source: "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html 2026-11-21",
    },
    Vendor {
        name: "custom",
        protocol: "ndjson",
        base_url: "",
        auth: ("", ""),
        quirks: "{}",
        source: "looplet's own",
    },
];

/// The protocol with this name.
pub fn protocol(name: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().find(|protocol| protocol.name == name)
}

/// The vendor with this name.
pub fn vendor(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.name == name)
}

/// The vendor and the protocol of a model. The protocol is the model's, or else the vendor's. For a vendor without a
/// row, the configuration from the TypeScript has the base URL.
///
/// # Errors
/// An unknown vendor or protocol, a vendor without a base URL if none is configured, or a model named `.` or `..`.
pub fn find(model: &ModelConfig) -> Result<(&'static Vendor, &'static Protocol), ConfigError> {
    // A segment of dots climbs out of the path even if it is escaped.
    if matches!(model.model.as_str(), "." | "..") {
        return Err(ConfigError::new("model.model", "is not the name of a model"));
    }
    let is_reached = model.protocol.is_some() && model.base_url.is_some();
    let vendor = vendor(&model.vendor)
        .or_else(|| vendor("compatible").filter(|_| is_reached))
        .ok_or_else(|| {
            let mut names = Vec::new();
            for row in VENDORS {
                names.push(row.name);
            }
            unknown("model.vendor", &model.vendor, &names)
        })?;
    let name = model.protocol.as_deref().unwrap_or(vendor.protocol);
    let protocol = protocol(name).ok_or_else(|| {
        let mut names = Vec::new();
        for row in PROTOCOLS {
            names.push(row.name);
        }
        unknown("model.protocol", name, &names)
    })?;
    if vendor.name == "compatible" && model.base_url.as_deref().unwrap_or_default().is_empty() {
        return Err(ConfigError::new(
            "model.baseUrl",
            "is missing: compatible({ baseUrl }) needs the server's URL",
        ));
    }
    Ok((vendor, protocol))
}

#[cold]
fn unknown(field: &str, name: &str, known: &[&str]) -> ConfigError {
    ConfigError::new(
        field,
        format!("\"{name}\" is unknown: use one of {}", known.join(", ")),
    )
}

/// The state of a decoder, one variant per protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoder {
    Anthropic(anthropic::AnthropicDecoder),
    OpenaiChat(openai_chat::ChatDecoder),
    OpenaiResponses(openai_responses::ResponsesDecoder),
    Gemini(gemini::GeminiDecoder),
    Bedrock(bedrock::BedrockDecoder),
    Ndjson(ndjson::NdjsonDecoder),
}

impl Decoder {
    /// Writes one framed event into the answer. `event` is the event's name, or empty. `data` is its data, or one
    /// line of NDJSON.
    ///
    /// # Errors
    /// The failure that the event reports, or `malformed_stream` for an event that cannot be read. The caller fills
    /// in its `status`, `vendor` and `request_id`.
    pub fn decode_event(
        &mut self,
        event: &[u8],
        data: &[u8],
        answer: &mut ModelAnswer,
    ) -> Result<(), Failure> {
        match self {
            Decoder::Anthropic(decoder) => decoder.decode_event(data, answer),
            Decoder::OpenaiChat(decoder) => decoder.decode_event(event, data, answer),
            Decoder::OpenaiResponses(decoder) => decoder.decode_event(event, data, answer),
            Decoder::Gemini(decoder) => decoder.decode_event(data, answer),
            Decoder::Bedrock(decoder) => decoder.decode_event(event, data, answer),
            Decoder::Ndjson(decoder) => decoder.decode_event(data, answer),
        }
    }

    /// Ends the body and closes every open block.
    ///
    /// # Errors
    /// `malformed_stream` when the protocol's end was never seen.
    pub fn finish(&mut self, answer: &mut ModelAnswer) -> Result<(), Failure> {
        match self {
            Decoder::Anthropic(decoder) => decoder.finish(answer),
            Decoder::OpenaiChat(decoder) => decoder.finish(answer),
            Decoder::OpenaiResponses(decoder) => decoder.finish(),
            Decoder::Gemini(decoder) => decoder.finish(answer),
            Decoder::Bedrock(decoder) => decoder.finish(answer),
            Decoder::Ndjson(decoder) => decoder.finish(),
        }
    }

    /// Writes a complete JSON body to the answer.
    ///
    /// # Errors
    /// The failure that the body reports, or `malformed_stream`.
    pub fn decode_body(&mut self, body: &[u8], answer: &mut ModelAnswer) -> Result<(), Failure> {
        match self {
            Decoder::Anthropic(decoder) => decoder.decode_body(body, answer),
            Decoder::OpenaiChat(decoder) => decoder.decode_body(body, answer),
            Decoder::OpenaiResponses(decoder) => decoder.decode_body(body, answer),
            Decoder::Gemini(decoder) => decoder.decode_body(body, answer),
            Decoder::Bedrock(decoder) => decoder.decode_body(body, answer),
            Decoder::Ndjson(decoder) => decoder.decode_body(body, answer),
        }
    }
}
