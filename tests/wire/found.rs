//! Recordings that decoders once misread, through the whole run. They are looked for in `../shared/found`.

use std::fs;

use looplet::engine::model::event::{Event, EventKind};
use looplet::engine::model::input::Input;
use serde_json::{Value, json};

use crate::misbehaving::world::{World, config, tool};
use crate::shared::shared;

/// A run whose first answer is this recording; `None` without it.
fn answered(file: &str, protocol: &str, tools: Value) -> Option<World> {
    let body = fs::read(shared("found", file)?).unwrap();
    let mut world = World::started(config(
        tools,
        json!({
            "model": {"vendor": "compatible", "protocol": protocol, "model": "m", "baseUrl": "http://h/v1"},
            "retry": {"maxRetries": 0},
        }),
    ));
    world.head(200, &[]);
    let request = world.request();
    for bytes in body.chunks(1000) {
        world.input(Input::Chunk { request, bytes });
    }
    if world.open_request == Some(request) {
        world.end();
    }
    Some(world)
}

#[test]
fn the_searches_of_xai_are_not_the_runs_calls() {
    let tools = json!([tool("add", json!({}))]);
    let Some(world) = answered("14-xai-x-search.sse", "openai_responses", tools) else {
        return;
    };
    let result = world.result();
    assert_eq!(
        (&result["outcome"], world.requests.len()),
        (&json!("completed"), 1)
    );
    assert!(result["text"].as_str().unwrap().starts_with("### Latest Videos"));
    let blocks = result["messages"][1]["content"].as_array().unwrap().clone();
    let kept = |kind: &str| {
        blocks
            .iter()
            .filter(|block| block["json"]["type"] == kind)
            .count()
    };
    assert_eq!((kept("custom_tool_call"), kept("web_search_call")), (2, 4));
}

#[test]
fn the_counts_of_azure_and_mistral_agree_with_their_totals() {
    let counts = |file: &str| {
        let usage = answered(file, "openai_chat", json!([]))?.result()["usage"].clone();
        let count = |name: &str| usage[name].as_u64().unwrap();
        Some([
            count("inputTokens"),
            count("outputTokens"),
            count("cacheReadTokens"),
            count("audioInputTokens"),
        ])
    };
    let Some(grok) = counts("16-azure-grok.sse") else {
        return;
    };
    assert_eq!(grok, [235, 90, 235, 0]);
    assert_eq!(
        counts("17-mistral-audio.response.json").unwrap(),
        [384, 248, 0, 375]
    );
}

#[test]
fn a_recorded_custom_call_of_chat_completions_runs_and_goes_back() {
    let tools = json!([tool("math_exp", json!({}))]);
    let Some(mut world) = answered("18-chat-custom.response.json", "openai_chat", tools) else {
        return;
    };
    let id = "call_QpgJRI5C9DcjExMNU6lrJPcu";
    assert_eq!(world.running[id].input.as_str(), r#"{"input":"4 + 4"}"#);
    world.return_value(id, json!(8));
    let call = json!([{"id": id, "type": "custom", "custom": {"name": "math_exp", "input": "4 + 4"}}]);
    let sent = world.body(1)["messages"].clone();
    assert!(
        sent.as_array()
            .unwrap()
            .iter()
            .any(|message| message["tool_calls"] == call)
    );
}

#[test]
fn the_second_of_two_spliced_messages_is_the_answer() {
    let tools = json!([tool("test-tool", json!({}))]);
    let Some(world) = answered("20-spliced.sse", "anthropic", tools) else {
        return;
    };
    let running: Vec<_> = world.running.keys().cloned().collect();
    assert_eq!(running, ["toolu_second"]);
    assert_eq!(
        world.running["toolu_second"].input.as_str(),
        r#"{"value":"Sparkle Day"}"#
    );
}

#[test]
fn the_model_of_a_recorded_fallback_is_that_of_its_block() {
    let Some(world) = answered("21-fallback.sse", "anthropic", json!([])) else {
        return;
    };
    let finish = |event: &Event| match &event.kind {
        EventKind::IterationFinish { response_model, .. } => response_model.clone(),
        _ => None,
    };
    let models: Vec<String> = world.events.iter().filter_map(finish).collect();
    assert_eq!(models, ["claude-opus-4-8"]);
}
