//! Answers to what a run asks, chosen by the input's bytes.

use looplet::engine::agent::questions::points::row;
use looplet::engine::model::hook::{Decision, HookAnswer, Raise};
use looplet::engine::model::input::{
    Behavior, CheckedOutput, ElicitationAction, ElicitationAnswer, PermissionAnswer, PreparedCall,
};
use looplet::engine::model::message::Json;
use looplet::engine::model::question::{Answer, Point, Question};

use super::told::calls_of;

use super::machine::Choices;

pub fn answer(question: &Question, choices: &mut Choices<'_>) -> Answer {
    match (choices.below(8), question.point) {
        (0, _) => Answer::Failed { why: "no".into() },
        (_, Point::WordErrors) => Answer::Worded(vec!["went wrong".into()]),
        (roll, Point::PrepareCalls) => {
            let calls = calls_of(question);
            let answered = calls.len() - usize::from(roll == 1).min(calls.len());
            let calls = calls.iter().take(answered);
            Answer::Prepared(calls.map(|call| prepared(call.input.as_str())).collect())
        }
        (roll, point) if row(point).class.is_hooked() => {
            Answer::Hook(Box::new(hook_answer(roll, choices.byte())))
        }
        (roll, Point::StopCondition | Point::StopRepeat) => Answer::Stop(roll == 7),
        (roll, Point::Summarize) => Answer::Summary(["", "Short."][roll as usize % 2].into()),
        (roll, Point::CheckOutput) => Answer::Checked(CheckedOutput {
            problem: (roll > 5).then(|| "no".into()),
            output: None,
        }),
        (_, Point::Elicitation) => Answer::Elicited(ElicitationAnswer {
            action: ElicitationAction::Accept,
            content: None,
        }),
        (roll, point) => {
            let answer = PermissionAnswer {
                behavior: if roll < 6 { Behavior::Allow } else { Behavior::Deny },
                interrupt: roll == 7,
                ..PermissionAnswer::default()
            };
            if point == Point::Classify {
                Answer::Classified(answer)
            } else {
                Answer::Permission(answer)
            }
        }
    }
}

/// A little more of each limit.
pub fn raise(more: u8) -> Raise {
    let when = |bit: u8| more & bit != 0;
    Raise {
        max_total_tokens: when(1).then_some(u64::from(more)),
        max_tool_rounds: when(4).then_some(1),
        max_tool_calls: when(8).then_some(2),
        time_ms: when(16).then_some(u64::from(more)),
        ..Raise::default()
    }
}

fn hook_answer(roll: u8, more: u8) -> HookAnswer {
    let json = || Some(Json::parse(r#"{"n":2}"#).unwrap());
    HookAnswer {
        decision: [
            None,
            Some(Decision::Allow),
            Some(Decision::Ask),
            Some(Decision::Defer),
            Some(Decision::Deny),
        ][more as usize % 5],
        reason: (more & 8 != 0).then(|| "a reason".into()),
        updated_input: (more & 16 != 0).then(json).flatten(),
        updated_output: (more & 32 != 0).then(|| Json::string("rewritten")),
        context: if more & 64 == 0 {
            Vec::new()
        } else {
            vec!["context".into()]
        },
        stop: (roll == 7 && more & 128 != 0).then(|| "enough".into()),
        retry: roll == 2,
        interrupt: roll == 3,
        limits: (more & 2 != 0).then(|| raise(more)),
        ..HookAnswer::default()
    }
}

/// The resource key is the call's input.
fn prepared(input: &str) -> PreparedCall {
    PreparedCall {
        resource_key: Some(input.to_owned()),
        ..PreparedCall::default()
    }
}
