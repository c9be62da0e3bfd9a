use proptest::prelude::*;
use serde_json::{Value, json};

use crate::engine::model::config_json::*;

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
        "system": "s\n\"", "instructions": "i",
        "tools": [{
            "name": "t", "description": "d", "inputSchema": {"type": "object"}, "validate": false, "readOnly": true,
            "strict": true, "prepare": true, "replayOnce": true, "timeoutMs": 9, "needsApproval": true, "maxCalls": 8, "access": "shell",
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
            "windowTokens": 1000, "auto": false, "thresholdPercent": 50, "keepLast": 2, "instructions": "i", "ask": true,
            "budgetChars": 9, "history": {"afterResponses": 1, "prefixChars": 2}
        },
        "output": {
            "name": "n", "description": "d", "schema": {"type": "object"}, "strict": false, "mode": "tool",
            "validate": false, "ask": true, "maxRetries": 0
        },
        "limits": {"maxIterations": 2, "maxTotalTokens": 3, "maxCostNanoUsd": 9, "maxToolRounds": 4, "maxToolCalls": 5},
        "stopWhen": [{"toolCall": "t"}, {"iterations": 4}], "askStop": true, "askRepeat": true,
        "repeat": {"enabled": false, "nudgeAfter": 2, "askAfter": null, "stopAfter": 9},
        "timeouts": {"totalMs": 1, "iterationMs": 2, "firstChunkMs": null, "chunkMs": 4, "toolMs": 5},
        "retry": {
            "maxRetries": 1, "baseMs": 2, "factor": 3, "firstExponent": 0, "jitterMs": 5, "jitter": "full", "maxMs": 6,
            "respectRetryAfter": false, "on": ["rate_limit"], "maxCalls": 3
        },
        "permissions": {
            "mode": "plan", "allow": ["Read", "Bash(ls *)"], "ask": ["a"], "deny": [], "canUseTool": true, "timeoutMs": 7
        },
        "fallbackModels": [{"vendor": "v", "model": "f", "slot": 1}],
        "hooks": [{"event": "PreToolUse", "names": ["a"], "timeoutMs": 4, "blocks": true}, {"event": "Stop", "names": null}],
        "steerOne": true, "followUpAll": true, "toolErrorFormat": "prompty", "maxToolResultChars": 9, "onUnknownTool": "throw", "inputs": {"i": [1]}, "eagerTools": true,
        "toolExecution": "sequential", "maxToolConcurrency": 3, "onMaxTokens": "continue", "strictStopReason": true, "joinDeltas": false, "estimateUsage": true, "trace": true
    })
}

fn refused(config: &Value) -> ConfigError {
    Config::from_json(&config.to_string()).unwrap_err()
}

/// Every place of a value, as pointers.
fn places(value: &Value, pointer: String, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, value)| places(value, format!("{pointer}/{key}"), into)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(at, value)| places(value, format!("{pointer}/{at}"), into)),
        _ => {}
    }
    into.push(pointer);
}

fn remove(value: &mut Value, pointer: &str) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Object(fields) => drop(fields.shift_remove(key)),
        Value::Array(items) => drop(items.remove(key.parse().unwrap())),
        _ => {}
    }
}

#[test]
fn a_full_and_a_minimal_configuration_are_what_serde_reads() {
    let least = json!({"model": {"vendor": "openai", "model": "m"}});
    for config in [full(), least] {
        let text = config.to_string();
        assert_eq!(
            Config::from_json(&text).unwrap(),
            serde_json::from_str::<Config>(&text).unwrap()
        );
    }
}

#[test]
fn a_refusal_names_the_path_of_the_field() {
    for (pointer, value, field) in [
        ("/model/vendor", json!(1), "model.vendor"),
        ("/tools/0/inputSchema", Value::Null, ""),
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
        ("/model/headers/0/1", json!(1), "model.headers[0]"),
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
        ("/toolExecution", json!("sideways"), "toolExecution"),
        ("/limits", json!(3), "limits"),
    ] {
        let mut config = full();
        *config.pointer_mut(pointer).unwrap() = value;
        if field.is_empty() {
            assert!(Config::from_json(&config.to_string()).is_ok(), "{pointer}");
        } else {
            assert_eq!(refused(&config).field, field);
        }
    }
    assert_eq!(Config::from_json("{\"model\":").unwrap_err().field, "config");
    assert_eq!(refused(&json!({})).field, "model");
}

#[test]
fn tool_results_within_each_other_end_somewhere() {
    let mut content = json!([]);
    for _ in 0..100 {
        content = json!([{"type": "tool_result", "callId": "1", "content": content}]);
    }
    let mut config = full();
    config["messages"] = json!([{"role": "user", "content": content}]);
    assert!(refused(&config).problem.contains("too many"));
}

#[test]
fn a_field_that_is_missing_is_judged_as_by_serde() {
    let mut pointers = Vec::new();
    places(&full(), String::new(), &mut pointers);
    for pointer in pointers.iter().filter(|pointer| !pointer.is_empty()) {
        let mut config = full();
        remove(&mut config, pointer);
        let text = config.to_string();
        let read = Config::from_json(&text).ok();
        assert_eq!(
            read,
            serde_json::from_str::<Config>(&text).ok(),
            "without {pointer}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_damaged_configuration_is_judged_as_by_serde(place in 0usize..200, value in prop_oneof![
        Just(Value::Null), Just(json!(true)), Just(json!(3)), Just(json!(-1)), Just(json!(2.5)), Just(json!("text")),
        Just(json!([])), Just(json!({})), Just(json!(["user"])), Just(json!({"tool": "x"})), Just(json!(1e300)),
        Just(json!("auto")), Just(json!(4294967296u64)),
    ]) {
        let mut pointers = Vec::new();
        places(&full(), String::new(), &mut pointers);
        let mut config = full();
        let pointer = &pointers[place % pointers.len()];
        *config.pointer_mut(pointer).unwrap() = value;
        let text = config.to_string();
        let (read, expected) = (Config::from_json(&text), serde_json::from_str::<Config>(&text));
        // Serde also takes an array for an object.
        let lenient = expected.is_ok() && read.as_ref().is_err_and(|error| error.problem == "must be an object");
        prop_assert!(lenient || read.as_ref().ok() == expected.as_ref().ok(), "{pointer} {read:?} {expected:?}");
    }
}
