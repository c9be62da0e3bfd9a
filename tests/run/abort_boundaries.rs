//! An abort at every boundary of an effect of a run with six iterations, parallel and slow tools, an approval, a save
//! that hangs, retries and subagents.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{Behavior, Input, Moment, PermissionAnswer, ToolReturn};
use looplet::engine::model::message::{Block, Json};
use looplet::engine::model::output::{EffectId, Output};
use looplet::engine::model::question::Answer;
use looplet::engine::model::usage::Usage;
use serde_json::json;

use crate::ended::{check_messages, usage_by_events};
use crate::wire::{begin, block, call, end, open, stream, text};
use crate::world::{Settings, World, config, tool};

type Step = Box<dyn Fn(&mut World)>;

fn setting() -> Settings {
    let tools = json!([
        tool("read", json!({"readOnly": true})),
        tool(
            "act",
            json!({"needsApproval": true, "timeoutMs": 60_000, "replay": "safe"})
        ),
        tool("once", json!({"replay": "once"})),
        tool("helper", json!({"agent": {"profile": 1}})),
        tool("keeper", json!({"agent": {"profile": 1, "keep": true}})),
    ]);
    let below = json!([{"model": {"vendor": "anthropic", "model": "small"}, "tools": [tool("dig", json!({"replay": "safe"}))],
        "timeouts": {"totalMs": 500_000}}]);
    config(
        tools,
        json!({"agents": below, "timeouts": {"totalMs": 9_000_000, "iterationMs": 1_000_000}}),
    )
}

fn ask(id: &str, name: &str) -> crate::wire::Piece {
    call(id, name, json!({"prompt": "Do."}))
}

/// Every input of the run, but for handovers, which the world answers.
fn script() -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut then = |step: Step| steps.push(step);
    let calls = [
        call("r1", "read", json!({"n": 1})),
        call("r2", "read", json!({"n": 2})),
    ];
    then(Box::new(|world| world.prompt("Go.")));
    then(Box::new(|world| world.head(200, &[])));
    then(Box::new(|world| {
        world.chunk(&(begin(10) + &open(0, &text("I read"))))
    }));
    then(Box::new(move |world| {
        let body = block(1, &calls[0]) + &block(2, &calls[1]) + &end("tool_use", 5);
        let stop = crate::wire::event(json!({"type": "content_block_stop", "index": 0}));
        world.chunk(&(stop + &body));
    }));
    then(Box::new(|world| world.end()));
    then(Box::new(|world| {
        let data = Json::parse("1").unwrap();
        let call = world.running["r2"].call;
        world.input(Input::ToolProgress { call, data });
    }));
    then(Box::new(|world| world.pass(30_000)));
    then(Box::new(|world| world.return_value("r2", json!(2))));
    then(Box::new(|world| world.return_value("r1", json!(1))));
    // An approval, then a slow tool.
    then(Box::new(|world| {
        world.respond(&stream(&[call("w", "act", json!({}))], "tool_use"))
    }));
    then(Box::new(|world| {
        let question = world.questions[0].0;
        let allow = PermissionAnswer {
            behavior: Behavior::Allow,
            ..PermissionAnswer::default()
        };
        let answer = Answer::Permission(allow);
        world.input(Input::Answered { question, answer });
    }));
    then(Box::new(|world| world.return_value("w", json!("done"))));
    // A failure, a wait, and a call that waits for its save.
    then(Box::new(|world| world.refuse(529, &[], "{}")));
    then(Box::new(|world| world.pass(10_000)));
    then(Box::new(|world| {
        world.respond(&stream(
            &[text("Once."), call("o", "once", json!({}))],
            "tool_use",
        ))
    }));
    then(Box::new(|world| {
        for (save, _) in std::mem::take(&mut world.saves) {
            world.input(Input::Saved { save, ok: true });
        }
    }));
    then(Box::new(|world| world.return_value("o", json!(1))));
    // Two subagents beside each other, one with a tool.
    then(Box::new(|world| {
        world.respond(&stream(&[ask("h1", "helper"), ask("h2", "helper")], "tool_use"))
    }));
    then(Box::new(|world| {
        world.turn_to("root/helper#2");
        world.head(200, &[]);
        world.chunk(&(begin(3) + &open(0, &text("Half of"))));
    }));
    then(Box::new(|world| {
        world.respond_to("root/helper", &stream(&[call("d", "dig", json!({}))], "tool_use"))
    }));
    then(Box::new(|world| world.return_value("d", json!(1))));
    then(Box::new(|world| {
        world.respond_to("root/helper", &stream(&[text("One.")], "end_turn"))
    }));
    then(Box::new(|world| {
        world.turn_to("root/helper#2");
        world.chunk(
            &(crate::wire::event(json!({"type": "content_block_stop", "index": 0})) + &end("end_turn", 2)),
        );
        world.end();
    }));
    // One that is kept, with a steer in between.
    then(Box::new(|world| {
        world.respond(&stream(&[ask("k", "keeper")], "tool_use"))
    }));
    then(Box::new(|world| {
        let content = vec![Block::text("Hurry.")];
        world.input(Input::Steer { id: 1, content });
    }));
    then(Box::new(|world| {
        world.respond(&stream(&[text("Kept.")], "end_turn"))
    }));
    then(Box::new(|world| world.head(200, &[])));
    then(Box::new(|world| {
        world.chunk(&(begin(10) + &open(0, &text("The end"))))
    }));
    steps
}

fn played(steps: &[Step]) -> World {
    let mut world = World::new(setting());
    world.confirm_saves = false;
    for step in steps {
        step(&mut world);
    }
    assert!(world.done.is_none());
    world
}

fn check(world: &World, at: usize) {
    let result = world.result();
    assert_eq!(result["outcome"], "cancelled", "step {at}");
    assert!(
        world.run.poll_timeout().is_none(),
        "step {at}: a timer after the end"
    );
    check_messages(&result["messages"]);
    let usage: Option<Usage> = serde_json::from_value(result["usage"].clone()).unwrap();
    let usage = usage.unwrap_or_default();
    assert_eq!(usage, usage_by_events(&world.events), "step {at}: usage is kept");
    let mut starts = 0i32;
    for event in &world.events {
        starts += i32::from(matches!(event.kind, EventKind::AgentStart { .. }))
            - i32::from(matches!(event.kind, EventKind::AgentFinish { .. }));
    }
    assert_eq!(starts, 0, "step {at}: every agent that began has ended");
}

/// Answers to everything that there could have been.
fn late_answers(world: &mut World) {
    let before = (world.result(), world.run.poll_timeout());
    for effect in 0..120 {
        for input in late(effect) {
            let moment = Moment {
                now_ms: world.now_ms,
                random: world.seed,
            };
            world.run.handle_input(input, moment);
            assert_eq!(world.run.poll_output(), None);
        }
        assert!(!world.run.is_live(effect));
    }
    assert_eq!((world.result(), world.run.poll_timeout()), before);
}

fn late(effect: EffectId) -> Vec<Input<'static>> {
    vec![
        Input::Chunk {
            request: effect,
            bytes: b"data: x\n\n",
        },
        Input::End { request: effect },
        Input::ToolFinished {
            call: effect,
            result: ToolReturn::Content(Vec::new()),
        },
        Input::Answered {
            question: effect,
            answer: Answer::Stop(true),
        },
        Input::Saved {
            save: effect,
            ok: true,
        },
        Input::HandedOver { handover: effect },
        Input::Due,
    ]
}

#[test]
fn an_abort_after_any_effect_settles_at_once_and_keeps_what_there_is() {
    let steps = script();
    for at in 1..=steps.len() {
        let mut world = played(&steps[..at]);
        let open: Vec<EffectId> = world.open_requests.iter().map(|(request, _)| *request).collect();
        let running = world.running.len();
        let aborted = world
            .tool_log
            .iter()
            .filter(|line| line.starts_with("abort"))
            .count();
        let text = world.result()["text"].clone();
        world.cancel();
        assert!(world.done.is_some(), "step {at}");
        assert!(
            open.iter()
                .all(|request| world.aborted_requests.contains(request)),
            "step {at}"
        );
        let aborts = world
            .tool_log
            .iter()
            .filter(|line| line.starts_with("abort"))
            .count()
            - aborted;
        assert_eq!(aborts, running, "step {at}: every tool that runs is told");
        assert_eq!(world.result()["text"], text, "step {at}: partial text is kept");
        check(&world, at);
        late_answers(&mut world);
    }
}

#[test]
fn an_abort_before_the_outputs_of_an_input_are_performed_starts_nothing_of_them() {
    let steps = script();
    for at in 1..=steps.len() {
        let mut world = played(&steps[..at - 1]);
        world.holds_outputs = true;
        steps[at - 1](&mut world);
        let moment = Moment {
            now_ms: world.now_ms,
            random: world.seed,
        };
        world
            .run
            .handle_input(Input::Cancel { why: "user".into() }, moment);
        let mut is_done = false;
        while let Some(output) = world.run.poll_output() {
            assert!(!is_done, "step {at}: {output:?} after the end");
            match output {
                Output::Send { request, .. } => assert!(!world.run.is_live(request), "step {at}"),
                Output::CallTool(call) => assert!(!world.run.is_live(call.call), "step {at}"),
                Output::Ask { question, .. } => assert!(!world.run.is_live(question), "step {at}"),
                Output::Emit(event) => world.events.push(event),
                Output::Done(_) => is_done = true,
                _ => {}
            }
        }
        assert!(is_done, "step {at}");
        check(&world, at);
    }
}
