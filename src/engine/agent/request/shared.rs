//! What a request shares with the one before it of the same agent, and what changed its beginning.
//!
//! Owned by the agent's requests, and only used if `events.prefix` is set. The order is [`LastRequest::recall`]
//! before a body is made, then [`LastRequest::compare`]. A body that has grown is compared from its new messages on;
//! one that was made again is compared by the digests of its messages. Nothing fails.

use crate::engine::agent::history::body::SentMessage;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::json::checksum::{FNV, fnv};
use crate::engine::json::writer::decimal_u64;
use crate::engine::model::event::prefix::{PrefixBreak, PrefixCause, PrefixCauses, PrefixPart, SharedPrefix};
use crate::engine::model::message::Role;
use crate::engine::policy::estimate::tokens;
use crate::engine::protocol::{Protocol, RequestSpec};

/// What the last request began with.
#[derive(Clone, Debug, Default)]
pub struct LastRequest {
    /// `None` before the first request.
    head: Option<HeadDigests>,
    messages: Vec<SentMessage>,
    /// The number of messages that the last request of an earlier run had, for the first request of this one. They
    /// are the same ones.
    recalled: Option<usize>,
}

/// Digests of what precedes the messages, in the order in which it is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HeadDigests {
    model: u64,
    tools: u64,
    system: u64,
}

impl LastRequest {
    /// Learns of the last request of an earlier run, unless this one has sent a request. Its messages are those of
    /// the history up to the last answer.
    pub fn recall(&mut self, transcript: &Transcript) {
        let sent = transcript.heads.sent();
        let (None, Some(sent)) = (self.head, sent) else {
            return;
        };
        let mut digests = sent.split('.').map(|digest| digest.parse().ok());
        let mut next = || digests.next().flatten();
        if let (Some(model), Some(tools), Some(system)) = (next(), next(), next()) {
            self.head = Some(HeadDigests { model, tools, system });
        }
        let messages = transcript.messages();
        let answer = messages
            .iter()
            .rposition(|message| message.role == Role::Assistant);
        self.recalled = Some(match transcript.sent() {
            0 => answer.unwrap_or_default(),
            sent => sent,
        });
    }

    /// The text by which a later run knows this request.
    pub fn to_text(&self) -> String {
        let HeadDigests { model, tools, system } = self.head.unwrap_or_default();
        [model, tools, system].map(decimal_u64).join(".")
    }

    /// Compares the last body of the transcript with the one before it.
    pub fn compare(
        &mut self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        transcript: &mut Transcript,
        mut causes: PrefixCauses,
    ) -> Option<SharedPrefix> {
        let has_appended = std::mem::take(&mut transcript.has_appended);
        let known = transcript.take_compared();
        let messages = transcript.compared();
        let (head, [tools, system]) = digests_of(protocol, &transcript.heads.spec(*spec));
        let before = self.head.replace(head);
        let same = match self.recalled.take() {
            None => {
                let rest = self.messages.iter().zip(messages).skip(known);
                known + rest.take_while(|(one, other)| one.digest == other.digest).count()
            }
            Some(recalled) => {
                causes.add(PrefixCause::Options);
                recalled.min(messages.len())
            }
        };
        let had = self.messages.len();
        let end_of = |count: usize| {
            let last = count.checked_sub(1).and_then(|at| messages.get(at));
            last.map_or(0, |message| message.end)
        };
        let bytes = tools + system + end_of(messages.len());
        let all = tools + system + end_of(same);
        let broken = before.and_then(|before| {
            let (part, shared) = if before.model != head.model {
                (PrefixPart::Model, 0)
            } else if before.tools != head.tools {
                (PrefixPart::Tools, 0)
            } else if before.system != head.system {
                (PrefixPart::System, tools)
            } else if same < had {
                (PrefixPart::Message, all)
            } else {
                return None;
            };
            Some((part, shared))
        });
        self.messages.truncate(same.min(had));
        let new = messages.get(self.messages.len()..).unwrap_or_default();
        self.messages.extend_from_slice(new);
        before?;
        let shared_bytes = broken.map_or(all, |(_, shared)| shared);
        Some(SharedPrefix {
            bytes,
            tokens: tokens(bytes),
            shared_bytes,
            shared_tokens: tokens(shared_bytes),
            broken: broken.map(|(part, _)| PrefixBreak {
                part,
                message: (part == PrefixPart::Message).then_some(same as u32),
                cause: causes.of(part),
            }),
            appended: has_appended.then(|| causes.of(PrefixPart::System)),
        })
    }
}

/// Digests of what precedes the messages, and the lengths of the tools and of the system prompt. A tool that waits to
/// be found is no part of the prefix.
fn digests_of(protocol: &Protocol, spec: &RequestSpec<'_>) -> (HeadDigests, [u64; 2]) {
    let mut tools = (FNV, 0);
    let mut add = |text: &str| tools = (fnv(tools.0, text.as_bytes()), tools.1 + text.len() as u64);
    let declared = spec.declared(protocol.name);
    for (tool, entry) in declared.filter(|(tool, _)| !tool.defer_loading) {
        match entry {
            Some(entry) => add(entry),
            None => {
                add(&tool.name);
                add(&tool.description);
                add(tool.input_schema.as_str());
            }
        }
    }
    let system = spec.system.unwrap_or_default();
    let model = fnv(FNV, protocol.name.as_bytes());
    let model = fnv(model, spec.model.vendor.as_bytes());
    let head = HeadDigests {
        model: fnv(model, spec.model.model.as_bytes()),
        tools: tools.0,
        system: fnv(FNV, system.as_bytes()),
    };
    (head, [tools.1, system.len() as u64])
}
