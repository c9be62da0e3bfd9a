//! Runs on Gemini: calls without ids, and what the loop does at its particular ends.

use serde_json::{Value, json};

use crate::world::{World, config, tool};

fn started(tools: Value, fields: Value) -> World {
    let mut google = json!({ "model": { "vendor": "google", "model": "gemini-3-pro" }, "toolCalls": {"execution": "parallel"} });
    for (key, value) in fields.as_object().unwrap() {
        google[key] = value.clone();
    }
    World::started(config(tools, google))
}

fn chunk(parts: Value, further: Value) -> String {
    let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
    for (key, value) in further.as_object().unwrap() {
        candidate[key] = value.clone();
    }
    format!(
        "data: {}\r\n\r\n",
        json!({ "candidates": [candidate], "responseId": "r" })
    )
}

#[test]
fn calls_without_ids_run_under_minted_ones_and_their_results_go_back_in_order() {
    let mut world = started(json!([tool("add", json!({}))]), json!({}));
    let parts = json!([
        {"text": "Both.", "thoughtSignature": "s1"},
        {"functionCall": {"name": "add", "args": {"n": 1}}, "thoughtSignature": "s2"},
        {"functionCall": {"name": "add", "args": {"n": 2}}},
        {"functionCall": {"id": "own", "name": "add"}}
    ]);
    world.respond(&chunk(parts, json!({ "finishReason": "STOP" })));
    let minted: Vec<(String, String)> = world
        .running
        .iter()
        .map(|(id, call)| (call.input.as_str().to_owned(), id.clone()))
        .collect();
    assert_eq!(minted.len(), 3);
    assert!(world.running.contains_key("own"));
    // The last one first: the history keeps the order of the calls.
    for (input, result) in [(r#"{"n":2}"#, "two"), (r#"{"n":1}"#, "one"), ("{}", "three")] {
        let (_, id) = minted.iter().find(|(known, _)| known == input).unwrap();
        world.return_value(id, json!(result));
    }
    assert_eq!(
        world.body(1)["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Go."}]},
            {"role": "model", "parts": [
                {"text": "Both.", "thoughtSignature": "s1"},
                {"functionCall": {"name": "add", "args": {"n": 1}}, "thoughtSignature": "s2"},
                {"functionCall": {"name": "add", "args": {"n": 2}}},
                {"functionCall": {"id": "own", "name": "add", "args": {}}}
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "add", "response": {"output": "one"}}},
                {"functionResponse": {"name": "add", "response": {"output": "two"}}},
                {"functionResponse": {"id": "own", "name": "add", "response": {"output": "three"}}}
            ]}
        ])
    );
    world.respond(&chunk(
        json!([{"text": "Done."}]),
        json!({ "finishReason": "STOP" }),
    ));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.result()["text"], "Done.");
}

#[test]
fn minted_ids_do_not_depend_on_how_the_body_is_cut() {
    let body = [
        json!([{"text": "Both."}]),
        json!([{"functionCall": {"name": "add", "args": {"n": 1}}}]),
    ]
    .map(|parts| chunk(parts, json!({})))
    .concat();
    let body = body
        + &chunk(
            json!([{"functionCall": {"name": "add", "args": {"n": 2}}}]),
            json!({ "finishReason": "STOP" }),
        );
    let ids = [1, 7, body.len()].map(|size| {
        let mut world = started(json!([tool("add", json!({}))]), json!({}));
        world.head(200, &[("content-type", "text/event-stream")]);
        for piece in body.as_bytes().chunks(size) {
            world.chunk(std::str::from_utf8(piece).unwrap());
        }
        world.end();
        world.running.keys().cloned().collect::<Vec<_>>()
    });
    assert_eq!(ids[0].len(), 2);
    assert_eq!(ids[0], ids[2]);
    assert_eq!(ids[1], ids[2]);
}

#[test]
fn a_signature_on_an_empty_text_goes_back_with_the_next_prompt() {
    let mut world = started(json!([]), json!({}));
    let signed = json!([{"text": "Hello"}, {"text": "", "thoughtSignature": "s"}]);
    world.respond(&chunk(signed.clone(), json!({ "finishReason": "STOP" })));
    let result = world.result();
    assert_eq!(result["text"], "Hello");
    let messages = result["messages"].clone();
    let again = started(json!([]), json!({ "messages": messages }));
    assert_eq!(
        again.body(0)["contents"][1],
        json!({"role": "model", "parts": signed})
    );
}

#[test]
fn a_call_that_gemini_could_not_read_is_asked_for_again() {
    let mut world = started(json!([tool("add", json!({}))]), json!({}));
    let end = json!({ "finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "add(" });
    world.head(200, &[]);
    world.chunk(&chunk(json!([{"text": "Let me"}]), end));
    assert!(world.event_names().contains(&"reset".to_owned()));
    world.pass(10_000);
    world.respond(&chunk(
        json!([{"text": "Three."}]),
        json!({ "finishReason": "STOP" }),
    ));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.result()["text"], "Three.");
    assert_eq!(world.body(0), world.body(1));
}

#[test]
fn a_blocked_prompt_is_an_empty_answer_that_says_why() {
    let mut world = started(json!([]), json!({}));
    world.respond("data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\r\n\r\n");
    let result = world.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["finishReason"], "content_filter");
    assert_eq!(result["rawFinishReason"], "SAFETY");
}

#[test]
fn an_error_labelled_as_a_stream_is_that_error() {
    let mut world = started(json!([]), json!({}));
    world.respond(r#"[{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}]"#);
    let result = world.result();
    assert_eq!(result["outcome"], "failed");
    assert_eq!(result["error"]["code"], "auth");
    assert!(result["error"]["message"].as_str().unwrap().ends_with(": No."));
}

#[test]
fn a_session_begun_on_another_protocol_goes_on_here() {
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "Add."}]},
        {"role": "assistant", "origin": {"protocol": "anthropic", "model": "claude"}, "content": [
            {"type": "thinking", "text": "Hm", "signature": "x"},
            {"type": "tool_call", "id": "toolu_1", "name": "add", "input": {"n": 1}}
        ]},
        {"role": "user", "content": [{"type": "tool_result", "callId": "toolu_1", "content": [{"type": "text", "text": "1"}]}]}
    ]);
    let world = started(json!([tool("add", json!({}))]), json!({ "messages": messages }));
    assert_eq!(
        world.body(0)["contents"],
        json!([
            {"role": "user", "parts": [{"text": "Add."}]},
            {"role": "model", "parts": [
                {"functionCall": {"name": "add", "args": {"n": 1}}, "thoughtSignature": "skip_thought_signature_validator"}
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "add", "response": {"output": "1"}}},
                {"text": "Go."}
            ]}
        ])
    );
}

#[test]
fn a_call_that_was_cut_short_and_its_result_lose_their_id_together() {
    let history = json!({"context": {"pruning": {"afterResponses": 1, "prefixChars": 3}}});
    let mut world = started(json!([tool("add", json!({}))]), history);
    for id in ["one", "two", "three"] {
        let call =
            json!({"functionCall": {"id": id, "name": "add", "args": {"n": 1, "why": "because of it"}}});
        world.respond(&chunk(json!([call]), json!({ "finishReason": "STOP" })));
        world.return_value(id, json!("done"));
    }
    let body = world.body(3);
    let parts = body["contents"].as_array().unwrap().iter();
    let parts: Vec<&Value> = parts
        .flat_map(|content| content["parts"].as_array().unwrap())
        .collect();
    let ids = |key: &str| -> Vec<Value> {
        let calls = parts.iter().filter(|part| part[key].is_object());
        calls.map(|part| part[key]["id"].clone()).collect()
    };
    assert_eq!(ids("functionCall"), [Value::Null, Value::Null, json!("three")]);
    assert_eq!(ids("functionResponse"), ids("functionCall"));
}
