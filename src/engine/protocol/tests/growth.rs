//! Tests of a conversation's body, which grows from request to request.

use serde_json::{Value, json};

use crate::engine::agent::history::transcript::Transcript;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::Message;
use crate::engine::protocol::{Appended, RequestSpec, find};

/// Endings in characters of 1 to 4 bytes, and one that looks like the end of a message.
const TEXTS: [&str; 5] = ["ok", "né", "漢字", "👍", "\"}]}"];

fn message(role: &str, at: usize) -> Message {
    let text = TEXTS.get(at % TEXTS.len()).unwrap();
    let block = match (role, at % 3) {
        ("assistant", 0) => {
            json!({"type": "tool_call", "id": format!("c{at}"), "name": "a", "input": {"t": text}})
        }
        _ => json!({"type": "text", "text": text}),
    };
    serde_json::from_str(&json!({"role": role, "content": [block]}).to_string()).unwrap()
}

fn result(at: usize) -> Message {
    let text = TEXTS.get(at % TEXTS.len()).unwrap();
    let block = json!({"type": "tool_result", "callId": format!("c{at}"), "content": [{"type": "text", "text": text}]});
    serde_json::from_str(&json!({"role": "user", "content": [block]}).to_string()).unwrap()
}

#[test]
fn a_grown_body_equals_one_that_is_encoded_whole() {
    for (vendor, fields) in [
        ("anthropic", json!({})),
        ("anthropic", json!({"promptCaching": {"enabled": false}})),
        ("openai", json!({})),
        ("openai", json!({"protocol": "openai_responses"})),
        ("google", json!({})),
        ("bedrock", json!({})),
        ("bedrock", json!({"promptCaching": {"enabled": true}})),
        ("custom", json!({"baseUrl": "http://c.invalid"})),
    ] {
        let mut config = json!({"vendor": vendor, "model": "m", "stream": true});
        config
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let model = crate::engine::model::json::read::<ModelConfig>("model", &config.to_string()).unwrap();
        let (_, protocol) = find(&model).unwrap();
        let spec = RequestSpec {
            model: &model,
            system: Some("s"),
            tools: &[],
            before: None,
            appended: Appended::default(),
        };
        let mut transcript = Transcript::default();
        for at in 0..60_usize {
            match at % 4 {
                0 => transcript.push_user(message("user", at).content),
                _ if at % 3 == 0 => {
                    transcript.push_assistant(message("assistant", at));
                    transcript.push_round(result(at).content, message("user", at + 1).content);
                }
                1 => transcript.push_assistant(message("assistant", at)),
                _ => transcript.push_user(message("user", at).content),
            }
            if at == 40 {
                transcript.replace_first(8, message("user", 4).content);
            }
            let body = transcript.body(protocol, &spec).unwrap().to_vec();
            let mut whole = transcript.clone();
            whole.forget_body();
            assert!(
                body == whole.body(protocol, &spec).unwrap(),
                "{vendor} {at}: has grown into something else"
            );
            let json: Value = serde_json::from_slice(&body).unwrap();
            assert!(json.is_object());
        }
    }
}
