//! The common prefix of two consecutive requests, as an event reports it.

use serde::Serialize;

/// What a request has in common with the previous request of the same agent. Both are compared from the start: the
/// model, the effort and the format of answers, the tools, the system prompt, the kind of thinking, then each
/// message. Vendors read a common prefix from their cache, if it is long enough and recent. Tokens are estimated: 3.5
/// bytes each, also in images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SharedPrefix {
    /// The length of the tools, the system prompt and the messages, as they are sent.
    pub bytes: u64,
    pub tokens: u64,
    /// The length of the common prefix with the previous request. The tools and the system prompt each count
    /// completely or not at all.
    pub shared_bytes: u64,
    pub shared_tokens: u64,
    /// The first difference. Absent if the request begins with the complete previous request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<PrefixBreak>,
    /// Who changed the system prompt, the tools, the effort or the format of answers, if the change is sent at the
    /// end of this request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub appended: Option<PrefixCause>,
}

/// Where a request differs from the one before it, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PrefixBreak {
    pub part: PrefixPart,
    /// The index of the first different message among those of this request; present for the part `message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<u32>,
    pub cause: PrefixCause,
}

/// The part of a request that is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PrefixPart {
    /// Another model, which has its own cache.
    Model,
    /// Claude and OpenAI Responses have a cache for each effort.
    Effort,
    /// The format of structured answers: Claude and OpenAI Responses have a cache for each.
    Format,
    Tools,
    System,
    /// The kind of thinking or its budget: Claude reads only the tools and the system prompt from its cache.
    Thinking,
    Message,
}

impl PrefixPart {
    /// True if an option of the model is different.
    fn is_option(self) -> bool {
        matches!(
            self,
            PrefixPart::Effort | PrefixPart::Format | PrefixPart::Thinking
        )
    }
}

/// What changed the prefix of a request. If there are several causes, the first in this list is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PrefixCause {
    /// Another agent continues the conversation.
    Handoff,
    /// The history was summarised.
    Summary,
    /// The history exceeded `context.maxChars`.
    Budget,
    /// `context.pruning` shortened old answers.
    Pruning,
    /// An input guardrail rewrote the messages.
    Guardrail,
    /// `prepareIteration` changed the request, or the iteration that it had changed is over.
    Prepare,
    /// The vendor refused a change at the end of the request.
    Refused,
    /// `setModel` or a fallback model.
    Model,
    /// Reasoning is left out because the vendor refused it.
    Reasoning,
    /// The agent has other options than in the run before: after a deploy or a hot reload, or because a list of tools
    /// or a function among the options gave something else.
    Options,
    /// looplet does not know.
    Other,
}

impl PrefixCause {
    const ALL: [PrefixCause; 11] = [
        PrefixCause::Handoff,
        PrefixCause::Summary,
        PrefixCause::Budget,
        PrefixCause::Pruning,
        PrefixCause::Guardrail,
        PrefixCause::Prepare,
        PrefixCause::Refused,
        PrefixCause::Model,
        PrefixCause::Reasoning,
        PrefixCause::Options,
        PrefixCause::Other,
    ];

    /// True if it can change this part.
    fn changes(self, part: PrefixPart) -> bool {
        match self {
            PrefixCause::Handoff | PrefixCause::Prepare | PrefixCause::Options => true,
            PrefixCause::Summary | PrefixCause::Budget | PrefixCause::Pruning | PrefixCause::Guardrail => {
                part == PrefixPart::Message
            }
            PrefixCause::Reasoning => part == PrefixPart::Message,
            PrefixCause::Refused => matches!(part, PrefixPart::System | PrefixPart::Tools),
            // Another model may read other messages.
            PrefixCause::Model => part.is_option() || matches!(part, PrefixPart::Model | PrefixPart::Message),
            PrefixCause::Other => false,
        }
    }
}

/// The causes since the last request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefixCauses(u16);

impl PrefixCauses {
    pub fn add(&mut self, cause: PrefixCause) {
        self.0 |= 1 << cause as u16;
    }

    pub fn join(&mut self, other: PrefixCauses) {
        self.0 |= other.0;
    }

    /// The cause of a change of this part.
    pub fn of(self, part: PrefixPart) -> PrefixCause {
        let has = |cause: &PrefixCause| self.0 & (1 << *cause as u16) != 0 && cause.changes(part);
        let cause = PrefixCause::ALL.into_iter().find(has);
        cause.unwrap_or(PrefixCause::Other)
    }
}
