use looplet::engine::model::event::EventKind;
use serde_json::{Value, json};

use crate::wire::{stream, text};
use crate::world::{World, config, tool};

fn problem(fields: Value) -> (String, String) {
    let error = config(json!([]), fields)
        .open()
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
fn i_03_assistant_messages_in_a_row_become_one_for_every_protocol() {
    let said = |text: &str| json!({"type": "text", "text": text});
    let history = json!([
        user(json!([said("One.")])),
        assistant(json!([said("Two.")])),
        assistant(json!([said(" ")])),
        assistant(json!([said("Three."), tool_call("a")])),
        assistant(json!([said("Four.")])),
    ]);
    for (protocol, key, of_model) in [
        ("anthropic", "messages", "assistant"),
        ("bedrock_converse", "messages", "assistant"),
        ("gemini", "contents", "model"),
    ] {
        let model = json!({"vendor": "compatible", "protocol": protocol, "baseUrl": "https://x.test"});
        let mut world = World::new(config(json!([]), json!({"model": model, "messages": history})));
        world.prompt("Five.");
        let messages = world.body(0)[key].clone();
        let roles: Vec<&Value> = messages
            .as_array()
            .unwrap()
            .iter()
            .map(|message| &message["role"])
            .collect();
        assert_eq!(roles, ["user", of_model, "user", of_model, "user"], "{protocol}");
        let joined = messages[1].to_string();
        assert!(joined.contains("Two.") && joined.contains("Three."), "{joined}");
    }
}

#[test]
fn of_assistant_messages_that_become_one_the_last_says_whether_it_was_cut_off() {
    let said = |words: &str, partial: bool| json!({"role": "assistant", "content": [{"type": "text", "text": words}], "partial": partial});
    for (first, second) in [(true, false), (false, true)] {
        let history = json!([
            user(json!([{"type": "text", "text": "Go."}])),
            said("One.", first),
            said("Two.", second)
        ]);
        let mut world = World::started(config(json!([]), json!({"messages": history})));
        world.respond(&stream(&[text("Done.")], "end_turn"));
        let joined = &world.result()["messages"][1];
        assert_eq!(joined["content"].as_array().map(Vec::len), Some(2));
        assert_eq!(joined["partial"] == true, second, "{joined}");
    }
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
        (
            json!([assistant(json!([
                {"type": "text", "text": " "},
                {"type": "tool_call", "id": "a", "name": "", "input": {}}
            ]))]),
            "messages[0].content[1]",
            "needs a name",
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
    let broken = |tools: Value, fields: Value| config(tools, fields).open().err().unwrap();
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

#[test]
fn the_end_of_an_iteration_says_which_answer_of_which_model_it_was() {
    let mut world = World::started(config(json!([]), json!({})));
    world.respond(&crate::wire::stream(&[crate::wire::text("Hi.")], "end_turn"));
    let end = world.events.iter().find_map(|event| match &event.kind {
        EventKind::IterationFinish {
            response_id,
            response_model,
            ..
        } => Some((response_id.as_deref(), response_model.as_deref())),
        _ => None,
    });
    assert_eq!(end, Some((Some("msg_1"), Some("claude-test"))));
}

#[test]
fn the_name_of_a_call_to_no_tool_becomes_one_that_every_vendor_takes() {
    let (own, other) = ["own", "other"]
        .map(|start| start.repeat(30).leak() as &str)
        .into();
    let called = |id: &str, name: &str| json!({"type": "tool_call", "id": id, "name": name, "input": {}});
    let history = json!([
        user(json!([{"type": "text", "text": "Hi."}])),
        assistant(json!([
            called("a", own),
            called("b", other),
            called("c", "no blanks")
        ])),
    ]);
    let tools = json!([tool(own, json!({}))]);
    let mut world = World::new(config(tools, json!({"messages": history})));
    world.prompt("Go on.");
    let content = &world.body(0)["messages"][1]["content"];
    let names = [0, 1, 2].map(|at| content[at]["name"].as_str().unwrap_or_default().to_owned());
    assert_eq!(names, [own, &other[..64], "no_blanks"]);
}

#[test]
fn a_history_that_begins_with_the_model_goes_out_behind_the_user() {
    let history = json!([assistant(json!([{"type": "text", "text": "Welcome."}]))]);
    for (vendor, list) in [
        ("anthropic", "messages"),
        ("google", "contents"),
        ("bedrock", "messages"),
    ] {
        let model = json!({"vendor": vendor, "model": "m"});
        let mut world = World::new(config(json!([]), json!({"messages": history, "model": model})));
        world.prompt("Hi.");
        let roles: Vec<Value> = world.body(0)[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["role"].clone())
            .collect();
        assert_eq!(roles.len(), 3, "{vendor}: {roles:?}");
        assert_eq!((&roles[0], &roles[2]), (&json!("user"), &json!("user")));
        assert!(world.requests[0].contains("(empty)") && !world.requests[0].contains("[,"));
        assert_eq!(world.result()["messages"].as_array().unwrap().len(), 2);
    }
}
