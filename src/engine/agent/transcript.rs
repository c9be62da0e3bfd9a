//! The conversation, legal by construction, and its encoded form, which only ever grows.
//!
//! Owns the messages and the bytes of the request's body. An assistant message with tool calls is followed
//! by the user message that answers each of them: [`Transcript::push_round`] is the only way on from there. Empty text
//! is never kept. Encoding happens once per message, when the next request is made.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::engine::json::writer::decimal;
use crate::engine::model::context::HistoryPolicy;
use crate::engine::model::error::ConfigError;
use crate::engine::model::event::ToolFault;
use crate::engine::model::message::{Block, Json, Message, Role, ToolInput};
use crate::engine::policy::context::shorten;
use crate::engine::protocol::request::thinking_turn::model_of_turn;
use crate::engine::protocol::{Marks, Protocol, RequestSpec};

/// The messages of one agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Transcript {
    messages: Vec<Message>,
    /// How many of them have been part of a request: those are never changed.
    sent: usize,
    /// The body of a request with the first `encoded_messages` messages, so that it leaves in one piece.
    #[serde(skip)]
    body: Vec<u8>,
    #[serde(skip)]
    encoded_messages: usize,
    /// The body's last message is the user's.
    #[serde(skip)]
    ends_with_user: bool,
    /// Where the messages end in `body`, and the cache markers among them.
    #[serde(skip)]
    marks: Marks,
}

impl Transcript {
    /// What the host puts in place of a history that is about to be sent.
    ///
    /// # Errors
    /// As [`Transcript::from_history`], and nothing to send.
    pub fn to_send(messages: Vec<Message>) -> Result<Transcript, ConfigError> {
        let transcript = Transcript::from_history(messages)?;
        if transcript.messages.is_empty() {
            return Err(ConfigError::new("messages", "there are no messages to send"));
        }
        Ok(transcript)
    }

    /// Takes a history over: messages of one role in a row become one, empty text goes, calls without a result get one that
    /// says so.
    ///
    /// # Errors
    /// A tool result that answers no call of the message before it, two results for one call, two calls of one id in
    /// one message, a call in a user message or a result in an assistant message.
    pub fn from_history(history: Vec<Message>) -> Result<Transcript, ConfigError> {
        let mut transcript = Transcript::default();
        for (index, mut message) in history.into_iter().enumerate() {
            let field = |block: usize| place(index, block);
            message.content.retain(|block| !is_empty_text(block));
            let open = transcript.open_calls();
            match message.role {
                Role::Assistant => {
                    check_calls(&message, &field)?;
                    transcript.close(&open, Vec::new());
                    match transcript.messages.last_mut() {
                        _ if message.content.is_empty() => {}
                        Some(last) if last.role == Role::Assistant => last.join(message),
                        _ => transcript.messages.push(message),
                    }
                }
                Role::User => {
                    let (results, rest) = split_results(message.content, &open, &field)?;
                    transcript.close(&open, results);
                    transcript.push_user(rest);
                }
            }
        }
        let open = transcript.open_calls();
        transcript.close(&open, Vec::new());
        Ok(transcript)
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Adds to the last user message if that has not been sent, else starts a new one. Roles alternate: where the model has
    /// answered a message with nothing, that is said between them.
    pub fn push_user(&mut self, content: Vec<Block>) {
        let mut content: Vec<Block> = content
            .into_iter()
            .filter(|block| !is_empty_text(block))
            .collect();
        if content.is_empty() {
            return;
        }
        let unsent = self.sent < self.messages.len();
        match self.messages.last_mut() {
            Some(last) if unsent && last.role == Role::User => last.content.append(&mut content),
            last => {
                if last.is_some_and(|last| last.role == Role::User) {
                    self.messages.push(Message::nothing());
                }
                self.messages.push(Message::user(content));
            }
        }
    }

    /// Adds an answer; an empty one is not kept. Its tool calls must be answered by [`Transcript::push_round`].
    pub fn push_assistant(&mut self, message: Message) {
        if !message.content.is_empty() {
            self.messages.push(message);
        }
    }

    /// Answers the calls of the last message, in their order, and says more to the model after the results.
    pub fn push_round(&mut self, results: Vec<Block>, more: Vec<Block>) {
        let mut content = results;
        content.extend(more.into_iter().filter(|block| !is_empty_text(block)));
        if !content.is_empty() {
            self.messages.push(Message::user(content));
        }
    }

    /// The body of a request with all messages; what has come since the last one is encoded.
    ///
    /// # Errors
    /// An option that the protocol cannot express.
    pub fn body(&mut self, protocol: &Protocol, spec: &RequestSpec<'_>) -> Result<&[u8], ConfigError> {
        if self.body.is_empty() {
            let mut head = Vec::new();
            let model = &model_of_turn(protocol, spec.model, &self.messages);
            (protocol.encode_head)(&RequestSpec { model, ..*spec }, &mut head)?;
            self.marks = Marks::behind(&head);
            self.body = head;
        } else if self.encoded_messages == self.messages.len() {
            return Ok(&self.body);
        }
        self.marks.undo(&mut self.body);
        for (at, message) in self.messages.iter().enumerate().skip(self.encoded_messages) {
            let before = at.checked_sub(1).and_then(|at| self.messages.get(at));
            let before = before.map(without_thinking);
            let before = before.as_deref();
            let spec = RequestSpec { before, ..*spec };
            let as_sent = without_thinking(message);
            let end = self.body.len();
            let is_user = as_sent.role == Role::User;
            // An answer of which nothing may go back: chat templates want the roles to alternate all the same.
            // <https://github.com/vllm-project/vllm/issues/6862>, <https://github.com/mistralai/mistral-vibe/issues/255> (2026-11-22)
            if is_user && self.ends_with_user {
                (protocol.encode_message)(&spec, &Message::nothing(), &mut self.body);
            }
            let start = self.body.len();
            self.marks.note(&as_sent, start);
            (protocol.encode_message)(&spec, &as_sent, &mut self.body);
            if self.body.len() == start {
                self.body.truncate(end);
            } else {
                self.ends_with_user = is_user;
            }
            // A wire item begins with a comma, which the first of the list has not.
            if self.body.len() > start && self.body.get(start.wrapping_sub(1)) == Some(&b'[') {
                self.body.remove(start);
            }
        }
        protocol.close_body(spec, &mut self.body, &mut self.marks);
        self.encoded_messages = self.messages.len();
        self.sent = self.messages.len();
        Ok(&self.body)
    }

    /// A body of its own: a request with the first `upto` messages and, as the user's last words, `prompt`.
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
        let mut other = Transcript {
            messages,
            ..Transcript::default()
        };
        other.body(protocol, spec)?;
        Ok(other.body)
    }

    /// Puts `head` in place of the first `cut` messages. What follows must not answer a call before it.
    pub fn replace_first(&mut self, cut: usize, head: Vec<Block>) {
        let cut = cut.min(self.messages.len());
        let rest = self.messages.split_off(cut);
        self.sent = self.sent.saturating_sub(cut);
        self.messages = vec![Message::user(head)];
        for (at, mut message) in rest.into_iter().enumerate() {
            match self.messages.last_mut() {
                Some(first) if at == 0 && message.role == Role::User => {
                    first.content.append(&mut message.content);
                }
                _ => self.messages.push(message),
            }
        }
        self.forget_body();
    }

    /// Cuts old answers short; whether there was anything to cut.
    pub fn shorten(&mut self, policy: &HistoryPolicy) -> bool {
        let changed = shorten(&mut self.messages, policy);
        if changed {
            self.forget_body();
        }
        changed
    }

    /// The next body is made anew: for another model, or with other tools.
    pub fn forget_body(&mut self) {
        self.body.clear();
        self.encoded_messages = 0;
        self.ends_with_user = false;
        self.marks = Marks::default();
    }

    /// What there is has been told to the model in other words: nothing of it changes any more.
    pub fn mark_sent(&mut self) {
        self.sent = self.messages.len();
    }

    /// Ids of the calls in the last message, if that is the assistant's.
    fn open_calls(&self) -> Vec<String> {
        match self.messages.last() {
            Some(message) if message.role == Role::Assistant => {
                call_ids(message).map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Answers `open` with the given results where there is one, else with the statement that there is none.
    fn close(&mut self, open: &[String], mut results: Vec<Block>) {
        if open.is_empty() {
            return;
        }
        let mut ordered = Vec::with_capacity(open.len());
        for id in open {
            let found = results
                .iter()
                .position(|result| matches!(result, Block::ToolResult { call_id, .. } if call_id == id));
            ordered.push(match found {
                Some(at) => results.swap_remove(at),
                None => result_of(id, &ToolFault::not_run()),
            });
        }
        self.push_round(ordered, Vec::new());
    }
}

impl Message {
    /// Takes another one of its role in. What two models wrote is nobody's: neither gets back what only it can read.
    fn join(&mut self, next: Message) {
        self.content.extend(next.content);
        self.partial = next.partial;
        self.compacted |= next.compacted;
        if self.origin != next.origin {
            self.origin = None;
        }
    }
}

impl ToolFault {
    /// For a call that nobody ran.
    pub fn not_run() -> ToolFault {
        ToolFault {
            code: "not_run".into(),
            message: "The call was not run: the run ended before it.".into(),
            hint: "Call the tool again if its result is still needed.".into(),
            recoverable: true,
        }
    }
}

/// The result block that shows a fault to the model.
pub fn result_of(call_id: &str, fault: &ToolFault) -> Block {
    Block::ToolResult {
        call_id: call_id.to_owned(),
        content: vec![Block::text(fault.to_json().as_str())],
        is_error: true,
    }
}

impl ToolFault {
    /// `{"error":true,"code":…,"message":…,"hint":…,"recoverable":…}` (S003-19).
    pub fn to_json(&self) -> Json {
        let mut text = String::from("{\"error\":true,\"code\":");
        text.push_str(Json::string(&self.code).as_str());
        text.push_str(",\"message\":");
        text.push_str(Json::string(&self.message).as_str());
        text.push_str(",\"hint\":");
        text.push_str(Json::string(&self.hint).as_str());
        text.push_str(if self.recoverable {
            ",\"recoverable\":true}"
        } else {
            ",\"recoverable\":false}"
        });
        Json::from_valid(&text)
    }
}

/// What was cut short goes back as if another model had written it, and its thinking not at all: it is signed as it was.
fn without_thinking(message: &Message) -> Cow<'_, Message> {
    if !message.compacted {
        return Cow::Borrowed(message);
    }
    let is_thinking =
        |block: &Block| matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. });
    let mut as_sent = message.clone();
    as_sent.content.retain(|block| !is_thinking(block));
    as_sent.origin = None;
    Cow::Owned(as_sent)
}

/// The ids of a message's tool calls, in order.
pub fn call_ids(message: &Message) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(|block| match block {
        Block::ToolCall { id, .. } => Some(id.as_str()),
        _ => None,
    })
}

fn is_empty_text(block: &Block) -> bool {
    matches!(block, Block::Text { text, .. } if text.trim().is_empty())
}

fn place(message: usize, block: usize) -> String {
    let mut field = String::from("messages[");
    field.push_str(&decimal(message));
    field.push_str("].content[");
    field.push_str(&decimal(block));
    field.push(']');
    field
}

fn check_calls(message: &Message, field: &dyn Fn(usize) -> String) -> Result<(), ConfigError> {
    let mut ids = Vec::new();
    for (index, block) in message.content.iter().enumerate() {
        match block {
            Block::ToolResult { .. } => {
                return Err(ConfigError::new(
                    field(index),
                    "a tool result belongs into the user message after its call",
                ));
            }
            Block::ToolCall { id, .. } if ids.contains(&id) => {
                return Err(ConfigError::new(
                    field(index),
                    "two tool calls of one message have the same id",
                ));
            }
            Block::ToolCall { id, name, input, .. } => {
                if let Some(problem) = call_problem(id, name, input) {
                    return Err(ConfigError::new(field(index), problem));
                }
                ids.push(id);
            }
            _ => {}
        }
    }
    Ok(())
}

fn call_problem(id: &str, name: &str, input: &ToolInput) -> Option<&'static str> {
    match input {
        _ if id.is_empty() => Some("a tool call needs an id"),
        _ if name.is_empty() => Some("a tool call needs a name"),
        ToolInput::Json(json) if !json.as_str().trim_ascii_start().starts_with('{') => {
            Some("the input of a tool call must be a JSON object")
        }
        _ => None,
    }
}

fn split_results(
    content: Vec<Block>,
    open: &[String],
    field: &dyn Fn(usize) -> String,
) -> Result<(Vec<Block>, Vec<Block>), ConfigError> {
    let mut answered = Vec::new();
    let (mut results, mut rest) = (Vec::new(), Vec::new());
    for (index, block) in content.into_iter().enumerate() {
        match &block {
            Block::ToolCall { .. } => {
                return Err(ConfigError::new(
                    field(index),
                    "a tool call belongs into an assistant message",
                ));
            }
            Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Refusal { .. } => {
                return Err(ConfigError::new(
                    field(index),
                    "only an assistant message can hold thinking or a refusal",
                ));
            }
            Block::ToolResult { call_id, .. } => {
                if !open.contains(call_id) {
                    return Err(ConfigError::new(
                        field(index),
                        "this tool result answers no tool call of the message before it",
                    ));
                }
                if answered.contains(call_id) {
                    return Err(ConfigError::new(
                        field(index),
                        "this tool call has already been answered",
                    ));
                }
                answered.push(call_id.clone());
                results.push(block);
            }
            _ => rest.push(block),
        }
    }
    Ok((results, rest))
}
