use looplet::engine::model::event::EventKind;
use looplet::engine::model::message::Message;
use serde_json::{Value, json};

use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

fn world(fields: Value) -> World {
    World::started(config(json!([tool("read", json!({"readOnly": true}))]), fields))
}

fn told(world: &World) -> Vec<Message> {
    let messages = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::Message { message } => Some(message.clone()),
        _ => None,
    });
    messages.collect()
}

fn transcript(world: &World) -> Vec<Message> {
    serde_json::from_value(world.result()["messages"].clone()).unwrap()
}

#[test]
fn each_whole_message_is_an_event_if_that_is_wanted() {
    let mut world = world(json!({"messageEvents": true}));
    assert_eq!(told(&world).len(), 1, "the prompt is told when it is sent");
    world.respond(&stream(
        &[text("Let me see."), call("a", "read", json!({}))],
        "tool_use",
    ));
    assert_eq!(told(&world).len(), 2);
    world.return_value("a", json!(1));
    assert_eq!(told(&world).len(), 3);
    world.respond(&stream(&[text("One.")], "end_turn"));
    assert_eq!(told(&world), transcript(&world));
    assert!(
        self::world(json!({}))
            .event_names()
            .iter()
            .all(|name| name != "message")
    );
}

#[test]
fn an_abort_tells_what_closes_the_calls_and_a_history_that_was_given_is_not_told() {
    let history = json!([{"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}]);
    let mut world = world(json!({"messageEvents": true, "messages": history}));
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    world.cancel();
    assert_eq!(told(&world), transcript(&world)[2..]);
}
