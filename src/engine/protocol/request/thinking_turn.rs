//! Decides whether a request may ask for thinking.
//!
//! Claude's manual thinking belongs to a whole turn. While tools answer, the assistant messages of the turn have to
//! begin with thinking that this very model signed; otherwise the API refuses the request (`Expected thinking or
//! redacted_thinking, but found tool_use`). A turn that another model began, or whose thinking was cut, continues
//! without thinking. <https://platform.claude.com/docs/build-with-claude/thinking-tool-workflows> (2026-11-21)
//!
//! The model call asks before each request. Nothing fails.

use looplet_scan::reader::Object;

use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::{Block, Message, Role};
use crate::engine::protocol::Protocol;
use std::borrow::Cow;

/// The `model`, without its thinking if the open turn at the end of `messages` cannot have any.
pub fn model_of_turn<'a>(
    protocol: &Protocol,
    model: &'a ModelConfig,
    messages: &[Message],
) -> Cow<'a, ModelConfig> {
    let is_claude = matches!(protocol.name, "anthropic" | "bedrock_converse");
    if !is_claude || !is_manual(model) || !is_foreign_turn(protocol, model, messages) {
        return Cow::Borrowed(model);
    }
    Cow::Owned(ModelConfig {
        thinking: None,
        ..model.clone()
    })
}

/// True for `{ budgetTokens }` and `{ type: "enabled" }`. With every other form the model itself decides whether it
/// thinks.
fn is_manual(model: &ModelConfig) -> bool {
    let Some(thinking) = model
        .thinking
        .as_ref()
        .and_then(|json| Object::parse(json.as_str()))
    else {
        return false;
    };
    thinking.get("type").is_none() || thinking.string("type").as_deref() == Some("enabled")
}

/// True when an assistant message since the last prompt is not this model's, or the first of them lacks its thinking.
fn is_foreign_turn(protocol: &Protocol, model: &ModelConfig, messages: &[Message]) -> bool {
    let mut first = None;
    let mut rest = messages;
    while let [before @ .., assistant, user] = rest {
        if !is_result(user) || assistant.role != Role::Assistant {
            break;
        }
        let own = assistant
            .origin
            .as_ref()
            .is_some_and(|origin| origin.protocol == protocol.name && origin.model == model.model);
        if !own || assistant.compacted {
            return true;
        }
        first = Some(assistant);
        rest = before;
    }
    first.is_some_and(|message| !begins_with_thinking(message))
}

fn is_result(message: &Message) -> bool {
    let mut blocks = message.content.iter();
    message.role == Role::User && blocks.any(|block| matches!(block, Block::ToolResult { .. }))
}

fn begins_with_thinking(message: &Message) -> bool {
    match message.content.first() {
        Some(Block::Thinking { signature, .. }) => signature.is_some(),
        first => matches!(first, Some(Block::RedactedThinking { .. })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::model::message::{Json, Origin};
    use crate::engine::protocol::protocol;

    fn said(by: &str, thinks: bool) -> [Message; 2] {
        let thinking = Block::Thinking {
            text: "Hm.".into(),
            signature: Some("sig".into()),
            vendor: None,
        };
        let mut message = Message::assistant(vec![Block::text("I act.")]);
        message.content.splice(..0, thinks.then_some(thinking));
        message.origin = Some(Origin {
            protocol: "anthropic".into(),
            model: by.into(),
        });
        let result = Block::ToolResult {
            call_id: "1".into(),
            content: Vec::new(),
            is_error: false,
        };
        [message, Message::user(vec![result])]
    }

    fn thinks(thinking: &str, turn: &[[Message; 2]]) -> bool {
        let model = ModelConfig {
            thinking: Some(Json::parse(thinking).unwrap()),
            ..ModelConfig::new("anthropic".into(), "own".into())
        };
        let prompt = Message::user(vec![Block::text("Go")]);
        let messages = [vec![prompt], turn.concat()].concat();
        let asked = model_of_turn(protocol("anthropic").unwrap(), &model, &messages);
        asked.thinking.is_some()
    }

    #[test]
    fn a_turn_thinks_if_its_model_began_it_so() {
        let manual = r#"{"budgetTokens":1024}"#;
        let [own, foreign] = [said("own", true), said("other", true)];
        let silent = said("own", false);
        assert!(thinks(manual, &[]));
        assert!(thinks(manual, std::slice::from_ref(&own)));
        assert!(thinks(manual, &[own.clone(), silent.clone()]));
        assert!(!thinks(manual, std::slice::from_ref(&silent)));
        assert!(!thinks(manual, std::slice::from_ref(&foreign)));
        assert!(!thinks(manual, &[foreign.clone(), own.clone()]));
        assert!(!thinks(manual, &[own.clone(), foreign.clone()]));
        assert!(!thinks(
            r#"{"type":"enabled","budget_tokens":1024}"#,
            std::slice::from_ref(&foreign)
        ));
        assert!(thinks(r#"{"type":"adaptive"}"#, std::slice::from_ref(&foreign)));
        let [message, result] = own;
        let compacted = true;
        assert!(!thinks(manual, &[[Message { compacted, ..message }, result]]));
        let over = [foreign[0].clone(), Message::user(vec![Block::text("Thanks")])];
        assert!(thinks(manual, &[over]));
    }
}
