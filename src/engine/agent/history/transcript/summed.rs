//! Summaries within a transcript. In requests a summary replaces the messages before it, which remain in the history.

use crate::engine::agent::history::transcript::Transcript;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::journal::Fact;
use crate::engine::model::message::{Block, Message, Role, TextPurpose};
use crate::engine::protocol::Protocol;
use crate::engine::protocol::request::prefix::summary::{
    Signed, SummaryForm, after_summary, forget_signed, has_signed, is_opaque,
};

impl Transcript {
    /// Replaces the first `cut` messages with a user message. The message after them must not answer calls. With
    /// `keeps_head`, later requests begin with the same system prompt and tools, because the vendor has created the
    /// head of this request.
    pub fn replace_first(&mut self, cut: usize, head: Vec<Block>, keeps_head: bool) {
        let cut = cut.min(self.messages.len());
        let before = self.messages.len();
        let untold = self.messages.len().saturating_sub(self.told);
        let mut rest = self.messages.split_off(cut).into_iter().peekable();
        let mut first = Message::user(head);
        if let Some(next) = rest.next_if(|next| next.role == Role::User) {
            first.content.extend(next.content);
        }
        let gone = std::mem::take(&mut self.messages);
        self.earlier.extend(gone);
        self.messages = std::iter::once(first).chain(rest).collect();
        self.sent = self.sent.saturating_sub(cut);
        self.told = self.messages.len().saturating_sub(untold);
        let replaced = before - (self.messages.len() - 1);
        self.note_cut(replaced);
        match keeps_head {
            true => self.heads.cut(cut, replaced - 1),
            false => self.heads.forget(),
        }
        self.forget_body();
    }

    /// Restores the messages before a vendor's summary if this model cannot read it. Returns false if there is no
    /// such summary.
    pub fn unfold_unreadable(&mut self, protocol: &Protocol, model: &ModelConfig) -> bool {
        let is_unreadable =
            |first: &&Message| is_opaque(first) && Signed::of(first, protocol, model).is_none();
        let mut has_changed = false;
        while let Some(first) = self.messages.first().filter(is_unreadable)
            && !self.earlier.is_empty()
        {
            let first = after_summary(first);
            let mut whole = std::mem::take(&mut self.earlier);
            whole.extend(first);
            whole.extend(self.messages.drain(..).skip(1));
            self.messages = split_off_summary(&mut whole);
            self.earlier = whole;
            has_changed = true;
        }
        if has_changed {
            self.sent = self.messages.len().saturating_sub(1);
            self.told = self.messages.len();
            (self.kept, self.cut) = (0, 0);
            self.shortened.clear();
            self.heads.forget();
            self.forget_body();
        }
        has_changed
    }

    /// The form of the vendor's summary at the start of requests to this model.
    pub fn signed_summary(&self, protocol: &Protocol, model: &ModelConfig) -> Option<&'static SummaryForm> {
        let first = self.messages.first()?;
        Signed::of(first, protocol, model).map(|signed| signed.form)
    }

    /// True if the history begins with a vendor's summary.
    pub fn has_signed_summary(&self) -> bool {
        self.messages.first().is_some_and(has_signed)
    }

    /// Sends the vendor's summary as text from now on, because the vendor has rejected it. Returns false if there is
    /// none.
    pub fn refuse_summary(&mut self) -> bool {
        let Some(first) = self.messages.first_mut().filter(|first| has_signed(first)) else {
            return false;
        };
        forget_signed(first);
        self.forget_body();
        true
    }
}

/// Takes the part of a history off that is sent: from the last summary on, or all of it.
pub(super) fn split_off_summary(history: &mut Vec<Message>) -> Vec<Message> {
    let is_summary = |block: &Block| {
        matches!(
            block,
            Block::Text {
                purpose: Some(TextPurpose::Summary),
                ..
            }
        )
    };
    let place = history.iter().enumerate().rev().find_map(|(at, message)| {
        let block = message.content.iter().rposition(is_summary)?;
        (message.role == Role::User).then_some((at, block))
    });
    let Some((at, block)) = place else {
        return std::mem::take(history);
    };
    let mut rest = history.split_off(at);
    if let Some(first) = rest.first_mut().filter(|_| block > 0) {
        let content = first.content.split_off(block);
        let before = std::mem::replace(&mut first.content, content);
        history.push(Message::user(before));
    }
    rest
}

/// The facts for a journal: the messages that a summary replaces, and the summary, in `first`.
pub(super) fn facts_of_earlier(earlier: &[Message], first: &Message) -> Vec<Fact> {
    let fact = |messages: Vec<Message>, upto| Fact::Messages {
        from: 0,
        upto,
        messages,
        left_out: Vec::new(),
    };
    let mut before = earlier.to_vec();
    before.extend(after_summary(first));
    let upto = Some(before.len());
    vec![fact(before, None), fact(vec![first.clone()], upto)]
}
