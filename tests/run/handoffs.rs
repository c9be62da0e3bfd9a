//! An agent that takes the conversation over.

use looplet::engine::model::event::ToolFault;
use looplet::engine::model::input::ToolReturn;
use serde_json::json;

use crate::subagents::{agent_tool, calls, setting};
use crate::wire::call;
use crate::world::{World, config};

#[test]
fn a_handoff_goes_on_with_the_transcript_under_another_profile() {
    let mut world = World::started(setting(json!({})));
    world.respond(&calls(&[
        call("a", "expert", json!({})),
        call("b", "expert", json!({})),
    ]));
    let body = world.body(1);
    assert_eq!(body["model"], "big");
    assert_eq!(world.sent[1].model, 1);
    assert_eq!(
        body["messages"].as_array().unwrap().len(),
        5,
        "system, prompt, calls, two results"
    );
    assert!(body["tools"].to_string().contains("look") && !body["tools"].to_string().contains("read"));
    assert!(world.requests[1].contains("handed_over"), "one at a time");
    let handed = world
        .event_names()
        .iter()
        .filter(|name| *name == "handoff")
        .count();
    assert_eq!(handed, 1);
    assert_eq!(world.run.agent_path(0), "root");
}

#[test]
fn a_handoff_may_call_your_code_first_whose_error_keeps_the_conversation() {
    for may_go in [true, false] {
        let tools = json!([
            agent_tool("judge", json!({"profile": 1, "handoff": true, "callsHost": true})),
            agent_tool("expert", json!({"profile": 1, "handoff": true})),
        ]);
        let agents = json!({"agents": [{"model": {"vendor": "anthropic", "model": "big"}}]});
        let mut world = World::started(config(tools, agents));
        world.respond(&calls(&[
            call("a", "judge", json!({"why": "law"})),
            call("b", "expert", json!({})),
        ]));
        assert_eq!(world.tool_log[0], "start a");
        if may_go {
            world.return_value("a", json!(null));
            assert!(world.requests[1].contains("has been handed over"));
        } else {
            world.finish_tool("a", ToolReturn::Fault(ToolFault::not_run()));
        }
        assert_eq!(
            world.body(1)["model"],
            "big",
            "the other call hands over in any case"
        );
    }
}
