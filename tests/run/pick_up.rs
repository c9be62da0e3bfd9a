//! Runs that another process picks up: given up by their process, begun twice, and told the same thing twice.

use looplet::engine::model::error::{Failure, FailureCode};
use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::{Behavior, Input, PermissionAnswer};
use looplet::engine::model::journal::{MAX_REQUESTS, Step};
use looplet::engine::model::message::Block;
use looplet::engine::model::question::Answer;
use serde_json::json;

use crate::wire::{begin, call, open, stream, text};
use crate::world::{Settings, World, config, tool};

fn setting() -> Settings {
    let tools = json!([
        tool("read", json!({"readOnly": true})),
        tool("wipe", json!({"needsApproval": true}))
    ]);
    let permissions = json!({"canUseTool": true, "allow": ["read"]});
    let recovery = json!({"maxInterruptions": 3});
    config(
        tools,
        json!({"journal": true, "permissions": permissions, "durable": recovery}),
    )
}

fn suspend(world: &mut World) {
    world.input(Input::Suspend {
        why: "a deploy".into(),
    });
}

fn give_up(world: &mut World) {
    world.input(Input::GiveUp {
        failure: Failure::new(FailureCode::StoreFailed, "disk full"),
    });
}

fn pick_up(world: &mut World) {
    world.die(setting());
    world.input(Input::PickUp);
}

fn steer(request: &str, said: &str) -> Input<'static> {
    Input::Once {
        request: request.into(),
        input: Box::new(Input::Steer {
            id: 1,
            content: vec![Block::text(said)],
        }),
    }
}

fn answer(world: &World, behavior: Behavior) -> Input<'static> {
    Input::Answered {
        question: world.questions[0].0,
        answer: Answer::Permission(PermissionAnswer {
            behavior,
            ..PermissionAnswer::default()
        }),
    }
}

#[test]
fn a_run_that_is_suspended_ends_here_and_goes_on_elsewhere() {
    let mut world = World::started(setting());
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    suspend(&mut world);
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["abortReason"]),
        (&json!("cancelled"), &json!("a deploy"))
    );
    let told: Vec<&EventKind> = world
        .events
        .iter()
        .rev()
        .take(2)
        .map(|event| &event.kind)
        .collect();
    assert!(matches!(
        told[..],
        [EventKind::Finish { .. }, EventKind::Abort { .. }]
    ));
    assert_eq!(world.checkpoint.agents[0].state.step.step, Step::Act);
    pick_up(&mut world);
    world.return_value("a", json!(1));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["text"], "Done.");
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_run_that_is_given_up_fails_here_and_goes_on_elsewhere() {
    let mut world = World::started(setting());
    world.head(200, &[]);
    world.chunk(&(begin(10) + &open(0, &text("Half of"))));
    for _ in 0..6 {
        give_up(&mut world);
        assert_eq!(world.result()["outcome"], "failed");
        assert_eq!(world.result()["error"]["code"], "store_failed");
        pick_up(&mut world);
    }
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["text"], "Done.");
}

#[test]
fn events_are_numbered_behind_those_that_listeners_have_heard_of_another_process() {
    let mut world = World::started(setting());
    world.die(setting());
    let mut last = world.events.last().expect("the run has begun").clone();
    last.seq += 40;
    let heard = last.seq;
    world.events.push(last);
    world.input(Input::NumberFrom { event: heard + 1 });
    world.input(Input::PickUp);
    // A smaller number changes nothing.
    world.input(Input::NumberFrom { event: 2 });
    world.respond(&stream(&[text("Done.")], "end_turn"));
    let mut numbers = world.events.iter().map(|event| event.seq);
    assert!(numbers.by_ref().any(|seq| seq == heard));
    let rest: Vec<u32> = numbers.collect();
    let expected: Vec<u32> = (heard + 1..).take(rest.len()).collect();
    assert!(!rest.is_empty() && rest == expected, "{rest:?}");
}

#[test]
fn telling_of_entries_that_are_not_saved_is_nothing_to_save() {
    let mut world = World::started(setting());
    let kept = world.checkpoint.end;
    world.input(Input::NotSaved {
        entries: 3,
        since: 5,
        why: "disk full".into(),
    });
    let told = EventKind::NotSaved {
        entries: 3,
        since: 5,
        message: "disk full".into(),
    };
    let event = world.events.last().map(|event| (&event.kind, event.iteration));
    assert_eq!(event, Some((&told, 1)));
    assert_eq!(world.checkpoint.end, kept);
}

#[test]
fn the_text_that_streams_is_kept_when_a_run_is_suspended() {
    let mut world = World::started(setting());
    world.head(200, &[]);
    world.chunk(&(begin(10) + &open(0, &text("Half of"))));
    suspend(&mut world);
    pick_up(&mut world);
    let cut_off = world.events.iter().find_map(|event| match &event.kind {
        EventKind::AnswerCutOff { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(cut_off, Some("Half of"));
}

#[test]
fn deploys_do_not_count_as_crashes() {
    let mut world = World::started(setting());
    for _ in 0..6 {
        suspend(&mut world);
        pick_up(&mut world);
    }
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
    let mut crashing = World::started(setting());
    suspend(&mut crashing);
    for _ in 0..3 {
        pick_up(&mut crashing);
        assert!(crashing.done.is_none());
    }
    pick_up(&mut crashing);
    assert_eq!(crashing.result()["stoppedBy"], "recovery_exhausted");
}

#[test]
fn a_run_that_was_stopped_after_crashes_goes_on_for_who_resumes_it() {
    let mut world = World::started(setting());
    for _ in 0..4 {
        world.die(setting());
        pick_up(&mut world);
    }
    assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
    // Each resumption is another try, with as many crashes as a new run may have.
    for _ in 0..2 {
        world.crash(setting());
        assert!(world.done.is_none(), "asks the model");
        for _ in 0..2 {
            world.crash(setting());
        }
        assert!(world.done.is_none());
        world.crash(setting());
        assert_eq!(world.result()["stoppedBy"], "recovery_exhausted");
    }
    world.crash(setting());
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_run_that_has_ended_ends_again_for_everybody_who_picks_it_up() {
    let mut world = World::started(setting());
    world.cancel();
    for _ in 0..5 {
        pick_up(&mut world);
        assert_eq!(world.result()["outcome"], "cancelled");
        assert_eq!(world.result()["abortReason"], "user");
    }
    assert_eq!(world.requests.len(), 1, "no model was asked");
    world.crash(setting());
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
    for _ in 0..5 {
        pick_up(&mut world);
        assert_eq!(world.result()["text"], "Done.");
    }
}

#[test]
fn a_prompt_that_comes_again_goes_on_with_its_run() {
    let mut world = World::started(setting());
    world.die(setting());
    world.prompt("Go.");
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["messages"].as_array().unwrap().len(), 2);
    let before = world.entries.len();
    world.die(setting());
    world.prompt("Stop.");
    assert_eq!(world.result()["error"]["code"], "run_exists");
    assert_eq!(world.entries.len(), before, "the journal stays as it was");
}

#[test]
fn a_steer_that_comes_twice_is_delivered_once_in_any_process() {
    let mut world = World::started(setting());
    assert!(world.offer(steer("r1", "Shorter.")));
    assert!(!world.offer(steer("r1", "Shorter.")));
    assert!(world.offer(steer("r2", "In French.")));
    world.crash(setting());
    assert!(!world.offer(steer("r1", "Shorter.")));
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    world.return_value("a", json!(1));
    let delivered = |world: &World| world.requests.last().unwrap().matches("Shorter.").count();
    assert_eq!(delivered(&world), 1);
    // It has left the inbox, and is known all the same.
    world.crash(setting());
    world.input(steer("r1", "Shorter."));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(delivered(&world), 1);
}

#[test]
fn an_answer_that_comes_twice_is_taken_once_and_is_no_mistake() {
    let mut world = World::started(setting());
    world.respond(&stream(&[call("b", "wipe", json!({}))], "tool_use"));
    world.input(answer(&world, Behavior::Allow));
    assert!(world.offer(answer(&world, Behavior::Allow)));
    assert!(!world.offer(answer(&world, Behavior::Deny)));
    let question = world.questions[0].clone();
    world.crash(setting());
    world.questions = vec![question];
    assert!(world.offer(answer(&world, Behavior::Allow)));
    assert!(!world.offer(answer(&world, Behavior::Deny)));
}

#[test]
fn the_requests_that_a_run_remembers_are_bounded() {
    let mut world = World::started(setting());
    for number in 0..MAX_REQUESTS + 50 {
        world.input(steer(&number.to_string(), "Shorter."));
    }
    assert_eq!(world.checkpoint.requests.0.len(), MAX_REQUESTS);
    assert_eq!(world.checkpoint.requests.0[0], "message 50");
    world.crash(setting());
    assert!(!world.offer(steer("50", "Shorter.")));
    assert!(world.offer(steer("49", "Shorter.")));
}
