use looplet::engine::model::error::FailureCode;
use looplet::engine::model::event::{CompactTrigger, EventKind};
use looplet::engine::model::input::Input;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::told::data;
use crate::wire::{Piece, call, stream, stream_with_usage, text};
use crate::world::{World, config, tool};

/// A run with a tool that has made so many rounds, each of which the vendor counts as 100 tokens more.
pub fn after_rounds(rounds: u64, context: Value) -> World {
    with_fields(rounds, json!({"context": context}))
}

fn with_fields(rounds: u64, fields: Value) -> World {
    let mut world = World::started(config(json!([tool("look", json!({}))]), fields));
    for round in 1..=rounds {
        look(&mut world, round);
    }
    world
}

fn look(world: &mut World, round: u64) {
    let id = format!("c{round}");
    let pieces = [
        Piece::Thinking(format!("thought {round} {}", "t".repeat(150)), "c2ln"),
        text(&format!("round {round}")),
        call(&id, "look", json!({"n": round, "pad": "p".repeat(150)})),
    ];
    world.respond(&stream_with_usage(&pieces, "tool_use", 95 * round, 10));
    world.return_value(&id, json!(format!("result {round}")));
}

fn compact(world: &mut World, instructions: Option<&str>) {
    world.input(Input::Compact {
        instructions: instructions.map(str::to_owned),
        only: false,
    });
}

pub fn boundaries(world: &World) -> Vec<(CompactTrigger, u64, u64)> {
    let mut found = Vec::new();
    for event in &world.events {
        if let EventKind::CompactBoundary {
            trigger,
            pre_tokens,
            post_tokens,
            ..
        } = event.kind
        {
            found.push((trigger, pre_tokens, post_tokens));
        }
    }
    found
}

fn warned(world: &World, wanted: &str) -> bool {
    world
        .events
        .iter()
        .any(|event| matches!(&event.kind, EventKind::Warning { code, .. } if code == wanted))
}

fn warnings(world: &World) -> Vec<String> {
    let messages = world.events.iter().map(|event| match &event.kind {
        EventKind::Warning { message, .. } => message.clone(),
        _ => String::new(),
    });
    messages.collect()
}

pub fn last(world: &World) -> Value {
    world.body(world.requests.len() - 1)["messages"].clone()
}

fn overflow(world: &mut World) {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8"}});
    world.refuse(400, &[], &body.to_string());
}

pub fn legal(world: &World) {
    let messages = world.result()["messages"].clone();
    config(json!([]), json!({"messages": messages})).open().unwrap();
}

#[test]
fn s001_40_a_window_that_is_nearly_full_is_summarised_and_the_last_answers_stay() {
    let mut world = after_rounds(4, json!({"window": 500, "keepLast": 2}));
    assert_eq!(
        world.requests.len(),
        5,
        "400 tokens are 80 %, and there is a result beyond them"
    );
    let asked = world.body(4);
    let words = asked["messages"].to_string();
    assert!(
        words.contains("round 2") && !words.contains("round 3"),
        "only what will be gone"
    );
    assert!(words.contains("write a summary"));
    assert_eq!(asked["tool_choice"], json!({"type": "none"}));
    assert_eq!(
        asked["system"],
        world.body(0)["system"],
        "S001-39: the system prompt is there"
    );
    assert_eq!(asked["tools"], world.body(0)["tools"]);

    world.respond(&stream_with_usage(
        &[text("They looked twice.")],
        "end_turn",
        300,
        20,
    ));
    let messages = last(&world);
    let words = messages.to_string();
    assert!(words.contains("[Context summary: They looked twice.]"), "{words}");
    assert!(!words.contains("round 2") && words.contains("round 3") && words.contains("result 4"));
    assert_eq!(messages[0]["role"], "user");
    assert_eq!(messages[1]["role"], "assistant");
    assert_eq!(world.body(5)["system"], world.body(0)["system"]);
    let [(CompactTrigger::Auto, before, after)] = boundaries(&world)[..] else {
        panic!("S001-41")
    };
    assert!(before > 400 && after < before, "{before} {after}");

    world.respond(&stream(&[text("Done.")], "end_turn"));
    let result = world.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["iterations"], 5, "a summary is no iteration");
    assert_eq!(result["text"], "Done.");
    assert!(
        !world.delivered_text().contains("They looked"),
        "and nobody's answer"
    );
    assert_eq!(
        result["usage"]["inputTokens"],
        95 + 190 + 285 + 380 + 300 + 10,
        "but it is counted"
    );
    legal(&world);
}

#[test]
fn without_a_known_window_or_with_auto_off_nothing_is_summarised() {
    for context in [
        json!({}),
        json!({"window": 500, "auto": false}),
        json!({"window": 600}),
    ] {
        let world = after_rounds(4, context);
        assert_eq!(world.requests.len(), 5);
        assert!(!last(&world).to_string().contains("write a summary"));
    }
}

#[test]
fn a_window_leaves_room_for_the_answer() {
    let fields = json!({"context": {"window": 600}, "model": {"maxOutputTokens": 250}});
    let world = with_fields(4, fields);
    assert!(
        last(&world).to_string().contains("write a summary"),
        "80 % are 480, but 250 of 600 are the answer's"
    );
}

#[test]
fn an_overflow_is_summarised_once_and_tried_once_more() {
    let mut world = after_rounds(5, json!({}));
    overflow(&mut world);
    assert!(last(&world).to_string().contains("write a summary"));
    assert_eq!(
        world.body(6)["messages"].as_array().unwrap().len(),
        5,
        "all but the last three answers"
    );
    world.respond(&stream(&[text("Looked.")], "end_turn"));
    let words = last(&world).to_string();
    assert!(words.contains("[Context summary: Looked.]") && words.contains("round 3"));
    let mut fails = world;
    overflow(&mut fails);
    let result = fails.result();
    assert_eq!(
        (&result["outcome"], &result["error"]["code"]),
        (&json!("failed"), &json!("context_length"))
    );
    assert!(
        result["error"]["message"]
            .as_str()
            .unwrap()
            .contains("had just been summarised"),
        "{result}"
    );
    assert_eq!(fails.requests.len(), 8);
    legal(&fails);
}

#[test]
fn after_an_overflow_the_retries_of_the_request_are_its_own() {
    let mut world = with_fields(
        3,
        json!({"context": {}, "retry": {"maxRetries": 1, "baseMs": 10}}),
    );
    overflow(&mut world);
    world.refuse(529, &[], "{}");
    world.pass(50);
    world.respond(&stream(&[text("Looked.")], "end_turn"));
    world.refuse(529, &[], "{}");
    world.pass(50);
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn with_nothing_to_cut_an_overflow_fails_and_says_so() {
    for (rounds, said) in [(0, "no earlier part"), (1, "no earlier part")] {
        let mut world = after_rounds(rounds, json!({}));
        overflow(&mut world);
        let message = world.result()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(said), "{message}");
        assert_eq!(world.requests.len() as u64, rounds + 1);
        legal(&world);
    }
    let mut off = after_rounds(3, json!({"auto": false}));
    overflow(&mut off);
    assert_eq!(off.result()["outcome"], "failed");
    assert_eq!(off.requests.len(), 4);
}

#[test]
fn fewer_answers_are_kept_when_there_are_no_more() {
    let mut world = after_rounds(2, json!({"keepLast": 5}));
    overflow(&mut world);
    let words = last(&world).to_string();
    assert!(words.contains("round 1") && !words.contains("round 2"), "{words}");
}

#[test]
fn a_summary_that_fails_is_empty_or_longer_than_the_text_gives_way_to_the_built_in_one() {
    let long = "x".repeat(9000);
    let answers: [&dyn Fn(&mut World); 4] = [
        &|world| world.refuse(400, &[], "{}"),
        &|world| world.respond(&stream(&[text("  ")], "end_turn")),
        &|world| world.respond(&stream(&[call("x", "look", json!({}))], "tool_use")),
        &|world| world.respond(&stream(&[text(&long)], "end_turn")),
    ];
    for (number, answer) in answers.iter().enumerate() {
        let mut world = after_rounds(4, json!({"window": 500, "keepLast": 2}));
        answer(&mut world);
        let words = last(&world).to_string();
        assert!(words.contains("User asked: Go."), "{number}: {words}");
        assert!(
            words.contains("Assistant: round 1") && words.contains("Called tools: look"),
            "{number}"
        );
        assert_eq!(warned(&world, "compaction_failed"), matches!(number, 0 | 2));
        if number == 0 {
            let said = warnings(&world).join(" ");
            assert!(
                said.contains("No summary of the history was written")
                    && said.contains("the model call failed: anthropic claude-test answered 400 "),
                "{said}"
            );
            let codes = world.events.iter().filter_map(|event| match &event.kind {
                EventKind::Warning { error, .. } => error.as_ref().map(|error| error.code),
                _ => None,
            });
            assert_eq!(codes.collect::<Vec<_>>(), [FailureCode::InvalidRequest]);
        }
        assert!(!world.tool_log.contains(&"start x".to_owned()));
        world.respond(&stream(&[text("Done.")], "end_turn"));
        assert_eq!(world.result()["outcome"], "completed");
        legal(&world);
    }
}

/// How many summaries are made in so many rounds, and how the run ends.
fn summaries_in(rounds: u64, model: Value, context: Value) -> (u64, Value) {
    let mut world = with_fields(0, json!({"model": model, "context": context}));
    let (mut summaries, mut round) = (0, 0);
    while world.done.is_none() {
        if last(&world).to_string().contains("write a summary") {
            summaries += 1;
            world.respond(&stream_with_usage(&[text("S.")], "end_turn", 900, 5));
        } else if round == rounds {
            world.respond(&stream(&[text("Done.")], "end_turn"));
        } else {
            round += 1;
            look(&mut world, round);
        }
    }
    legal(&world);
    (summaries, world.result()["outcome"].clone())
}

#[test]
fn s001_40_a_summary_that_does_not_help_is_not_tried_again_before_the_history_has_grown() {
    let tiny = json!({"window": 100, "keepLast": 1});
    let (summaries, outcome) = summaries_in(25, json!({}), tiny);
    assert_eq!(outcome, "completed");
    assert!((2..=6).contains(&summaries), "{summaries} in 25 rounds");
    let none = summaries_in(25, json!({"maxOutputTokens": 1000}), json!({"window": 1000}));
    assert_eq!(
        none,
        (0, json!("completed")),
        "no summary makes room where there is none"
    );
    let (fits, _) = summaries_in(25, json!({}), json!({"window": 1000, "keepLast": 1}));
    assert!(
        fits >= 2,
        "one that helps is made as often as it is needed: {fits}"
    );
}

#[test]
fn s001_42_the_host_asks_for_a_summary_and_says_what_to_heed() {
    let mut world = after_rounds(2, json!({"keepLast": 1, "instructions": "Keep names."}));
    compact(&mut world, None);
    look(&mut world, 3);
    assert!(last(&world).to_string().contains("Keep names."));
    world.respond(&stream(&[text("Sum.")], "end_turn"));
    assert_eq!(boundaries(&world)[0].0, CompactTrigger::Manual);
    compact(&mut world, Some("Keep dates."));
    look(&mut world, 4);
    let words = last(&world).to_string();
    assert!(
        words.contains("Keep dates.") && words.contains("[Context summary: Sum.]"),
        "{words}"
    );

    let mut early = World::new(config(json!([]), json!({})));
    compact(&mut early, None);
    early.prompt("Go.");
    assert_eq!(early.requests.len(), 1, "there is nothing to summarise");
}

#[test]
fn a_summary_is_asked_for_without_the_schema_that_answers_owe() {
    for mode in ["native", "tool"] {
        let output = json!({"schema": {"type": "object", "properties": {}}, "mode": mode});
        let mut world = with_fields(3, json!({"output": output}));
        compact(&mut world, None);
        look(&mut world, 4);
        let body = world.body(world.requests.len() - 1);
        assert!(body.get("output_config").is_none());
        assert_eq!(body["tool_choice"], json!({"type": "none"}), "{mode}");
        world.respond(&stream(&[text("Sum.")], "end_turn"));
        assert_ne!(
            world.body(world.requests.len() - 1)["tool_choice"],
            json!({"type": "none"})
        );
    }
}

#[test]
fn an_abort_during_a_summary_ends_the_run_with_the_whole_history() {
    let mut world = after_rounds(4, json!({"window": 500, "keepLast": 2}));
    world.head(200, &[]);
    let body = stream_with_usage(&[text("They lo")], "end_turn", 300, 20);
    world.chunk(&body[..body.find("message_delta").unwrap()]);
    let before = world.result();
    assert_eq!(before["text"], "round 4", "not the summary's");
    world.cancel();
    let result = world.result();
    assert_eq!(result["outcome"], "cancelled");
    assert!(!result["messages"].to_string().contains("They lo"));
    assert!(result["messages"].to_string().contains("round 1"));
    assert_eq!(result["usage"]["inputTokens"], 95 + 190 + 285 + 380 + 300);
    assert_eq!(world.run.poll_timeout(), None);
    legal(&world);
}

#[test]
fn a_budget_that_a_summary_uses_up_ends_the_run() {
    let fields = json!({"context": {"window": 500, "keepLast": 2}, "limits": {"maxTotalTokens": 1000}});
    let mut world = with_fields(4, fields);
    world.respond(&stream_with_usage(&[text("S.")], "end_turn", 300, 20));
    assert_eq!(world.result()["stoppedBy"], "tokens");
    legal(&world);
}

#[test]
fn p_18_the_host_may_write_the_summary_and_its_failure_is_the_built_in_one() {
    let asked = || {
        let mut world = after_rounds(4, json!({"window": 500, "keepLast": 2, "ask": true}));
        assert_eq!(world.requests.len(), 4, "no model is asked");
        let (question, ask) = world.questions.remove(0);
        assert_eq!(ask.point, Point::Summarize);
        let compact = data(&ask);
        assert_eq!(compact["trigger"], "auto");
        assert_eq!(compact["messages"].as_array().unwrap().len(), 5);
        (world, question)
    };
    let answers = [
        (Answer::Summary("By hand.".into()), "[Context summary: By hand.]"),
        (Answer::Summary(" ".into()), "Assistant: round 1"),
        (Answer::Failed { why: "no".into() }, "Assistant: round 1"),
    ];
    for (answer, expected) in answers {
        let (mut world, question) = asked();
        world.input(Input::Answered { question, answer });
        assert!(last(&world).to_string().contains(expected), "{expected}");
    }
    let (mut world, question) = asked();
    world.pass(600_000);
    assert!(
        last(&world).to_string().contains("Assistant: round 1"),
        "one that never answers"
    );
    let events = world.events.len();
    world.input(Input::Answered {
        question,
        answer: Answer::Summary("Late.".into()),
    });
    assert_eq!(world.events.len(), events);
    let (mut world, _) = asked();
    world.cancel();
    legal(&world);
}

#[test]
fn s002_18_s002_19_old_thinking_and_calls_are_cut_short_once_and_results_stay() {
    let context = json!({"pruning": {"afterResponses": 2, "prefixChars": 20}});
    let mut world = after_rounds(3, context.clone());
    let messages = world.result()["messages"].clone();
    let (old, kept) = (&messages[1], &messages[3]);
    assert_eq!(old["compacted"], true);
    assert_eq!(old["content"][0]["text"], "thought 1 tttttttttt");
    assert_eq!(old["content"][1]["text"], "round 1", "its text is whole");
    let input = old["content"][2]["input"]["_compacted"].as_str().unwrap();
    assert_eq!(
        input, "{\"n\":1,\"pad\":\"pppppp",
        "S002-19: an object with the beginning"
    );
    assert!(kept.get("compacted").is_none());
    assert_eq!(messages[2]["content"][0]["content"][0]["text"], "result 1");
    let wire = last(&world);
    assert_eq!(
        wire[1]["content"][0]["type"], "text",
        "S002-19: a signed thought goes whole or not at all"
    );
    assert_eq!(wire[1]["content"][1]["input"], json!({"_compacted": input}));
    assert_eq!(wire[3]["content"][0]["type"], "thinking");
    assert_eq!(boundaries(&world).len(), 1);
    assert_eq!(boundaries(&world)[0].0, CompactTrigger::Pruning);

    look(&mut world, 4);
    assert_eq!(
        world.result()["messages"][1],
        *old,
        "what is cut short is not cut again"
    );
    assert_eq!(world.result()["messages"][3]["compacted"], true);
    world.respond(&stream(&[text("Done.")], "end_turn"));
    let again = json!({"messages": world.result()["messages"], "context": context});
    let mut next = World::new(config(json!([tool("look", json!({}))]), again));
    next.prompt("More?");
    assert_eq!(next.result()["messages"][1], *old, "also in the next run");
    legal(&world);
}

#[test]
fn s002_18_what_is_short_stays_as_it_is() {
    let mut world = World::started(config(
        json!([tool("look", json!({}))]),
        json!({"context": {"pruning": {"afterResponses": 1}}}),
    ));
    for round in 1..4 {
        let id = format!("c{round}");
        world.respond(&stream(&[call(&id, "look", json!({"n": round}))], "tool_use"));
        world.return_value(&id, json!(1));
    }
    assert!(boundaries(&world).is_empty());
    assert!(!world.result()["messages"].to_string().contains("compacted"));
}

#[test]
fn a_steer_beside_results_is_kept_with_them_and_a_prompt_begins_what_is_kept() {
    let mut world = after_rounds(1, json!({"keepLast": 1}));
    world.respond(&stream(&[text("First.")], "end_turn"));
    let history = world.result()["messages"].clone();
    let mut next = World::new(config(
        json!([]),
        json!({"messages": history, "context": {"keepLast": 0}}),
    ));
    compact(&mut next, None);
    next.prompt("And now?");
    next.respond(&stream(&[text("Sum.")], "end_turn"));
    let messages = last(&next);
    assert_eq!(messages.as_array().unwrap().len(), 1);
    assert_eq!(messages[0]["content"][0]["text"], "[Context summary: Sum.]");
    assert_eq!(messages[0]["content"][1]["text"], "And now?");
}
