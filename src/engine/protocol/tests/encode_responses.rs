//! Tests of bodies for OpenAI Responses.

use serde_json::{Value, json};

use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::{Block, Json, MediaSource, Message};
use crate::engine::protocol::tests::encode::{body, call, history, model, origin, result, weather};

fn responses(mut further: Value) -> ModelConfig {
    further["protocol"] = json!("openai_responses");
    model("openai", further)
}

fn input(further: Value, messages: &[Message]) -> Vec<Value> {
    let made = body(&responses(further), &[], messages).unwrap();
    made["input"].as_array().unwrap().clone()
}

fn types(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["type"].as_str().unwrap()).collect()
}

fn json_block(json: &str) -> Option<Json> {
    Some(Json::parse(json).unwrap())
}

fn thinking(text: &str, signature: Option<&str>, vendor: &str) -> Block {
    Block::Thinking {
        text: text.to_owned(),
        signature: signature.map(str::to_owned),
        vendor: Json::parse(vendor).ok(),
    }
}

fn named(block: Block, json: &str) -> Block {
    let vendor = json_block(json);
    match block {
        Block::Text { text, .. } => Block::Text {
            text,
            purpose: None,
            vendor,
        },
        Block::ToolCall { id, name, input, .. } => Block::ToolCall {
            id,
            name,
            input,
            vendor,
        },
        other => other,
    }
}

fn answer(content: Vec<Block>) -> [Message; 1] {
    [Message {
        origin: origin("openai_responses"),
        ..Message::assistant(content)
    }]
}

#[test]
fn s004_20_a_history_becomes_items_in_order_with_each_call_and_each_result_apart() {
    let made = body(&responses(json!({})), &weather(), &history("anthropic")).unwrap();
    assert_eq!(
        made,
        json!({
            "model": "m", "instructions": "Be brief.", "stream": true, "store": false,
            "include": ["reasoning.encrypted_content"],
            "tools": [{"type":"function","name":"weather","description":"Of a city","parameters":{"type":"object","z":1,"a":2,"properties":{}},"strict":false}],
            "input": [
                {"role":"user","content":"Umbrella?"},
                {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Let me see."}]},
                {"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"b\": 1,\"a\":2}"},
                {"type":"function_call","call_id":"c2","name":"weather","arguments":"{\"_invalid_json\":\"{oops\"}"},
                {"type":"function_call_output","call_id":"c1","output":"rain"},
                {"type":"function_call_output","call_id":"c2","output":[
                    {"type":"input_text","text":"bad JSON"},
                    {"type":"input_image","image_url":"data:image/png;base64,AAAA"}
                ]},
                {"role":"user","content":"Quick!"}
            ]
        })
    );
}

#[test]
fn a_custom_tools_call_goes_back_as_one_with_its_result_and_to_another_model_as_a_functions() {
    let custom =
        |id: &str, input: &str| named(call(id, input), r#"{"type":"custom_tool_call","id":"ctc_1"}"#);
    let own = |call: Block| {
        let [said] = answer(vec![call]);
        [said, Message::user(vec![result("c1", vec![Block::text("ok")])])]
    };
    let kinds = |further: Value, messages: &[Message]| {
        let items = input(further, messages);
        let [call, result] = items.as_slice() else {
            panic!("{items:?}")
        };
        (call.clone(), result["type"].as_str().unwrap().to_owned())
    };
    let messages = own(custom("c1", r#"{"input":"ls \"a\"\n"}"#));
    let (item, result) = kinds(json!({}), &messages);
    assert_eq!(
        item,
        json!({"type":"custom_tool_call","call_id":"c1","name":"weather","input":"ls \"a\"\n","id":"ctc_1"})
    );
    assert_eq!(result, "custom_tool_call_output");
    let mut shortened = messages.clone();
    shortened[0].compacted = true;
    let (item, result) = kinds(json!({}), &shortened);
    assert_eq!(
        (&item["type"], result.as_str()),
        (&json!("function_call"), "function_call_output")
    );
    let saved = serde_json::to_string(&messages).unwrap();
    let restored: Vec<Message> = serde_json::from_str(&saved).unwrap();
    assert_eq!(kinds(json!({}), &restored).0["type"], "custom_tool_call");
    let (item, result) = kinds(json!({"model": "other"}), &messages);
    assert_eq!(
        item,
        json!({"type":"function_call","call_id":"c1","name":"weather","arguments":"{\"input\":\"ls \\\"a\\\"\\n\"}"})
    );
    assert_eq!(result, "function_call_output");
    let (item, result) = kinds(json!({}), &own(custom("c1", r#"{"other":1}"#)));
    assert_eq!((&item["type"], item.get("id")), (&json!("function_call"), None));
    assert_eq!(result, "function_call_output");
}

#[test]
fn own_items_go_back_as_they_came_with_their_ids() {
    let text = |text: &str, vendor: &str| named(Block::text(text), vendor);
    let items = input(
        json!({}),
        &answer(vec![
            thinking("One.", None, ""),
            thinking("Two.", Some("enc"), r#"{"type":"reasoning","id":"rs_1"}"#),
            Block::Raw {
                json: Json::parse(r#"{"type":"web_search_call","id":"ws_1","n":12345678901234567890}"#)
                    .unwrap(),
            },
            text(
                "A",
                r#"{"id":"msg_1","status":"completed","phase":"commentary","annotations":[1]}"#,
            ),
            text("B", r#"{"id":"msg_1"}"#),
            text("C", r#"{"id":"msg_2"}"#),
            named(call("c1", "{}"), r#"{"id":"fc_1","status":"completed"}"#),
        ]),
    );
    assert_eq!(
        json!(items),
        json!([
            {"type":"reasoning","summary":[{"type":"summary_text","text":"One."},{"type":"summary_text","text":"Two."}],
             "encrypted_content":"enc","id":"rs_1"},
            {"type":"web_search_call","id":"ws_1","n":12_345_678_901_234_567_890u64},
            {"type":"message","role":"assistant","content":[
                {"type":"output_text","text":"A","annotations":[1]},{"type":"output_text","text":"B"}
             ],"id":"msg_1","status":"completed","phase":"commentary"},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"C"}],"id":"msg_2"},
            {"type":"function_call","call_id":"c1","name":"weather","arguments":"{}","id":"fc_1","status":"completed"}
        ])
    );
}

#[test]
fn no_item_of_an_answer_keeps_its_id_when_one_cannot_go_back_with_it() {
    let call = || named(call("c1", "{}"), r#"{"id":"fc_1"}"#);
    let known = r#"{"type":"reasoning","id":"rs_1"}"#;
    let long = format!(r#"{{"type":"reasoning","id":"{}"}}"#, "x".repeat(65));
    // Reasoning that is neither encrypted nor open is unknown to the server.
    let lost = input(json!({}), &answer(vec![thinking("Hm", None, known), call()]));
    assert_eq!(types(&lost), ["function_call"]);
    assert_eq!(lost[0]["id"], Value::Null);
    let long = input(json!({}), &answer(vec![thinking("Hm", Some("e"), &long), call()]));
    assert_eq!(types(&long), ["reasoning", "function_call"]);
    assert_eq!((&long[0]["id"], &long[1]["id"]), (&Value::Null, &Value::Null));
    let refused = answer(vec![
        named(Block::text("x"), r#"{"id":"msg_1","phase":"p"}"#),
        Block::Refusal {
            text: "No.".to_owned(),
        },
    ]);
    assert_eq!(
        json!(input(json!({}), &refused)),
        json!([{"type":"message","role":"assistant","content":[
            {"type":"output_text","text":"x"},{"type":"refusal","refusal":"No."}
        ],"phase":"p"}])
    );
    let partial = answer(vec![thinking("Hm", Some("e"), known), Block::text("Hal")]);
    assert_eq!(input(json!({}), &partial)[0]["id"], Value::Null);
    // A server that stores reasoning knows it by its id.
    let stored = input(
        json!({"body":{"store":true}}),
        &answer(vec![thinking("Hm", None, known), call()]),
    );
    assert_eq!(
        (&stored[0]["id"], &stored[1]["id"]),
        (&json!("rs_1"), &json!("fc_1"))
    );
}

#[test]
fn a_call_id_that_is_too_long_is_the_same_shorter_one_in_call_and_result() {
    let long = "x".repeat(65);
    let mut messages = answer(vec![call(&long, "{}")]).to_vec();
    messages.push(Message::user(vec![result(&long, vec![Block::text("r")])]));
    let items = input(json!({}), &messages);
    assert_eq!(items[0]["call_id"], items[1]["call_id"]);
    assert!(items[0]["call_id"].as_str().unwrap().len() <= 64);
    let other = input(json!({}), &answer(vec![call("functions.f:0", "{}")]));
    assert_eq!(other[0]["call_id"], "functions.f:0");
}

#[test]
fn open_reasoning_goes_back_in_the_list_that_it_came_in() {
    let content = r#"{"field":"content","type":"reasoning","id":"r"}"#;
    let items = input(
        json!({}),
        &answer(vec![
            thinking("a", None, r#"{"field":"content"}"#),
            thinking("b", None, content),
            Block::text("x"),
        ]),
    );
    assert_eq!(
        items[0],
        json!({"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"a"},{"type":"reasoning_text","text":"b"}]})
    );
    let sealed = answer(vec![thinking("b", Some("e"), content), Block::text("x")]);
    let item = &input(json!({}), &sealed)[0];
    assert_eq!(item["content"], json!([{"type":"reasoning_text","text":"b"}]));
    assert_eq!(item["encrypted_content"], "e");
}

#[test]
fn reasoning_stays_at_home_before_nothing_for_another_model_and_without_its_end() {
    let known = r#"{"type":"reasoning","id":"rs_1"}"#;
    let alone = answer(vec![Block::text("x"), thinking("Hm", Some("e"), known)]);
    assert_eq!(types(&input(json!({}), &alone)), ["message"]);
    let unended = answer(vec![thinking("Hm", None, ""), Block::text("x")]);
    assert_eq!(types(&input(json!({}), &unended)), ["message"]);
    let raw = Block::Raw {
        json: Json::parse(r#"{"type":"web_search_call"}"#).unwrap(),
    };
    let message = answer(vec![
        thinking("Hm", Some("e"), known),
        raw,
        named(Block::text("x"), r#"{"id":"m"}"#),
    ]);
    let other = input(json!({"model":"other"}), &message);
    assert_eq!(types(&other), ["message"]);
    assert_eq!(other[0]["id"], Value::Null);
}

#[test]
fn media_and_raw_blocks_of_the_user_take_their_place() {
    let media = |media_type: &str, source: MediaSource| Block::Media {
        media_type: media_type.to_owned(),
        source,
        name: None,
        vendor: None,
    };
    let data = || MediaSource::Data("AA==".to_owned());
    let raw = |json: &str| Block::Raw {
        json: Json::parse(json).unwrap(),
    };
    let items = input(
        json!({}),
        &[Message::user(vec![
            raw(r#"{"type":"input_file","file_id":"f"}"#),
            Block::text("See"),
            raw(r#"{"type":"computer_call_output","call_id":"c"}"#),
            media("application/pdf", data()),
            media("text/markdown", data()),
            media(
                "image/png",
                MediaSource::Url("https://x.example/a.png".to_owned()),
            ),
            media(
                "application/pdf",
                MediaSource::Url("https://x.example/a.pdf".to_owned()),
            ),
            result("c1", vec![Block::text("a"), Block::text("b")]),
        ])],
    );
    assert_eq!(
        json!(items),
        json!([
            {"type":"function_call_output","call_id":"c1","output":"a\nb"},
            {"type":"computer_call_output","call_id":"c"},
            {"role":"user","content":[
                {"type":"input_file","file_id":"f"},
                {"type":"input_text","text":"See"},
                {"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,AA=="},
                {"type":"input_file","filename":"document.txt","file_data":"data:text/markdown;base64,AA=="},
                {"type":"input_image","image_url":"https://x.example/a.png"},
                {"type":"input_file","file_url":"https://x.example/a.pdf"}
            ]}
        ])
    );
    assert_eq!(input(json!({}), &[Message::user(vec![])]), [] as [Value; 0]);
}

#[test]
fn options_reach_responses_in_its_own_words() {
    let options = json!({
        "maxOutputTokens": 99, "effort": "low", "thinking": {"summary":"auto"}, "temperature": 0.5, "topP": 0.9,
        "toolChoice": {"tool":"weather"}, "parallelToolCalls": false, "metadata": {"k":"v"},
        "promptCaching": {"key":"a","ttl":"24h"}, "stream": false,
        "responseFormat": {"name":"n","schema":{"type":"object"}},
        "body": {"text":{"verbosity":"low"},"reasoning":{"context":"all_turns"},"include":null,"store":null}
    });
    let made = body(&responses(options), &weather(), &[]).unwrap();
    assert_eq!(
        made,
        json!({
            "model":"m","instructions":"Be brief.","max_output_tokens":99,
            "tools":[{"type":"function","name":"weather","description":"Of a city","parameters":{"type":"object","z":1,"a":2,"properties":{}},"strict":false}],
            "tool_choice":{"type":"function","name":"weather"},"parallel_tool_calls":false,
            "reasoning":{"effort":"low","summary":"auto","context":"all_turns"},
            "text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true},"verbosity":"low"},
            "temperature":0.5,"top_p":0.9,"metadata":{"k":"v"},
            "prompt_cache_key":"a","prompt_cache_retention":"24h","input":[]
        })
    );
    let over = json!({"effort":"low","body":{"reasoning":null,"text":{"format":{"type":"text"}}},"responseFormat":{"schema":{}}});
    let made = body(&responses(over), &[], &[]).unwrap();
    assert_eq!(made["reasoning"], Value::Null);
    assert_eq!(made["text"], json!({"format":{"type":"text"}}));
}

#[test]
fn models_that_do_not_reason_are_not_asked_for_encrypted_reasoning() {
    for (model, asks) in [
        ("gpt-4o-mini", false),
        ("openai/gpt-5-chat-latest", false),
        ("gpt-5.4", true),
        ("o4-mini", true),
        ("grok-4", true),
    ] {
        let made = body(&responses(json!({"model": model})), &[], &[]).unwrap();
        assert_eq!(made["include"].is_array(), asks, "{model}");
    }
}

#[test]
fn an_option_that_responses_has_not_is_an_error_that_names_it() {
    let rows = [
        (json!({"topK": 1}), "model.topK"),
        (json!({"seed": 1}), "model.seed"),
        (json!({"frequencyPenalty": 1}), "model.frequencyPenalty"),
        (json!({"presencePenalty": 1}), "model.presencePenalty"),
        (json!({"stopSequences": ["x"]}), "model.stopSequences"),
        (json!({"thinking": {"budgetTokens": 1}}), "model.thinking"),
        (json!({"thinking": 1}), "model.thinking"),
        (json!({"promptCaching": {"ttl": "5m"}}), "model.promptCaching.ttl"),
        (json!({"body": {"input": []}}), "model.body.input"),
    ];
    for (options, field) in rows {
        assert_eq!(body(&responses(options), &[], &[]).unwrap_err().field, field);
    }
}

#[test]
fn a_longer_history_of_items_begins_with_the_bytes_of_the_shorter_one() {
    let history = history("openai_responses");
    let text = |messages: &[Message]| {
        let model = responses(json!({}));
        let made = body(&model, &[], messages).unwrap();
        serde_json::to_string(&made["input"]).unwrap()
    };
    let (short, long) = (text(&history[..2]), text(&history));
    assert!(long.starts_with(short.strip_suffix(']').unwrap()));
}
