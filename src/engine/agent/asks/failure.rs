//! The outcome of a question that nobody answers: your function throws, answers nonsense or takes too long.
//!
//! | point | comes to |
//! |---|---|
//! | permission, classifier | denied |
//! | guardrail; hook that blocks | denied |
//! | other hook, `prepareIteration`, `onIterationEnd`, `onLimit`; any hook about the end | passed over, with a warning |
//! | stop condition | does not stop, with a warning |
//! | summary | the built-in one, with a warning |
//! | preparation of calls | these calls fail |
//! | wording of errors | the errors as they are |
//! | check of an answer | an answer that was not taken |

use crate::engine::agent::context::summary::{NO_SUMMARY, unwritten};
use crate::engine::agent::desk::Desk;
use crate::engine::ledger::Place;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::input::{CheckedOutput, PermissionAnswer};
use crate::engine::model::json::word;
use crate::engine::model::question::{Answer, Point};

/// The reason that is told when an answer did not come in time.
pub(super) fn late(point: Point) -> &'static str {
    match point {
        Point::Permission | Point::Classify => "The call was denied: nobody approved it in time.",
        Point::PrepareCalls => "the input was not checked in time",
        point if point.is_hooked() => "it did not answer in time",
        _ => "your code did not answer in time",
    }
}

impl Desk<'_> {
    /// The answer that stands in for one that did not come. `asker` is the index of the hook that was asked.
    pub(super) fn failed(&mut self, place: Place, point: Point, asker: u32, why: String) -> Answer {
        match point {
            Point::Permission => Answer::Permission(denial(why)),
            Point::Classify => Answer::Classified(denial(why)),
            Point::StopCondition | Point::StopRepeat => {
                let message = ["Whether to stop was not decided: ", &why].concat();
                self.warn(place, "stop_undecided", message);
                Answer::Stop(false)
            }
            Point::Summarize => {
                self.warn(place, NO_SUMMARY, unwritten("summarize failed: ", &why));
                Answer::Summary(String::new())
            }
            Point::PrepareCalls => Answer::Failed { why },
            Point::WordErrors => Answer::Worded(Vec::new()),
            Point::CheckOutput => Answer::Checked(CheckedOutput {
                problem: Some(["it could not be checked: ", &why].concat()),
                output: None,
            }),
            _ => Answer::Hook(Box::new(self.failed_hook(place, point, asker, why))),
        }
    }

    fn failed_hook(&mut self, place: Place, point: Point, hook: u32, why: String) -> HookAnswer {
        let blocks = self.hooks().get(hook as usize).is_some_and(|hook| hook.blocks);
        if blocks && !matches!(point, Point::Stop | Point::SubagentStop) {
            return HookAnswer::denial(why);
        }
        let message = ["A hook for ", &word(point), " failed: ", &why].concat();
        self.warn(place, "hook_failed", message);
        HookAnswer::default()
    }
}

fn denial(why: String) -> PermissionAnswer {
    PermissionAnswer {
        message: Some(why),
        ..PermissionAnswer::default()
    }
}
