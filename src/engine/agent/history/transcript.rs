//! The conversation of one agent, which can be sent at any time.
//!
//! It owns the messages and their encoded form, a [`Body`]. The calls of the last message are the open round:
//! [`Transcript::push_assistant`] opens it, and [`Transcript::push_round`] answers each of them. A message before
//! that closes the round with results that say "not run". A result without an open call is dropped. So no order of
//! method calls creates an invalid history. [`Transcript::closed`] shows an open round with the available results.
//!
//! Empty text is never stored. A sent message changes only by pruning or by the rewrite of an input guardrail. In
//! requests a summary replaces the messages before it, which remain in the history. [`sending`] creates the requests.

mod sending;
mod summed;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use crate::engine::agent::history::body::Body;
use crate::engine::agent::history::head::Heads;
use crate::engine::agent::history::legal::{answer_renamed, check, rename_repeated};
use crate::engine::agent::history::transcript::summed::{facts_of_earlier, split_off_summary};
use crate::engine::model::answer::call_ids::CallIds;
use crate::engine::model::config::context::Pruning;
use crate::engine::model::error::ConfigError;
use crate::engine::model::event::ToolFault;
use crate::engine::model::event::prefix::{PrefixCause, PrefixCauses};
use crate::engine::model::journal::Fact;
use crate::engine::model::message::{Block, Message, NOTHING, Origin, Role, sendable_name};
use crate::engine::policy::context::shorten;
use crate::engine::policy::tool_error::settled;
use crate::engine::protocol::request::prefix::is_signed;
use crate::engine::protocol::waits_for_results;

/// The messages of one agent.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// The messages that the summary at the start of `messages` replaces. They are not sent.
    earlier: Vec<Message>,
    messages: Vec<Message>,
    /// The number of messages that have been part of a request.
    sent: usize,
    /// The number of messages that were emitted, or that the run was given.
    told: usize,
    /// Blocks that were added to a message after it was emitted.
    joined: Vec<Block>,
    /// The number of messages that the journal has, but for these changes.
    kept: usize,
    /// The number of journaled messages that the first message replaces. 0 if it is an original message.
    cut: usize,
    /// The indexes of messages that have been cut short.
    shortened: Vec<usize>,
    body: Body,
    /// The ids of its calls. `None` before they are needed, and while an answer has them.
    call_ids: Option<CallIds>,
    /// The system prompt and the tools at the start of requests.
    pub heads: Heads,
    /// True if each request is compared with the one before it.
    pub is_compared: bool,
    /// What has changed since the last comparison.
    pub causes: PrefixCauses,
    /// True if a change is sent at the end for the first time.
    pub has_appended: bool,
}

impl Transcript {
    /// The messages of a request that replace its history.
    ///
    /// # Errors
    /// Like [`Transcript::from_history`], or no message with content.
    pub fn to_send(
        messages: Vec<Message>,
        has_tool: impl Fn(&str) -> bool,
    ) -> Result<Transcript, ConfigError> {
        let transcript = Transcript::from_history(messages, has_tool)?;
        if transcript.messages.is_empty() {
            return Err(ConfigError::new("messages", "there are no messages to send"));
        }
        Ok(transcript)
    }

    /// Your code's messages that replace these. A user's text is added after a final answer, unless these messages
    /// also end with an answer, which the model then continues.
    ///
    /// # Errors
    /// Like [`Transcript::to_send`].
    pub fn replaced(
        &self,
        messages: Vec<Message>,
        has_tool: impl Fn(&str) -> bool,
    ) -> Result<Transcript, ConfigError> {
        let mut transcript = Transcript::to_send(messages, has_tool)?;
        let pairs = self.messages.iter().zip(&transcript.messages);
        transcript.heads = self
            .heads
            .for_others(pairs.take_while(|(known, sent)| known == sent).count());
        if transcript.ends_with_answer() && !self.ends_with_answer() {
            transcript
                .messages
                .push(Message::user(vec![Block::notice(NOTHING)]));
            transcript.told = transcript.messages.len();
        }
        Ok(transcript)
    }

    /// Imports a history. Adjacent messages with the same role are joined, and empty text is dropped. A call without
    /// a result, or with a pending one, gets a result that says so. An unknown call name is changed so that every
    /// vendor accepts it. A call with the id of an earlier one gets a new id, and so does its result. Messages before
    /// the last summary are stored but not sent.
    ///
    /// # Errors
    /// The path of a block that makes the history invalid:
    /// - a tool result without its call in the message before, or a second result for one call;
    /// - a second call with one id in a message, or a call without an id, a name or an object as its input;
    /// - a call, thinking or a refusal in a user message, or a result in an assistant message.
    pub fn from_history(
        mut history: Vec<Message>,
        has_tool: impl Fn(&str) -> bool,
    ) -> Result<Transcript, ConfigError> {
        let rest = split_off_summary(&mut history);
        let before = history.len();
        let mut ids = CallIds::default();
        let earlier = Transcript::legal(history, 0, &mut ids, &has_tool)?.messages;
        let transcript = Transcript::legal(rest, before, &mut ids, &has_tool)?;
        Ok(Transcript {
            earlier,
            call_ids: Some(ids),
            ..transcript
        })
    }

    /// A history with a summary only at its beginning. `first` is the index of its first message in the given
    /// history.
    fn legal(
        history: Vec<Message>,
        first: usize,
        ids: &mut CallIds,
        has_tool: impl Fn(&str) -> bool,
    ) -> Result<Transcript, ConfigError> {
        let mut transcript = Transcript::default();
        let mut renamed = Vec::new();
        for (index, mut message) in (first..).zip(history) {
            answer_renamed(&mut message, &renamed);
            check(&message, index, &transcript.open_calls())?;
            renamed = rename_repeated(&mut message, ids);
            message.content.retain(|block| !is_empty_text(block));
            for block in &mut message.content {
                if let Block::ToolCall { name, .. } = block
                    && !has_tool(name)
                {
                    *name = sendable_name(name);
                }
            }
            match message.role {
                Role::Assistant => {
                    transcript.close(Vec::new());
                    match transcript.messages.last_mut() {
                        _ if message.content.is_empty() => {}
                        Some(last) if last.role == Role::Assistant => last.join(message),
                        _ => transcript.messages.push(message),
                    }
                }
                Role::User => {
                    let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
                    let results = message.content.into_iter().map(settled);
                    let (results, rest) = results.partition(is_result);
                    transcript.push_round(results, rest);
                }
            }
        }
        transcript.close(Vec::new());
        transcript.told = transcript.messages.len();
        Ok(transcript)
    }

    fn ends_with_answer(&self) -> bool {
        self.messages.last().map(|message| message.role) == Some(Role::Assistant)
    }

    /// The messages of requests, which may begin with a summary.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The number of all messages, including those that a summary replaces.
    pub fn whole_len(&self) -> usize {
        self.earlier.len() + self.messages.len()
    }

    /// All messages in a form that can be sent, with these results for the open round.
    pub fn closed(&self, results: Vec<Block>) -> Cow<'_, [Message]> {
        let mut messages = match self.earlier.is_empty() {
            true => Cow::Borrowed(self.messages.as_slice()),
            false => Cow::Owned([self.earlier.as_slice(), &self.messages].concat()),
        };
        let answers = self.answers(results);
        if !answers.is_empty() {
            messages.to_mut().push(Message::user(answers));
        }
        messages
    }

    /// The messages of a checkpoint, with its open round. `sent` of them have been part of a request. A summary
    /// replaces the `earlier` ones.
    ///
    /// # Errors
    /// Like [`Transcript::from_history`].
    pub fn restored(
        earlier: Vec<Message>,
        messages: Vec<Message>,
        sent: usize,
    ) -> Result<Transcript, ConfigError> {
        let mut open = Transcript::default();
        for (index, message) in messages.iter().enumerate() {
            check(message, index, &open.open_calls())?;
            open.messages = vec![message.clone()];
        }
        Ok(Transcript {
            earlier,
            sent: sent.min(messages.len()),
            told: messages.len(),
            kept: messages.len(),
            cut: 0,
            shortened: Vec::new(),
            joined: Vec::new(),
            messages,
            body: Body::default(),
            call_ids: None,
            heads: Heads::default(),
            is_compared: false,
            causes: PrefixCauses::default(),
            has_appended: false,
        })
    }

    /// Excludes the reasoning in these messages from later requests, because the vendor has rejected it. Returns
    /// false if it has none.
    pub fn refuse_reasoning(&mut self) -> bool {
        let mut changed = Vec::new();
        for (at, message) in self.messages.iter_mut().enumerate() {
            let Some(origin) = &mut message.origin else {
                continue;
            };
            if origin.prefix.as_deref() != Some("") && message.content.iter().any(is_signed) {
                origin.prefix = Some(String::new());
                changed.push(at);
            }
        }
        let has_changed = !changed.is_empty();
        self.shortened.extend(changed);
        self.causes.add(PrefixCause::Reasoning);
        self.forget_body();
        has_changed
    }

    /// The number of messages that have been part of a request.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// The journal has this number of the messages already, or all of them if there are fewer. Returns the number.
    pub fn keep(&mut self, messages: usize) -> usize {
        self.kept = messages.min(self.messages.len());
        self.kept
    }

    /// The number of messages that the journal has.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// The changes of the messages since the last call, in order, for the journal. If the history was shortened, only
    /// new messages are included.
    pub fn take_unsaved(&mut self) -> Vec<Fact> {
        let kept = std::mem::replace(&mut self.kept, self.messages.len());
        let cut = std::mem::take(&mut self.cut);
        let shortened = std::mem::take(&mut self.shortened);
        let told = |from: usize, upto: usize, place: Option<usize>| {
            let messages = self.messages.get(from..upto).unwrap_or_default().to_vec();
            (!messages.is_empty()).then_some(Fact::Messages {
                from,
                upto: place,
                messages,
                left_out: Vec::new(),
            })
        };
        let mut kept = kept;
        let mut facts = Vec::new();
        if let (0, Some(first), false) = (kept, self.messages.first(), self.earlier.is_empty()) {
            facts = facts_of_earlier(&self.earlier, first);
            kept = 1;
        }
        let head = (cut > 0 && kept > 0).then(|| told(0, 1, Some(cut))).flatten();
        let shorter = shortened.into_iter().filter(|at| *at < kept);
        let shorter = shorter.filter_map(|at| told(at, at + 1, Some(at + 1)));
        let new = told(kept, self.messages.len(), None);
        let beginning = self.heads.take_new();
        facts.extend(head.into_iter().chain(shorter).chain(new).chain(beginning));
        facts
    }

    /// The messages that were not emitted yet, after the text that was joined to an emitted one. They then count as
    /// emitted.
    pub fn take_unemitted(&mut self) -> Vec<Message> {
        let told = std::mem::replace(&mut self.told, self.messages.len());
        let joined = Message::user(std::mem::take(&mut self.joined));
        let untold = self.messages.get(told..).unwrap_or_default();
        std::iter::once(joined).chain(untold.iter().cloned()).collect()
    }

    /// The messages of requests.
    pub fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Adds to the last user message if it was not sent yet. Otherwise starts a new one. Roles alternate, so
    /// [`Message::nothing`] is inserted between two user messages.
    pub fn push_user(&mut self, mut content: Vec<Block>) {
        content.retain(|block| !is_empty_text(block));
        if content.is_empty() {
            return;
        }
        self.close(Vec::new());
        let unsent = self.sent < self.messages.len();
        let is_told = self.told == self.messages.len();
        match self.messages.last_mut() {
            Some(last) if unsent && last.role == Role::User => {
                if is_told {
                    self.joined.extend(content.iter().cloned());
                }
                last.content.append(&mut content);
                self.kept = self.kept.min(self.messages.len() - 1);
            }
            last => {
                if last.is_some_and(|last| last.role == Role::User) {
                    self.messages.push(Message::nothing());
                }
                self.messages.push(Message::user(content));
            }
        }
    }

    /// Adds an answer, unless it is empty. Its tool calls are the open round.
    pub fn push_assistant(&mut self, message: Message) {
        if message.content.is_empty() {
            return;
        }
        self.close(Vec::new());
        let mut answers = self.messages.iter().rev();
        let before = answers.find(|before| before.role == Role::Assistant);
        // A server tool that gets no result is encoded without its call from now on.
        if before.is_some_and(|before| waits_for_results(before, &message.content)) {
            self.forget_body();
        }
        self.messages.push(message);
    }

    /// Answers the calls of the open round, in their order. `more` follows the results.
    pub fn push_round(&mut self, results: Vec<Block>, more: Vec<Block>) {
        self.close(results);
        self.push_user(more);
    }

    /// Records that a new message replaces the first `count` ones.
    fn note_cut(&mut self, count: usize) {
        if count > self.kept {
            (self.kept, self.cut) = (0, 0);
            return self.shortened.clear();
        }
        // In the journal, the first message may already have replaced several.
        self.cut = count + self.cut.saturating_sub(1);
        self.kept = self.kept - count + 1;
        self.shortened.retain(|at| *at >= count);
        for at in &mut self.shortened {
            *at = *at - count + 1;
        }
    }

    /// Cuts the thinking and the calls of old answers short. Returns true if there were any.
    pub fn shorten(&mut self, policy: &Pruning) -> bool {
        let changed = shorten(&mut self.messages, policy);
        if changed.is_empty() {
            return false;
        }
        self.shortened.extend(changed);
        self.causes.add(PrefixCause::Pruning);
        self.forget_body();
        true
    }

    /// True when a result in a message that is not encoded yet contains a block of a vendor.
    pub fn has_new_raw_result(&self) -> bool {
        let is_raw = |block: &Block| matches!(block, Block::Raw { .. });
        self.new_blocks()
            .any(|block| matches!(block, Block::ToolResult { content, .. } if content.iter().any(is_raw)))
    }

    /// The blocks of messages that are not encoded yet.
    pub fn new_blocks(&self) -> impl Iterator<Item = &Block> {
        let new = self.messages.get(self.body.encoded()..).unwrap_or_default();
        new.iter().flat_map(|message| &message.content)
    }

    /// Encodes the next body from scratch, for another model or with other tools.
    pub fn forget_body(&mut self) {
        self.body.forget();
    }

    /// Prevents further changes of all messages, because they were sent in a request.
    pub fn mark_sent(&mut self) {
        self.sent = self.messages.len();
    }

    /// The ids of the calls in the last message, if that is the assistant's.
    fn open_calls(&self) -> Vec<String> {
        let answer = self.messages.last().filter(|last| last.role == Role::Assistant);
        let blocks = answer.map_or(&[][..], |answer| &answer.content);
        let ids = blocks.iter().filter_map(|block| match block {
            Block::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        });
        ids.collect()
    }

    fn close(&mut self, results: Vec<Block>) {
        let answers = self.answers(results);
        if !answers.is_empty() {
            self.messages.push(Message::user(answers));
        }
    }

    /// A result for each call of the open round, in order. A call without a result gets one that says that it was not
    /// run.
    fn answers(&self, results: Vec<Block>) -> Vec<Block> {
        let mut by_id: BTreeMap<String, VecDeque<Block>> = BTreeMap::new();
        for result in results {
            if let Block::ToolResult { call_id, .. } = &result {
                by_id.entry(call_id.clone()).or_default().push_back(result);
            }
        }
        let answer = |id: String| {
            let result = by_id.get_mut(&id).and_then(VecDeque::pop_front);
            result.unwrap_or_else(|| ToolFault::not_run().result_of(&id))
        };
        self.open_calls().into_iter().map(answer).collect()
    }
}

impl Message {
    /// Adds a message with the same role. A message by two models has no origin, so neither gets thinking or raw
    /// blocks back.
    fn join(&mut self, next: Message) {
        let has_reasoning = self.content.iter().any(is_signed);
        self.content.extend(next.content);
        self.partial = next.partial;
        self.compacted |= next.compacted;
        let is_author = |origin: &Origin, other: &Origin| {
            origin.protocol == other.protocol && origin.model == other.model
        };
        match (&mut self.origin, &next.origin) {
            (Some(origin), Some(next)) if is_author(origin, next) => {
                // The second half has the prefix of the complete message only if the first half has no reasoning.
                origin.prefix = origin.prefix.take().filter(|_| has_reasoning);
                origin.thread = None;
            }
            (origin, _) => *origin = None,
        }
    }
}

fn is_empty_text(block: &Block) -> bool {
    matches!(block, Block::Text { text, .. } if text.trim().is_empty())
}

#[cfg(test)]
mod tests;
