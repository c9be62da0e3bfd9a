use looplet::engine::model::input::Input;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::told::data;
use crate::wire::{Piece, call, stream, stream_with_usage, text};
use crate::world::{World, config, tool};

fn world(fields: Value) -> World {
    let tools = json!([
        tool("look", json!({"readOnly": true, "maxCalls": 2})),
        tool("act", json!({})),
    ]);
    World::started(config(tools, fields))
}

/// One answer that calls these tools, whose ids are `name` and the number of the request; all return `output`.
fn round(world: &mut World, names: &[&str], output: &Value) {
    let number = world.requests.len();
    let id = |index: usize| format!("{number}.{index}");
    let calls: Vec<Piece> = names
        .iter()
        .enumerate()
        .map(|(index, name)| call(&id(index), name, json!({"n": 1})))
        .collect();
    world.respond(&stream(&calls, "tool_use"));
    for index in 0..names.len() {
        if world.running.contains_key(&id(index)) {
            world.return_value(&id(index), output.clone());
        }
    }
}

fn stopped_by(world: &World) -> Value {
    let result = world.result();
    assert!(result["outcome"] == "stopped" || result["stoppedBy"].is_null());
    result["stoppedBy"].clone()
}

fn answer(world: &mut World, stop: bool) {
    let (question, _) = world.questions.remove(0);
    world.input(Input::Answered {
        question,
        answer: Answer::Stop(stop),
    });
}

#[test]
fn s001_10_s001_11_after_the_last_round_of_tools_an_answer_is_allowed_but_no_further_call() {
    let mut world = world(json!({"limits": {"maxToolRounds": 2}}));
    round(&mut world, &["act"], &json!(1));
    round(&mut world, &["act"], &json!(2));
    assert_eq!(world.requests.len(), 3);
    world.respond(&stream(
        &[text("One more."), call("c", "act", json!({}))],
        "tool_use",
    ));
    assert_eq!(stopped_by(&world), "tool_rounds");
    assert!(!world.tool_log.contains(&"start c".to_owned()));
    let result = world.result();
    assert_eq!(result["text"], "One more.");
    let last = result["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["content"][0]["isError"], true, "the pending call is closed");

    let mut world = self::world(json!({"limits": {"maxToolRounds": 0}}));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn an_answer_that_would_exceed_the_tool_calls_of_the_run_ends_it_before_its_tools() {
    let mut world = world(json!({"limits": {"maxToolCalls": 3}}));
    round(&mut world, &["act", "act"], &json!(1));
    round(&mut world, &["act", "act"], &json!(2));
    assert_eq!(stopped_by(&world), "tool_calls");
    assert_eq!(
        world
            .tool_log
            .iter()
            .filter(|line| line.starts_with("start"))
            .count(),
        2
    );
}

#[test]
fn a_tool_that_was_called_as_often_as_it_may_be_answers_with_that() {
    let mut world = world(json!({}));
    round(&mut world, &["look", "look", "look"], &json!(1));
    assert_eq!(
        world
            .tool_log
            .iter()
            .filter(|line| line.starts_with("start"))
            .count(),
        2
    );
    round(&mut world, &["look", "act"], &json!(2));
    let told = world.body(2)["messages"].to_string();
    assert!(told.contains("call_limit"), "{told}");
    assert!(world.done.is_none(), "the run goes on");
}

#[test]
fn a_condition_ends_the_run_when_its_round_is_over() {
    let mut world = world(json!({"stopWhen": [{"toolCall": "act"}, {"iterations": 3}]}));
    round(&mut world, &["look"], &json!(1));
    assert!(world.done.is_none());
    round(&mut world, &["look", "act"], &json!(2));
    assert_eq!(stopped_by(&world), "condition");
    assert_eq!(
        world.result()["messages"].as_array().unwrap().len(),
        5,
        "with its results"
    );

    let mut world = self::world(json!({"stopWhen": [{"iterations": 1}]}));
    round(&mut world, &["look"], &json!(1));
    assert_eq!(stopped_by(&world), "condition");
}

#[test]
fn the_host_is_asked_after_each_round_what_it_says_counts() {
    let mut world = world(json!({"askStop": true}));
    round(&mut world, &["act"], &json!({"done": false}));
    assert_eq!(world.requests.len(), 1, "the next call waits for the answer");
    let ask = &world.questions[0].1;
    assert_eq!(ask.point, Point::StopCondition);
    let told = data(ask);
    assert_eq!(told["iteration"], 1);
    assert_eq!(told["toolCalls"][0]["output"], json!({"done": false}));
    answer(&mut world, false);
    assert_eq!(world.requests.len(), 2);
    round(&mut world, &["act"], &json!({"done": true}));
    answer(&mut world, true);
    assert_eq!(stopped_by(&world), "condition");
}

#[test]
fn a_host_that_cannot_say_whether_to_stop_lets_the_run_go_on() {
    let mut world = world(json!({"askStop": true}));
    round(&mut world, &["act"], &json!(1));
    let (question, _) = world.questions.remove(0);
    world.input(Input::Answered {
        question,
        answer: Answer::Failed { why: "threw".into() },
    });
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn a_model_that_repeats_itself_is_nudged_then_asked_about_then_stopped() {
    let mut world = world(json!({"askRepeat": true}));
    for _ in 0..3 {
        round(&mut world, &["act"], &json!("same"));
    }
    let nudge = world.body(3)["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert!(nudge[1]["text"].as_str().unwrap().contains("3 times"), "{nudge}");
    for _ in 0..3 {
        round(&mut world, &["act"], &json!("same"));
    }
    assert_eq!(world.requests.len(), 6, "the host is asked");
    answer(&mut world, false);
    for _ in 0..14 {
        round(&mut world, &["act"], &json!("same"));
    }
    assert_eq!(stopped_by(&world), "repeat");
}

#[test]
fn without_a_host_to_ask_repetition_is_nudged_again_and_stopped_in_the_end() {
    let mut world = world(json!({"repeat": {"nudgeAfter": 2, "askAfter": 3, "stopAfter": 4}}));
    for _ in 0..4 {
        round(&mut world, &["act"], &json!("same"));
    }
    assert_eq!(stopped_by(&world), "repeat");
    let body = world.body(3)["messages"].to_string();
    assert!(body.contains("2 times") && body.contains("3 times"));
}

#[test]
fn the_same_call_beside_changing_ones_or_again_and_again_in_one_answer_is_a_repetition() {
    let repeat = json!({"nudgeAfter": 2, "askAfter": null, "stopAfter": 5});
    let mut beside = world(json!({"repeat": repeat}));
    for number in 1..=5u64 {
        assert!(beside.done.is_none(), "{number}");
        let (same, other) = (format!("s{number}"), format!("o{number}"));
        let calls = [
            call(&other, "act", json!({"n": number})),
            call(&same, "act", json!({"n": 0})),
        ];
        beside.respond(&stream(&calls, "tool_use"));
        beside.return_value(&other, json!(number));
        beside.return_value(&same, json!("same"));
    }
    assert_eq!(stopped_by(&beside), "repeat");
    assert!(beside.body(2).to_string().contains("2 times"));

    let mut within = world(json!({"repeat": repeat}));
    round(&mut within, &["act"; 3], &json!("same"));
    assert!(within.body(1).to_string().contains("3 times"));
    round(&mut within, &["act"; 2], &json!("same"));
    assert_eq!(stopped_by(&within), "repeat");
}

#[test]
fn repetition_is_nobodys_business_when_it_is_switched_off() {
    let mut world = world(json!({"repeat": {"enabled": false}}));
    for _ in 0..30 {
        round(&mut world, &["act"], &json!("same"));
    }
    assert!(world.done.is_none());
    assert!(!world.requests.last().unwrap().contains("times"));
}

#[test]
fn an_abort_while_the_host_is_asked_whether_to_stop_settles_at_once() {
    let mut world = world(json!({"askStop": true}));
    round(&mut world, &["act"], &json!(1));
    let question = world.questions[0].0;
    world.cancel();
    assert_eq!(world.result()["outcome"], "cancelled");
    assert!(!world.run.is_live(question));
    assert_eq!(world.result()["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn a_function_that_never_says_whether_to_stop_is_not_waited_for_for_ever() {
    let mut world = world(json!({"askStop": true}));
    round(&mut world, &["act"], &json!(1));
    world.pass(599_999);
    assert_eq!(world.requests.len(), 1);
    world.pass(1);
    assert_eq!(world.requests.len(), 2, "it has not said stop");
    assert!(world.event_names().contains(&"warning".to_owned()));
    world.cancel();
    assert_eq!(world.run.poll_timeout(), None);
}

#[test]
fn s001_12_a_run_that_costs_more_than_it_may_stops_before_its_tools() {
    let mut world = world(json!({
        "model": {"price": {"inputNanoUsd": 10, "outputNanoUsd": 50}},
        "limits": {"maxCostNanoUsd": 1400},
    }));
    let costs_700 = |world: &mut World, id: &str| {
        world.respond(&stream_with_usage(
            &[call(id, "act", json!({}))],
            "tool_use",
            20,
            10,
        ));
    };
    costs_700(&mut world, "a");
    world.return_value("a", json!(1));
    costs_700(&mut world, "b");
    assert_eq!(
        world.tool_log.last().unwrap(),
        "start b",
        "exactly the limit is not over it"
    );
    world.return_value("b", json!(2));
    costs_700(&mut world, "c");
    assert_eq!(stopped_by(&world), "usd");
    assert_eq!(world.result()["costNanoUsd"], 2100);
}
