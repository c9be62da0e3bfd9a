//! Random schedules of everything that can happen, in virtual time, against the invariants I-01 to I-10.
//!
//! A failing seed is printed; `LOOPLET_SEED=n` runs only that one, `LOOPLET_CASES=n` runs as many (10,000 by
//! default).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use looplet::engine::agent::questions::points::row;
use looplet::engine::model::config::ModelConfig;
use looplet::engine::model::event::ToolFault;
use looplet::engine::model::hook::Raise;
use looplet::engine::model::input::{
    Behavior, CheckedOutput, ElicitationAction, ElicitationAnswer, Input, PermissionAnswer, PermissionUpdate,
    PreparedCall, Reconciled, ToolReturn,
};
use looplet::engine::model::message::{Block, Json};
use looplet::engine::model::question::{Answer, Point};
use looplet::engine::model::usage::Usage;
use serde_json::json;

use crate::budgets::check_budget;
use crate::dice::Dice;
use crate::ended::{check_messages, usage_by_events};
use crate::invariants::{
    check_calls, check_end, check_events, check_limits, check_output, check_secret, check_turns,
    check_wire_messages, usage_by_iterations, usage_by_model,
};
use crate::random_answers::{PROTOCOLS, Response, model, protocol_of, response};
use crate::random_hooks;
use crate::random_settings::{MODES, SECRET, settings};
use crate::replay::check_replay;
use crate::told::{calls_of, data};
use crate::wire::unmarked;
use crate::wire_items::{check_items, items};
use crate::world::{Settings, World};

#[test]
fn i_01_i_02_i_03_i_04_i_05_i_06_i_07_i_08_i_10_every_random_schedule_keeps_the_invariants() {
    if let Some(seed) = variable("LOOPLET_SEED") {
        return check(seed);
    }
    let first = variable("LOOPLET_FIRST").unwrap_or(0);
    let end = first + variable("LOOPLET_CASES").unwrap_or(10_000);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(first);
    let play = || {
        loop {
            // Some seeds are played twice: whoever is free takes the next.
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
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
    println!("schedules {first} to {} kept the invariants", end - 1);
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

fn check(seed: u64) {
    let played = play(seed, false);
    for pair in played.world.requests_by_agent().windows(2) {
        if pair[0].0 != pair[1].0 {
            continue;
        }
        let (first, next) = (unmarked(pair[0].1), unmarked(pair[1].1));
        if head(&first) != head(&next) {
            continue;
        }
        let shared = &first[..first.rfind(']').unwrap()];
        assert!(next.starts_with(shared), "I-02: {next}\ndoes not extend\n{first}");
    }
    for (sent, body) in played.world.sent.iter().zip(&played.world.requests) {
        let protocol = protocol_of(sent);
        if protocol == "anthropic" {
            check_wire_messages(&serde_json::from_str(body).unwrap());
        } else {
            check_items(&items(protocol, body));
        }
        check_turns(body);
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
    check_calls(&played.world, played.max_tool_calls);
    check_output(played.wants_output, &result);
    check_events(&played.world);
    check_end(&played.world);
    let usage: Option<Usage> = serde_json::from_value(result["usage"].clone()).unwrap();
    assert_eq!(
        usage.unwrap_or_default(),
        usage_by_events(&played.world.events),
        "I-06: usage is not the sum of its calls"
    );
    assert_eq!(
        usage,
        usage_by_iterations(&played.world),
        "I-06: usage is not the sum of its iterations"
    );
    assert_eq!(
        usage,
        usage_by_model(&result),
        "I-06: usage is not the sum of its models"
    );
    if seed.is_multiple_of(16) {
        check_secret(&played.world, SECRET);
    }
    check_replay(&played.world, played.settings.clone());
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

/// All of a request but its messages; a model that takes part in one iteration only has another.
fn head(body: &str) -> &str {
    let lists = ["\"messages\":[", "\"input\":[", "\"contents\":["];
    let at = lists.iter().filter_map(|list| body.find(list)).min().unwrap();
    &body[..at]
}

pub struct Played {
    pub world: World,
    pub settings: Settings,
    max_tool_rounds: Option<u32>,
    wants_output: bool,
    pub max_iterations: u32,
    max_total_tokens: Option<u64>,
    max_tool_calls: Option<u32>,
}

/// `crashes` says whether the process dies now and then, and the run goes on from its journal.
pub fn play(seed: u64, crashes: bool) -> Played {
    let mut dice = Dice(seed);
    let max_iterations = 1 + dice.below(6) as u32;
    let config = settings(&mut dice, max_iterations);
    let wants_output = config.output.is_some();
    let max_tool_rounds = config.limits.max_tool_rounds;
    let max_total_tokens = config.limits.max_total_tokens;
    let max_tool_calls = config.limits.max_tool_calls;
    let settings = config.clone();
    let mut world = World::new(config);
    // A record has one process.
    world.is_recorded = !crashes;
    world.confirm_saves = false;
    world.prompt("Go.");
    let mut responses: BTreeMap<u32, Response> = BTreeMap::new();
    let mut next_id = 0;
    for _ in 0..if crashes { 1000 } else { 400 } {
        if world.done.is_some() {
            break;
        }
        check_overlaps(&world);
        if crashes && dice.below(if runs_once(&world) { 3 } else { 80 }) == 0 {
            world.crash(settings.clone());
            continue;
        }
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
            3 if !crashes && dice.below(8) == 0 => world.cancel(),
            3 if dice.below(4) == 0 => world.input(Input::Compact {
                instructions: None,
                only: false,
            }),
            4 if dice.below(8) == 0 => {
                let model = model(dice.pick::<&str>(&PROTOCOLS), "other").to_string();
                let model =
                    Box::new(looplet::engine::model::json::read::<ModelConfig>("model", &model).unwrap());
                world.input(Input::SetModel { model });
            }
            4 if dice.below(8) == 0 => world.input(Input::SetMode {
                mode: *dice.pick(&MODES),
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
            5..=9 if crashes && !world.saves.is_empty() => save(&mut world, &mut dice),
            5..=9 => act_on_tools(&mut world, &mut dice),
            _ => act_on_request(&mut world, &mut dice, &mut responses, &mut next_id),
        }
    }
    if world.done.is_none() {
        world.cancel();
    }
    Played {
        world,
        settings,
        max_tool_rounds,
        wants_output,
        max_iterations,
        max_total_tokens,
        max_tool_calls,
    }
}

/// Returns true if a call runs that may run once.
fn runs_once(world: &World) -> bool {
    world.running.values().any(|call| is_once(&call.tool_name))
}

/// Returns true for a tool whose calls may run once.
pub fn is_once(tool: &str) -> bool {
    ["once", "write"].contains(&tool)
}

fn next(id: &mut u32) -> u32 {
    *id += 1;
    *id
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
    let under_way = responses.entry(request).or_insert_with(|| {
        let protocol = protocol_of(world.asked(request));
        response(dice, next_id, protocol)
    });
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

fn save(world: &mut World, dice: &mut Dice) {
    let (save, _) = world.saves.remove(0);
    let ok = dice.below(10) > 0;
    world.input(Input::Saved { save, ok });
}

fn act_on_tools(world: &mut World, dice: &mut Dice) {
    if !world.saves.is_empty() && dice.below(2) == 0 {
        return save(world, dice);
    }
    if !world.questions.is_empty() {
        let (question, ask) = world
            .questions
            .remove(dice.below(world.questions.len() as u64) as usize);
        let answer = match (dice.below(8), ask.point) {
            (0, _) => Answer::Failed { why: "no".into() },
            (_, Point::PrepareCalls) => {
                let calls = calls_of(&ask);
                Answer::Prepared(calls.iter().map(|call| prepared(call.input.as_str())).collect())
            }
            (_, point) if row(point).class.is_hooked() => random_hooks::answer(dice, point),
            (_, Point::WordErrors) => Answer::Worded(vec!["went wrong".into()]),
            (roll, Point::StopCondition | Point::StopRepeat) => Answer::Stop(roll == 7),
            (roll, Point::Summarize) => Answer::Summary(["", "Short."][roll as usize % 2].into()),
            (7, Point::FilterHandoff) => Answer::Filtered(Vec::new()),
            (_, Point::FilterHandoff) => {
                Answer::Filtered(serde_json::from_value(data(&ask)["messages"].clone()).unwrap())
            }
            (roll, Point::CheckOutput) => Answer::Checked(CheckedOutput {
                problem: (roll > 5).then(|| "no".into()),
                output: None,
            }),
            (roll, Point::Elicitation) => Answer::Elicited(ElicitationAnswer {
                action: [ElicitationAction::Accept, ElicitationAction::Decline][roll as usize % 2],
                content: None,
            }),
            (roll, Point::Reconcile) => Answer::Reconciled(match roll {
                1..=3 => {
                    let id = data(&ask)["toolCallId"].as_str().unwrap().to_owned();
                    world.tool_log.push(format!("again {id}"));
                    Reconciled::Run
                }
                4..=5 => Reconciled::Fail {
                    message: "No.".into(),
                },
                _ => {
                    let id = data(&ask)["toolCallId"].as_str().unwrap().to_owned();
                    world.tool_log.push(format!("done {id}"));
                    Reconciled::Done {
                        output: Json::parse("1").unwrap(),
                    }
                }
            }),
            (roll, point) => {
                let to_mode = (roll == 5).then(|| PermissionUpdate::mode(*dice.pick(&MODES)));
                let answer = PermissionAnswer {
                    behavior: if roll < 6 { Behavior::Allow } else { Behavior::Deny },
                    interrupt: roll == 7 && dice.below(4) == 0,
                    updated_permissions: to_mode.into_iter().collect(),
                    ..PermissionAnswer::default()
                };
                if point == Point::Classify {
                    Answer::Classified(answer)
                } else {
                    Answer::Permission(answer)
                }
            }
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
        4 => world.tool_asks(&id, 1 + dice.below(3) as u32, json!({"message": "Which?"})),
        5 => {
            world.tool_log.push(format!("checkpoint {id}"));
            world.tool_keeps(&id, json!({"at": 1}), dice.below(3) as u32);
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
