//! Clocks that go wrong: a run goes on, and its deadlines are no further away than they were.

use looplet::engine::input::Input;
use looplet::engine::moment::Moment;
use serde_json::json;

use crate::wire::{stream, text};
use crate::world::{World, config};

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
    for now_ms in [400_000, 401_000, 402_000] {
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
    assert_eq!(world.run.now_ms(), 1_002_500);
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
