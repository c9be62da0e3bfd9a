use serde_json::{Value, json};

use super::*;

/// Reads the configurations of a run, its own agent first.
fn of(agents: &[Value], prompt: &[Block]) -> Bound {
    let configs: Vec<Config> = agents
        .iter()
        .map(|agent| serde_json::from_value(agent.clone()).expect("a configuration"))
        .collect();
    bound(
        &configs.iter().collect::<Vec<_>>(),
        prompt,
        &RunOptions::default(),
        |model| {
            let is_known = model.model == "known";
            AssumedLimits {
                model: model.model.clone(),
                window: is_known.then_some(5000),
                max_output_tokens: is_known.then_some(300),
                ..AssumedLimits::default()
            }
        },
    )
}

fn hello() -> Vec<Block> {
    vec![Block::text("Hello".to_owned())]
}

/// An agent of three iterations without retries whose requests cost at most 1,000 × 3 + 100 × 15 nano-USD.
fn agent(more: Value) -> Value {
    let mut agent = json!({
        "model": {"vendor": "anthropic", "model": "m", "maxOutputTokens": 100, "price": {"inputNanoUsd": 3, "outputNanoUsd": 15}},
        "context": {"window": 1000},
        "limits": {"maxIterations": 3},
        "retry": {"maxRetries": 0},
        "hooks": [{"event": "Stop"}],
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        agent[name] = value.clone();
    }
    agent
}

#[test]
fn each_iteration_counts_its_attempts_its_models_and_its_summary() {
    // The first has nothing to sum up; the two others may each ask for a summary, and then ask again.
    assert_eq!(of(&[agent(json!({}))], &hello()).requests, Some(1 + 3 + 3));
    let retried = agent(json!({"retry": {"maxRetries": 1, "maxModelCallRetries": 1}}));
    assert_eq!(of(&[retried], &hello()).requests, Some(7 * 4));
    let fallback = json!({"vendor": "anthropic", "model": "n", "maxOutputTokens": 50, "price": {"inputNanoUsd": 9, "outputNanoUsd": 1}});
    let bound = of(&[agent(json!({"fallbackModels": [fallback]}))], &hello());
    assert_eq!(bound.requests, Some(2 + 4 + 4));
    assert_eq!(bound.input_tokens, Some(10_000));
    assert_eq!(bound.output_tokens, Some(1000), "the longer answer");
    assert_eq!(
        bound.cost_nano_usd,
        Some(10 * (9 * 1000 + 100)),
        "the dearer model, the longer answer"
    );
}

#[test]
fn a_limit_of_tokens_or_money_is_exceeded_by_one_request_of_each_agent_at_work() {
    let limits = json!({"maxIterations": 3, "maxTotalTokens": 500, "maxCostNanoUsd": 100});
    let bound = of(&[agent(json!({"limits": limits}))], &hello());
    assert_eq!(bound.input_tokens, Some(500 + 1000));
    assert_eq!(bound.output_tokens, Some(500 + 100));
    assert_eq!(bound.cost_nano_usd, Some(100 + 4500));

    let tool = json!({"name": "helper", "inputSchema": {"type": "object"}, "agent": {"profile": 1}});
    let parts = json!({"limits": limits, "tools": [tool], "toolCalls": {"maxConcurrency": 2}});
    let bound = of(&[agent(parts), agent(json!({}))], &hello());
    assert_eq!(
        bound.cost_nano_usd,
        Some(100 + (1 + 8) * 4500),
        "the subagent runs 8 calls at once"
    );
    assert_eq!(bound.requests, None);
    assert_eq!(bound.unbounded, ["limits.maxToolCalls"]);
}

#[test]
fn calls_of_subagents_are_limited_by_the_run_or_by_the_tool() {
    let helper = |more: Value| {
        let mut tool = json!({"name": "helper", "inputSchema": {"type": "object"}, "agent": {"profile": 1}});
        tool["maxCalls"] = more;
        tool
    };
    let limits = json!({"maxIterations": 3, "maxToolCalls": 5});
    let by_run = agent(json!({"tools": [helper(json!(null))], "limits": limits}));
    // A subagent may remember, so its first iteration may begin with a summary.
    assert_eq!(
        of(&[by_run, agent(json!({}))], &hello()).requests,
        Some(7 + 5 * 9)
    );
    let by_tool = agent(json!({"tools": [helper(json!(2))]}));
    assert_eq!(
        of(&[by_tool, agent(json!({}))], &hello()).requests,
        Some(7 + 2 * 9)
    );
}

#[test]
fn each_figure_without_a_limit_is_named() {
    let bare = json!({"model": {"vendor": "anthropic", "model": "m"}});
    let bound = of(&[bare], &hello());
    assert_eq!(bound.requests, Some(4 + 49 * 12));
    assert_eq!(
        (bound.input_tokens, bound.output_tokens, bound.cost_nano_usd),
        (None, None, None)
    );
    assert_eq!(bound.unbounded, ["context.window", "maxOutputTokens", "price"]);

    let hooked = agent(json!({"hooks": [{"event": "PrepareIteration"}]}));
    let bound = of(&[hooked], &hello());
    assert_eq!((bound.requests, bound.cost_nano_usd), (Some(7), None));
    assert_eq!(bound.unbounded, ["prepareIteration"]);
    let bound = of(&[agent(json!({"hooks": [{"event": "Limit"}]}))], &hello());
    assert_eq!((bound.requests, bound.cost_nano_usd), (None, None));
    assert_eq!(bound.unbounded, ["limits.onLimit"]);
}

#[test]
fn what_is_known_of_a_model_counts_where_the_options_have_no_number() {
    let limits = |window: Option<u64>, max_output_tokens: Option<u64>| AssumedLimits {
        model: "known".to_owned(),
        window,
        max_output_tokens,
        ..AssumedLimits::default()
    };
    let price = json!({"inputNanoUsd": 3, "outputNanoUsd": 15});
    let model = json!({"vendor": "anthropic", "model": "known", "price": price});
    let bare = agent(json!({"model": model, "context": {}}));
    let bound = of(std::slice::from_ref(&bare), &hello());
    assert_eq!(bound.output_tokens, Some(7 * 300));
    assert_eq!(bound.unbounded, [""; 0]);
    assert_eq!(bound.assumed, [limits(Some(5000), Some(300))]);

    let mut own = bare.clone();
    own["context"] = json!({"window": 1000});
    let bound = of(&[own.clone()], &hello());
    assert_eq!(bound.input_tokens, Some(7 * 1000));
    assert_eq!(bound.assumed, [limits(None, Some(300))]);
    own["model"]["maxOutputTokens"] = json!(100);
    assert_eq!(of(&[own.clone()], &hello()).assumed, []);
    own["model"]["body"] = json!({"max_tokens": 9});
    assert_eq!(of(&[own], &hello()).output_tokens, Some(7 * 300));

    let mut fallback = bare;
    fallback["fallbackModels"] = json!([{"vendor": "anthropic", "model": "m", "price": price}]);
    let bound = of(&[fallback], &hello());
    assert_eq!(bound.unbounded, ["context.window", "maxOutputTokens"]);
}

#[test]
fn one_iteration_reads_its_prompt_and_nothing_else() {
    let model = json!({"vendor": "anthropic", "model": "m", "maxOutputTokens": 100, "price": {"inputNanoUsd": 3, "outputNanoUsd": 15}});
    let once = json!({"model": model, "limits": {"maxIterations": 1}, "retry": {"maxRetries": 0}});
    let short = of(std::slice::from_ref(&once), &hello());
    let long = of(std::slice::from_ref(&once), &[Block::text("Hello".repeat(1000))]);
    assert_eq!(short.requests, Some(1));
    assert_eq!(
        long.input_tokens
            .zip(short.input_tokens)
            .map(|(long, short)| long - short),
        Some(4995)
    );
    assert_eq!(short.unbounded, [""; 0]);
    let image: Block = serde_json::from_value(
        json!({"type": "media", "mediaType": "image/png", "url": "https://example.com/a.png"}),
    )
    .expect("an image");
    assert_eq!(of(&[once], &[image]).unbounded, ["context.window"]);
}

#[test]
fn the_dearest_price_of_a_token_counts() {
    let price = json!({"inputNanoUsd": 3, "outputNanoUsd": 15, "cacheWriteNanoUsd": 4, "cacheWriteHourNanoUsd": 6,
        "longAboveTokens": 900, "longInputPercent": 200, "longOutputPercent": 150});
    let mut dear = agent(json!({"limits": {"maxIterations": 1}}));
    dear["model"]["price"] = price;
    let bound = of(&[dear.clone()], &hello());
    assert_eq!(bound.cost_nano_usd, Some(2 * 6 * 1000 + 15 * 100 * 3 / 2));
    dear["model"]["body"] = json!({"max_tokens": 9});
    assert_eq!(
        of(&[dear], &hello()).output_tokens,
        Some(1000),
        "a field of the body wins"
    );
}
