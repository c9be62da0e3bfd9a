//! What runs of random schedules are configured with.

use looplet::engine::model::config::permission::PermissionMode;
use serde_json::json;

use crate::dice::Dice;
use crate::random_answers::{PROTOCOLS, model};
use crate::random_hooks;
use crate::world::{Settings, config, tool};

/// Stands in a header of the requests.
pub const SECRET: &str = "planted-0123456789";

pub const MODES: [PermissionMode; 6] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Plan,
    PermissionMode::DontAsk,
    PermissionMode::Auto,
    PermissionMode::BypassPermissions,
];

/// Anthropic's as often as all others: what it says is the most varied.
fn any_protocol(dice: &mut Dice) -> &'static str {
    match dice.below(2) {
        0 => PROTOCOLS[0],
        _ => dice.pick::<&str>(&PROTOCOLS),
    }
}

pub fn settings(dice: &mut Dice, max_iterations: u32) -> Settings {
    let tools = json!([
        tool("read", json!({"readOnly": true})),
        tool(
            "write",
            json!({"timeoutMs": 50, "access": "edit", "bindings": [{"field": "n", "input": "bound"}]})
        ),
        tool("key", json!({"prepare": true, "readOnly": dice.below(2) == 0})),
        tool("once", json!({"replay": "once"})),
        tool("helper", json!({"agent": {"profile": 1}})),
        tool(
            "keeper",
            json!({"agent": {"profile": 2, "keep": true, "inheritModel": true}, "needsApproval": dice.below(4) == 0})
        ),
        tool(
            "expert",
            json!({"agent": {"profile": 3, "handoff": true, "filters": dice.below(2) == 0}})
        ),
    ]);
    let below = json!([
        tool("read", json!({"readOnly": true})),
        tool("once", json!({"replay": "once"})),
        tool("helper", json!({"agent": {"profile": 1}})),
        tool("keeper", json!({"agent": {"profile": 2, "keep": true}})),
        tool("expert", json!({"agent": {"profile": 0, "handoff": true}})),
    ]);
    let small = |dice: &mut Dice| {
        json!({"model": model(any_protocol(dice), "claude-below"), "tools": below, "retry": {"maxRetries": 1, "baseMs": 10, "jitterMs": 0},
            "limits": {"maxIterations": 1 + dice.below(3), "maxTotalTokens": 20 + dice.below(80),
                "maxToolCalls": dice.pick(&[json!(null), json!(3)])},
            "timeouts": {"totalMs": 100 + dice.below(300), "firstChunkMs": 200, "chunkMs": 100}})
    };
    let mut agents = [small(dice), small(dice), small(dice)];
    agents[2]["limits"] = json!({"maxIterations": max_iterations});
    let mut root = model(any_protocol(dice), "claude-test");
    root["headers"] = json!([["x-planted", SECRET]]);
    let mut fields = json!({
        "model": root,
        "trace": dice.below(2) == 0,
        "limits": {
            "maxIterations": max_iterations,
            "maxSubagentDepth": 1 + dice.below(3),
            "estimateUsage": dice.below(4) == 0,
        },
        "agents": agents,
        "events": {"joinDeltas": dice.below(2) == 0},
        "answers": {
            "onMaxTokens": dice.pick(&["return", "continue", "error"]),
            "strictStopReason": dice.below(8) == 0,
        },
        "steeringMode": dice.pick(&["all", "one"]),
        "followUpMode": dice.pick(&["all", "one"]),
        "toolCalls": {
            "execution": dice.pick(&["read-only-parallel", "parallel", "sequential"]),
            "maxConcurrency": 1 + dice.below(4),
            "eager": dice.below(2) == 0,
            "wordErrors": dice.below(3) == 0,
            "maxResultChars": dice.pick(&[4, 100_000]),
            "onUnknownTool": dice.pick(&["tool_result", "host", "host", "throw"]),
        },
        "inputs": dice.pick(&[json!({}), json!({"bound": 7})]),
        "retry": {"maxRetries": dice.below(3), "baseMs": 10, "jitter": dice.pick(&["added", "full"])},
        "timeouts": {"firstChunkMs": 200, "chunkMs": 100},
    });
    if dice.below(4) == 0 {
        fields["limits"]["maxTotalTokens"] = json!(dice.below(120));
    }
    if dice.below(4) == 0 {
        fields["limits"]["maxToolRounds"] = json!(dice.below(3));
        fields["limits"]["maxToolCalls"] = json!(1 + dice.below(6));
    }
    if dice.below(4) == 0 {
        fields["askStop"] = json!(dice.below(2) == 0);
        fields["askRepeat"] = json!(true);
        fields["repeat"] = json!({"nudgeAfter": 1, "askAfter": 2, "stopAfter": 2 + dice.below(3)});
        fields["stopWhen"] = dice
            .pick(&[json!([]), json!([{"toolCall": "once"}, {"iterations": 3}])])
            .clone();
    }
    if dice.below(4) == 0 {
        fields["permissions"] = json!({
            "mode": dice.pick(&["default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"]),
            "canUseTool": dice.below(4) > 0,
            "allow": ["read"],
            "ask": dice.pick(&[json!([]), json!(["key"])]),
            "deny": dice.pick(&[json!([]), json!([]), json!(["once"]), json!(["helper"])]),
        });
        fields["timeouts"]["permissionMs"] = json!(150);
    }
    if dice.below(4) == 0 {
        fields["subagents"] = json!([{"agentPath": "root/keeper", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Before."}]},
            {"role": "assistant", "content": [{"type": "tool_call", "id": "t1", "name": "read", "input": {}}]}]}]);
    }
    random_hooks::add(dice, &mut fields);
    if dice.below(3) == 0 {
        fields["context"] = json!({
            "window": 60 + dice.below(200),
            "keepLast": dice.below(3),
            "ask": dice.below(4) == 0,
            "maxChars": dice.pick(&[json!(null), json!(300)]),
            "pruning": dice.pick(&[json!(null), json!({"afterResponses": 1, "prefixChars": 3})]),
        });
    }
    if dice.below(4) == 0 {
        fields["output"] = json!({
            "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            "mode": dice.pick(&["auto", "native", "tool"]),
            "ask": dice.below(2) == 0,
            "maxRetries": dice.below(3),
        });
        fields["agents"][2]["output"] = fields["output"].clone();
    }
    if dice.below(4) == 0 {
        let own = fields["agents"][dice.below(2) as usize].as_object_mut().unwrap();
        own.insert(
            "output".into(),
            json!({"schema": {"type": "object", "required": ["n"]}, "maxRetries": 1, "ask": true}),
        );
        own.insert(
            "fallbackModels".into(),
            json!([{"vendor": "anthropic", "model": "claude-test"}]),
        );
        own.insert("askStop".into(), json!(true));
    }
    if dice.below(4) == 0 {
        fields["timeouts"]["totalMs"] = json!(300 + dice.below(1000));
        fields["timeouts"]["iterationMs"] = json!(100 + dice.below(200));
    }
    config(tools, fields)
}
