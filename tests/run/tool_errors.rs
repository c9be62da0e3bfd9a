use looplet::engine::model::event::{EventKind, ToolFault};
use looplet::engine::model::input::{Input, ToolReturn};
use looplet::engine::model::question::Answer;
use serde_json::{Value, json};

use crate::told::data;
use crate::wire::{Piece, call, stream, text};
use crate::world::{World, config, tool};

pub fn fault(message: &str) -> ToolReturn {
    ToolReturn::Fault(ToolFault {
        code: "tool_failed".into(),
        message: message.into(),
        hint: "Try less.".into(),
        recoverable: true,
    })
}

fn world(fields: Value, pieces: &[Piece]) -> World {
    let tools = json!([
        tool("boom", json!({})),
        tool("other", json!({"readOnly": true})),
        tool("second", json!({"readOnly": true}))
    ]);
    let mut world = World::started(config(tools, fields));
    world.respond(&stream(pieces, "tool_use"));
    world
}

/// What the second request says about the calls.
fn said(world: &World) -> Vec<String> {
    let results = world.body(1)["messages"][2]["content"].clone();
    let results = results.as_array().unwrap().iter();
    results
        .map(|result| {
            assert_eq!(result["is_error"], true);
            result["content"].as_str().unwrap().to_owned()
        })
        .collect()
}

#[test]
fn s003_19_a_call_that_went_wrong_is_told_with_its_code_and_a_hint() {
    let mut thrown = world(json!({}), &[call("a", "boom", json!({}))]);
    thrown.finish_tool("a", fault("No \"disk\"."));
    let told = r#"{"error":true,"code":"tool_failed","message":"No \"disk\".","hint":"Try less.","recoverable":true}"#;
    assert_eq!(said(&thrown), [told]);
    assert_eq!(thrown.result()["toolCalls"][0]["output"]["code"], "tool_failed");

    let unknown = world(json!({}), &[call("a", "none", json!({}))]);
    let told = r#"{"error":true,"code":"unknown_tool","message":"There is no tool named none","hint":"Use one of: boom, other, second","recoverable":true}"#;
    assert_eq!(said(&unknown), [told]);
}

#[test]
fn the_host_words_all_errors_of_a_round_at_once() {
    let pieces = [call("a", "boom", json!({"n": 1})), call("b", "none", json!({}))];
    let mut world = world(json!({"toolCalls": {"wordErrors": true}}), &pieces);
    assert!(world.questions.is_empty(), "the round is not over");
    world.finish_tool("a", fault("It broke."));
    let (question, ask) = world.questions.remove(0);
    let errors = data(&ask)["errors"].clone();
    assert_eq!(errors[0]["toolName"], "boom");
    assert_eq!(errors[0]["input"], json!({"n": 1}));
    assert_eq!(errors[0]["error"]["message"], "It broke.");
    assert_eq!(errors[1]["error"]["code"], "unknown_tool");
    assert_eq!(world.requests.len(), 1);
    world.input(Input::Answered {
        question,
        answer: Answer::Worded(vec!["Kaputt.".into(), "Gibt es nicht.".into()]),
    });
    assert_eq!(said(&world), ["Kaputt.", "Gibt es nicht."]);
}

#[test]
fn words_go_to_the_calls_that_went_wrong_and_not_to_others() {
    let pieces = [call("a", "other", json!({})), call("b", "boom", json!({}))];
    let mut world = world(json!({"toolCalls": {"wordErrors": true}}), &pieces);
    world.return_value("a", json!("fine"));
    world.finish_tool("b", fault("It broke."));
    let (question, _) = world.questions.remove(0);
    world.input(Input::Answered {
        question,
        answer: Answer::Worded(vec!["Kaputt.".into()]),
    });
    let results = &world.body(1)["messages"][2]["content"];
    assert_eq!(
        [&results[0]["content"], &results[1]["content"]],
        ["fine", "Kaputt."]
    );
}

#[test]
fn a_round_goes_on_with_the_hosts_words_before_the_answer_is_saved() {
    let mut world = world(
        json!({"toolCalls": {"wordErrors": true}}),
        &[call("a", "none", json!({}))],
    );
    world.confirm_saves = false;
    let (question, _) = world.questions.remove(0);
    world.input(Input::Answered {
        question,
        answer: Answer::Worded(vec!["Gibt es nicht.".into()]),
    });
    assert_eq!(said(&world), ["Gibt es nicht."]);
}

#[test]
fn without_the_hosts_words_an_error_is_structured() {
    for answer in [
        Answer::Failed { why: "thrown".into() },
        Answer::Worded(Vec::new()),
    ] {
        let mut world = world(
            json!({"toolCalls": {"wordErrors": true}}),
            &[call("a", "none", json!({}))],
        );
        let (question, _) = world.questions.remove(0);
        world.input(Input::Answered { question, answer });
        assert!(said(&world)[0].contains(r#""code":"unknown_tool""#));
    }
}

#[test]
fn an_abort_while_the_host_looks_for_words_keeps_the_errors() {
    let mut world = world(
        json!({"toolCalls": {"wordErrors": true}}),
        &[call("a", "none", json!({}))],
    );
    let (question, _) = world.questions.remove(0);
    world.cancel();
    assert!(!world.run.is_live(question));
    let last = world.result()["messages"][2]["content"][0].clone();
    assert!(
        last["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("unknown_tool")
    );
}

#[test]
fn s004_12_an_unknown_tool_fails_the_run_if_it_is_to_and_the_history_is_closed() {
    let pieces = [call("a", "other", json!({})), call("b", "none", json!({}))];
    let world = world(json!({"toolCalls": {"onUnknownTool": "throw"}}), &pieces);
    let result = world.result();
    assert_eq!(result["outcome"], "failed");
    assert_eq!(result["error"]["code"], "config_invalid");
    assert_eq!(result["error"]["message"], "Tool not registered: none");
    assert!(world.tool_log.is_empty());
    let results = result["messages"][2]["content"].as_array().unwrap().clone();
    assert_eq!(results.len(), 2);
    assert_eq!(result["toolCalls"][0]["output"]["code"], "not_run");
    assert_eq!(result["toolCalls"][1]["output"]["code"], "unknown_tool");
}

#[test]
fn an_alias_calls_the_tool_that_it_names_and_the_history_keeps_the_word_of_the_model() {
    let aliases = json!([["none", "other"], ["twice", "none"], ["lost", "gone"]]);
    let fields = json!({"toolCalls": {"aliases": aliases}, "permissions": {"allow": ["other"]}});
    let pieces = ["none", "twice", "lost"].map(|name| call(name, name, json!({})));
    let mut world = world(fields, &pieces);
    assert_eq!(world.tool_log, ["start none"]);
    assert_eq!(world.running["none"].tool_name, "other");
    world.return_value("none", json!("done"));
    let result = world.result();
    assert_eq!(result["messages"][1]["content"][0]["name"], "none");
    let names: Vec<&Value> = (0..3).map(|at| &result["toolCalls"][at]["toolName"]).collect();
    assert_eq!(names, ["other", "twice", "lost"]);
    assert_eq!(result["toolCalls"][1]["output"]["code"], "unknown_tool");
}

#[test]
fn a_host_that_wants_unknown_calls_answers_them_as_any_other() {
    let pieces = [call("a", "none", json!({"x": 1})), call("b", "other", json!({}))];
    let mut world = world(json!({"toolCalls": {"onUnknownTool": "host"}}), &pieces);
    assert_eq!(
        world.tool_log,
        ["start a"],
        "nothing is known of it, so it runs alone"
    );
    assert_eq!(world.running["a"].tool_name, "none");
    world.return_value("a", json!("found it"));
    world.return_value("b", json!(1));
    assert_eq!(world.body(1)["messages"][2]["content"][0]["content"], "found it");
}

#[test]
fn permissions_hold_for_unknown_calls_too() {
    let fields = json!({"toolCalls": {"onUnknownTool": "host"}, "permissions": {"allow": ["other"], "deny": ["none"]}});
    let world = world(fields, &[call("a", "none", json!({}))]);
    assert!(world.tool_log.is_empty());
    assert!(said(&world)[0].contains(r#""code":"denied""#));
}

#[test]
fn a_round_that_all_its_calls_want_to_be_the_last_ends_the_run() {
    let pieces = [call("a", "other", json!({})), call("b", "second", json!({}))];
    let last = |value: &str| {
        let value = looplet::engine::model::message::Json::parse(value).unwrap();
        ToolReturn::Last(Box::new(ToolReturn::Value(value)))
    };
    let mut ends = world(json!({}), &pieces);
    ends.finish_tool("b", last("2"));
    assert!(ends.done.is_none(), "the other call still runs");
    ends.finish_tool("a", last("1"));
    assert_eq!(ends.result()["outcome"], "completed");
    assert_eq!(ends.requests.len(), 1);
    assert_eq!(
        ends.result()["messages"][2]["content"].as_array().unwrap().len(),
        2
    );

    let mut goes_on = world(json!({}), &pieces);
    goes_on.finish_tool("b", last("2"));
    goes_on.return_value("a", json!(1));
    assert_eq!(goes_on.requests.len(), 2, "the model is to see the other result");
    goes_on.respond(&stream(&[text("Done.")], "end_turn"));

    let mut steered = world(json!({}), &pieces[..1]);
    steered.input(Input::Steer {
        id: 1,
        content: vec![looplet::engine::model::message::Block::text("And?")],
    });
    steered.finish_tool("a", last("1"));
    assert_eq!(steered.requests.len(), 2, "a steer goes on");
}

#[test]
fn a_long_result_is_shown_to_the_model_up_to_the_limit_and_says_so() {
    let note = "\n[Cut off here: the first 5 of 9 characters are shown, 4 are missing.]";
    let long = json!("äöü🦀ßabcd");
    let mut text = world(
        json!({"toolCalls": {"maxResultChars": 5}}),
        &[call("a", "other", json!({}))],
    );
    text.return_value("a", long.clone());
    assert_eq!(
        text.body(1)["messages"][2]["content"][0]["content"],
        format!("äöü🦀ß{note}")
    );
    assert_eq!(
        text.result()["toolCalls"][0]["output"],
        long,
        "the host has all of it"
    );
    let warnings = text.event_names().into_iter().filter(|name| name == "warning");
    assert_eq!(warnings.count(), 1);

    let mut value = world(
        json!({"toolCalls": {"maxResultChars": 5}}),
        &[call("a", "other", json!({}))],
    );
    value.return_value("a", json!({"a": 100}));
    assert_eq!(
        value.body(1)["messages"][2]["content"][0]["content"],
        format!("{{\"a\":{note}")
    );

    let mut error = world(
        json!({"toolCalls": {"maxResultChars": 5, "wordErrors": true}}),
        &[call("a", "boom", json!({}))],
    );
    error.finish_tool("a", fault("123456789"));
    let (_, ask) = error.questions.remove(0);
    let shown = format!("12345{note}");
    assert_eq!(
        data(&ask)["errors"][0]["error"]["message"],
        shown,
        "you word what the model may see"
    );
}

#[test]
fn a_tool_may_have_a_limit_of_its_own_and_without_one_it_is_100_000_characters() {
    let tools = json!([tool("other", json!({"readOnly": true, "maxResultChars": 2}))]);
    let mut own = World::started(config(tools, json!({"toolCalls": {"maxResultChars": 5}})));
    own.respond(&stream(&[call("a", "other", json!({}))], "tool_use"));
    own.return_value("a", json!("abc"));
    let shown = own.body(1)["messages"][2]["content"][0]["content"].clone();
    assert!(
        shown
            .as_str()
            .unwrap()
            .starts_with("ab\n[Cut off here: the first 2 of 3")
    );

    for (length, is_cut) in [(100_000, false), (100_001, true)] {
        let mut default = world(json!({}), &[call("a", "other", json!({}))]);
        default.return_value("a", json!("x".repeat(length)));
        let shown = default.body(1)["messages"][2]["content"][0]["content"].clone();
        assert_eq!(shown.as_str().unwrap().contains("[Cut off"), is_cut);
    }
}

fn warnings(world: &World, wanted: &str) -> Vec<String> {
    let all = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::Warning { code, message, .. } if code == wanted => Some(message.clone()),
        _ => None,
    });
    all.collect()
}

#[test]
fn a_raw_block_of_a_result_that_chat_completions_cannot_send_brings_a_warning() {
    let chat = json!({"vendor": "compatible", "model": "m", "baseUrl": "http://h/v1"});
    let claude = json!({"vendor": "anthropic", "model": "claude-test"});
    for (model, count) in [(chat, 1), (claude, 0)] {
        let history = json!([
            {"role": "user", "content": [{"type": "text", "text": "Go."}]},
            {"role": "assistant", "content": [{"type": "tool_call", "id": "t1", "name": "boom", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "callId": "t1",
                "content": [{"type": "raw", "json": {"type": "search_result"}}]}]}
        ]);
        let fields = json!({"model": model, "messages": history});
        let world = World::started(config(json!([tool("boom", json!({}))]), fields));
        assert_eq!(warnings(&world, "raw_result").len(), count);
        let is_sent = world.requests[0].contains("search_result");
        assert_eq!(is_sent, count == 0);
    }
}

#[test]
fn tools_without_a_description_are_offered_with_one_warning() {
    let bare = json!({"description": ""});
    let tools = json!([
        tool("one", bare.clone()),
        tool("two", bare),
        tool("three", json!({}))
    ]);
    let mut world = World::started(config(tools, json!({})));
    let found = warnings(&world, "no_description");
    assert_eq!(found.len(), 1);
    assert!(found[0].ends_with("Describe: one, two"), "{found:?}");
    assert_eq!(world.body(0)["tools"].as_array().unwrap().len(), 3);
    world.respond(&stream(&[call("t1", "one", json!({}))], "tool_use"));
    world.return_value("t1", json!(1));
    assert_eq!(warnings(&world, "no_description").len(), 1);
}

#[test]
fn the_name_of_an_unknown_tool_is_shown_in_part() {
    let world = world(json!({}), &[call("a", &"n".repeat(1 << 20), json!({}))]);
    assert!(said(&world)[0].len() < 400, "{} bytes", said(&world)[0].len());
}
