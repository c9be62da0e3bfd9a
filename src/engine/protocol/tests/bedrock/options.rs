//! Tests of the options of a request to Converse, its cache points and its path.

use serde_json::{Value, json};

use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::model::config::ModelConfig;
use crate::engine::model::message::Block;
use crate::engine::protocol::tests::bedrock::{CLAUDE, LLAMA, NOVA, PROFILE, assistant, body, model, tool};
use crate::engine::protocol::{Appended, Clearing, RequestSpec, find};

/// The body without messages and system prompt.
fn head(id: &str, further: Value) -> Value {
    let (mut body, _) = body(&model(id, further), &[tool("weather")], &[]).unwrap();
    let fields = body.as_object_mut().unwrap();
    fields.shift_remove("messages");
    fields.shift_remove("system");
    body
}

fn problem(id: &str, further: Value) -> String {
    body(&model(id, further), &[tool("weather")], &[])
        .unwrap_err()
        .to_text()
}

#[test]
fn every_option_is_written_where_converse_or_the_models_vendor_takes_it() {
    let tools = head(CLAUDE, json!({}));
    let sampling =
        json!({"maxOutputTokens": 9000, "temperature": 0.5, "topP": 1, "topK": 4, "stopSequences": ["END"]});
    let mut wanted = tools.clone();
    wanted["inferenceConfig"] =
        json!({"maxTokens": 9000, "temperature": 0.5, "topP": 1, "stopSequences": ["END"]});
    wanted["additionalModelRequestFields"] = json!({"top_k": 4});
    assert_eq!(head(CLAUDE, sampling.clone()), wanted);
    wanted["additionalModelRequestFields"] = json!({"inferenceConfig": {"topK": 4}});
    assert_eq!(head(NOVA, sampling), wanted);

    let rows = [
        (
            CLAUDE,
            json!({"toolChoice": "required"}),
            "toolConfig",
            json!({"any": {}}),
        ),
        (
            CLAUDE,
            json!({"toolChoice": "auto"}),
            "toolConfig",
            json!({"auto": {}}),
        ),
        (
            NOVA,
            json!({"toolChoice": {"tool": "weather"}}),
            "toolConfig",
            json!({"tool": {"name": "weather"}}),
        ),
        (
            CLAUDE,
            json!({"toolChoice": {"tool": "weather"}, "parallelToolCalls": false}),
            "additionalModelRequestFields",
            json!({"tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": true}}),
        ),
        (
            CLAUDE,
            json!({"parallelToolCalls": false}),
            "additionalModelRequestFields",
            json!({"tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}),
        ),
        (
            CLAUDE,
            json!({"thinking": {"budgetTokens": 2000}, "effort": "max"}),
            "additionalModelRequestFields",
            json!({"thinking": {"type": "enabled", "budget_tokens": 2000}}),
        ),
        (
            PROFILE,
            json!({"thinking": {"type": "adaptive", "display": "summarized"}}),
            "additionalModelRequestFields",
            json!({"thinking": {"type": "adaptive", "display": "summarized"}}),
        ),
        (
            CLAUDE,
            json!({"effort": "max"}),
            "outputConfig",
            json!({"effort": "max"}),
        ),
        (
            NOVA,
            json!({"effort": "low"}),
            "additionalModelRequestFields",
            json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}}),
        ),
        (
            NOVA,
            json!({"thinking": {"type": "disabled"}}),
            "additionalModelRequestFields",
            json!({"reasoningConfig": {"type": "disabled"}}),
        ),
        (
            LLAMA,
            json!({"responseFormat": {"schema": {"type": "object"}}}),
            "outputConfig",
            json!({"textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"name": "answer", "schema": "{\"type\":\"object\"}"}}}}),
        ),
        (
            LLAMA,
            json!({"metadata": {"team": "a"}}),
            "requestMetadata",
            json!({"team": "a"}),
        ),
        (
            LLAMA,
            json!({"body": {"guardrailConfig": {"guardrailIdentifier": "g"}}}),
            "guardrailConfig",
            json!({"guardrailIdentifier": "g"}),
        ),
        (
            CLAUDE,
            json!({"topK": 4, "body": {"additionalModelRequestFields": {"top_k": 5, "anthropic_beta": ["b"]}}}),
            "additionalModelRequestFields",
            json!({"top_k": 5, "anthropic_beta": ["b"]}),
        ),
    ];
    for (id, options, field, value) in rows {
        let found = head(id, options.clone());
        let found = if field == "toolConfig" {
            &found[field]["toolChoice"]
        } else {
            &found[field]
        };
        assert_eq!(*found, value, "{id} {options}");
    }
    assert_eq!(
        head(CLAUDE, json!({"parallelToolCalls": false}))["toolConfig"].get("toolChoice"),
        None
    );
}

#[test]
fn what_cannot_be_expressed_is_refused_with_its_field() {
    let rows = [
        (CLAUDE, json!({"seed": 1}), "model.seed"),
        (CLAUDE, json!({"frequencyPenalty": 1}), "model.frequencyPenalty"),
        (CLAUDE, json!({"presencePenalty": 1}), "model.presencePenalty"),
        (
            NOVA,
            json!({"parallelToolCalls": false}),
            "model.parallelToolCalls",
        ),
        (NOVA, json!({"effort": "xhigh"}), "model.effort"),
        (
            NOVA,
            json!({"thinking": {"budgetTokens": 1}}),
            "model.thinking must be Nova's",
        ),
        (
            LLAMA,
            json!({"thinking": {"budgetTokens": 1}}),
            "model.thinking is for",
        ),
        (
            CLAUDE,
            json!({"thinking": {"tokens": 1}}),
            "model.thinking must be {",
        ),
        (
            CLAUDE,
            json!({"thinking": {"budgetTokens": 9}, "maxOutputTokens": 9}),
            "model.maxOutputTokens",
        ),
        (CLAUDE, json!({"metadata": {"a": 1}}), "model.metadata"),
        (CLAUDE, json!({"metadata": []}), "model.metadata"),
        (
            CLAUDE,
            json!({"promptCaching": {"ttl": "2h"}}),
            "model.promptCaching.ttl",
        ),
        (CLAUDE, json!({"body": {"messages": []}}), "model.body.messages"),
    ];
    for (id, options, words) in rows {
        let problem = problem(id, options.clone());
        assert!(problem.starts_with(words), "{options}: {problem}");
    }
}

#[test]
fn cache_points_stand_behind_tools_system_prompt_and_the_last_two_ends_and_are_never_kept() {
    let point = json!({"cachePoint": {"type": "default"}});
    let sent = |model: &ModelConfig| {
        let (_, protocol) = find(model).unwrap();
        let tools = [tool("weather")];
        let spec = RequestSpec {
            model,
            system: Some("s"),
            tools: &tools,
            before: None,
            is_digested: false,
            appended: Appended::default(),
            clearing: Clearing::default(),
        };
        let mut transcript = Transcript::default();
        let mut bodies: Vec<Value> = Vec::new();
        for round in 0..3 {
            transcript.push_user(vec![Block::text(format!("Go {round}"))]);
            bodies.push(serde_json::from_slice(transcript.body(protocol, &spec).unwrap()).unwrap());
            transcript.push_assistant(assistant(CLAUDE, vec![Block::text("Done.")]));
        }
        bodies
    };
    let bodies = sent(&model("global.anthropic.claude-opus-5", json!({})));
    for (round, body) in bodies.iter().enumerate() {
        assert_eq!(body["toolConfig"]["tools"][1], point);
        assert_eq!(body["system"], json!([{"text": "s"}, point]));
        let messages = body["messages"].as_array().unwrap();
        let marks = |message: &Value| message["content"].as_array().unwrap().contains(&point);
        assert_eq!(messages.len(), 2 * round + 1);
        let marked = (0..messages.len())
            .filter(|at| marks(&messages[*at]))
            .collect::<Vec<_>>();
        let ends = [2 * round.max(1) - 2, 2 * round];
        assert_eq!(
            marked,
            ends[usize::from(round == 0)..],
            "this end and the one before"
        );
        assert_eq!(
            messages.last().unwrap()["content"],
            json!([{"text": format!("Go {round}")}, point])
        );
    }
    let has = |id: &str, options: Value| {
        sent(&model(id, options))
            .iter()
            .any(|body| body.to_string().contains("cachePoint"))
    };
    assert!(!has(CLAUDE, json!({})), "an old model refuses them");
    assert!(!has(NOVA, json!({})) && !has(PROFILE, json!({})));
    assert!(!has(
        "anthropic.claude-opus-5",
        json!({"promptCaching": {"enabled": false}})
    ));
    let nova = sent(&model(
        NOVA,
        json!({"promptCaching": {"enabled": true, "ttl": "1h"}}),
    ));
    let nova = nova.first().unwrap();
    assert_eq!(
        nova["toolConfig"]["tools"].as_array().unwrap().len(),
        1,
        "refused there by Nova"
    );
    assert_eq!(
        nova["system"][1],
        json!({"cachePoint": {"type": "default", "ttl": "1h"}})
    );
}

#[test]
fn the_model_is_one_segment_of_the_path() {
    let url = |id: &str, options: Value, base: &str| {
        let mut model = model(id, options);
        model.base_url = Some(base.to_owned());
        ActiveModel::new(model).unwrap().url
    };
    let host = "https://bedrock-runtime.eu-west-1.amazonaws.com";
    assert_eq!(
        url(CLAUDE, json!({}), host),
        [
            host,
            "/model/us.anthropic.claude-3-haiku-20240307-v1%3A0/converse-stream"
        ]
        .concat()
    );
    assert_eq!(
        url(
            "arn:a/b é~",
            json!({"stream": false}),
            "https://proxy.example/model/"
        ),
        "https://proxy.example/model/arn%3Aa%2Fb%20%C3%A9~/converse"
    );
    // WHATWG URLs climb on `%2e%2e` too, so there is no spelling of these names.
    for id in [".", ".."] {
        assert_eq!(find(&model(id, json!({}))).err().unwrap().field, "model.model");
    }
}
