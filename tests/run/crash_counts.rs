//! Runs whose processes end one after the other: what may have caused the deaths decides how many there may be.

use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{Input, Reconciled};
use looplet::engine::model::message::Json;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::subagents::{ask, calls, says, setting as with_subagents};
use crate::wire::{begin, call, open, stream, text};
use crate::world::{Settings, World, config, tool};

fn setting(fields: Value) -> Settings {
    let mut all = json!({"journal": true});
    let fields = fields.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(fields);
    config(json!([tool("dig", json!({"replay": "safe"}))]), all)
}

/// A run whose tool `dig` is at work.
fn digging(fields: Value) -> World {
    let mut world = World::started(setting(fields));
    world.respond(&stream(&[call("a", "dig", json!({}))], "tool_use"));
    world
}

fn warnings(world: &World) -> Vec<String> {
    let told = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::Warning { code, message, .. } if code == "recovery_exhausted" => Some(message.clone()),
        _ => None,
    });
    told.collect()
}

#[test]
fn deaths_while_a_tool_runs_stop_the_run_and_name_the_tool() {
    let mut world = digging(json!({}));
    for _ in 0..2 {
        world.crash(setting(json!({})));
        assert!(world.done.is_none());
    }
    world.crash(setting(json!({})));
    assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
    let told = warnings(&world);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].contains("3 while a tool ran (the last one in \"dig\"), 0 while none ran"),
        "{told:?}"
    );
}

#[test]
fn a_run_that_is_only_interrupted_goes_on() {
    let mut world = World::started(setting(json!({})));
    for _ in 0..19 {
        world.head(200, &[]);
        world.chunk(&(begin(10) + &open(0, &text("A word"))));
        world.crash(setting(json!({})));
        assert!(world.done.is_none());
    }
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn an_interrupted_run_is_not_asked_for_without_end() {
    let mut world = World::started(setting(json!({})));
    for _ in 0..20 {
        assert!(world.done.is_none());
        world.crash(setting(json!({})));
    }
    assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
    assert!(warnings(&world)[0].contains("0 while a tool ran, 20 while none ran"));
}

#[test]
fn the_options_say_how_many_deaths_there_may_be() {
    let recovery = json!({"durable": {"maxCrashes": 1, "maxInterruptions": 2}});
    let mut world = digging(recovery.clone());
    world.crash(setting(recovery.clone()));
    assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
    let mut world = World::started(setting(recovery.clone()));
    world.crash(setting(recovery.clone()));
    assert!(world.done.is_none());
    world.crash(setting(recovery));
    assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
}

#[test]
fn a_call_that_comes_back_begins_the_count_anew() {
    let mut world = digging(json!({}));
    for round in 0..3 {
        for _ in 0..2 {
            world.crash(setting(json!({})));
        }
        let ids = ["a", "b", "c", "d"];
        world.return_value(ids[round], json!(1));
        let again = call(ids[round + 1], "dig", json!({"round": round}));
        world.respond(&stream(&[again], "tool_use"));
    }
    assert!(world.done.is_none());
}

#[test]
fn a_death_in_the_answer_of_a_subagent_is_no_crash_of_its_call() {
    let recovery = json!({"journal": true, "durable": {"maxCrashes": 1}});
    let mut world = World::started(with_subagents(recovery.clone()));
    world.respond(&calls(&[ask("a", "helper", "One.")]));
    for _ in 0..3 {
        world.crash(with_subagents(recovery.clone()));
        assert!(world.done.is_none());
    }
    world.respond_to("root/helper", &says("First."));
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_lost_instance_is_a_crash_whatever_the_run_was_doing() {
    let mut world = World::started(setting(json!({})));
    for _ in 0..3 {
        assert!(world.done.is_none());
        world.die(setting(json!({})));
        let recover = Input::Recover {
            running: Vec::new(),
            next_event: world.checkpoint.run.next_event,
            shown_blocks: 0,
        };
        world.input(recover);
    }
    assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
}

#[test]
fn a_journal_tells_how_often_its_run_was_stopped() {
    let few = || setting(json!({"durable": {"maxInterruptions": 2}}));
    let mut world = World::started(few());
    for stops in 1..=3 {
        while world.done.is_none() {
            world.crash(few());
        }
        assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
        world.die(few());
        let tail = world.run.tail();
        assert_eq!((tail.is_over, tail.stops), (true, stops));
        world.input(Input::Resume);
        assert!(world.done.is_none(), "whoever resumes it has mended the cause");
        world.die(few());
        let tail = world.run.tail();
        assert_eq!((tail.is_over, tail.stops), (false, 0));
        world.input(Input::Resume);
    }
    world.die(few());
    world.input(Input::Resume);
    assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
    world.crash(few());
    world.respond(&stream(&[text("Done.")], "end_turn"));
    world.die(few());
    assert_eq!(world.run.tail().stops, 0);
}

/// A run with a tool that must not run twice and one that may, stopped by its deaths while both were at work.
fn stopped_at_work() -> (World, impl Fn() -> Settings) {
    let few = || {
        let tools = json!([tool("pay", json!({})), tool("dig", json!({"replay": "safe"}))]);
        let recovery = json!({"maxCrashes": 1});
        config(
            tools,
            json!({"journal": true, "toolCalls": {"execution": "parallel"}, "durable": recovery}),
        )
    };
    let mut world = World::started(few());
    let both = [call("p", "pay", json!({})), call("d", "dig", json!({}))];
    world.respond(&stream(&both, "tool_use"));
    world.crash(few());
    assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
    let messages = world.result()["messages"].to_string();
    assert_eq!(messages.matches("it may have been completed").count(), 2);
    (world, few)
}

#[test]
fn whoever_takes_a_stopped_run_up_is_asked_about_its_open_calls() {
    let (mut world, few) = stopped_at_work();
    world.crash(few());
    assert!(world.done.is_none());
    let started: Vec<_> = world.running.keys().cloned().collect();
    assert_eq!(started, ["d"], "a call that may run again does");
    let (question, asked) = world.questions.pop().expect("a question about the payment");
    assert_eq!(asked.point, Point::Reconcile);
    let output = Json::of(&json!("paid"));
    world.input(Input::Answered {
        question,
        answer: Answer::Reconciled(Reconciled::Done { output }),
    });
    world.return_value("d", json!("dug"));
    let results = world.body(1)["messages"][2]["content"].to_string();
    assert!(results.contains("paid") && results.contains("dug"), "{results}");
    assert!(!results.contains("may have been completed"), "{results}");
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_stopped_run_that_is_only_looked_at_stays_as_it_was() {
    let (mut world, few) = stopped_at_work();
    for _ in 0..2 {
        world.die(few());
        world.run.recall();
        let messages = world.run.history().messages.to_vec();
        let messages = serde_json::to_string(&messages).unwrap();
        assert_eq!(messages.matches("it may have been completed").count(), 2);
    }
    world.crash(few());
    assert_eq!(world.questions.len(), 1);
}

#[test]
fn a_subagent_goes_on_in_a_stopped_run_that_is_taken_up() {
    let few = || with_subagents(json!({"journal": true, "durable": {"maxInterruptions": 1}}));
    let mut world = World::started(few());
    world.respond(&calls(&[ask("a", "helper", "One.")]));
    world.crash(few());
    assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
    world.crash(few());
    world.respond_to("root/helper", &says("First."));
    world.respond(&says("Done."));
    assert_eq!(world.result()["outcome"], "completed");
}
