//! The points at which a run asks your code: one row each.
//!
//! A row says who is asked, how long the run waits, which answers it accepts, and what replaces a missing answer. An
//! answer is missing if your function throws, returns an invalid value or takes too long. A new point needs an arm in
//! [`row`] and one in `Agent::after_hooks`, and the compiler requires both. `Agent::continue_step` matches answers.
//! The compiler requires an arm there for a new kind of [`Answer`]. Nothing here asks, and nothing fails.

use crate::engine::model::input::{CheckedOutput, ElicitationAction, ElicitationAnswer, PermissionAnswer};
use crate::engine::model::question::{Answer, Point};

/// The warning of a summary that was not written.
pub const NO_SUMMARY: &str = "compaction_failed";

pub const BUILT_IN_SUMMARY: &str = "No summary of the history was written, so the built-in one is used: ";

/// The facts of one point.
pub struct Row {
    pub class: Class,
    pub wait: Wait,
    /// Returns true for an answer of the kind that the point accepts.
    takes: fn(&Answer) -> bool,
    /// The reason that is reported when an answer does not arrive in time.
    pub late: &'static str,
    pub missing: Missing,
}

/// The functions that are asked at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Hooks. They also receive the agent's name, its effort and the permission mode.
    Hook,
    Guardrail,
    /// Functions around an iteration, or at a limit.
    Iteration,
    /// One function that decides for the user whether a call may run.
    Permission,
    /// One function.
    Function,
}

impl Class {
    /// Returns true if any number of functions is asked at the same time: those in the configuration's list of hooks.
    pub fn is_hooked(self) -> bool {
        matches!(self, Class::Hook | Class::Guardrail | Class::Iteration)
    }
}

/// The option that limits the wait for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The time-out of each hook.
    Hook,
    /// The timeout of permissions. Without one, the wait for a user is unlimited.
    Permission,
    /// No limit.
    Person,
    /// `timeouts.firstChunkMs`, because the function may ask a model.
    FirstChunk,
    /// The time of the tools that the question is about, else `timeouts.toolMs`, else the longest wait.
    Tool,
    /// The longest wait for one of your functions.
    Longest,
}

/// The outcome of a question without an answer. Each function takes the reason and returns the answer.
pub enum Missing {
    /// A denial if the hook blocks. Any other hook is passed over, with a warning.
    AsHookSays,
    /// The hook is passed over, with a warning.
    PassedOver,
    Answer(fn(String) -> Answer),
    /// The question stays open, with a warning that has this code.
    StaysOpen(&'static str),
    /// An answer, and a warning with this code and a message that begins with these words.
    Warned(fn(String) -> Answer, &'static str, &'static [&'static str]),
}

const HOOK: Row = Row {
    class: Class::Hook,
    wait: Wait::Hook,
    takes: |answer| matches!(answer, Answer::Hook(_)),
    late: "it did not answer in time",
    missing: Missing::AsHookSays,
};

const FUNCTION: Row = Row {
    class: Class::Function,
    wait: Wait::Tool,
    takes: |answer| matches!(answer, Answer::Failed { .. }),
    late: "your code did not answer in time",
    missing: Missing::Answer(|why| Answer::Failed { why }),
};

const PERMISSION: Row = Row {
    class: Class::Permission,
    wait: Wait::Permission,
    takes: |answer| matches!(answer, Answer::Permission(_)),
    late: "The call was denied: it was not approved in time.",
    missing: Missing::Answer(|why| Answer::Permission(denial(why))),
};

/// The row of a point.
pub fn row(point: Point) -> Row {
    match point {
        Point::PreToolUse
        | Point::PostToolUse
        | Point::PostToolUseFailure
        | Point::PostToolBatch
        | Point::SessionStart
        | Point::UserPromptSubmit
        | Point::SubagentStart
        | Point::PreCompact
        | Point::PostCompact
        | Point::PermissionRequest
        | Point::PermissionDenied
        | Point::Notification => HOOK,
        // An agent that has finished must be able to end.
        Point::Stop | Point::SubagentStop => Row {
            missing: Missing::PassedOver,
            ..HOOK
        },
        Point::InputGuardrail | Point::OutputGuardrail | Point::ToolGuardrail => Row {
            class: Class::Guardrail,
            ..HOOK
        },
        Point::PrepareIteration | Point::IterationEnd | Point::Limit => Row {
            class: Class::Iteration,
            ..HOOK
        },
        Point::Permission => PERMISSION,
        Point::Classify => Row {
            takes: |answer| matches!(answer, Answer::Classified(_)),
            missing: Missing::Answer(|why| Answer::Classified(denial(why))),
            ..PERMISSION
        },
        // Only your code knows what a call has done, so nothing replaces the answer.
        Point::Reconcile => Row {
            wait: Wait::Person,
            takes: |answer| matches!(answer, Answer::Reconciled(_)),
            missing: Missing::StaysOpen("not_reconciled"),
            ..PERMISSION
        },
        Point::Elicitation => Row {
            wait: Wait::Person,
            takes: |answer| matches!(answer, Answer::Elicited(_)),
            missing: Missing::Warned(
                |_| Answer::Elicited(nobody()),
                "elicitation_failed",
                &["A tool's question to the user was not answered: "],
            ),
            ..PERMISSION
        },
        Point::StopCondition | Point::StopRepeat => Row {
            wait: Wait::Longest,
            takes: |answer| matches!(answer, Answer::Stop(_)),
            missing: Missing::Warned(
                |_| Answer::Stop(false),
                "stop_undecided",
                &["Whether to stop was not decided: "],
            ),
            ..FUNCTION
        },
        Point::Summarize => Row {
            wait: Wait::FirstChunk,
            takes: |answer| matches!(answer, Answer::Summary(_)),
            missing: Missing::Warned(
                |_| Answer::Summary(String::new()),
                NO_SUMMARY,
                &[BUILT_IN_SUMMARY, "summarize failed: "],
            ),
            ..FUNCTION
        },
        // Without the filter the next agent would read what it was to be spared, so the run fails.
        Point::FilterHandoff => Row {
            wait: Wait::Longest,
            takes: |answer| matches!(answer, Answer::Filtered(_)),
            ..FUNCTION
        },
        // Calls that were not prepared fail.
        Point::PrepareCalls => Row {
            takes: |answer| matches!(answer, Answer::Prepared(_)),
            late: "the input was not checked in time",
            ..FUNCTION
        },
        // Errors that were not worded stay as they are.
        Point::WordErrors => Row {
            takes: |answer| matches!(answer, Answer::Worded(_)),
            missing: Missing::Answer(|_| Answer::Worded(Vec::new())),
            ..FUNCTION
        },
        Point::CheckOutput => Row {
            takes: |answer| matches!(answer, Answer::Checked(_)),
            missing: Missing::Answer(|why| Answer::Checked(unchecked(&why))),
            ..FUNCTION
        },
    }
}

/// Returns true if `answer` has the kind that the point accepts.
pub fn takes(point: Point, answer: &Answer) -> bool {
    match answer {
        Answer::Failed { .. } => true,
        Answer::Read { answer, .. } => takes(point, answer),
        answer => (row(point).takes)(answer),
    }
}

/// The point in the `question` event, which does not distinguish a classifier from a user.
pub fn as_reported(point: Point) -> Point {
    match point {
        Point::Classify => Point::Permission,
        point => point,
    }
}

fn denial(why: String) -> PermissionAnswer {
    PermissionAnswer {
        message: Some(why),
        ..PermissionAnswer::default()
    }
}

fn nobody() -> ElicitationAnswer {
    ElicitationAnswer {
        action: ElicitationAction::Cancel,
        content: None,
    }
}

fn unchecked(why: &str) -> CheckedOutput {
    CheckedOutput {
        problem: Some(format!("it could not be checked: {why}")),
        output: None,
    }
}
