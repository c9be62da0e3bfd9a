use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::told::event_name;
use crate::wire::{call, stream, text};
use crate::world::{World, config, tool};

/// A run with two rounds of tools, of which a result is cut and a call fails.
fn played(is_observed: bool) -> World {
    let tools = json!([tool("read", json!({"readOnly": true, "maxResultChars": 3}))]);
    let config = config(tools, json!({}));
    let mut world = if is_observed {
        World::new(config)
    } else {
        World::unobserved(config)
    };
    world.prompt("Go.");
    let both = [
        call("a", "read", json!({"n": 1})),
        call("b", "read", json!({"n": 2})),
    ];
    world.respond(&stream(&both, "tool_use"));
    world.return_value("b", json!("a long result"));
    world.return_value("a", json!("x"));
    world.respond(&stream(&[text("Hm."), call("c", "none", json!({}))], "tool_use"));
    world.respond(&stream(&[text("Done.")], "end_turn"));
    world
}

fn by_seq(world: &World) -> BTreeMap<u32, String> {
    let events = world.events.iter();
    events.map(|event| (event.seq, event_name(&event.kind))).collect()
}

#[test]
fn what_nobody_hears_of_tools_is_not_told_but_counted_and_changes_nothing() {
    let (observed, unobserved) = (played(true), played(false));
    assert_eq!(observed.result(), unobserved.result());
    assert_eq!(observed.requests, unobserved.requests);
    assert_eq!(observed.done, unobserved.done);
    let is_of_tools = |name: &str| {
        name.starts_with("tool-input") || ["tool-call", "tool-result", "tool-error"].contains(&name)
    };
    let mut all = by_seq(&observed);
    let before = all.len();
    all.retain(|_, name| !is_of_tools(name));
    assert_eq!(by_seq(&unobserved), all);
    assert!(
        before >= all.len() + 12,
        "{before} events, {} without tools",
        all.len()
    );
    let cut = |world: &World| world.event_names().contains(&"warning".to_owned());
    assert!(
        cut(&observed) && cut(&unobserved),
        "a result that is cut is told all the same"
    );
    assert_eq!(observed.result()["toolCalls"].as_array().map(Vec::len), Some(3));
    assert_ne!(observed.result()["toolCalls"][0]["output"], Value::Null);
}
