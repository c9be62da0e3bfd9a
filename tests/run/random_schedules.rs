//! Random schedules of everything that can happen, in virtual time, against the invariants I-01 to I-10.
//!
//! A failing seed is printed; `LOOPLET_SEED=n` runs only that one, `LOOPLET_CASES=n` runs as many (10,000 by default).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use looplet::engine::config::ModelConfig;
use looplet::engine::event::ToolFault;
use looplet::engine::input::{
    CheckedOutput, Input, PermissionAnswer, PreparedCall, QuestionAnswer, ToolReturn,
};
use looplet::engine::message::{Block, Json};
use looplet::engine::output::Question;
use looplet::engine::policy::hook::Raise;
use looplet::engine::usage::Usage;
use serde_json::json;

use crate::budgets::check_budget;
use crate::dice::Dice;
use crate::ended::{check_messages, usage_by_events};
use crate::invariants::{
    check_end, check_events, check_limits, check_output, check_secret, check_wire_messages,
    usage_by_iterations,
};
use crate::random_hooks;
use crate::wire::{Piece, begin, block, call, end, event, open, text, unmarked};
use crate::world::{World, config, tool};

#[test]
fn every_random_schedule_keeps_the_invariants() {
    if let Some(seed) = variable("LOOPLET_SEED") {
        return check(seed);
    }
    let cases = variable("LOOPLET_CASES").unwrap_or(10_000);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(0);
    let play = || {
        loop {
            // Some seeds are played twice: whoever is free takes the next.
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= cases {
                return Ok(());
            }
            std::panic::catch_unwind(|| check(seed))
                .inspect_err(|_| println!("LOOPLET_SEED={seed} fails"))?;
        }
    };
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(play)).collect();
        for worker in started {
            if let Err(panic) = worker.join().unwrap() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    println!("{cases} schedules kept the invariants");
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

fn check(seed: u64) {
    let played = play(seed, seed.is_multiple_of(16));
    for pair in played.world.requests_by_agent().windows(2) {
        if pair[0].0 != pair[1].0 {
            continue;
        }
        let pair = [&pair[0].1, &pair[1].1];
        let (first, next) = (unmarked(pair[0]), unmarked(pair[1]));
        let head = |body: &str| body[..body.find("\"messages\"").unwrap()].to_owned();
        if head(&first) != head(&next) {
            continue;
        }
        let shared = &first[..first.rfind(']').unwrap()];
        assert!(
            next.starts_with(shared),
            "I-02: a request does not extend the one before"
        );
    }
    for request in 0..played.world.requests.len() {
        check_wire_messages(&played.world.body(request));
    }
    let result = played.world.result();
    check_messages(&result["messages"]);
    for memory in result["subagents"].as_array().unwrap() {
        check_messages(&memory["messages"]);
    }
    check_limits(
        &played.world,
        played.max_iterations,
        played.max_tool_rounds,
        &result,
    );
    check_budget(&played.world, played.max_total_tokens);
    check_output(played.wants_output, &result);
    check_events(&played.world);
    check_end(&played.world);
    let usage: Usage = serde_json::from_value(result["usage"].clone()).unwrap();
    assert_eq!(
        usage,
        usage_by_events(&played.world.events),
        "I-06: usage is not the sum of its calls"
    );
    assert_eq!(
        usage,
        usage_by_iterations(&played.world),
        "I-06: usage is not the sum of its iterations"
    );
    if seed.is_multiple_of(16) {
        check_secret(&played.world, SECRET);
    }
    if seed.is_multiple_of(4) {
        let again = play(seed, false);
        assert_eq!(
            again.world.result(),
            result,
            "I-07: the result differs the second time"
        );
        assert_eq!(
            again.world.events, played.world.events,
            "I-07: the events differ the second time"
        );
        assert_eq!(
            again.world.requests, played.world.requests,
            "I-07: the requests differ the second time"
        );
    }
}

/// Stands in a header of the requests.
const SECRET: &str = "planted-0123456789";

struct Played {
    world: World,
    max_tool_rounds: Option<u32>,
    wants_output: bool,
    max_iterations: u32,
    max_total_tokens: Option<u64>,
}

/// One response that is under way.
struct Response {
    head: Option<u16>,
    body: Vec<u8>,
    sent: usize,
    drops: bool,
}

fn play(seed: u64, round_trips: bool) -> Played {
    let mut dice = Dice(seed);
    let max_iterations = 1 + dice.below(6) as u32;
    let config = random_config(&mut dice, max_iterations);
    let wants_output = config.output.is_some();
    let max_tool_rounds = config.limits.max_tool_rounds;
    let max_total_tokens = config.limits.max_total_tokens;
    let mut world = World::new(config);
    world.round_trips = round_trips;
    world.confirm_saves = false;
    world.prompt("Go.");
    let mut responses: BTreeMap<u32, Response> = BTreeMap::new();
    let mut next_id = 0;
    for _ in 0..400 {
        if world.done.is_some() {
            break;
        }
        check_overlaps(&world);
        match dice.below(20) {
            0 => world.input(Input::Steer {
                id: next(&mut next_id),
                content: vec![Block::text("Steer.")],
            }),
            1 => world.input(Input::FollowUp {
                id: next(&mut next_id),
                content: vec![Block::text("Follow.")],
            }),
            2 => world.input(Input::Withdraw {
                id: dice.below(4) as u32,
            }),
            3 if dice.below(8) == 0 => world.cancel(),
            3 if dice.below(4) == 0 => world.input(Input::Compact { instructions: None }),
            4 if dice.below(8) == 0 => world.input(Input::SetModel {
                model: Box::new(ModelConfig::new("anthropic".into(), "other".into())),
            }),
            4 if dice.below(8) == 0 => world.input(Input::AddBudget {
                agent_path: (*dice.pick(&["root", "root/helper", "root/keeper"])).to_owned(),
                more: Raise {
                    max_total_tokens: Some(dice.below(50)),
                    max_tool_calls: Some(2),
                    time_ms: Some(dice.below(200)),
                    ..Raise::default()
                },
            }),
            4 => world.pass(dice.below(100)),
            5..=9 => act_on_tools(&mut world, &mut dice),
            _ => act_on_request(&mut world, &mut dice, &mut responses, &mut next_id),
        }
    }
    if world.done.is_none() {
        world.cancel();
    }
    Played {
        world,
        max_tool_rounds,
        wants_output,
        max_iterations,
        max_total_tokens,
    }
}

fn next(id: &mut u32) -> u32 {
    *id += 1;
    *id
}

fn random_config(dice: &mut Dice, max_iterations: u32) -> looplet::engine::config::Config {
    let tools = json!([
        tool("read", json!({"readOnly": true})),
        tool(
            "write",
            json!({"timeoutMs": 50, "bindings": [{"field": "n", "input": "bound"}]})
        ),
        tool("key", json!({"prepare": true, "readOnly": dice.below(2) == 0})),
        tool("once", json!({"replayOnce": true})),
        tool("helper", json!({"agent": {"profile": 1}})),
        tool(
            "keeper",
            json!({"agent": {"profile": 2, "keep": true, "inheritModel": true}, "needsApproval": dice.below(4) == 0})
        ),
        tool("expert", json!({"agent": {"profile": 3, "handoff": true}})),
    ]);
    let below = json!([
        tool("read", json!({"readOnly": true})),
        tool("once", json!({"replayOnce": true})),
        tool("helper", json!({"agent": {"profile": 1}})),
        tool("keeper", json!({"agent": {"profile": 2, "keep": true}})),
        tool("expert", json!({"agent": {"profile": 0, "handoff": true}})),
    ]);
    let model = json!({"vendor": "anthropic", "model": "claude-below"});
    let small = |dice: &mut Dice| {
        json!({"model": model, "tools": below, "retry": {"maxRetries": 1, "baseMs": 10, "jitterMs": 0},
            "limits": {"maxIterations": 1 + dice.below(3), "maxTotalTokens": 20 + dice.below(80)},
            "timeouts": {"totalMs": 100 + dice.below(300), "firstChunkMs": 200, "chunkMs": 100}})
    };
    let mut agents = [small(dice), small(dice), small(dice)];
    agents[2]["limits"] = json!({"maxIterations": max_iterations});
    let mut fields = json!({
        "model": {"headers": [["x-planted", SECRET]]},
        "trace": dice.below(2) == 0,
        "limits": {"maxIterations": max_iterations, "maxSubagentDepth": 1 + dice.below(3)},
        "agents": agents,
        "toolExecution": dice.pick(&["read-only-parallel", "parallel", "sequential"]),
        "maxToolConcurrency": 1 + dice.below(4),
        "joinDeltas": dice.below(2) == 0,
        "estimateUsage": dice.below(4) == 0,
        "onMaxTokens": dice.pick(&["return", "continue", "error"]),
        "strictStopReason": dice.below(8) == 0,
        "steerOne": dice.below(2) == 0,
        "followUpAll": dice.below(2) == 0,
        "eagerTools": dice.below(2) == 0,
        "toolErrorFormat": dice.pick(&["structured", "prompty", "host"]),
        "maxToolResultChars": dice.pick(&[4, 100_000]),
        "onUnknownTool": dice.pick(&["tool_result", "host", "host", "throw"]),
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
            "mode": dice.pick(&["default", "plan", "dontAsk", "auto", "bypassPermissions"]),
            "canUseTool": dice.below(4) > 0,
            "allow": ["read"],
            "ask": dice.pick(&[json!([]), json!(["key"])]),
            "timeoutMs": 150,
        });
    }
    if dice.below(4) == 0 {
        fields["subagents"] = json!([{"agentPath": "root/keeper", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Before."}]},
            {"role": "assistant", "content": [{"type": "tool_call", "id": "t1", "name": "read", "input": {}}]}]}]);
    }
    random_hooks::add(dice, &mut fields);
    if dice.below(3) == 0 {
        fields["context"] = json!({
            "windowTokens": 60 + dice.below(200),
            "keepLast": dice.below(3),
            "ask": dice.below(4) == 0,
            "budgetChars": dice.pick(&[json!(null), json!(300)]),
            "history": dice.pick(&[json!(null), json!({"afterResponses": 1, "prefixChars": 3})]),
        });
    }
    if dice.below(4) == 0 {
        fields["output"] = json!({
            "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            "mode": dice.pick(&["native", "tool"]),
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

fn act_on_request(
    world: &mut World,
    dice: &mut Dice,
    responses: &mut BTreeMap<u32, Response>,
    next_id: &mut u32,
) {
    if world.open_requests.is_empty() {
        return world.pass(dice.below(40));
    }
    let request = dice.pick(&world.open_requests).0;
    world.open_request = Some(request);
    let under_way = responses
        .entry(request)
        .or_insert_with(|| random_response(dice, next_id));
    if let Some(status) = under_way.head.take() {
        return world.head(status, &[("request-id", "req_1")]);
    }
    let left = under_way.body.len() - under_way.sent;
    if left > 0 {
        let size = (1 + dice.below(200) as usize).min(left);
        let bytes = under_way.body[under_way.sent..under_way.sent + size].to_vec();
        under_way.sent += size;
        world.input(Input::Chunk {
            request,
            bytes: &bytes,
        });
    } else if under_way.drops {
        world.network_failed();
    } else {
        world.end();
    }
}

fn random_response(dice: &mut Dice, next_id: &mut u32) -> Response {
    let fails = dice.below(10);
    if fails == 0 {
        let status = *dice.pick(&[429, 500, 529, 400]);
        let message = dice.pick(&["no", "prompt is too long"]);
        let body = json!({"type": "error", "error": {"type": "api_error", "message": message}}).to_string();
        return Response {
            head: Some(status),
            body: body.into_bytes(),
            sent: 0,
            drops: false,
        };
    }
    let mut body = begin(1 + dice.below(20));
    let pieces = dice.below(4) as usize;
    for index in 0..pieces {
        let piece = random_piece(dice, next_id);
        let is_cut = fails == 1 && index + 1 == pieces;
        body += &if is_cut {
            open(index, &piece)
        } else {
            block(index, &piece)
        };
    }
    match fails {
        1 => {}
        2 => {
            body +=
                &event(json!({"type": "error", "error": {"type": "overloaded_error", "message": "later"}}))
        }
        _ => {
            body += &end(
                dice.pick::<&str>(&["end_turn", "tool_use", "max_tokens", "pause_turn"]),
                dice.below(20),
            )
        }
    }
    Response {
        head: Some(200),
        body: body.into_bytes(),
        sent: 0,
        drops: fails == 1 && dice.below(2) == 0,
    }
}

fn random_piece(dice: &mut Dice, next_id: &mut u32) -> Piece {
    match dice.below(7) {
        6 => text("{\"n\": 1}"),
        0 => text("Some text with ümläuts 🦀."),
        1 => text("  "),
        2 => Piece::Thinking("Hm.".into(), dice.pick::<&str>(&["", "c2ln"])),
        _ => {
            let id = if dice.below(10) == 0 {
                "same".to_owned()
            } else {
                format!("t{}", next(next_id))
            };
            let name = *dice.pick(&[
                "read", "write", "key", "once", "none", "answer", "helper", "helper", "helper", "keeper",
                "expert",
            ]);
            match dice.below(8) {
                0 => Piece::Call(id, name.into(), "{\"n\": ".into()),
                1 => call(&id, name, json!({"n": "no number"})),
                2..=6 if name.ends_with("er") => call(&id, name, json!({"prompt": "Do."})),
                _ => call(&id, name, json!({"n": dice.below(3)})),
            }
        }
    }
}

fn act_on_tools(world: &mut World, dice: &mut Dice) {
    if !world.saves.is_empty() && dice.below(2) == 0 {
        let (save, _) = world.saves.remove(0);
        return world.input(Input::Saved {
            save,
            ok: dice.below(10) > 0,
        });
    }
    if !world.questions.is_empty() {
        let (question, ask) = world
            .questions
            .remove(dice.below(world.questions.len() as u64) as usize);
        let answer = match (dice.below(8), ask) {
            (0, _) => QuestionAnswer::Failed { why: "no".into() },
            (_, Question::PrepareCalls { calls }) => {
                QuestionAnswer::Prepared(calls.iter().map(|call| prepared(call.input.as_str())).collect())
            }
            (_, Question::Hook { event, .. }) => random_hooks::answer(dice, event),
            (_, Question::WordErrors { .. }) => QuestionAnswer::Worded(vec!["went wrong".into()]),
            (roll, Question::Stop { .. }) => QuestionAnswer::Stop(roll == 7),
            (roll, Question::Summarize { .. }) => {
                QuestionAnswer::Summary(["", "Short."][roll as usize % 2].into())
            }
            (roll, Question::CheckOutput { .. }) => QuestionAnswer::Checked(CheckedOutput {
                problem: (roll > 5).then(|| "no".into()),
                output: None,
            }),
            (roll, Question::Permission { .. }) => QuestionAnswer::Permission(PermissionAnswer {
                allow: roll < 6,
                interrupt: roll == 7 && dice.below(4) == 0,
                ..PermissionAnswer::default()
            }),
        };
        return world.input(Input::Answered { question, answer });
    }
    let ids: Vec<String> = world.running.keys().cloned().collect();
    if ids.is_empty() {
        return;
    }
    let id = dice.pick(&ids).clone();
    let fault = |recoverable| {
        ToolReturn::Fault(ToolFault {
            code: "x".into(),
            message: "y".into(),
            hint: "z".into(),
            recoverable,
        })
    };
    match dice.below(16) {
        0 => world.finish_tool(&id, fault(true)),
        1 => world.finish_tool(&id, fault(false)),
        2 => {
            let call = world.running[&id].call;
            world.input(Input::ToolProgress {
                call,
                data: Json::parse("1").unwrap(),
            });
        }
        3 => {
            let value = ToolReturn::Value(Json::parse("2").unwrap());
            world.finish_tool(&id, ToolReturn::Last(Box::new(value)));
        }
        _ => world.return_value(&id, json!({"id": id.clone()})),
    }
}

/// The resource key is the call's `n`.
fn prepared(input: &str) -> PreparedCall {
    PreparedCall {
        resource_key: Some(input.to_owned()),
        ..PreparedCall::default()
    }
}

fn check_overlaps(world: &World) {
    let mut keys: Vec<&str> = Vec::new();
    for running in world
        .running
        .values()
        .filter(|running| running.tool_name == "key")
    {
        let key = running.input.as_str();
        assert!(
            !keys.contains(&key),
            "I-04: two calls of one resource key run at once"
        );
        keys.push(key);
    }
}
