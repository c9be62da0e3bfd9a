use looplet::engine::run::Run;
use serde_json::{Value, json};

use crate::world::{World, config, tool};

fn problem(fields: Value) -> (String, String) {
    let error = Run::new(config(json!([]), fields))
        .err()
        .expect("this configuration must be refused");
    (error.field, error.problem)
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn tool_call(id: &str) -> Value {
    json!({"type": "tool_call", "id": id, "name": "read", "input": {}})
}

fn tool_result(id: &str) -> Value {
    json!({"type": "tool_result", "callId": id, "content": [{"type": "text", "text": "1"}]})
}

#[test]
fn a_call_that_was_never_answered_gets_an_answer_that_says_so() {
    let history = json!([
        user(json!([{"type": "text", "text": "Hi."}])),
        assistant(json!([tool_call("a"), tool_call("b")])),
        user(json!([tool_result("b")])),
    ]);
    let mut world = World::new(config(
        json!([tool("read", json!({}))]),
        json!({"messages": history}),
    ));
    world.prompt("Go on.");
    let last = world.body(0)["messages"][2]["content"].clone();
    assert_eq!(
        (&last[0]["tool_use_id"], &last[0]["is_error"]),
        (&json!("a"), &json!(true))
    );
    assert_eq!(
        (&last[1]["tool_use_id"], &last[2]["text"]),
        (&json!("b"), &json!("Go on."))
    );
}

#[test]
fn user_messages_in_a_row_become_one_and_empty_text_goes() {
    let history = json!([
        user(json!([{"type": "text", "text": "One."}])),
        user(json!([{"type": "text", "text": "  "}])),
        user(json!([{"type": "text", "text": "Two."}])),
    ]);
    let mut world = World::new(config(json!([]), json!({"messages": history})));
    world.prompt("Three.");
    let messages = world.body(0)["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 1);
    let texts: Vec<&Value> = messages[0]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| &block["text"])
        .collect();
    assert_eq!(texts, ["One.", "Two.", "Three."]);
}

#[test]
fn an_illegal_history_is_refused_with_its_place() {
    let rows = [
        (
            json!([user(json!([tool_result("a")]))]),
            "messages[0].content[0]",
            "answers no tool call",
        ),
        (
            json!([
                assistant(json!([tool_call("a")])),
                user(json!([tool_result("a"), tool_result("a")]))
            ]),
            "messages[1].content[1]",
            "already been answered",
        ),
        (
            json!([assistant(json!([tool_call("a"), tool_call("a")]))]),
            "messages[0].content[1]",
            "same id",
        ),
        (
            json!([user(json!([tool_call("a")]))]),
            "messages[0].content[0]",
            "assistant message",
        ),
        (
            json!([assistant(json!([tool_result("a")]))]),
            "messages[0].content[0]",
            "user message",
        ),
    ];
    for (messages, field, words) in rows {
        let (found, problem) = problem(json!({"messages": messages}));
        assert_eq!(found, field);
        assert!(problem.contains(words), "{problem}");
    }
}

#[test]
fn a_configuration_that_cannot_run_is_refused_with_its_field() {
    let broken = |tools: Value, fields: Value| Run::new(config(tools, fields)).err().unwrap();
    let twice = broken(
        json!([tool("read", json!({})), tool("read", json!({}))]),
        json!({}),
    );
    assert_eq!(twice.field, "tools.read");
    let schema = broken(
        json!([tool("read", json!({"inputSchema": {"type": "strnig"}}))]),
        json!({}),
    );
    assert!(
        schema.field.starts_with("tools.read.inputSchema"),
        "{}",
        schema.field
    );
    let vendor = broken(json!([]), json!({"model": {"vendor": "anthropc"}}));
    assert_eq!(vendor.field, "model.vendor");
    let url = broken(json!([]), json!({"model": {"vendor": "compatible"}}));
    assert_eq!(url.field, "model.baseUrl");
}
