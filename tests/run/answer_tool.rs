use looplet::engine::model::event::EventKind;
use looplet::engine::model::hook::HookAnswer;
use looplet::engine::model::input::Input;
use looplet::engine::model::message::{Block, Json};
use serde_json::json;

use crate::hooks;
use crate::structured_output::{GOOD, answer, messages, schema};
use crate::wire::{Piece, call, stream, text};
use crate::world::{World, config, tool};

/// The JSON text of an answer that stands with its guardrail, and what that makes of it.
fn guarded(mode: &str, pieces: &[Piece], rewrite: &str) -> World {
    let output = json!({"schema": schema(), "mode": mode});
    let hooks = json!([{"event": "OutputGuardrail", "blocks": true}]);
    let tools = json!([tool("look", json!({}))]);
    let mut world = World::started(config(tools, json!({"output": output, "hooks": hooks})));
    world.respond(&stream(pieces, "end_turn"));
    let updated_output = Some(Json::string(rewrite));
    hooks::answer(
        &mut world,
        HookAnswer {
            updated_output,
            ..HookAnswer::default()
        },
    );
    world
}

#[test]
fn p_19_s001_50_an_output_guardrail_sees_and_rewrites_the_json_of_an_answer_in_either_mode() {
    let hidden = r#"{"city":"***","days":2}"#;
    for mode in ["native", "tool"] {
        let output = json!({"schema": schema(), "mode": mode});
        let guard = json!([{"event": "OutputGuardrail", "blocks": true}]);
        let mut world = World::started(config(json!([]), json!({"output": output, "hooks": guard})));
        world.respond(&stream(&[answer(mode, GOOD)], "end_turn"));
        let shown = hooks::asked(&world)[0].1["message"]["content"].clone();
        assert_eq!(shown, json!([{"type": "text", "text": GOOD}]), "{mode}");

        let mut pieces = vec![text("Paris it is."), answer(mode, GOOD)];
        if mode == "tool" {
            pieces.push(Piece::Call("b".into(), "answer".into(), GOOD.into()));
        }
        let world = guarded(mode, &pieces, hidden);
        let result = world.result();
        assert_eq!(result["outcome"], "completed", "{mode}");
        assert_eq!(result["output"]["city"], "***", "{mode}");
        assert_eq!(
            (&result["text"], world.delivered_text()),
            (&json!(hidden), hidden.to_owned())
        );
        assert!(
            !messages(&world).contains("Paris"),
            "{mode}: {}",
            messages(&world)
        );

        for (rewrite, told) in [
            (r#"{"city":"***","days":0}"#, "at least 1"),
            ("***", "not valid JSON"),
            ("", "it is empty"),
            (" null\n", "it is empty"),
            ("\u{feff}null", "it is empty"),
            ("[1]", "an array"),
        ] {
            let world = guarded(mode, &[answer(mode, GOOD)], rewrite);
            assert!(world.done.is_none(), "{mode}: what does not fit is no answer");
            let asked = world.body(1)["messages"].to_string();
            assert!(
                asked.contains(told) && !asked.contains("Paris"),
                "{mode}: {asked}"
            );
        }
    }
}

#[test]
fn an_answer_beside_calls_is_no_call_of_the_hosts_either() {
    let output = json!({"schema": schema(), "mode": "tool"});
    let fields = json!({
        "output": output,
        "limits": {"maxToolCalls": 1},
        "toolCalls": {"wordErrors": true},
        "hooks": [{"event": "PostToolBatch"}],
    });
    let mut world = World::started(config(json!([tool("look", json!({}))]), fields));
    world.respond(&stream(
        &[answer("tool", GOOD), call("c1", "look", json!({"n": 1}))],
        "tool_use",
    ));
    world.return_value("c1", json!("sun"));
    let batch = hooks::asked(&world).remove(0).1;
    assert_eq!(batch["toolCalls"].as_array().unwrap().len(), 1, "{batch}");
    hooks::answer(&mut world, HookAnswer::default());
    assert!(world.questions.is_empty(), "there is no error to find words for");
    assert!(world.body(1)["messages"].to_string().contains("early_answer"));
    let named = |kind: &EventKind| match kind {
        EventKind::ToolCall { tool_name, .. } | EventKind::ToolError { tool_name, .. } => {
            Some(tool_name.clone())
        }
        _ => None,
    };
    let told: Vec<String> = world
        .events
        .iter()
        .filter_map(|event| named(&event.kind))
        .collect();
    assert_eq!(told, ["look"]);
    world.respond(&stream(&[answer("tool", GOOD)], "tool_use"));
    let result = world.result();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["toolCalls"].as_array().unwrap().len(), 1);

    let fields =
        json!({"output": {"schema": schema(), "mode": "tool"}, "answers": {"strictStopReason": true}});
    let mut world = World::started(config(json!([]), fields));
    world.respond(&stream(&[answer("tool", GOOD)], "max_tokens"));
    assert_eq!(world.result()["outcome"], "failed");
    assert_eq!(
        world.result()["toolCalls"],
        json!([]),
        "nor in an answer that goes no further"
    );
}

#[test]
fn s001_50_an_answer_that_does_not_fit_leaves_the_earlier_one_that_did() {
    for mode in ["native", "tool"] {
        for refuses in [false, true] {
            let format = json!({"schema": schema(), "mode": mode, "maxRetries": 1});
            let mut world = World::started(config(json!([]), json!({"output": format})));
            world.input(Input::FollowUp {
                id: 1,
                content: vec![Block::text("More.")],
            });
            world.respond(&stream(&[answer(mode, GOOD)], "end_turn"));
            if refuses {
                world.respond(&stream(&[text("No.")], "refusal"));
            } else {
                world.respond(&stream(&[answer(mode, "{}")], "end_turn"));
                assert!(world.done.is_none());
                world.respond(&stream(&[answer(mode, "{}")], "end_turn"));
            }
            let result = world.result();
            assert_eq!(
                (&result["outcome"], &result["stoppedBy"]),
                (&json!("stopped"), &json!("structured_output")),
                "{mode}"
            );
            assert_eq!(result["output"], json!({"city": "Paris", "days": 2}));
        }
    }
}
