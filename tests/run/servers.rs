//! Runs on what servers of other vendors do in their own ways.

use looplet::engine::model::event::{Event, EventKind};
use looplet::engine::model::input::Input;
use serde_json::{Value, json};

use crate::speak::{End, begin, block_delta, chunk, event, finish, item, message, respond};
use crate::world::{World, config, tool};

fn started(protocol: &str, tools: Value, fields: Value) -> World {
    let mut all = json!({
        "model": {"vendor": "compatible", "protocol": protocol, "model": "m", "baseUrl": "http://h/v1"},
        "retry": {"maxRetries": 0},
    });
    all.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    World::started(config(tools, all))
}

fn say(world: &mut World, pieces: &[Vec<u8>]) {
    world.respond(str::from_utf8(&pieces.concat()).unwrap());
}

/// The JSON body of an answer that comes whole.
fn whole(world: &mut World, body: &Value) {
    world.head(200, &[("content-type", "application/json")]);
    world.chunk(&body.to_string());
    world.end();
}

fn blocks(world: &World) -> Value {
    let messages = world.result()["messages"].clone();
    messages.as_array().unwrap().last().unwrap()["content"].clone()
}

fn custom_call(name: &str) -> Value {
    json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "xs_1", "name": name, "input": "{\"q\":1}", "status": "completed"})
}

fn text_item(text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content})
}

/// An item as it begins and as it ends.
fn items(items: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, whole) in items.iter().enumerate() {
        let mut begun = whole.clone();
        if whole["type"] == "message" {
            begun["content"] = json!([]);
        } else {
            begun["input"] = json!("");
        }
        out.extend(item("added", at, begun));
        out.extend(item("done", at, whole.clone()));
    }
    out
}

#[test]
fn calls_that_the_server_has_completed_before_its_answer_are_not_the_runs() {
    for eager in [false, true] {
        let tools = json!([tool("add", json!({"readOnly": true}))]);
        let mut world = started("openai_responses", tools, json!({"toolCalls": {"eager": eager}}));
        let output = [
            custom_call("x_search"),
            custom_call("x_video"),
            text_item("Found."),
        ];
        say(
            &mut world,
            &[
                begin("openai_responses"),
                items(&output),
                respond("completed", json!({"output": output, "status": "completed"})),
            ],
        );
        let result = world.result();
        assert_eq!(
            (&result["outcome"], &result["text"]),
            (&json!("completed"), &json!("Found."))
        );
        assert_eq!(world.requests.len(), 1);
        assert_eq!(blocks(&world)[0]["json"], custom_call("x_search"));
        assert!(!world.event_names().contains(&"tool-input-start".to_owned()));
    }
}

#[test]
fn a_custom_tool_of_the_run_and_one_that_nobody_has_at_the_end_are_calls() {
    let tools = json!([tool("math", json!({}))]);
    let mut world = started("openai_responses", tools, json!({}));
    let output = [custom_call("math"), text_item("Wait."), custom_call("nobody")];
    say(
        &mut world,
        &[
            begin("openai_responses"),
            items(&output),
            respond("completed", json!({"output": output, "status": "completed"})),
        ],
    );
    let inputs: Vec<_> = world.running.values().map(|call| call.input.as_str()).collect();
    assert_eq!(inputs, [r#"{"input":"{\"q\":1}"}"#]);
    let unknown = |event: &&Event| matches!(&event.kind, EventKind::ToolInputStart { tool_name, .. } if tool_name == "nobody");
    assert_eq!(world.events.iter().filter(unknown).count(), 1);
}

#[test]
fn a_block_of_bedrock_with_a_type_keeps_its_text_and_its_further_fields() {
    let content = json!([
        {"type": "reasoning", "reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s", "depth": 1}, "mark": true}},
        {"type": "text", "text": "Hi.", "tone": "dry"},
        {"type": "new", "shape": {"a": 1}, "size": 2},
    ]);
    let body =
        json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn"});
    let mut world = started("bedrock_converse", json!([]), json!({}));
    whole(&mut world, &body);
    assert_eq!(world.result()["text"], "Hi.");
    let blocks = blocks(&world);
    assert_eq!(blocks[0]["vendor"], json!({"mark": true, "depth": 1}));
    assert_eq!(blocks[1]["vendor"], json!({"tone": "dry"}));
    assert_eq!(blocks[2]["json"], json!({"shape": {"a": 1}, "size": 2}));
}

#[test]
fn a_delta_of_bedrock_with_a_type_goes_on_with_its_text() {
    let mut world = started("bedrock_converse", json!([]), json!({}));
    world.head(200, &[]);
    let request = world.request();
    let delta = |text: &str| block_delta(0, json!({"type": "text", "text": text, "tone": "dry"}));
    let body = [
        begin("bedrock_converse"),
        delta("Hi"),
        delta("."),
        finish("bedrock_converse", End::Stop),
        message(
            "metadata",
            json!({"usage": {"inputTokens": 1, "outputTokens": 1}}),
        ),
    ]
    .concat();
    world.input(Input::Chunk {
        request,
        bytes: &body,
    });
    world.end();
    assert_eq!(world.result()["text"], "Hi.");
    assert_eq!(blocks(&world).as_array().unwrap().len(), 1);
    assert_eq!(blocks(&world)[0]["vendor"], json!({"tone": "dry"}));
}

#[test]
fn a_custom_tools_call_of_chat_completions_runs_with_its_text_and_goes_back_as_custom() {
    let calls = |custom: Value| json!({"tool_calls": [{"index": 0, "custom": custom}]});
    let first = json!({"tool_calls": [{"index": 0, "id": "c1", "type": "custom", "custom": {"name": "math", "input": ""}}]});
    let streamed = [
        chunk(first, Value::Null),
        chunk(calls(json!({"input": "4 + \""})), Value::Null),
        chunk(calls(json!({"input": "4\""})), Value::Null),
        chunk(json!({}), json!("tool_calls")),
        b"data: [DONE]\n\n".to_vec(),
    ];
    let call = json!({"id": "c1", "type": "custom", "custom": {"name": "math", "input": "4 + \"4\""}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    for is_streamed in [true, false] {
        let mut world = started("openai_chat", json!([tool("math", json!({}))]), json!({}));
        if is_streamed {
            say(&mut world, &streamed);
        } else {
            whole(&mut world, &body);
        }
        assert_eq!(world.running["c1"].input.as_str(), r#"{"input":"4 + \"4\""}"#);
        world.return_value("c1", json!(8));
        let sent = world.body(1)["messages"].clone();
        let sent = sent.as_array().unwrap();
        assert_eq!(sent[sent.len() - 2]["tool_calls"], json!([call]));
        assert_eq!(sent[sent.len() - 1]["tool_call_id"], "c1");
    }
}

#[test]
fn an_empty_custom_beside_a_function_is_no_custom_tools_call() {
    let function = json!({"name": "add", "arguments": "{\"n\":1}"});
    let call = json!({"index": 0, "id": "c1", "type": "function", "function": function, "custom": {"name": "", "input": ""}});
    let mut world = started("openai_chat", json!([tool("add", json!({}))]), json!({}));
    let chunks = [
        chunk(json!({"tool_calls": [call]}), Value::Null),
        chunk(json!({}), json!("tool_calls")),
    ];
    say(&mut world, &chunks);
    assert_eq!(world.running["c1"].input.as_str(), r#"{"n":1}"#);
    world.return_value("c1", json!(1));
    let sent = world.body(1)["messages"].clone();
    let calls = sent
        .as_array()
        .unwrap()
        .iter()
        .find_map(|message| message.get("tool_calls"));
    assert_eq!(calls.unwrap()[0]["type"], "function");
}

#[test]
fn unknown_parts_of_a_content_list_are_kept() {
    let part = json!({"type": "reference", "reference_ids": [1]});
    let content = json!([{"type": "text", "text": "Hi"}, part, {"type": "text", "text": "."}]);
    let mut world = started("openai_chat", json!([]), json!({}));
    let body = json!({"choices": [{"index": 0, "message": {"content": content}, "finish_reason": "stop"}]});
    whole(&mut world, &body);
    assert_eq!(
        (&world.result()["text"], &blocks(&world)[1]["json"]),
        (&json!("Hi."), &part)
    );

    let mut item = text_item("Hi.");
    item["content"].as_array_mut().unwrap().push(part.clone());
    let mut world = started("openai_responses", json!([]), json!({}));
    whole(&mut world, &json!({"status": "completed", "output": [item]}));
    assert_eq!(world.result()["text"], "Hi.");
    let kept = json!({"type": "message", "role": "assistant", "content": [part]});
    assert_eq!(blocks(&world)[1]["json"], kept);
}

fn anthropic_text(text: &str) -> Vec<u8> {
    let start =
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let delta =
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
    [event(start), event(delta)].concat()
}

#[test]
fn a_second_message_in_a_stream_voids_what_came_before() {
    for is_split in [false, true] {
        let mut world = started("anthropic", json!([]), json!({}));
        let first = [begin("anthropic"), anthropic_text("No")].concat();
        let second = [
            begin("anthropic"),
            anthropic_text("Yes"),
            finish("anthropic", End::Stop),
        ]
        .concat();
        if is_split {
            world.head(200, &[]);
            world.chunk(str::from_utf8(&first).unwrap());
            world.chunk(str::from_utf8(&second).unwrap());
            world.end();
        } else {
            say(&mut world, &[first, second]);
        }
        assert_eq!(
            (&world.result()["outcome"], &world.result()["text"]),
            (&json!("completed"), &json!("Yes"))
        );
        assert_eq!(world.requests.len(), 1);
        let resets = world.event_names().iter().filter(|name| *name == "reset").count();
        assert_eq!(
            resets,
            usize::from(is_split),
            "a part that nobody has heard needs no reset"
        );
    }
}

#[test]
fn a_fallback_of_the_server_is_the_model_that_answered() {
    let mut world = started("anthropic", json!([]), json!({}));
    let block = json!({"type": "fallback", "from": {"model": "m"}, "to": {"model": "other"}});
    let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
    let stop = json!({"type": "content_block_stop", "index": 0});
    let text =
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "Hi."}});
    say(
        &mut world,
        &[
            begin("anthropic"),
            event(start),
            event(stop),
            event(text),
            finish("anthropic", End::Stop),
        ],
    );
    let finish = |event: &Event| match &event.kind {
        EventKind::IterationFinish { response_model, .. } => response_model.clone(),
        _ => None,
    };
    let models: Vec<String> = world.events.iter().filter_map(finish).collect();
    assert_eq!(models, ["other"]);
}

#[test]
fn sound_beside_the_prompt_counts_and_a_part_never_exceeds_its_count() {
    let used = |usage: Value| {
        let mut world = started("openai_chat", json!([]), json!({}));
        let message = json!({"content": "Hi."});
        let choices = json!([{"index": 0, "message": message, "finish_reason": "stop"}]);
        whole(&mut world, &json!({"choices": choices, "usage": usage}));
        world.result()["usage"].clone()
    };
    let sound = json!({"prompt_tokens": 9, "total_tokens": 632, "completion_tokens": 248, "prompt_tokens_details": {"audio_tokens": 375}});
    let usage = used(sound);
    assert_eq!(
        (&usage["inputTokens"], &usage["audioInputTokens"]),
        (&json!(384), &json!(375))
    );
    let cached = json!({"prompt_tokens": 235, "completion_tokens": 90, "total_tokens": 325, "prompt_tokens_details": {"cached_tokens": 373}});
    let usage = used(cached);
    assert_eq!(
        (&usage["inputTokens"], &usage["cacheReadTokens"]),
        (&json!(235), &json!(235))
    );
}

#[test]
fn a_line_that_begins_with_error_is_the_servers_error() {
    for protocol in ["openai_chat", "openai_responses", "anthropic", "gemini"] {
        let mut world = started(protocol, json!([]), json!({}));
        let error = json!({"error": {"code": 500, "message": "The worker is gone.", "type": "server_error"}});
        world.head(200, &[]);
        world.chunk(&format!("error: {error}\n\n"));
        let error = &world.result()["error"];
        assert_eq!(error["code"], "server", "{protocol}");
        assert!(
            error["message"].as_str().unwrap().contains("The worker is gone."),
            "{error}"
        );
    }
    let mut world = started("openai_chat", json!([]), json!({}));
    world.head(200, &[]);
    for byte in format!("error: {}\n\n", json!({"message": "Gone.", "code": 429})).chars() {
        if world.done.is_none() && world.open_request.is_some() {
            world.chunk(&byte.to_string());
        }
    }
    assert_eq!(world.result()["error"]["code"], "rate_limit");
}

#[test]
fn a_question_at_the_end_of_a_message_stays_its_end() {
    let mut world = started("openai_chat", json!([]), json!({}));
    let body = json!({"error": {"message": "No such path. Is this the API?"}});
    world.refuse(404, &[], &body.to_string());
    let message = world.result()["error"]["message"].as_str().unwrap().to_owned();
    assert!(
        message.ends_with("Is this the API? Check baseUrl and the model's name."),
        "{message}"
    );
}
