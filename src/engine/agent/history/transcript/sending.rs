//! The requests with a transcript's messages.

use crate::engine::agent::history::body::{Body, SentMessage};
use crate::engine::agent::history::head::{Heads, Needed};
use crate::engine::agent::history::legal::ids_of;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::model::answer::ModelAnswer;
use crate::engine::model::config::ToolConfig;
use crate::engine::model::error::ConfigError;
use crate::engine::model::message::{Block, Json, Message, Role};
use crate::engine::protocol::request::prefix::summary::SummaryForm;
use crate::engine::protocol::{Prefill, Protocol, RequestSpec, waits_for_results};

impl Transcript {
    /// The prefix that an answer to the last body stores. See [`Body::prefix`].
    pub fn prefix(&self) -> Option<String> {
        self.body.prefix()
    }

    /// See [`Body::digest`].
    pub fn digest(&self, upto: usize) -> Option<u64> {
        self.body.digest(upto)
    }

    /// See [`Body::split`].
    pub fn split(&self, upto: usize) -> Option<(Vec<u8>, &[u8])> {
        self.body.split(upto)
    }

    /// The number of messages for which the last body leaves out the reasoning.
    pub fn reasoning_left_out(&self) -> usize {
        self.body.reasoning_left_out()
    }

    /// The messages of the last body, if they are compared.
    pub fn compared(&self) -> &[SentMessage] {
        self.body.compared()
    }

    /// The number of those that the last comparison has seen. The next one has seen all.
    pub fn take_compared(&mut self) -> usize {
        self.body.take_compared()
    }

    /// Moves the known call ids to an answer, so that its own calls get others. An answer that has them already keeps
    /// them. [`Transcript::take_call_ids`] moves them back, with the answer's own. Those of a failed attempt are
    /// lost, so they are collected again.
    pub fn lend_call_ids(&mut self, answer: &mut ModelAnswer) {
        let taken = &mut answer.taken_ids;
        if taken.earlier.is_none() {
            let ids = self.call_ids.take();
            taken.earlier = Some(ids.unwrap_or_else(|| {
                let mut ids = ids_of(&self.earlier);
                ids.extend(ids_of(&self.messages));
                ids
            }));
        }
    }

    pub fn take_call_ids(&mut self, answer: &mut ModelAnswer) {
        let taken = std::mem::take(&mut answer.taken_ids);
        self.call_ids = taken.earlier;
        if let Some(ids) = &mut self.call_ids {
            ids.extend(taken.own);
        }
    }

    /// The body of a request with all messages. It encodes the messages that are new since the last request.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn body(&mut self, protocol: &Protocol, spec: &RequestSpec<'_>) -> Result<&[u8], ConfigError> {
        let body = self.body.close(
            protocol,
            &self.heads.spec(*spec),
            &self.messages,
            self.is_compared,
        )?;
        self.sent = self.messages.len();
        Ok(body)
    }

    /// Gives the next request the current system prompt, tools, effort and format: at its end if that preserves
    /// reasoning, otherwise at its beginning. If no message may follow, the request has those of the previous
    /// request. `own` are all tools of the agent.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn settle_head(
        &mut self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        own: &[ToolConfig],
    ) -> Result<(), ConfigError> {
        if spec.appended.form.is_none() {
            return Ok(());
        }
        let messages = &self.messages;
        let is_found = |tool: &ToolConfig| {
            let name = protocol.accepts.map(|accepts| accepts.tool_name(&tool.name));
            let mark = format!(
                "\"tool_name\":{}",
                Json::string(&name.unwrap_or_default()).as_str()
            );
            messages.iter().any(|message| refers(&message.content, &mark))
        };
        if self.heads.declare_waiting(protocol, spec, is_found) {
            self.forget_body();
        }
        let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
        let last = self.messages.last().filter(|last| last.role == Role::User);
        let before = self.messages.iter().rev().nth(1);
        // A waiting server tool gets only the results. Text is added to the last of them, and no message follows.
        let may_follow =
            !self.ends_with_answer() && !before.is_some_and(|before| waits_for_results(before, &[]));
        let is_input = may_follow && last.is_some_and(|last| !last.content.iter().all(is_result));
        let effort = |heads: &Heads| heads.head().and_then(|head| head.effort.clone());
        let before = (self.heads.is_restricted(), effort(&self.heads));
        let needed = self.heads.change_to(protocol, spec, own, is_input);
        if before != (self.heads.is_restricted(), effort(&self.heads)) {
            self.forget_body();
        }
        let mut change = match needed {
            Needed::Nothing => return Ok(()),
            Needed::Beginning => {
                self.begin_with_head(protocol, spec);
                return Ok(());
            }
            Needed::Change(change) => change,
        };
        let length = self.body(protocol, spec)?.len();
        if !self.body.has_reasoning() || self.heads.bytes_with(&change) > length / 2 {
            self.begin_with_head(protocol, spec);
            return Ok(());
        }
        let last = self.messages.len().checked_sub(1);
        if let Some(last) = last.filter(|_| may_follow) {
            change.at = last;
            self.heads.push(change);
            self.has_appended = true;
            self.forget_body();
        }
        Ok(())
    }

    fn begin_with_head(&mut self, protocol: &Protocol, spec: &RequestSpec<'_>) {
        if self.heads.head().is_some() {
            self.forget_body();
        }
        self.heads.begin(protocol, spec);
    }

    /// The body of a request with the first `upto` messages and `prompt` as the user's last words. It does not
    /// change the transcript's body.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn body_about(
        &self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        upto: usize,
        prompt: &str,
    ) -> Result<Vec<u8>, ConfigError> {
        let mut messages = self.messages.get(..upto).unwrap_or_default().to_vec();
        match messages.last_mut() {
            Some(last) if last.role == Role::User => last.content.push(Block::text(prompt)),
            _ => messages.push(Message::user(vec![Block::text(prompt)])),
        }
        let change = self.heads.format_change(spec, messages.len().saturating_sub(1));
        let mut spec = self.heads.spec(*spec);
        spec.appended.last = change.as_ref();
        Body::whole(protocol, &spec, &messages)
    }

    /// The body of a request to the vendor for a summary of the first `upto` messages, and the prefix that the
    /// summary stores.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn body_of_summary(
        &self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        upto: usize,
        asked: (&SummaryForm, Option<&str>),
    ) -> Result<(Vec<u8>, Option<String>), ConfigError> {
        let messages = self.messages.get(..upto).unwrap_or_default();
        Body::of_summary(protocol, &self.heads.spec(*spec), messages, asked)
    }

    /// The body of a request that ends with the beginning of the answer.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn prefilled(
        &self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        begun: (&str, &Prefill<'_>),
    ) -> Result<Vec<u8>, ConfigError> {
        Body::prefilled(protocol, &self.heads.spec(*spec), &self.messages, begun)
    }
}

/// True if a block of the vendor's own has this text.
fn refers(blocks: &[Block], mark: &str) -> bool {
    blocks.iter().any(|block| match block {
        Block::Raw { json } => json.as_str().contains(mark),
        Block::ToolResult { content, .. } => refers(content, mark),
        _ => false,
    })
}
