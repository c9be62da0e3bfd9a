use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{CheckedOutput, Input};
use looplet::engine::model::message::Json;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::wire::{Piece, call, stream, text};
use crate::world::{World, config, tool};

pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
        "required": ["city", "days"],
        "additionalProperties": false,
    })
}

/// A run that owes an answer in this mode; `fields` is merged over the format.
fn owing(mode: &str, fields: Value, tools: Value) -> World {
    let mut output = json!({"schema": schema(), "mode": mode});
    output
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    World::started(config(tools, json!({"output": output})))
}

pub fn answer(mode: &str, json: &str) -> Piece {
    match mode {
        "tool" => Piece::Call("a".into(), "answer".into(), json.into()),
        _ => text(json),
    }
}

pub fn messages(world: &World) -> String {
    world.result()["messages"].to_string()
}

pub const GOOD: &str = r#"{"city":"Paris","days":2}"#;

#[test]
fn s001_50_an_answer_that_fits_is_the_output_in_either_mode() {
    for mode in ["native", "tool"] {
        let mut world = owing(mode, json!({}), json!([]));
        world.respond(&stream(&[answer(mode, GOOD)], "end_turn"));
        let result = world.result();
        assert_eq!(result["outcome"], "completed", "{mode}");
        assert_eq!(result["output"], json!({"city": "Paris", "days": 2}));
        assert_eq!(result["text"], GOOD, "{mode}: the text is the same in both");
        assert_eq!(
            result["toolCalls"],
            json!([]),
            "{mode}: ours is no call of the host's"
        );
        assert_eq!(world.delivered_text(), GOOD, "{mode}: it streams as text");
    }
}

#[test]
fn native_mode_sends_the_schema_and_tool_mode_forces_a_tool() {
    let native = owing("native", json!({}), json!([]));
    let format = &native.body(0)["output_config"]["format"];
    assert_eq!(
        format["schema"]["properties"]["days"],
        json!({"type": "integer"}),
        "what Anthropic takes"
    );
    assert!(native.body(0).get("tools").is_none());

    let forced = owing(
        "tool",
        json!({"name": "report", "description": "The trip."}),
        json!([]),
    );
    let body = forced.body(0);
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "report"}));
    assert_eq!(body["tools"][0]["name"], "report");
    assert_eq!(
        body["tools"][0]["input_schema"],
        schema(),
        "whole, because we check it"
    );
    assert!(
        body["tools"][0]["description"]
            .as_str()
            .unwrap()
            .ends_with("The trip.")
    );
    assert!(body.get("output_config").is_none());

    let with_tools = owing("tool", json!({}), json!([tool("look", json!({}))]));
    assert_eq!(
        with_tools.body(0)["tool_choice"],
        json!({"type": "any"}),
        "it may look first"
    );
    let started = &with_tools.events[0].kind;
    assert!(
        matches!(started, EventKind::RunStart { tools, .. } if tools == &["look"]),
        "{started:?}"
    );
}

#[test]
fn the_mode_is_chosen_by_what_the_vendor_can_enforce() {
    let open = json!({"type": "object", "additionalProperties": {"type": "string"}});
    for (model, schema, has_tools, is_native) in [
        (
            json!({"vendor": "anthropic", "model": "claude-sonnet-4-6"}),
            schema(),
            false,
            true,
        ),
        (
            json!({"vendor": "anthropic", "model": "claude-sonnet-4-6"}),
            schema(),
            true,
            true,
        ),
        (
            json!({"vendor": "anthropic", "model": "claude-3-7-sonnet"}),
            schema(),
            false,
            false,
        ),
        (
            json!({"vendor": "anthropic", "model": "claude-sonnet-4-6"}),
            open.clone(),
            false,
            false,
        ),
        (json!({"vendor": "openai", "model": "gpt-5"}), open, false, true),
        (
            json!({"vendor": "openai", "model": "gpt-5", "protocol": "openai_responses"}),
            schema(),
            true,
            true,
        ),
        (
            json!({"vendor": "google", "model": "gemini-3"}),
            schema(),
            false,
            true,
        ),
        (
            json!({"vendor": "google", "model": "gemini-3"}),
            schema(),
            true,
            false,
        ),
        (
            json!({"vendor": "bedrock", "model": "amazon.nova"}),
            schema(),
            false,
            false,
        ),
        (
            json!({"vendor": "custom", "model": "mine", "baseUrl": "http://h"}),
            schema(),
            false,
            false,
        ),
        (
            json!({"vendor": "compatible", "model": "m", "baseUrl": "http://h",
                "quirks": {"responseFormat": {"response_format": {"type": "json_object"}}}}),
            schema(),
            false,
            false,
        ),
    ] {
        let tools = if has_tools {
            json!([tool("look", json!({}))])
        } else {
            json!([])
        };
        let mut world = World::new(config(
            tools,
            json!({"model": model, "output": {"schema": schema}}),
        ));
        world.prompt("Go.");
        let sent = world.requests[0].contains("\"answer\"") && !world.requests[0].contains("json_schema");
        assert_eq!(
            !sent, is_native,
            "{model} {schema} {has_tools}: {}",
            world.requests[0]
        );
    }
}

#[test]
fn strict_is_asked_for_where_the_schema_allows_it() {
    let loose = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    for (schema, strict, expected) in [
        (schema(), json!(null), true),
        (loose.clone(), json!(null), false),
        (loose, json!(true), true),
        (schema(), json!(false), false),
    ] {
        let model = json!({"vendor": "openai", "model": "gpt-5"});
        let output = json!({"schema": schema, "strict": strict});
        let world = World::started(config(json!([]), json!({"model": model, "output": output})));
        assert_eq!(
            world.body(0)["response_format"]["json_schema"]["strict"],
            expected
        );
    }
}

#[test]
fn s001_50_an_answer_that_does_not_fit_is_asked_for_again_with_what_is_wrong() {
    for (mode, written, told) in [
        (
            "native",
            r#"{"city":"Paris","days":0}"#,
            "/days: expected at least 1, got 0",
        ),
        ("native", r#"{"city":"Paris"}"#, "/days"),
        ("native", r#"["Paris"]"#, "expected a JSON object, got an array"),
        ("native", "I will not.", "not valid JSON"),
        ("native", "  ", "it is empty"),
        ("tool", r#"{"city":1,"days":2}"#, "/city: expected string, got 1"),
        ("tool", "{\"city\":", "cut off"),
    ] {
        let mut world = owing(mode, json!({}), json!([]));
        world.respond(&stream(&[answer(mode, written)], "end_turn"));
        assert!(
            world.done.is_none(),
            "{written}: never a success without a valid value"
        );
        let asked = world.body(1)["messages"].to_string();
        assert!(asked.contains(told), "{written}: {asked}");
        assert!(world.event_names().contains(&"warning".to_owned()));
        world.respond(&stream(&[answer(mode, GOOD)], "end_turn"));
        assert_eq!(world.result()["outcome"], "completed", "{written}");
        assert_eq!(world.result()["output"]["days"], 2);
    }
}

#[test]
fn s001_50_after_the_last_retry_the_run_is_stopped_by_structured_output() {
    for (mode, retries, requests) in [
        ("native", json!(null), 4),
        ("tool", json!(1), 2),
        ("tool", json!(0), 1),
    ] {
        let fields = if retries.is_null() {
            json!({})
        } else {
            json!({"maxRetries": retries})
        };
        let mut world = owing(mode, fields, json!([]));
        while world.done.is_none() {
            world.respond(&stream(&[answer(mode, r#"{"city":"Paris"}"#)], "end_turn"));
        }
        let result = world.result();
        assert_eq!(result["outcome"], "stopped");
        assert_eq!(result["stoppedBy"], "structured_output");
        let why = result["abortReason"].as_str().unwrap();
        assert!(
            why.starts_with("it does not match the schema: ") && why.contains("days"),
            "{why}"
        );
        assert_eq!(result["output"], Value::Null);
        assert_eq!(world.requests.len(), requests, "{mode}");
        config(json!([]), json!({"messages": result["messages"]}))
            .open()
            .unwrap();
    }
}

#[test]
fn a_fence_and_prose_around_the_answer_are_taken_off_with_a_warning() {
    for written in [
        "```json\n{\"city\":\"Paris\",\"days\":2}\n```",
        "Here it is: {\"city\":\"Paris\",\"days\":2,} Enjoy!",
    ] {
        let mut world = owing("native", json!({}), json!([]));
        world.respond(&stream(&[text(written)], "end_turn"));
        assert_eq!(world.result()["output"]["city"], "Paris", "{written}");
        let warned = world
            .events
            .iter()
            .any(|event| matches!(&event.kind, EventKind::Warning { code, .. } if code == "repaired_output"));
        assert!(warned);
    }
}

#[test]
fn tools_run_before_the_answer_and_an_answer_beside_calls_is_asked_for_again() {
    let tools = json!([tool("look", json!({}))]);
    for mode in ["native", "tool"] {
        let mut world = owing(mode, json!({}), tools.clone());
        world.respond(&stream(
            &[text("Let me see."), call("c1", "look", json!({"n": 1}))],
            "tool_use",
        ));
        world.return_value("c1", json!("sun"));
        world.respond(&stream(&[answer(mode, GOOD)], "end_turn"));
        assert_eq!(world.result()["output"]["city"], "Paris", "{mode}");
        assert_eq!(world.result()["toolCalls"].as_array().unwrap().len(), 1);
    }
    let mut world = owing("tool", json!({}), tools);
    world.respond(&stream(
        &[answer("tool", GOOD), call("c1", "look", json!({"n": 1}))],
        "tool_use",
    ));
    world.return_value("c1", json!("sun"));
    assert!(world.body(1)["messages"].to_string().contains("early_answer"));
    world.respond(&stream(&[answer("tool", GOOD)], "tool_use"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn in_tool_mode_a_text_that_is_no_answer_is_sent_to_the_tool_and_two_answers_count_as_the_first() {
    let mut world = owing("tool", json!({}), json!([]));
    world.respond(&stream(&[text("Paris, two days.")], "end_turn"));
    assert!(
        world.body(1)["messages"]
            .to_string()
            .contains("Call the tool answer")
    );
    let second = Piece::Call("b".into(), "answer".into(), r#"{"city":"Rome","days":9}"#.into());
    world.respond(&stream(&[answer("tool", GOOD), second], "tool_use"));
    assert_eq!(world.result()["output"]["city"], "Paris");
    assert!(messages(&world).contains("\"callId\":\"b\""));
}

#[test]
fn neither_permissions_nor_limits_on_tools_concern_the_answer() {
    let output = json!({"schema": schema(), "mode": "tool"});
    let fields = json!({"output": output, "permissions": {"mode": "dontAsk"}, "limits": {"maxToolRounds": 0, "maxToolCalls": 1}});
    let mut world = World::started(config(json!([]), fields));
    assert!(
        !world.event_names().contains(&"warning".to_owned()),
        "nothing is denied"
    );
    world.respond(&stream(&[answer("tool", GOOD)], "tool_use"));
    assert_eq!(world.result()["outcome"], "completed");
    assert!(world.questions.is_empty());
}

#[test]
fn a_refusal_is_not_asked_for_again() {
    let mut world = owing("native", json!({}), json!([]));
    world.respond(&stream(&[text("I can't help with that.")], "refusal"));
    let result = world.result();
    assert_eq!(
        (&result["stoppedBy"], &result["finishReason"]),
        (&json!("structured_output"), &json!("refusal"))
    );
    assert_eq!(world.requests.len(), 1);
}

#[test]
fn an_answer_cut_off_at_its_length_says_so() {
    for mode in ["native", "tool"] {
        let mut world = owing(mode, json!({}), json!([]));
        world.respond(&stream(&[answer(mode, "{\"city\":\"Par")], "max_tokens"));
        assert!(
            world.body(1)["messages"].to_string().contains("make it shorter"),
            "{mode}"
        );
    }
}

fn asked(mode: &str) -> (World, u32) {
    let mut world = owing(mode, json!({"ask": true}), json!([]));
    world.respond(&stream(&[answer(mode, GOOD)], "end_turn"));
    let (question, ask) = world.questions.remove(0);
    assert_eq!(ask.point, Point::CheckOutput);
    assert_eq!(ask.data.as_str(), format!("{{\"output\":{GOOD}}}"));
    (world, question)
}

fn checked(world: &mut World, question: u32, problem: Option<&str>, output: Option<&str>) {
    let answer = Answer::Checked(CheckedOutput {
        problem: problem.map(str::to_owned),
        output: output.map(|json| Json::parse(json).unwrap()),
    });
    world.input(Input::Answered { question, answer });
}

#[test]
fn the_host_checks_what_fits_and_may_change_it_or_send_it_back() {
    for mode in ["native", "tool"] {
        let (mut world, question) = asked(mode);
        checked(&mut world, question, None, Some(r#"{"city":"PARIS"}"#));
        assert_eq!(world.result()["output"], json!({"city": "PARIS"}));
        assert!(
            messages(&world).contains("Paris"),
            "the history keeps what the model wrote"
        );

        let (mut world, question) = asked(mode);
        checked(&mut world, question, Some("Paris is closed."), None);
        assert!(world.body(1)["messages"].to_string().contains("Paris is closed."));

        let (mut world, question) = asked(mode);
        let answer = Answer::Failed {
            why: "it broke".into(),
        };
        world.input(Input::Answered { question, answer });
        assert!(
            world.body(1)["messages"]
                .to_string()
                .contains("could not be checked: it broke")
        );
    }
}

#[test]
fn an_abort_while_the_host_checks_leaves_a_legal_transcript_and_a_late_answer_is_inert() {
    for mode in ["native", "tool"] {
        let (mut world, question) = asked(mode);
        let meanwhile = world.result()["messages"].clone();
        config(json!([]), json!({"messages": meanwhile})).open().unwrap();
        world.cancel();
        assert_eq!(world.result()["outcome"], "cancelled");
        let events = world.events.len();
        checked(&mut world, question, None, None);
        assert_eq!(
            (world.events.len(), &world.result()["output"]),
            (events, &Value::Null)
        );
        let messages = world.result()["messages"].clone();
        config(json!([]), json!({"messages": messages})).open().unwrap();
    }
}

#[test]
fn a_follow_up_owes_an_answer_of_its_own() {
    let mut world = owing("tool", json!({"maxRetries": 0}), json!([]));
    world.input(Input::FollowUp {
        id: 1,
        content: vec![looplet::engine::model::message::Block::text("And Rome?")],
    });
    world.respond(&stream(&[answer("tool", GOOD)], "tool_use"));
    assert!(world.done.is_none());
    world.respond(&stream(
        &[answer("tool", r#"{"city":"Rome","days":3}"#)],
        "tool_use",
    ));
    assert_eq!(world.result()["output"]["city"], "Rome");
}

#[test]
fn each_answer_may_be_asked_for_as_often_as_the_first() {
    let mut world = owing("tool", json!({"maxRetries": 1}), json!([]));
    world.input(Input::FollowUp {
        id: 1,
        content: vec![looplet::engine::model::message::Block::text("And Rome?")],
    });
    for _ in 0..2 {
        assert!(world.done.is_none());
        world.respond(&stream(&[answer("tool", r#"{"city":"Rome"}"#)], "tool_use"));
        world.respond(&stream(&[answer("tool", GOOD)], "tool_use"));
    }
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn what_was_cut_off_by_an_abort_stays_as_text() {
    let mut world = owing("tool", json!({}), json!([]));
    world.head(200, &[]);
    let whole = stream(&[answer("tool", GOOD)], "tool_use");
    let cut = whole.find("content_block_stop").unwrap();
    world.chunk(&whole[..whole[..cut].rfind("event:").unwrap_or(cut)]);
    world.cancel();
    assert_eq!(world.result()["text"], GOOD);
    let last = world.result()["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(last["content"][0]["type"], "text");
}

#[test]
fn a_tool_of_that_name_and_a_schema_that_is_none_are_refused() {
    let output = json!({"schema": schema(), "mode": "tool", "name": "look"});
    let refused = config(json!([tool("look", json!({}))]), json!({"output": output})).open();
    assert_eq!(refused.err().unwrap().field, "output.name");
    let output = json!({"schema": {"type": "object", "required": 1}});
    let refused = config(json!([]), json!({"output": output})).open();
    assert_eq!(refused.err().unwrap().field, "output.schema/required");
}
