use looplet::engine::model::event::EventKind;
use looplet::engine::model::input::Input;
use looplet::engine::model::message::Block;
use serde_json::json;

use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

fn world() -> World {
    World::started(config(
        json!([tool("read", json!({"readOnly": true}))]),
        json!({}),
    ))
}

fn steer(world: &mut World, id: u32, words: &str) {
    world.input(Input::Steer {
        id,
        content: vec![Block::text(words)],
    });
}

fn delivered(world: &World) -> Vec<u32> {
    let ids = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::SteerDelivered { ids, .. } => Some(ids.clone()),
        _ => None,
    });
    ids.flatten().collect()
}

#[test]
fn s003_10_p_20_a_steer_goes_with_the_next_results_and_cancels_nothing() {
    let mut world = world();
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    steer(&mut world, 1, "Only tomorrow.");
    steer(&mut world, 2, "In Celsius.");
    assert_eq!(world.running.len(), 1);
    world.return_value("a", json!(1));
    let content = world.body(1)["messages"][2]["content"].clone();
    assert_eq!(content[0]["type"], "tool_result");
    assert_eq!(
        (&content[1]["text"], &content[2]["text"]),
        (&json!("Only tomorrow."), &json!("In Celsius."))
    );
    assert_eq!(delivered(&world), [1, 2]);
}

#[test]
fn p_20_a_steer_to_a_model_that_has_finished_starts_one_more_iteration() {
    let mut world = world();
    steer(&mut world, 1, "Shorter.");
    world.respond(&stream(&[text("A long answer.")], "end_turn"));
    assert!(world.done.is_none());
    world.respond(&stream(&[text("Short.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
    assert_eq!(world.result()["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn a_follow_up_waits_until_the_model_has_finished() {
    let mut world = world();
    world.input(Input::FollowUp {
        id: 7,
        content: vec![Block::text("And Sunday?")],
    });
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    world.return_value("a", json!(1));
    assert!(!world.requests[1].contains("And Sunday?"));
    world.respond(&stream(&[text("Rain.")], "end_turn"));
    assert!(world.requests[2].contains("And Sunday?"));
    assert_eq!(delivered(&world), [7]);
}

#[test]
fn p_20_what_has_not_been_delivered_can_be_withdrawn() {
    let mut world = world();
    steer(&mut world, 1, "No.");
    steer(&mut world, 2, "Yes.");
    world.input(Input::Withdraw { id: 1 });
    world.respond(&stream(&[text("Hm.")], "end_turn"));
    assert!(!world.requests[1].contains("No."));
    assert!(world.requests[1].contains("Yes."));
}

#[test]
fn what_was_never_delivered_is_in_the_result() {
    let mut world = world();
    steer(&mut world, 5, "Too late.");
    world.cancel();
    assert_eq!(world.result()["undelivered"], json!([5]));
}

#[test]
fn a_steer_before_the_start_goes_with_the_first_request() {
    let mut world = World::new(config(json!([]), json!({})));
    steer(&mut world, 1, "Only tomorrow.");
    world.prompt("Weather?");
    assert!(world.requests[0].contains("Only tomorrow."));
}

#[test]
fn a_steer_that_no_model_can_see_stays_undelivered() {
    let mut world = World::started(config(json!([]), json!({"limits": {"maxIterations": 1}})));
    steer(&mut world, 1, "More.");
    world.respond(&stream(&[text("Enough.")], "end_turn"));
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["undelivered"]),
        (&json!("completed"), &json!([1]))
    );
}

#[test]
fn p_20_steers_can_be_delivered_one_at_a_time() {
    let mut world = World::started(config(json!([]), json!({"steeringMode": "one"})));
    for (id, words) in [(1, "First."), (2, "Second."), (3, "Third.")] {
        steer(&mut world, id, words);
    }
    world.input(Input::Withdraw { id: 2 });
    world.respond(&stream(&[text("A.")], "end_turn"));
    assert!(world.requests[1].contains("First.") && !world.requests[1].contains("Third."));
    assert_eq!(delivered(&world), [1]);
    world.respond(&stream(&[text("B.")], "end_turn"));
    assert!(world.requests[2].contains("Third."));
    assert_eq!(delivered(&world), [1, 3]);
    world.respond(&stream(&[text("C.")], "end_turn"));
    assert_eq!(world.result()["outcome"], "completed");
}

#[test]
fn follow_ups_are_asked_one_by_one_or_all_at_once() {
    for (mode, requests) in [("one", 3), ("all", 2)] {
        let mut world = World::started(config(json!([]), json!({"followUpMode": mode})));
        for (id, words) in [(1, "And Sunday?"), (2, "And Monday?")] {
            world.input(Input::FollowUp {
                id,
                content: vec![Block::text(words)],
            });
        }
        while world.open_request.is_some() {
            world.respond(&stream(&[text("Rain.")], "end_turn"));
        }
        assert_eq!(world.requests.len(), requests);
        assert_eq!(delivered(&world), [1, 2]);
        assert_eq!(world.requests[1].contains("And Monday?"), mode == "all");
    }
}

#[test]
fn p_20_a_steer_while_tools_run_or_an_answer_streams_interrupts_nothing() {
    let mut world = world();
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    steer(&mut world, 1, "Stop that.");
    assert_eq!(world.tool_log, ["start a"]);
    assert!(delivered(&world).is_empty(), "no implicit model call");
    world.return_value("a", json!(1));
    world.head(200, &[]);
    steer(&mut world, 2, "And that.");
    assert!(world.aborted_requests.is_empty());
    world.chunk(&stream(&[text("Well.")], "end_turn"));
    world.end();
    assert_eq!(delivered(&world), [1, 2]);
    let messages = world.body(2)["messages"].clone();
    assert_eq!(messages.as_array().unwrap().last().unwrap()["role"], "user");
}
