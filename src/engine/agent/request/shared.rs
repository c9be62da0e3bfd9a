//! The common prefix of two consecutive requests of an agent, and what changed it.
//!
//! The agent's requests own it, and use it only if `events.prefix` is set. The order is [`LastRequest::recall`]
//! before a body is encoded, then [`LastRequest::compare`]. If a body has grown, only its new messages are compared.
//! If it was encoded again, the digests of its messages are compared. Nothing fails.

use looplet_scan::reader::Object;

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

/// Digests of what precedes the messages, in the order of [`PARTS`].
type HeadDigests = [u64; 6];

/// The parts before the messages, in the order of their comparison.
const PARTS: [PrefixPart; 6] = [
    PrefixPart::Model,
    PrefixPart::Effort,
    PrefixPart::Format,
    PrefixPart::Tools,
    PrefixPart::System,
    PrefixPart::Thinking,
];

impl LastRequest {
    /// Learns of the last request of an earlier run, unless this one has sent a request. Its messages are those of
    /// the history up to the last answer.
    pub fn recall(&mut self, transcript: &Transcript) {
        let sent = transcript.heads.sent();
        let (None, Some(sent)) = (self.head, sent) else {
            return;
        };
        let mut head = HeadDigests::default();
        for (digest, text) in head.iter_mut().zip(sent.split('.')) {
            *digest = text.parse().unwrap_or_default();
        }
        self.head = Some(head);
        let messages = transcript.messages();
        let answer = messages
            .iter()
            .rposition(|message| message.role == Role::Assistant);
        self.recalled = Some(match transcript.sent() {
            0 => answer.unwrap_or_default(),
            sent => sent,
        });
    }

    /// The text with which a later run recognises this request.
    pub fn to_text(&self) -> String {
        self.head.unwrap_or_default().map(decimal_u64).join(".")
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
            let digests = before.iter().zip(&head);
            match PARTS.iter().zip(digests).find(|(_, (before, now))| before != now) {
                Some((part @ PrefixPart::System, _)) => Some((*part, tools)),
                Some((part @ PrefixPart::Thinking, _)) => Some((*part, tools + system)),
                Some((part, _)) => Some((*part, 0)),
                None => (same < had).then_some((PrefixPart::Message, all)),
            }
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
            appended: has_appended.then(|| match causes.of(PrefixPart::System) {
                PrefixCause::Other => causes.of(PrefixPart::Effort),
                cause => cause,
            }),
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
    let [effort, format, thinking] = option_digests(protocol, spec);
    let head = [
        fnv(model, spec.model.model.as_bytes()),
        effort,
        format,
        tools.0,
        fnv(FNV, system.as_bytes()),
        thinking,
    ];
    (head, [tools.1, system.len() as u64])
}

/// Digests of the options with a separate cache at the vendor: effort, format of answers, thinking. 0 for one that is
/// not set.
///
/// - Effort: <https://platform.claude.com/docs/en/build-with-claude/effort-per-message> (2026-11-29). Thinking:
///   <https://platform.claude.com/docs/en/build-with-claude/prompt-caching#what-invalidates-the-cache>. Format:
///   <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>.
/// - OpenAI names `reasoning_effort_changed` and `text_format_changed` in its `prompt_cache_diagnostics`.
fn option_digests(protocol: &Protocol, spec: &RequestSpec<'_>) -> [u64; 3] {
    let is_claude = matches!(protocol.name, "anthropic" | "bedrock_converse");
    if !is_claude && protocol.name != "openai_responses" {
        return [0; 3];
    }
    let digest = |text: &str| fnv(FNV, text.as_bytes());
    let effort = spec.effort().map(digest);
    let format = spec.format(|format, into| {
        into.extend(format.iter().flat_map(|format| format.schema.as_str().bytes()));
    });
    let format = format.map(|format| digest(format.as_str()));
    let thinking = spec.model.thinking.as_ref().filter(|_| is_claude);
    let thinking = thinking
        .and_then(|json| Object::parse(json.as_str()))
        .map(|object| {
            let fields = ["type", "budgetTokens", "budget_tokens"].iter();
            let values = fields.filter_map(|field| object.get(field));
            values.fold(FNV, |digest, value| fnv(digest, value.as_bytes()))
        });
    [effort, format, thinking].map(Option::unwrap_or_default)
}
