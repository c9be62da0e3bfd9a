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
        prefix: None,
        thread: None,
    });
    let result = Block::ToolResult {
        call_id: "1".into(),
        content: Vec::new(),
        is_error: false,
        pending: None,
    };
    [message, Message::user(vec![result])]
}

fn thinks(thinking: &str, turn: &[[Message; 2]]) -> bool {
    let model = ModelConfig {
        thinking: Some(Json::parse(thinking).unwrap()),
        ..ModelConfig::new("anthropic", "own")
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
