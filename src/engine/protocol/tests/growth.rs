//! Tests of a conversation's body, which grows from request to request.

use serde_json::{Value, json};

use crate::engine::agent::history::transcript::Transcript;
use crate::engine::model::config::{Loader, ModelConfig, ToolConfig};
use crate::engine::model::message::{Json, Message};
use crate::engine::policy::estimate::tokens;
use crate::engine::protocol::{Appended, Clearing, RequestSpec, find};

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
            is_digested: false,
            appended: Appended::default(),
            clearing: Clearing::default(),
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
                transcript.replace_first(8, message("user", 4).content, false);
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

/// What the tools of a request cost: the list without the tools that its vendor keeps out of the prompt.
fn tokens_of_tools(vendor: &str, protocol: &str, model: &str, tools: &[ToolConfig]) -> (usize, u64) {
    let mut model = ModelConfig::new(vendor, model);
    model.protocol = Some(protocol.into());
    model.base_url = Some("https://x".into());
    let spec = RequestSpec {
        model: &model,
        system: None,
        tools,
        before: None,
        is_digested: false,
        appended: Appended::default(),
        clearing: Clearing::default(),
    };
    let (_, protocol) = find(&model).unwrap();
    let mut body = Vec::new();
    (protocol.encode_head)(&spec, &mut body).unwrap();
    (protocol.encode_tail)(&spec, &mut body);
    let mut body: Value = serde_json::from_slice(&body).unwrap();
    let list = match body.pointer("/toolConfig/tools") {
        Some(_) => body.pointer_mut("/toolConfig/tools"),
        None => body.get_mut("tools"),
    };
    let list = list.unwrap().as_array_mut().unwrap();
    let all = list.len();
    list.retain(|tool| tool.get("defer_loading") != Some(&json!(true)));
    (all - list.len(), tokens(body.to_string().len() as u64))
}

#[test]
fn five_hundred_tools_that_wait_to_be_found_cost_less_than_two_thousand_tokens() {
    let schema =
        json!({"type": "object", "properties": {"id": {"type": "string", "description": "The id of it"}}});
    let tool = |name: String| {
        let mut tool = ToolConfig::new(name, Json::parse(&schema.to_string()).unwrap());
        tool.description = "Reads an entry of the register of customers and returns all of its fields".into();
        tool
    };
    let mut tools: Vec<ToolConfig> = (0..500).map(|at| tool(format!("tool_{at}"))).collect();
    let at_once = tools.clone();
    tools.iter_mut().for_each(|tool| tool.defer_loading = true);
    for (name, loader) in [("search_tools", Loader::Search), ("call_tool", Loader::Call)] {
        let mut tool = tool(name.into());
        tool.loader = Some(loader);
        tools.push(tool);
    }
    for (vendor, protocol, model, waiting) in [
        ("anthropic", "anthropic", "claude-opus-5-5", 500),
        ("openai", "openai_responses", "gpt-5.6", 500),
        ("openai", "openai_responses", "gpt-5.4", 0),
        ("compatible", "anthropic", "kimi-k3", 0),
        ("openai", "openai_chat", "m", 0),
        ("google", "gemini", "gemini-3.5-flash", 0),
        ("bedrock", "bedrock_converse", "us.anthropic.claude-opus-5-5", 0),
        ("custom", "ndjson", "m", 0),
    ] {
        let (deferred, cost) = tokens_of_tools(vendor, protocol, model, &tools);
        assert_eq!(deferred, waiting, "{protocol} {model}");
        assert!(cost < 2_000, "{protocol} {model}: {cost}");
        let (_, cost) = tokens_of_tools(vendor, protocol, model, &at_once);
        assert!(cost > 20_000, "{protocol} {model}: {cost}");
    }
}
