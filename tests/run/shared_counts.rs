//! Tool calls of subagents count for the agents above them too.

use looplet::engine::model::hook::Raise;
use serde_json::{Value, json};

use crate::hooks::{answer, asked};
use crate::subagents::{ask, calls, setting};
use crate::wire::{call, stream, text};
use crate::world::World;
use looplet::engine::model::hook::HookAnswer;

fn dig(world: &mut World, path: &str, ids: &[&str]) {
    let pieces: Vec<_> = ids.iter().map(|id| call(id, "dig", json!({"n": 1}))).collect();
    world.respond_to(path, &stream(&pieces, "tool_use"));
    for id in ids {
        if world.running.contains_key(*id) {
            world.return_value(id, json!(1));
        }
    }
}

fn world(fields: Value) -> World {
    let mut world = World::started(setting(fields));
    world.respond(&calls(&[ask("a", "helper", "Go."), ask("b", "helper", "Go.")]));
    world
}

#[test]
fn s003_04_the_tool_calls_of_a_run_are_those_of_all_its_agents() {
    let mut world = world(json!({"limits": {"maxToolCalls": 5}}));
    dig(&mut world, "root/helper", &["1", "2"]);
    dig(&mut world, "root/helper#2", &["3"]);
    assert!(world.done.is_none(), "5 calls with those of the subagents");
    dig(&mut world, "root/helper", &["4"]);
    assert_eq!(world.result()["stoppedBy"], "tool_calls");
    assert!(
        !world.tool_log.contains(&"start 4".to_owned()),
        "before its tools"
    );
}

#[test]
fn a_limit_of_calls_that_subagents_have_used_up_holds_the_next_answer_of_their_caller() {
    let mut world = world(json!({"limits": {"maxToolCalls": 4}}));
    dig(&mut world, "root/helper", &["1", "2"]);
    for path in ["root/helper", "root/helper#2"] {
        world.respond_to(path, &stream(&[text("Found.")], "end_turn"));
    }
    world.respond(&calls(&[ask("c", "helper", "More.")]));
    assert_eq!(world.result()["stoppedBy"], "tool_calls");
}

#[test]
fn the_host_is_asked_about_its_limit_and_can_raise_it() {
    let mut world = world(json!({"limits": {"maxToolCalls": 3}, "hooks": [{"event": "Limit"}]}));
    dig(&mut world, "root/helper", &["1", "2"]);
    assert!(world.done.is_none() && asked(&world).is_empty());
    world.respond_to("root/helper#2", &stream(&[text("Found.")], "end_turn"));
    world.respond(&calls(&[ask("c", "helper", "More.")]));
    let told = asked(&world).remove(0).1;
    assert_eq!(
        (&told["limit"], &told["toolCalls"]),
        (&json!("tool_calls"), &json!(5))
    );
    let raise = Raise {
        max_tool_calls: Some(5),
        ..Raise::default()
    };
    answer(
        &mut world,
        HookAnswer {
            limits: Some(raise),
            ..HookAnswer::default()
        },
    );
    assert!(world.done.is_none());
    assert_eq!(world.open_requests.len(), 1, "the call runs");
}
