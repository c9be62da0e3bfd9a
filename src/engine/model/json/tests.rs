use serde_json::{Value, json};

use super::read;
use crate::engine::model::config::permission::Rule;
use crate::engine::model::config::{Config, RunOptions};
use crate::engine::model::error::ConfigError;
use crate::engine::model::event::{Event, EventKind};
use crate::engine::model::input::{PermissionAnswer, UpdateType};
use crate::engine::model::message::Message;
use crate::engine::model::question::Answer;

fn full() -> Value {
    json!({
        "model": {
            "vendor": "anthropic", "protocol": "anthropic", "model": "m", "baseUrl": "https://x",
            "headers": [["a", "b"]], "stream": false, "maxOutputTokens": 5, "temperature": 0.5, "topP": 1,
            "topK": 3, "frequencyPenalty": 0.1, "presencePenalty": -1, "seed": 7, "stopSequences": ["x"], "thinking": {"budgetTokens": 3}, "effort": "low",
            "toolChoice": {"tool": "t"}, "parallelToolCalls": false, "body": {"a": null}, "quirks": {"topK": false},
            "responseFormat": {"name": "n", "schema": {"type": "object"}, "strict": false},
            "promptCaching": {"enabled": true, "ttl": "1h", "key": "k"}, "metadata": {"user_id": "u"},
            "price": {"inputNanoUsd": 1, "outputNanoUsd": 2, "cacheReadNanoUsd": 3, "cacheWriteNanoUsd": null,
                "cacheWriteHourNanoUsd": 4, "longAboveTokens": 5, "longInputPercent": 6, "longOutputPercent": 7}
        },
        "system": "s\n\"", "sharedInstructions": "i",
        "tools": [{
            "name": "t", "description": "d", "inputSchema": {"type": "object"}, "validate": false, "readOnly": true,
            "strict": true, "prepare": true, "replay": "once", "timeoutMs": 9, "needsApproval": true, "maxCalls": 8, "access": "shell",
            "ruleSubject": "s", "fullSchema": {"type": "object", "properties": {}},
            "bindings": [{"field": "f", "input": "i"}], "maxResultChars": 7
        }],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "a", "vendor": {"x": 1}},
                {"type": "media", "mediaType": "image/png", "data": "AA"},
                {"type": "media", "mediaType": "image/png", "url": "https://y"}
            ]},
            {"role": "assistant", "partial": true, "compacted": true, "origin": {"protocol": "p", "model": "m"}, "content": [
                {"type": "thinking", "text": "h", "signature": "s", "vendor": {}},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "refusal", "text": "no"},
                {"type": "tool_call", "id": "1", "name": "t", "input": {"a": 1.0}},
                {"type": "tool_call", "id": "2", "name": "t", "inputText": "{"},
                {"type": "raw", "json": {"type": "z"}}
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "callId": "1", "content": [{"type": "text", "text": "r"}], "isError": true}
            ]}
        ],
        "context": {
            "window": 1000, "auto": false, "thresholdPercent": 50, "keepLast": 2, "instructions": "i", "ask": true,
            "maxChars": 9, "pruning": {"afterResponses": 1, "prefixChars": 2}
        },
        "output": {
            "name": "n", "description": "d", "schema": {"type": "object"}, "strict": false, "mode": "tool",
            "validate": false, "ask": true, "maxRetries": 0
        },
        "limits": {"maxIterations": 2, "maxTotalTokens": 3, "maxCostNanoUsd": 9, "maxToolRounds": 4, "maxToolCalls": 5},
        "stopWhen": [{"toolCall": "t"}, {"iterations": 4}], "askStop": true, "askRepeat": true,
        "repeat": {"enabled": false, "nudgeAfter": 2, "askAfter": null, "stopAfter": 9},
        "timeouts": {"totalMs": 1, "iterationMs": 2, "firstChunkMs": null, "chunkMs": 4, "errorBodyMs": 6, "toolMs": 5, "permissionMs": 7},
        "retry": {
            "maxRetries": 1, "baseMs": 2, "factor": 3, "delaysMs": [8, 16], "jitterMs": 5, "jitter": "full", "maxMs": 6,
            "respectRetryAfter": false, "on": ["rate_limit"], "maxModelCallRetries": 2
        },
        "permissions": {
            "mode": "plan", "allow": ["Read", "Bash(ls *)"], "ask": ["a"], "deny": [], "canUseTool": true
        },
        "fallbackModels": [{"vendor": "v", "model": "f", "slot": 1}],
        "hooks": [{"event": "PreToolUse", "names": ["a"], "timeoutMs": 4, "blocks": true}, {"event": "Stop", "names": null}],
        "steeringMode": "one", "followUpMode": "all", "inputs": {"i": [1]},
        "toolCalls": {
            "execution": "sequential", "maxConcurrency": 3, "maxResultChars": 9, "eager": true, "runCutOff": true,
            "tellUpdatedInput": false, "wordErrors": true, "onUnknownTool": "throw", "aliases": [["a", "b"]]
        },
        "answers": {
            "maxBlocks": 5, "maxTextBytes": 6, "maxArgumentBytes": 7, "maxEventBytes": 8, "maxErrorBodyBytes": 9,
            "onMaxTokens": "continue", "onCutOff": "continue", "strictStopReason": true
        },
        "events": {"joinDeltas": false, "holdText": true, "messages": true},
        "durable": {"maxCrashes": 1, "maxInterruptions": 2},
        "journal": true, "trace": true
    })
}

/// The configuration and the options of a run each read their own fields.
fn refused(fields: &Value) -> ConfigError {
    let text = fields.to_string();
    let config = read::<Config>("", &text).err();
    config.unwrap_or_else(|| read::<RunOptions>("", &text).unwrap_err())
}

#[test]
fn a_refusal_names_the_path_of_the_field() {
    for (pointer, value, field) in [
        ("/model/vendor", json!(1), "model.vendor"),
        ("/tools/0/readOnly", json!("yes"), "tools[0].readOnly"),
        (
            "/messages/2/content/0/callId",
            json!(1),
            "messages[2].content[0].callId",
        ),
        (
            "/messages/2/content/0/content/0",
            json!(1),
            "messages[2].content[0].content[0]",
        ),
        ("/messages/0", json!([]), "messages[0]"),
        ("/messages/0/role", json!("system"), "messages[0].role"),
        ("/messages/1/origin", json!(1), "messages[1].origin"),
        ("/model/headers/0/1", json!(1), "model.headers[0][1]"),
        ("/model/stopSequences/0", json!(1), "model.stopSequences[0]"),
        ("/model/toolChoice", json!("all"), "model.toolChoice"),
        (
            "/model/price/inputNanoUsd",
            json!(1.5),
            "model.price.inputNanoUsd",
        ),
        ("/retry/factor", json!(4294967296u64), "retry.factor"),
        ("/permissions/mode", json!("yolo"), "permissions.mode"),
        ("/permissions/allow/1", json!("Bash(ls"), "permissions.allow[1]"),
        ("/toolCalls/execution", json!("sideways"), "toolCalls.execution"),
        ("/limits", json!(3), "limits"),
    ] {
        let mut config = full();
        *config.pointer_mut(pointer).unwrap() = value;
        assert_eq!(refused(&config).field, field, "{pointer}");
    }
    let broken = read::<Config>("config", "{\"model\":").unwrap_err();
    assert!(
        broken.field == "config" && broken.problem.starts_with("must be JSON"),
        "{broken:?}"
    );
    let later = read::<Config>("config", "{\n\"model\": {},\n\n\"limits\": 3\n}").unwrap_err();
    assert_eq!(later.field, "config.limits");
}

#[test]
fn a_missing_field_of_a_block_is_named_with_its_path() {
    for (block, field) in [
        (json!({"type": "text"}), "[0].content[0].text"),
        (
            json!({"type": "tool_call", "id": "1", "name": "t"}),
            "[0].content[0].input",
        ),
        (
            json!({"type": "media", "mediaType": "image/png"}),
            "[0].content[0].data",
        ),
        (json!({"text": "a"}), "[0].content[0].type"),
    ] {
        let messages = json!([{"role": "user", "content": [block, {"type": "text", "text": "b"}]}]);
        let error = read::<Vec<Message>>("", &messages.to_string()).unwrap_err();
        assert_eq!(
            (error.field.as_str(), error.problem.as_str()),
            (field, "is missing")
        );
    }
    let unknown = json!([{"role": "user", "content": [{"type": "texts", "text": "b"}]}]);
    let error = read::<Vec<Message>>("", &unknown.to_string()).unwrap_err();
    assert!(error.problem.contains("use text, thinking"), "{error:?}");
}

#[test]
fn what_is_written_is_read_again() {
    let text = full().to_string();
    let config: Config = read("", &text).unwrap();
    assert_eq!(read::<Config>("", &super::write(&config)).unwrap(), config);
    let options: RunOptions = read("", &text).unwrap();
    let written = super::write(&options);
    assert_eq!(read::<RunOptions>("", &written).unwrap(), options);
    assert!(
        written.contains("\"input\":{\"a\":1.0}"),
        "a number keeps its text"
    );
}

#[test]
fn tool_results_within_each_other_end_somewhere() {
    let mut content = json!([]);
    for _ in 0..100 {
        content = json!([{"type": "tool_result", "callId": "1", "content": content}]);
    }
    let mut config = full();
    config["messages"] = json!([{"role": "user", "content": content}]);
    assert!(refused(&config).problem.contains("recursion limit"));
}

#[test]
fn an_answer_about_a_call_brings_its_changes_of_rules() {
    let json = r#"{"permission":{"behavior":"allow","updatedInput":{"a": 1},"updatedPermissions":[
        {"type":"addRules","behavior":"allow","destination":"session","rules":["Read","Bash(npm *)"]},
        {"type":"addDirectories","directories":["/a"]},{"type":"setMode","mode":"acceptEdits"}]}}"#;
    let Answer::Permission(PermissionAnswer {
        updated_input,
        updated_permissions,
        ..
    }) = read("", json).unwrap()
    else {
        panic!("another kind of answer")
    };
    assert_eq!(updated_input.unwrap().as_str(), r#"{"a": 1}"#);
    let types: Vec<UpdateType> = updated_permissions.iter().map(|update| update.r#type).collect();
    assert_eq!(
        types,
        [
            UpdateType::AddRules,
            UpdateType::AddDirectories,
            UpdateType::SetMode
        ]
    );
    let rules = ["Read", "Bash(npm *)"].map(|text| Rule::parse(text).unwrap());
    assert_eq!(updated_permissions[0].rules, rules);
}

#[test]
fn a_wrong_answer_names_its_field() {
    for (json, field) in [
        (r#"{"permission":{"behavior":"maybe"}}"#, "permission.behavior"),
        (
            r#"{"permission":{"behavior":"allow","updatedPermissions":[{"type":"x"}]}}"#,
            "permission.updatedPermissions[0].type",
        ),
        (
            r#"{"permission":{"updatedPermissions":[{"type":"addRules","behavior":"allow","rules":["a("]}]}}"#,
            "permission.updatedPermissions[0].rules[0]",
        ),
    ] {
        assert_eq!(read::<Answer>("", json).unwrap_err().field, field, "{json}");
    }
}

#[test]
fn an_event_is_one_flat_object_with_its_place() {
    let event = Event {
        kind: EventKind::TextDelta {
            block: 1,
            text: "é\"".into(),
        },
        seq: 9,
        agent: 0,
        agent_path: "root".into(),
        iteration: 2,
        attempt: 1,
        time_ms: None,
    };
    let flat = json!({
        "type": "text-delta", "block": 1, "text": "é\"", "seq": 9, "agentPath": "root", "iteration": 2, "attempt": 1
    });
    assert_eq!(serde_json::to_value(&event).unwrap(), flat);
}

#[test]
fn a_struct_is_read_from_an_object_alone() {
    #[derive(Debug, serde::Deserialize)]
    struct Point {
        #[allow(dead_code)]
        x: u32,
    }
    #[derive(Debug, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Shape {
        #[allow(dead_code)]
        Dot { at: Point },
        #[allow(dead_code)]
        Line(Point, Point),
    }
    for array in [
        "[1]",
        r#"{"dot":[[1]]}"#,
        r#"{"dot":{"at":[1]}}"#,
        r#"{"line":[{"x":1},[1]]}"#,
    ] {
        assert!(serde_json::from_str::<Shape>(array).is_ok() || array == "[1]");
        assert!(read::<Shape>("shape", array).is_err(), "{array}");
        assert!(read::<Point>("point", array).is_err(), "{array}");
    }
    assert!(read::<Shape>("shape", r#"{"dot":{"at":{"x":1}}}"#).is_ok());
    assert!(read::<Shape>("shape", r#"{"line":[{"x":1},{"x":2}]}"#).is_ok());
}
