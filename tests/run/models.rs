use looplet::engine::model::config::ModelConfig;
use looplet::engine::model::event::EventKind;
use looplet::engine::model::hook::HookAnswer;
use looplet::engine::model::input::Input;
use looplet::engine::model::message::Block;
use serde_json::json;

use crate::compaction::boundaries;
use crate::hooks::answer;
use crate::wire::{Piece, begin, call, end, event, stream, stream_with_usage, text};
use crate::world::{World, config, tool};

fn world() -> World {
    World::started(config(json!([tool("act", json!({}))]), json!({})))
}

fn set_model(world: &mut World, model: serde_json::Value) {
    let model =
        Box::new(looplet::engine::model::json::read::<ModelConfig>("model", &model.to_string()).unwrap());
    world.input(Input::SetModel { model });
}

fn names_of_models(world: &World) -> Vec<String> {
    let name = |kind: &EventKind| match kind {
        EventKind::ModelChange { model, .. } => Some(model.clone()),
        _ => None,
    };
    world
        .events
        .iter()
        .filter_map(|event| name(&event.kind))
        .collect()
}

#[test]
fn a_model_that_is_set_while_another_answers_is_asked_next_with_the_whole_transcript() {
    let mut world = world();
    set_model(
        &mut world,
        json!({"slot": 3, "vendor": "openai", "protocol": "openai_chat", "model": "gpt-test"}),
    );
    let calls = [
        Piece::Thinking("Hm.".into(), "c2ln"),
        call("a", "act", json!({"n": 1})),
    ];
    world.respond(&stream(&calls, "tool_use"));
    assert_eq!(
        names_of_models(&world),
        [""; 0],
        "the answer under way is the old model's"
    );
    world.return_value("a", json!("done"));
    assert_eq!(names_of_models(&world), ["gpt-test"]);
    let is_told =
        |kind: &EventKind| matches!(kind, EventKind::ModelChange { vendor, .. } if vendor == "openai");
    assert!(world.events.iter().any(|event| is_told(&event.kind)));
    assert_eq!([world.sent[0].model, world.sent[1].model], [0, 3]);
    assert!(
        world.sent[1].url.ends_with("/v1/chat/completions"),
        "{}",
        world.sent[1].url
    );
    let body = world.body(1);
    assert_eq!(body["model"], "gpt-test");
    assert_eq!(body["messages"].as_array().unwrap().len(), 5 - 1);
    assert!(
        !body.to_string().contains("c2ln"),
        "a signature is its model's own"
    );
}

#[test]
fn back_at_the_first_model_its_signed_reasoning_is_sent_again() {
    let mut world = world();
    let first = json!({"vendor": "anthropic", "model": "claude-test"});
    let thinking = Piece::Thinking("Hm.".into(), "c2ln");
    world.respond(&stream(&[thinking, call("a", "act", json!({}))], "tool_use"));
    set_model(&mut world, json!({"vendor": "anthropic", "model": "other"}));
    world.return_value("a", json!(1));
    assert!(!world.requests[1].contains("c2ln"));
    set_model(&mut world, first);
    world.respond(&stream(&[call("b", "act", json!({}))], "tool_use"));
    world.return_value("b", json!(1));
    assert!(world.requests[2].contains("c2ln"));
    world.respond(&stream(&[text("End.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_model_that_cannot_be_asked_is_refused_and_the_run_goes_on_with_the_one_before() {
    let mut world = world();
    let unknown = ModelConfig::new("nobody", "m");
    let problem = world
        .run
        .check(&Input::SetModel {
            model: Box::new(unknown.clone()),
        })
        .unwrap_err();
    assert_eq!(problem.field, "model.vendor");
    world.respond(&stream(&[call("a", "act", json!({}))], "tool_use"));
    world.input(Input::SetModel {
        model: Box::new(unknown.clone()),
    });
    world.return_value("a", json!(1));
    assert_eq!(world.sent[1].model, 0);
    assert!(world.event_names().contains(&"warning".to_owned()));
    world.respond(&stream(&[text("End.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_retry_asks_the_model_that_was_set_meanwhile() {
    let mut world = world();
    world.refuse(529, &[], "{}");
    set_model(&mut world, json!({"vendor": "anthropic", "model": "other"}));
    world.pass(60_000);
    assert_eq!(world.body(1)["model"], "other");
}

fn effort_warnings(world: &World) -> Vec<&str> {
    let warnings = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::Warning { code, message, .. } if code == "effort_not_sent" => Some(message.as_str()),
        _ => None,
    });
    warnings.collect()
}

#[test]
fn an_effort_that_the_model_refuses_is_left_out_with_one_warning_for_each_model() {
    let model = |name: &str| json!({"vendor": "anthropic", "model": name, "effort": "high"});
    let mut world = World::started(config(
        json!([tool("read", json!({}))]),
        json!({"model": model("claude-haiku-4-5"), "hooks": [{"event": "PreToolUse"}]}),
    ));
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    let (_, ask) = world.questions.last().unwrap();
    assert_eq!(ask.effort, None, "hooks are told the effort that is sent");
    answer(&mut world, HookAnswer::default());
    world.return_value("a", json!(1));
    assert!(world.body(0).get("output_config").is_none() && world.body(1).get("output_config").is_none());
    let told = effort_warnings(&world);
    assert_eq!(told.len(), 1, "once");
    assert!(told[0].contains("claude-haiku-4-5"), "{}", told[0]);

    set_model(&mut world, model("claude-sonnet-4-5"));
    world.refuse(500, &[], "");
    world.pass(60_000);
    assert!(world.body(2).get("output_config").is_none());
    assert_eq!(effort_warnings(&world).len(), 2, "another model");

    set_model(&mut world, model("claude-opus-4-5"));
    world.refuse(500, &[], "");
    world.pass(60_000);
    assert_eq!(world.body(3)["output_config"]["effort"], "high");
    assert_eq!(effort_warnings(&world).len(), 2);
}

#[test]
fn a_summary_is_asked_for_without_an_effort_that_the_model_refuses() {
    let model = json!({"vendor": "anthropic", "model": "claude-haiku-4-5", "effort": "high"});
    let mut world = World::started(config(json!([]), json!({"model": model})));
    world.input(Input::Compact {
        instructions: None,
        only: false,
    });
    world.input(Input::Steer {
        id: 1,
        content: vec![Block::text("More.")],
    });
    world.respond(&stream(&[text("One.")], "end_turn"));
    assert!(world.requests[1].contains("summar"), "{}", world.requests[1]);
    assert!(world.body(1).get("output_config").is_none());
}

fn warnings<'a>(world: &'a World, code: &str) -> Vec<&'a str> {
    let events = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::Warning {
            code: given, message, ..
        } if given == code => Some(message.as_str()),
        _ => None,
    });
    events.collect()
}

/// A run of two requests that begins at this time.
fn run_at(now_ms: u64, model: serde_json::Value) -> World {
    let mut world = World::new(config(json!([tool("act", json!({}))]), json!({"model": model})));
    world.now_ms = now_ms;
    world.prompt("Go.");
    world.respond(&stream(&[call("a", "act", json!({}))], "tool_use"));
    world.return_value("a", json!(1));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    world
}

#[test]
fn a_model_that_ends_within_thirty_days_gives_one_warning_a_run() {
    // 2026-11-30, the end of Sonnet 4.5.
    const END_MS: u64 = 1_795_996_800_000;
    const DAY_MS: u64 = 86_400_000;
    let at = |now_ms, vendor: &str, model: &str| {
        let world = run_at(
            now_ms,
            json!({"vendor": vendor, "model": model, "protocol": "anthropic", "baseUrl": "http://h/v1"}),
        );
        warnings(&world, "model_ends").len()
    };
    assert_eq!(at(END_MS - 31 * DAY_MS, "anthropic", "claude-sonnet-4-5"), 0);
    assert_eq!(at(END_MS - 30 * DAY_MS, "anthropic", "claude-sonnet-4-5"), 1);
    assert_eq!(at(END_MS + DAY_MS, "anthropic", "claude-sonnet-4-5-20250929"), 1);
    assert_eq!(at(END_MS, "anthropic", "claude-sonnet-5-5"), 0);
    assert_eq!(
        at(END_MS, "compatible", "claude-sonnet-4-5"),
        0,
        "another platform has its own days"
    );
    assert_eq!(at(0, "anthropic", "claude-sonnet-4-5"), 0);
}

#[test]
fn a_forced_call_becomes_a_sentence_for_a_model_that_refuses_it() {
    let forced = |model: &str, choice: serde_json::Value| {
        let world = run_at(
            0,
            json!({"vendor": "anthropic", "model": model, "toolChoice": choice}),
        );
        let body = world.body(1);
        let warned = warnings(&world, "option_not_sent").len();
        (
            body["system"][0]["text"].clone(),
            body["tool_choice"]["type"].clone(),
            warned,
        )
    };
    let in_words = |sentence: &str| json!(format!("Be brief.\n\n{sentence}"));
    assert_eq!(
        forced("claude-opus-5-5", json!("required")),
        (
            in_words("Each of your answers must call a tool."),
            json!("auto"),
            1
        )
    );
    assert_eq!(
        forced("claude-opus-5-5", json!({"tool": "act"})),
        (
            in_words("Each of your answers must call the tool act."),
            json!("auto"),
            1
        )
    );
    assert_eq!(
        forced("claude-opus-5-5", json!("auto")),
        (json!("Be brief."), json!("auto"), 0)
    );
    assert_eq!(
        forced("claude-opus-5", json!("required")),
        (json!("Be brief."), json!("any"), 0)
    );
}

#[test]
fn a_streamed_request_asks_a_silent_model_for_the_text_of_its_thinking() {
    let thinking = |model: serde_json::Value| run_at(0, model).body(0)["thinking"].clone();
    let asked = |name: &str| thinking(json!({"vendor": "anthropic", "model": name}));
    let drops = json!({"prefix_mismatch_behavior": "drop_block"});
    let shown = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(
        asked("claude-opus-5-5"),
        json!({"type": "adaptive", "display": "summarized", "block_binding": drops})
    );
    assert_eq!(asked("claude-opus-5"), shown);
    assert_eq!(asked("claude-opus-4-8"), json!(null), "it does not think unasked");
    assert_eq!(asked("claude-sonnet-4-6"), json!(null), "it shows its thinking");
    let with = |name: &str, own: serde_json::Value| {
        thinking(json!({"vendor": "anthropic", "model": name, "thinking": own}))
    };
    assert_eq!(with("claude-opus-4-8", json!({"type": "adaptive"})), shown);
    for own in [
        json!({"type": "adaptive", "display": "omitted"}),
        json!({"type": "disabled"}),
    ] {
        assert_eq!(with("claude-opus-5", own.clone()), own);
    }
    assert_eq!(
        with("claude-sonnet-5-5", json!({"type": "between_tools"})),
        json!({"type": "between_tools"})
    );
    let gateway = json!({"vendor": "compatible", "protocol": "anthropic", "baseUrl": "http://h/v1", "model": "claude-opus-5"});
    assert_eq!(thinking(gateway), json!(null));
}

#[test]
fn thinking_without_a_text_tells_how_many_tokens_it_has_so_far() {
    let run = |name: &str, thinking: serde_json::Value| {
        let model = json!({"vendor": "anthropic", "model": name, "thinking": thinking});
        World::started(config(json!([tool("act", json!({}))]), json!({"model": model})))
    };
    let asks = |world: &World| {
        let mut headers = world.sent[0].headers.iter();
        headers.any(|(_, value)| value.contains("thinking-token-count-2026-05-13"))
    };
    let omitted = json!({"type": "adaptive", "display": "omitted"});
    assert!(!asks(&run("claude-opus-5-5", json!({"type": "adaptive"}))));
    assert!(
        !asks(&run("claude-sonnet-4-6", omitted.clone())),
        "it is not known to"
    );
    let mut world = run("claude-opus-5-5", omitted);
    assert!(asks(&world));
    let delta =
        |delta: serde_json::Value| event(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    let thinking = |tokens: serde_json::Value| {
        delta(json!({"type": "thinking_delta", "thinking": "", "estimated_tokens": tokens}))
    };
    let block = json!({"type": "thinking", "thinking": "", "signature": ""});
    let pieces = [
        begin(10),
        event(json!({"type": "content_block_start", "index": 0, "content_block": block})),
        thinking(json!(null)),
        thinking(json!(50)),
        thinking(json!(0)),
        thinking(json!(100)),
        delta(json!({"type": "signature_delta", "signature": "c2ln"})),
        event(json!({"type": "content_block_stop", "index": 0})),
        crate::wire::block(1, &text("Four.")),
        end("end_turn", 200),
    ];
    world.respond(&pieces.concat());
    let counts = world.events.iter().filter_map(|event| match event.kind {
        EventKind::ReasoningProgress {
            block,
            estimated_tokens,
        } => Some((block, estimated_tokens)),
        _ => None,
    });
    assert_eq!(counts.collect::<Vec<_>>(), [(0, 50), (0, 150)]);
}

#[test]
fn the_history_is_summarised_by_what_is_known_of_the_window_of_the_model() {
    let summaries = |model: serde_json::Value, context: serde_json::Value| {
        let fields = json!({"model": model, "context": context});
        let mut world = World::started(config(json!([tool("act", json!({}))]), fields));
        for round in 1..=4_u64 {
            let id = format!("c{round}");
            let pieces = [text(&"x".repeat(400)), call(&id, "act", json!({"n": round}))];
            let used = if round == 4 { 170_000 } else { 1000 };
            world.respond(&stream_with_usage(&pieces, "tool_use", used, 10));
            world.return_value(&id, json!("y".repeat(400)));
        }
        world.respond(&stream(&[text("Short.")], "end_turn"));
        boundaries(&world).len()
    };
    let haiku = |headers: serde_json::Value| json!({"model": "claude-haiku-4-5", "headers": headers});
    assert_eq!(summaries(haiku(json!([])), json!({"keepLast": 1})), 1);
    assert_eq!(
        summaries(json!({"model": "claude-haiku-5-5"}), json!({"keepLast": 1})),
        0
    );
    assert_eq!(
        summaries(json!({"model": "claude-test"}), json!({"keepLast": 1})),
        0
    );
    assert_eq!(
        summaries(haiku(json!([])), json!({"keepLast": 1, "window": 1_000_000})),
        0
    );
    assert_eq!(
        summaries(haiku(json!([])), json!({"keepLast": 1, "auto": false})),
        0
    );
    let more = json!([["anthropic-beta", "context-1m-2025-08-07"]]);
    assert_eq!(summaries(haiku(more), json!({"keepLast": 1})), 0);
}
