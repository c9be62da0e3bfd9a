//! Hooks and guardrails of random schedules: which there are, and what they say.

use looplet::engine::model::config::ModelConfig;
use looplet::engine::model::hook::{Decision, HookAnswer, Prepared, Raise};
use looplet::engine::model::json::word;
use looplet::engine::model::message::Json;
use looplet::engine::model::question::{Answer, Point};
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::told::HOOK_EVENTS;

pub fn add(dice: &mut Dice, fields: &mut Value) {
    if dice.below(3) == 0 {
        // Of the same name, so that the requests still extend each other.
        fields["fallbackModels"] = json!([{"vendor": "anthropic", "model": "claude-test", "slot": 1}]);
    }
    if dice.below(3) > 0 {
        return;
    }
    let mut hooks = Vec::new();
    for name in HOOK_EVENTS {
        for _ in 0..dice.below(3) {
            let names = dice.pick(&[json!(null), json!(["write", "auto"])]).clone();
            hooks.push(json!({
                "event": name,
                "names": if name.contains("Tool") { names } else { json!(null) },
                "timeoutMs": dice.pick(&[json!(null), json!(120)]),
                "blocks": dice.below(2) == 0,
            }));
        }
    }
    fields["hooks"] = json!(hooks);
    fields["session"] = dice.pick(&[json!(null), json!("startup")]).clone();
}

/// Nothing that makes the requests begin otherwise.
fn prepared(dice: &mut Dice, event: Point) -> Option<Box<Prepared>> {
    let model = ModelConfig::new("anthropic", "other");
    let says = event == Point::PrepareIteration && dice.below(2) == 0;
    says.then(|| {
        Box::new(Prepared {
            model: Some(model),
            tools: (dice.below(2) == 0).then(|| vec!["read".to_owned()]),
            ..Prepared::default()
        })
    })
}

/// To how many rounds of tools the limit is raised at most.
pub const MOST_RAISED_ROUNDS: u32 = 4;

/// Less than the limit of iterations that the schedules check.
fn raise(dice: &mut Dice) -> Raise {
    Raise {
        max_total_tokens: Some(100 + dice.below(100)),
        max_tool_rounds: Some(MOST_RAISED_ROUNDS - dice.below(3) as u32),
        max_tool_calls: Some(4 + dice.below(8) as u32),
        time_ms: Some(dice.below(200)),
        ..Raise::default()
    }
}

/// Mild enough that most runs go on.
pub fn answer(dice: &mut Dice, event: Point) -> Answer {
    let decisions = [Decision::Allow, Decision::Ask, Decision::Defer, Decision::Deny];
    let is_guardrail = word(event).ends_with("Guardrail");
    let denies = dice.below(if is_guardrail { 10 } else { 4 }) == 0;
    let text = |dice: &mut Dice, text: &str| (dice.below(3) == 0).then(|| text.to_owned());
    Answer::Hook(Box::new(HookAnswer {
        decision: denies.then(|| *dice.pick(&decisions)),
        reason: text(dice, "a reason"),
        updated_input: text(dice, r#"{"n":2}"#).map(|json| Json::parse(&json).unwrap()),
        updated_output: text(dice, "rewritten").map(|text| Json::string(&text)),
        context: text(dice, "context").into_iter().collect(),
        stop: (dice.below(20) == 0).then(|| "enough".to_owned()),
        prepared: prepared(dice, event),
        limits: (dice.below(2) == 0).then(|| raise(dice)),
        retry: dice.below(2) == 0,
        interrupt: dice.below(20) == 0,
        system_message: text(dice, "for the user"),
        classifier_context: text(dice, "for the classifier").into_iter().collect(),
        ..HookAnswer::default()
    }))
}
