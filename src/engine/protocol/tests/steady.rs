//! Tests of the bytes that the bodies of one conversation have in common.

use serde_json::{Value, json};

use crate::engine::agent::transcript::Transcript;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::Message;
use crate::engine::protocol::{RequestSpec, find};

/// Endings in characters of 1 to 4 bytes, so that the bytes before a message's end are cut at every place within them.
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
fn a_body_begins_with_the_steady_bytes_of_every_earlier_one_of_its_name() {
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
        };
        let mut transcript = Transcript::default();
        let mut kept: (u32, Vec<u8>) = (0, Vec::new());
        let mut shared = 0;
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
            let steady = transcript.steady(at as u32 + 1);
            let head = body.get(..steady.bytes).unwrap();
            assert!(str::from_utf8(head).is_ok(), "{vendor} {at}: cut in a character");
            if steady.name == kept.0 {
                assert!(
                    head.starts_with(&kept.1),
                    "{vendor} {at}: begins with something else"
                );
                shared += usize::from(!kept.1.is_empty());
            } else {
                assert!(matches!(at, 0 | 40), "{vendor} {at}: has another name");
            }
            kept = (steady.name, head.to_vec());
            let json: Value = serde_json::from_slice(&body).unwrap();
            assert!(json.is_object());
        }
        assert!(shared > 50, "{vendor}: {shared} bodies begin with an earlier one");
    }
}
