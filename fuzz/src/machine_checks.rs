//! What holds of every run that has ended.

use looplet::engine::model::input::{Input, Moment, ToolReturn};
use looplet::engine::model::question::Answer;
use looplet::engine::model::usage::Usage;
use serde_json::{Value, json};

use super::ended::{check_order, usage_by_events};
use super::world::World;

pub fn check_events(world: &World, result: &Value) {
    check_order(&world.events);
    assert!(world.run.poll_timeout().is_none(), "a timer after the end");
    let usage: Option<Usage> = serde_json::from_value(result["usage"].clone()).unwrap();
    let sum = usage_by_events(&world.events);
    assert_eq!(
        usage.unwrap_or_default(),
        sum,
        "I-06: usage is not the sum of its calls"
    );
}

pub fn check_overlaps(world: &World) {
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

/// Answers to an effect that is not open.
pub fn check_late_answers(world: &mut World, is_careful: bool) {
    let effect = world.events.len() as u32 % 50;
    if world.run.is_live(effect) {
        return;
    }
    let moment = Moment {
        now_ms: world.now_ms,
        random: world.seed,
    };
    let before = is_careful.then(|| state(world));
    let late = [
        Input::Chunk {
            request: effect,
            bytes: b"data: x\n\n",
        },
        Input::End { request: effect },
        Input::NetworkFailed {
            request: effect,
            why: "late".into(),
        },
        Input::ToolFinished {
            call: effect,
            result: ToolReturn::Content(Vec::new()),
        },
        Input::Answered {
            question: effect,
            answer: Answer::Prepared(Vec::new()),
        },
        Input::Saved {
            save: effect,
            ok: true,
        },
        Input::HandedOver { handover: effect },
    ];
    for input in late {
        world.run.handle_input(input, moment);
        assert_eq!(world.run.poll_output(), None, "a late answer has an effect");
    }
    if let Some(before) = before {
        assert_eq!(state(world), before, "a late answer changes the state");
    }
}

/// All that a person can see of the run, but for its times.
fn state(world: &World) -> Value {
    let mut report = json!(world.run.report());
    for time in ["durationMs", "apiDurationMs"] {
        report[time] = Value::Null;
    }
    json!([report, world.run.history()])
}
