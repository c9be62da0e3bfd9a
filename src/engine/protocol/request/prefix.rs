//! The prefix of a model's reasoning, and whether its vendor still accepts that reasoning.
//!
//! Claude and GPT tie a block of reasoning to everything before it: the system prompt, the tools, each earlier
//! message, and the reasoning before it as it was sent. If one of them is different, Claude rejects the request or
//! drops the block, and GPT drops it. So an answer with reasoning stores a digest of its request's prefix in
//! [`crate::engine::model::message::Origin::prefix`], and its reasoning is sent only after the same prefix. Other
//! blocks are always sent. A block without a digest is sent too: the vendor decides.
//!
//! - Reasoning is not part of the digest: it may be left out at the beginning and at the end.
//! - On Claude, a tool with `defer_loading` is not part of it either. It may be added and removed before a message
//!   refers to it.
//! - On Claude, reasoning that was sent before the block must be sent again, unless none is: a gap in the middle is
//!   rejected.
//! - The ids of GPT's items are not part of it: whether an item has one depends on the requested model.
//!
//! <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking>,
//! <https://developers.openai.com/api/docs/guides/keep-prefix-unchanged> (2026-11-28)
//!
//! A [`crate::engine::agent::history::body::Body`] carries the digest along with its bytes: each message is digested
//! once. Nothing fails.

pub mod append;
pub mod chain;
pub mod summary;

use looplet_scan::reader::{Object, items};

use crate::engine::json::checksum::{FNV, fnv, mixed};
use crate::engine::json::writer::decimal_u64;
use crate::engine::model::config::{ModelConfig, PromptCaching};
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::{Block, Message};
use crate::engine::policy::models::row;
use crate::engine::protocol::request::message_parts::without_last_thinking;
use crate::engine::protocol::request::prefix::chain::{Link, best};
use crate::engine::protocol::{Protocol, RequestSpec};

/// What a vendor ties reasoning to, in addition to the messages before it.
#[derive(Debug)]
pub struct Bound {
    /// The fields before the messages, or a field of such an object.
    pub fields: &'static [(&'static str, Option<&'static str>)],
    /// The reasoning before it, too.
    pub is_chained: bool,
    /// A tool with `defer_loading` counts only after a message that refers to it.
    pub skips_deferred: bool,
    /// Items of an answer may have ids, which are ignored.
    pub has_item_ids: bool,
}

/// The beginning of a body.
#[derive(Clone, Debug)]
pub struct Prefix {
    /// The digest of system prompt, tools and messages without their reasoning.
    digest: u64,
    /// The digest of system prompt and tools.
    head: u64,
    /// The digest of the last reasoning that is in the body.
    reasoning: Option<u64>,
    /// The reasoning before the first message, which a vendor's summary replaces.
    summarized: Option<u64>,
    /// Whether the vendor compares.
    is_compared: bool,
    is_chained: bool,
    /// The tools that wait to be found, in the order of the request.
    deferred: Vec<Deferred>,
    /// A message refers to one of them.
    has_found: bool,
    /// The reasoning that is valid except for the reasoning before it.
    links: Vec<Link>,
    /// Messages of these indexes have their reasoning; later ones by the reasoning before them.
    chosen: Option<(Vec<usize>, usize)>,
}

/// A tool that is no part of the prefix before a message refers to it.
#[derive(Clone, Debug)]
struct Deferred {
    /// What a message has that refers to it.
    mark: String,
    /// A digest of the tool and of the number of shown tools before it.
    digest: u64,
    is_found: bool,
}

impl Prefix {
    /// The prefix of a body without messages; `None` if the protocol ties no reasoning to its prefix.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn of_head(protocol: &Protocol, spec: &RequestSpec<'_>) -> Result<Option<Prefix>, ConfigError> {
        let Some(bound) = protocol.bound else {
            return Ok(None);
        };
        // Cache markers are no part of the prefix.
        let model = &ModelConfig {
            prompt_caching: PromptCaching {
                enabled: Some(false),
                ..PromptCaching::default()
            },
            ..spec.model.clone()
        };
        let mut head = Vec::new();
        let spec = &RequestSpec { model, ..*spec };
        (protocol.encode_head)(spec, &mut head)?;
        (protocol.encode_tail)(spec, &mut head);
        let head = str::from_utf8(&head)
            .ok()
            .and_then(Object::parse)
            .unwrap_or_default();
        let mut deferred = Vec::new();
        let digest = bound.fields.iter().fold(FNV, |digest, (field, part)| {
            let value = match part {
                Some(part) => head.object(field).and_then(|object| object.get(part)),
                None => head.get(field),
            };
            let value = value.unwrap_or_default();
            let tools = items(value).filter(|_| bound.skips_deferred && value.contains(DEFERRED));
            let Some(tools) = tools else {
                return fnv(fnv(digest, value.as_bytes()), b";");
            };
            let mut shown = 0;
            let digest = tools.into_iter().fold(digest, |digest, tool| {
                if !tool.contains(DEFERRED) {
                    shown += 1;
                    return fnv(fnv(digest, tool.as_bytes()), b",");
                }
                if let Some(name) = Object::parse(tool).and_then(|tool| tool.get("name")) {
                    deferred.push(Deferred {
                        mark: format!("\"tool_name\":{name}"),
                        digest: mixed(fnv(FNV, tool.as_bytes()), shown),
                        is_found: false,
                    });
                }
                digest
            });
            fnv(digest, b";")
        });
        Ok(Some(Prefix {
            digest,
            head: digest,
            reasoning: None,
            summarized: None,
            is_chained: bound.is_chained,
            is_compared: row(protocol.name, &model.vendor, &model.model).compares,
            deferred,
            has_found: false,
            links: Vec::new(),
            chosen: None,
        }))
    }

    /// The prefix with other reasoning, if one of the messages so far leaves out reasoning that would be worth more.
    /// `start` is the prefix without messages, and `messages` the number of them so far.
    pub fn with_best_chain(&self, start: &Prefix, messages: usize) -> Option<Prefix> {
        let has_gap = self.links.iter().any(|link| !link.is_sent);
        let chosen = best(&self.links, self.summarized).filter(|_| has_gap && self.chosen.is_none())?;
        Some(Prefix {
            chosen: Some((chosen, messages)),
            ..start.clone()
        })
    }

    /// True if reasoning was sent after this prefix.
    pub fn has_reasoning(&self) -> bool {
        self.is_compared && self.reasoning.is_some()
    }

    /// Adds the bytes of a message without reasoning.
    pub fn push(&mut self, bytes: &[u8]) {
        self.digest = fnv(self.digest, bytes);
        if self.deferred.is_empty() {
            return;
        }
        let text = str::from_utf8(bytes).unwrap_or_default();
        if text.contains("\"tool_reference\"") {
            for tool in &mut self.deferred {
                tool.is_found |= text.contains(&tool.mark);
            }
            // All that are found so far, because the vendor compares their order too.
            let found = self.deferred.iter().filter(|tool| tool.is_found);
            self.digest = found.fold(self.digest, |digest, tool| mixed(digest, tool.digest));
            self.has_found |= self.deferred.iter().any(|tool| tool.is_found);
        }
    }

    /// Returns true if the vendor accepts the reasoning of the message at this index after the prefix. `read` is the
    /// number of its blocks that the requested model reads.
    pub fn allows(&mut self, message: &Message, at: usize, read: usize) -> bool {
        let origin = message.origin.as_ref();
        let Some(made_behind) = origin.and_then(|origin| origin.prefix.as_deref()) else {
            return true;
        };
        if !self.is_compared {
            return !made_behind.is_empty();
        }
        let (digest, reasoning) = made_behind.split_once('.').unwrap_or((made_behind, ""));
        if decimal_u64(self.digest) != digest {
            return false;
        }
        let before = reasoning.parse().ok();
        let mut is_sent = match self.reasoning {
            sent @ Some(_) if self.is_chained => sent == before,
            _ => true,
        };
        if let Some((chosen, messages)) = &self.chosen
            && at < *messages
        {
            is_sent = chosen.contains(&at);
        }
        if let (true, Some(last)) = (self.is_chained, last_proof(message)) {
            self.links.push(Link {
                at,
                before,
                last,
                read,
                is_sent,
            });
        }
        is_sent
    }

    /// The reasoning of this message is in the body.
    pub fn note_reasoning(&mut self, message: &Message) {
        self.reasoning = last_proof(message).or(self.reasoning);
    }

    /// The text that is stored with a vendor's summary of the body. `None` if the vendor would not accept it instead
    /// of the messages. A tool that was found in it does not count any more, because the message that refers to it is
    /// gone.
    pub fn of_summary(&self) -> Option<String> {
        let head = decimal_u64(self.head);
        (self.is_compared && !self.has_found).then(|| format!("{head}:{}", self.to_text()))
    }

    /// Begins with a vendor's summary, which counts as the messages that it replaces if the head is the same.
    pub fn begin_with(&mut self, made: &str, bytes: &[u8]) {
        let same = made
            .split_once(':')
            .filter(|(head, _)| *head == decimal_u64(self.head));
        let Some((_, end)) = same else {
            return self.push(bytes);
        };
        let (digest, reasoning) = end.split_once('.').unwrap_or((end, ""));
        self.digest = digest.parse().unwrap_or(self.digest);
        self.reasoning = reasoning.parse().ok();
        self.summarized = self.reasoning;
    }

    /// The text of [`crate::engine::model::message::Origin::prefix`] for an answer to a request with this body.
    pub fn to_text(&self) -> String {
        let mut text = decimal_u64(self.digest);
        if let Some(reasoning) = self.reasoning {
            text.push('.');
            text.push_str(&decimal_u64(reasoning));
        }
        text
    }
}

/// The digest of the last reasoning of a message.
fn last_proof(message: &Message) -> Option<u64> {
    let mut proofs = without_last_thinking(&message.content)
        .iter()
        .filter_map(|block| match block {
            Block::Thinking { signature, .. } => signature.as_ref(),
            Block::RedactedThinking { data } => Some(data),
            _ => None,
        });
    proofs.next_back().map(|proof| fnv(FNV, proof.as_bytes()))
}

/// The mark of a tool that waits to be found, as the encoders write it.
const DEFERRED: &str = "\"defer_loading\":true";

/// The message without its signed reasoning; `None` if it has none.
pub fn without_reasoning(message: &Message) -> Option<Message> {
    if !message.content.iter().any(is_signed) {
        return None;
    }
    let mut without = message.clone();
    without
        .content
        .retain(|block| !matches!(block, Block::RedactedThinking { .. }));
    for block in &mut without.content {
        if let Block::Thinking { signature, .. } = block {
            *signature = None;
        }
    }
    Some(without)
}

/// Returns true for reasoning that is sent back to its vendor.
pub fn is_signed(block: &Block) -> bool {
    match block {
        Block::Thinking { signature, .. } => signature.is_some(),
        Block::RedactedThinking { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
