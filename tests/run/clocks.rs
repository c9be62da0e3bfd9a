//! Clocks that go wrong: a run goes on, and its deadlines are no further away than they were.

use looplet::engine::model::input::{Input, Moment};
use serde_json::{Value, json};

use crate::wire::{begin, call, event, open, stream, text};
use crate::world::{World, config, tool};

/// A run that waits 2,000 ms for its second attempt.
fn waiting() -> World {
    let mut world = World::started(config(json!([]), json!({})));
    world.refuse(500, &[], "{}");
    assert_eq!(world.run.poll_timeout().unwrap().at_ms, 1_002_000);
    world
}

#[test]
fn a_clock_that_is_put_back_does_not_move_a_deadline_away() {
    let mut world = waiting();
    world.now_ms = 400_000;
    world.input(Input::Withdraw { id: 9 });
    for now_ms in [401_000, 402_000] {
        assert_eq!(world.requests.len(), 1, "at {now_ms}");
        world.now_ms = now_ms;
        world.input(Input::Due);
    }
    assert_eq!(world.requests.len(), 2, "two seconds have passed");
    world.respond(&stream(&[text("Hi.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_clock_that_does_not_tell_the_time_lets_the_timer_tell_it() {
    let mut world = waiting();
    world.now_ms = u64::MAX;
    world.input(Input::Steer {
        id: 1,
        content: Vec::new(),
    });
    assert_eq!(world.run.now_ms(), 1_000_000, "no time has passed");
    world.input(Input::Due);
    assert_eq!(world.requests.len(), 2);
    world.now_ms = 1_000_500;
    world.respond(&stream(&[text("Hi.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(
        world.run.now_ms(),
        1_002_000,
        "the timer has told this time already"
    );
}

#[test]
fn a_clock_that_stands_still_lets_the_timer_tell_the_time() {
    let mut world = waiting();
    world.input(Input::Due);
    assert_eq!(world.requests.len(), 2);
    world.refuse(500, &[], "{}");
    world.input(Input::Due);
    assert_eq!(world.requests.len(), 3, "the second wait ends too");
    world.respond(&stream(&[text("Hi.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn a_clock_that_is_put_back_while_a_timer_waits_lets_the_timer_tell_the_time() {
    let mut world = waiting();
    world.now_ms = 0;
    world.input(Input::Due);
    assert_eq!(world.requests.len(), 2);
}

#[test]
fn a_timer_that_fires_early_is_not_believed_when_the_clock_has_moved() {
    let mut world = waiting();
    world.now_ms += 1_999;
    world.input(Input::Due);
    assert_eq!(world.requests.len(), 1, "a millisecond is left");
    world.input(Input::Due);
    assert_eq!(world.requests.len(), 2, "the timer of this millisecond has fired");
}

#[test]
fn a_clock_that_goes_on_after_timers_told_the_time_is_waited_for() {
    let mut world = waiting();
    world.input(Input::Due);
    world.now_ms += 500;
    world.refuse(500, &[], "{}");
    assert_eq!(world.run.now_ms(), 1_002_000, "less than the timer has told");
    world.now_ms += 2_000;
    world.input(Input::Withdraw { id: 9 });
    assert_eq!(world.run.now_ms(), 1_002_500);
}

#[test]
fn a_timer_of_a_wait_that_is_over_does_not_end_a_longer_one() {
    let timeouts = json!({"firstChunkMs": 5_000, "chunkMs": 90_000});
    let mut world = World::started(config(json!([]), json!({"timeouts": timeouts})));
    world.head(200, &[("content-type", "text/event-stream")]);
    world.chunk(&(begin(1) + &open(0, &text("Half"))));
    world.input(Input::Due);
    assert_eq!(
        world.run.now_ms(),
        1_005_000,
        "the timer of the first chunk has fired"
    );
    assert!(world.done.is_none(), "the wait for the next chunk goes on");
}

#[test]
fn a_run_whose_clock_never_tells_the_time_ends_as_any_other() {
    let mut world = World::new(config(json!([]), json!({"timeouts": {"totalMs": 60_000}})));
    world.now_ms = u64::MAX;
    world.prompt("Go.");
    world.refuse(500, &[], "{}");
    world.input(Input::Due);
    world.respond(&stream(&[text("Hi.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn the_same_moments_give_the_same_time() {
    let mut ledgers = [waiting(), waiting()];
    for world in &mut ledgers {
        for now_ms in [1_000_100, 3, 5, u64::MAX, 4] {
            let moment = Moment { now_ms, random: 0 };
            world.run.handle_input(Input::Withdraw { id: 9 }, moment);
        }
    }
    assert_eq!(ledgers[0].run.now_ms(), 1_000_102);
    assert_eq!(ledgers[1].run.now_ms(), 1_000_102);
}

/// A run with a time, on a host that is too busy to let timers fire.
fn timed(timeouts: Value) -> World {
    World::started(config(
        json!([tool("act", json!({}))]),
        json!({"timeouts": timeouts}),
    ))
}

#[test]
fn a_time_that_is_over_stops_a_run_also_on_a_host_whose_timers_do_not_fire() {
    for timeouts in [json!({"totalMs": 20}), json!({"iterationMs": 20})] {
        let mut world = timed(timeouts);
        world.respond(&stream(&[call("a", "act", json!({"n": 1}))], "tool_use"));
        world.now_ms += 30;
        world.return_value("a", json!("done"));
        let result = world.result();
        assert_eq!(
            (&result["outcome"], &result["stoppedBy"]),
            (&json!("stopped"), &json!("time"))
        );
        assert_eq!(world.requests.len(), 1);
        assert_eq!(
            result["toolCalls"][0]["output"], "done",
            "what it brought is kept"
        );
    }
}

#[test]
fn a_time_that_is_over_is_looked_at_while_an_answer_streams_and_before_its_tools() {
    let mut world = timed(json!({"totalMs": 20}));
    world.head(200, &[("content-type", "text/event-stream")]);
    world.now_ms += 30;
    world.chunk(&(begin(1) + &open(0, &text("Half"))));
    assert_eq!(world.result()["stoppedBy"], "time");
    assert_eq!(world.result()["text"], "Half");

    let mut world = timed(json!({"totalMs": 20}));
    world.head(200, &[("content-type", "text/event-stream")]);
    world.chunk(&(begin(1) + &open(0, &text("Once"))));
    let delta =
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " more"}});
    for _ in 0..3 {
        world.chunk(&event(delta.clone()));
    }
    world.now_ms += 30;
    world.chunk(&event(delta));
    assert_eq!(world.result()["text"], "Once more more more more");

    let mut world = timed(json!({"totalMs": 20}));
    world.head(200, &[("content-type", "text/event-stream")]);
    world.now_ms += 30;
    world.chunk(&stream(&[call("a", "act", json!({"n": 1}))], "tool_use"));
    assert_eq!(world.result()["stoppedBy"], "time");
    assert!(world.tool_log.is_empty());
}

#[test]
fn a_time_of_0_is_over_before_the_first_request() {
    for timeouts in [json!({"totalMs": 0}), json!({"iterationMs": 0})] {
        let world = timed(timeouts);
        assert_eq!(world.result()["stoppedBy"], "time");
        assert!(world.requests.is_empty());
    }
}
