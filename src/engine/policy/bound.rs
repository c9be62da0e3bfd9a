//! The maximum usage of a run, before its first request.
//!
//! Each figure is a product of the worst cases: every iteration of every agent takes place, every attempt fails after
//! its complete answer was counted, every request fills the window. A token or cost limit lowers it: a request starts
//! only within the limit, so the run exceeds it by at most one request per running agent. The vendors' limits are
//! assumed to hold: no request reads more than `context.window`, and no answer is longer than `maxOutputTokens`. If
//! the options do not have such a number, the known number of the model is used and listed in [`Bound::assumed`].
//!
//! Nothing here fails. A figure without a limit is `None`, and the reason is in [`Bound::unbounded`].

use crate::engine::model::config::{Config, ModelConfig, RunOptions, ToolConfig};
use crate::engine::model::json;
use crate::engine::model::message::{Block, Message};
use crate::engine::model::question::Point;
use crate::engine::model::usage::{AssumedLimits, Bound, Price};

/// Tokens that vendors add to a request with tools of their own accord. Anthropic adds up to 530.
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview> (2026-11-23)
const VENDOR_TOKENS: u64 = 1000;
/// Bytes of the prompt for a summary.
const SUMMARY_BYTES: u64 = 2000;

/// The most that a run of these agents may use with this prompt. The first agent is the run's own. `known` returns
/// what is known of a model.
pub fn bound(
    agents: &[&Config],
    prompt: &[Block],
    options: &RunOptions,
    known: impl Fn(&ModelConfig) -> AssumedLimits,
) -> Bound {
    let Some(root) = agents.first() else {
        return Bound::default();
    };
    let hooked = |point: Point| root.hooks.iter().any(|hook| hook.event == point);
    let worst = Worst::of(agents, known);
    let has_history = !options.messages.is_empty();
    let first = worst.requests(1, has_history);
    let requests = run_requests(agents, &worst, has_history);
    // Each running agent may exceed a limit by one request.
    let running = running(agents);
    let (tokens, cost) = (root.limits.max_total_tokens, root.limits.max_cost_nano_usd);
    let over =
        |limit: Option<u64>, one: Option<u64>| Some(limit?.saturating_add(running.saturating_mul(one?)));
    let times = |count: Option<u64>, one: Option<u64>| Some(count?.saturating_mul(one?));
    let rest = requests.map(|requests| requests.saturating_sub(first));

    let first_input = least(
        worst.input,
        first_bytes(agents, prompt, options).filter(|_| root.hooks.is_empty()),
    );
    // A run of one iteration reads only its first request, and its size is known.
    let rest_input = if rest == Some(0) {
        Some(0)
    } else {
        times(rest, worst.input)
    };
    let mut input = least(
        sum(times(Some(first), first_input), rest_input),
        over(tokens, worst.input),
    );
    let mut output = least(times(requests, worst.output), over(tokens, worst.output));
    let first_cost = worst.cost(first_input, worst.output);
    let full_cost = worst.cost(worst.input, worst.output);
    let rest_cost = if rest == Some(0) {
        Some(0)
    } else {
        times(rest, full_cost)
    };
    let by_tokens = sum(
        times(tokens, worst.dearest_token()),
        times(Some(running), full_cost),
    );
    let by_requests = sum(times(Some(first), first_cost), rest_cost);
    let mut nano_usd = least(least(by_requests, over(cost, full_cost)), by_tokens);
    let mut requests = requests;

    if hooked(Point::PrepareIteration) {
        (input, output, nano_usd) = (None, None, None);
    }
    if hooked(Point::Limit) {
        (requests, input, output, nano_usd) = (None, None, None, None);
    }
    let is_free = |figure: Option<u64>| figure.is_none();
    let uses = is_free(input) || is_free(output) || is_free(nano_usd);
    let reasons = [
        ("limits.onLimit", hooked(Point::Limit)),
        ("prepareIteration", hooked(Point::PrepareIteration)),
        ("context.window", uses && worst.input.is_none()),
        ("maxOutputTokens", uses && worst.output.is_none()),
        ("price", is_free(nano_usd) && worst.prices.is_none()),
        (
            "limits.maxToolCalls",
            run_requests(agents, &worst, has_history).is_none(),
        ),
    ];
    let holds = reasons.into_iter().filter(|(_, holds)| *holds);
    Bound {
        requests,
        input_tokens: input,
        output_tokens: output,
        cost_nano_usd: nano_usd,
        unbounded: holds.map(|(name, _)| name).collect(),
        assumed: worst.assumed,
    }
}

/// The worst request of all agents and models.
struct Worst {
    /// Attempts of one request to one model.
    attempts: u64,
    /// Models that one iteration may ask in turn.
    models: u64,
    input: Option<u64>,
    output: Option<u64>,
    /// The prices of all models; `None` if one has none.
    prices: Option<Vec<Price>>,
    assumed: Vec<AssumedLimits>,
}

impl Worst {
    fn of(agents: &[&Config], known: impl Fn(&ModelConfig) -> AssumedLimits) -> Worst {
        let mut assumed = Vec::new();
        let (mut inputs, mut outputs, mut prices) = (Vec::new(), Vec::new(), Vec::new());
        for agent in agents {
            for model in models_of(agent) {
                let (window, output) = (agent.context.window, answer_tokens(model));
                let known = known(model);
                let used = AssumedLimits {
                    window: known.window.filter(|_| window.is_none()),
                    max_output_tokens: known.max_output_tokens.filter(|_| output.is_none()),
                    ..known
                };
                let window = window.or(used.window);
                inputs.push(window);
                outputs.push(least(output.or(used.max_output_tokens), window));
                prices.extend(prices_of(model));
                let is_used = used.window.is_some() || used.max_output_tokens.is_some();
                if is_used && !assumed.contains(&used) {
                    assumed.push(used);
                }
            }
        }
        Worst {
            attempts: most(agents, |agent| agent.retry.most_attempts().into()),
            models: most(agents, |agent| 1 + agent.fallback_models.len() as u64),
            input: greatest(inputs),
            output: greatest(outputs),
            prices: prices.into_iter().collect(),
            assumed,
        }
    }

    /// The requests of this many iterations. An iteration makes at most one summary, if there is something to
    /// summarise. The attempts restart after it.
    fn requests(&self, iterations: u64, has_history: bool) -> u64 {
        let plain = self.attempts.saturating_mul(self.models);
        let summarizing = iterations.saturating_sub(u64::from(!has_history));
        let summaries = self.attempts.saturating_mul(2).saturating_mul(summarizing);
        iterations.saturating_mul(plain).saturating_add(summaries)
    }

    /// The cost of a request of so many tokens, at the dearest price.
    fn cost(&self, input: Option<u64>, output: Option<u64>) -> Option<u64> {
        let (input, output) = (input?, output?);
        let one = |price: &Price| {
            let is_long = price.long_above_tokens.is_some_and(|above| input > above);
            let input = part(
                input.saturating_mul(dearest_input(price)),
                price.long_input_percent,
                is_long,
            );
            let output = output.saturating_mul(price.output_nano_usd);
            input.saturating_add(part(output, price.long_output_percent, is_long))
        };
        self.prices.as_ref()?.iter().map(one).max()
    }

    /// The cost of a token, read or written.
    fn dearest_token(&self) -> Option<u64> {
        let one = |price: &Price| {
            let input = part(dearest_input(price), price.long_input_percent, true);
            input.max(part(price.output_nano_usd, price.long_output_percent, true))
        };
        self.prices.as_ref()?.iter().map(one).max()
    }
}

/// The prices of a model and of those that its vendor may ask within a request, each at the dearest terms that the
/// fields of `body` may ask for.
fn prices_of(model: &ModelConfig) -> impl Iterator<Item = Option<Price>> {
    let others = model.other_prices.iter().map(|(_, price)| Some(*price));
    let prices = std::iter::once(model.price).chain(others);
    prices.map(|price| price.map(|price| under_terms(model, price)))
}

fn under_terms(model: &ModelConfig, price: Price) -> Price {
    let body = model.body.as_ref().map_or("", |body| body.as_str());
    let factors = [
        // `service_tier` and `serviceTier`
        ("ier\"", price.priority_percent),
        ("\"speed\"", price.fast_percent),
        ("\"inference_geo\"", price.us_percent),
    ];
    let dearer = |nano_usd: u64| {
        factors.iter().fold(nano_usd, |nano_usd, (field, percent)| {
            part(nano_usd, *percent, body.contains(field))
        })
    };
    Price {
        input_nano_usd: dearer(price.input_nano_usd),
        output_nano_usd: dearer(price.output_nano_usd),
        cache_read_nano_usd: price.cache_read_nano_usd.map(dearer),
        cache_write_nano_usd: price.cache_write_nano_usd.map(dearer),
        cache_write_hour_nano_usd: price.cache_write_hour_nano_usd.map(dearer),
        ..price
    }
}

/// Tokens of one answer by the option. Fields of `body` win over it.
fn answer_tokens(model: &ModelConfig) -> Option<u64> {
    model.max_output_tokens.filter(|_| !has_own_length(model))
}

/// True if a field of `body` may be the length of an answer.
pub fn has_own_length(model: &ModelConfig) -> bool {
    let body = model.body.as_ref();
    body.is_some_and(|body| body.as_str().contains("max"))
}

/// A part of the cost in percent, rounded up, if it applies. A percentage below 100 is ignored.
fn part(nano_usd: u64, percent: Option<u64>, holds: bool) -> u64 {
    let percent = percent.filter(|_| holds).unwrap_or(100).max(100);
    nano_usd.saturating_mul(percent).div_ceil(100)
}

fn dearest_input(price: &Price) -> u64 {
    let cached = [
        price.cache_read_nano_usd,
        price.cache_write_nano_usd,
        price.cache_write_hour_nano_usd,
    ];
    cached.into_iter().flatten().fold(price.input_nano_usd, u64::max)
}

/// The requests of the complete run. `None` if nothing limits the calls of subagents.
fn run_requests(agents: &[&Config], worst: &Worst, has_history: bool) -> Option<u64> {
    let root = agents.first()?;
    let speakers = speakers(agents);
    let iterations = speakers.iter().map(|agent| u64::from(agent.max_iterations()));
    let own = worst.requests(iterations.max().unwrap_or(0), has_history);
    let tools = agents
        .iter()
        .flat_map(|agent| &agent.tools)
        .filter(|tool| is_subagent(tool));
    if tools.clone().next().is_none() {
        return Some(own);
    }
    let longest = most(agents, |agent| agent.max_iterations().into());
    let one = worst.requests(longest, true);
    let by_run = root
        .limits
        .max_tool_calls
        .map(|calls| u64::from(calls).saturating_mul(one));
    // Each level of agents may call each of its subagents that often.
    let mut callers: Option<u64> = Some(1);
    let mut by_tools: Option<u64> = Some(0);
    let calls = tools
        .map(|tool| tool.max_calls)
        .try_fold(0u64, |all, calls| Some(all.saturating_add(calls?)));
    for _ in 0..root.limits.max_subagent_depth {
        callers = callers
            .zip(calls)
            .map(|(callers, calls)| callers.saturating_mul(calls));
        by_tools = sum(by_tools, callers.map(|callers| callers.saturating_mul(one)));
    }
    sum(Some(own), least(by_run, by_tools))
}

/// The agents that may ask a model at the same moment.
fn running(agents: &[&Config]) -> u64 {
    let Some(root) = agents.first() else {
        return 0;
    };
    if !agents.iter().flat_map(|agent| &agent.tools).any(is_subagent) {
        return 1;
    }
    let at_once = most(agents, |agent| agent.tool_calls.max_concurrency.into());
    let mut level = 1u64;
    let mut all = 1u64;
    for _ in 0..root.limits.max_subagent_depth {
        level = level.saturating_mul(at_once);
        all = all.saturating_add(level);
    }
    let called = root
        .limits
        .max_tool_calls
        .map_or(u64::MAX, |calls| 1 + u64::from(calls));
    all.min(called)
}

fn is_subagent(tool: &ToolConfig) -> bool {
    tool.agent.is_some_and(|agent| !agent.handoff)
}

/// The run's own agent, and those that may take the conversation over.
fn speakers<'a>(agents: &[&'a Config]) -> Vec<&'a Config> {
    let mut found: Vec<usize> = vec![0];
    let mut next = 0;
    while let Some(agent) = found.get(next).and_then(|at| agents.get(*at)) {
        next += 1;
        for tool in &agent.tools {
            let to = tool
                .agent
                .filter(|agent| agent.handoff)
                .map(|agent| agent.profile as usize);
            found.extend(to.filter(|to| !found.contains(to)));
        }
    }
    found
        .into_iter()
        .filter_map(|at| agents.get(at).copied())
        .collect()
}

/// The maximum number of tokens of the first request: a token has at least one byte, and the JSON around a text has
/// more bytes than a vendor's frame has tokens. `None` for media, because their tokens do not depend on their bytes.
fn first_bytes(agents: &[&Config], prompt: &[Block], options: &RunOptions) -> Option<u64> {
    let agent = agents.get(options.profile as usize)?;
    let has_media = |blocks: &[Block]| blocks.iter().any(is_media);
    if has_media(prompt) || options.messages.iter().any(|message| has_media(&message.content)) {
        return None;
    }
    let mut bytes = SUMMARY_BYTES + agent.context.instructions.as_ref().map_or(0, String::len) as u64;
    if !agent.tools.is_empty() {
        bytes += VENDOR_TOKENS;
    }
    let texts = [
        json::write(&Message::user(prompt.to_vec())),
        json::write(&options.messages),
        json::write(&agent.tools),
        json::write(&agent.system),
        json::write(&agent.output),
    ];
    let models = models_of(agent).map(|model| json::write(model).len());
    let written = texts.iter().map(String::len).chain(models.max());
    Some(written.fold(bytes, |sum, length| sum.saturating_add(length as u64)))
}

fn is_media(block: &Block) -> bool {
    match block {
        Block::Media { .. } | Block::Raw { .. } => true,
        Block::ToolResult { content, .. } => content.iter().any(is_media),
        _ => false,
    }
}

fn models_of(agent: &Config) -> impl Iterator<Item = &ModelConfig> {
    agent.fallback_models.iter().chain([&agent.model])
}

fn most(agents: &[&Config], of: impl Fn(&Config) -> u64) -> u64 {
    agents.iter().map(|agent| of(agent)).max().unwrap_or(0)
}

/// The greatest of all; `None` if one of them has no limit.
fn greatest(all: Vec<Option<u64>>) -> Option<u64> {
    all.into_iter().try_fold(0, |most, one| Some(most.max(one?)))
}

/// The smaller limit of two that may be absent.
fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests;
