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
        EventKind::Message { message, .. } => Some(message.clone()),
        _ => None,
    });
    messages.collect()
}

/// The vendor's id and word of each message that has one.
fn ends(world: &World) -> Vec<(String, String)> {
    let ends = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::Message {
            response_id,
            raw_finish_reason,
            ..
        } => response_id.clone().zip(raw_finish_reason.clone()),
        _ => None,
    });
    ends.collect()
}

fn transcript(world: &World) -> Vec<Message> {
    serde_json::from_value(world.result()["messages"].clone()).unwrap()
}

#[test]
fn each_whole_message_is_an_event_if_that_is_wanted() {
    let mut world = world(json!({"events": {"messages": true}}));
    assert_eq!(told(&world).len(), 1, "the prompt is told when it is sent");
    world.respond(&stream(
        &[text("Let me see."), call("a", "read", json!({}))],
        "tool_use",
    ));
    assert_eq!(told(&world).len(), 2);
    assert_eq!(ends(&world), [("msg_1".into(), "tool_use".into())]);
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
    let mut world = world(json!({"events": {"messages": true}, "messages": history}));
    world.respond(&stream(&[call("a", "read", json!({}))], "tool_use"));
    world.cancel();
    assert_eq!(told(&world), transcript(&world)[2..]);
}

#[test]
fn a_prompt_that_joins_one_without_an_answer_is_told_by_itself() {
    let history = json!([{"role": "user", "content": [{"type": "text", "text": "Unanswered."}]}]);
    let mut world = world(json!({"events": {"messages": true}, "messages": history}));
    world.respond(&stream(&[text("Yes.")], "end_turn"));
    let texts: Vec<_> = told(&world)
        .iter()
        .map(|message| serde_json::to_value(&message.content).unwrap()[0]["text"].clone())
        .collect();
    assert_eq!(texts, ["Go.", "Yes."]);
    assert_eq!(transcript(&world).len(), 2, "it stands in the message before");
}

#[test]
fn text_may_be_held_back_until_it_is_known_that_no_calls_follow() {
    let mut world = world(json!({"events": {"holdText": true}}));
    world.respond(&stream(
        &[text("Let me see."), call("a", "read", json!({}))],
        "tool_use",
    ));
    world.return_value("a", json!(1));
    let body = stream(&[text("One "), text("and two.")], "end_turn");
    let (most, rest) = body.split_at(body.find("event: message_delta").unwrap());
    world.head(200, &[]);
    world.chunk(most);
    assert!(world.event_names().iter().all(|name| !name.starts_with("text")));
    world.chunk(rest);
    world.end();
    let names: Vec<_> = world
        .event_names()
        .into_iter()
        .filter(|name| name.starts_with("text"))
        .collect();
    assert_eq!(
        names,
        [
            "text-start",
            "text-delta",
            "text-end",
            "text-start",
            "text-delta",
            "text-end"
        ]
    );
    let told = world.events.iter().filter_map(|event| match &event.kind {
        EventKind::TextDelta { text, .. } => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(told.collect::<String>(), "One and two.");
    assert_eq!(world.result()["text"], "One and two.");
}

#[test]
fn the_calls_of_an_answer_can_be_left_to_you() {
    let mut world = world(json!({"limits": {"maxToolRounds": 0}}));
    world.respond(&stream(&[call("a", "read", json!({"n": 1}))], "tool_use"));
    let result = world.result();
    assert_eq!(
        (&result["outcome"], &result["stoppedBy"]),
        (&json!("stopped"), &json!("tool_rounds"))
    );
    let left = &result["toolCalls"][0];
    assert_eq!(
        (&left["toolName"], &left["input"]),
        (&json!("read"), &json!({"n": 1}))
    );
    assert!(world.tool_log.is_empty() && world.done.is_some());
}
