//! The report of a subagent to its caller, and its memory for the next call of its tool.
//!
//! The run calls [`Node::report`] and [`Node::memory`] after the subagent has ended. A subagent that did not complete
//! reports an error, or a note with its text so far.

use crate::engine::agent::Node;
use crate::engine::agent::calls::fault;
use crate::engine::ledger::spawn::Parent;
use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::Memory;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::json::word;
use crate::engine::model::message::Json;
use crate::engine::model::outcome::{Outcome, OutcomeKind, StoppedBy};

impl Node {
    /// Returns true if the agent has ended and has not reported to its caller.
    pub fn owes_report(&self) -> bool {
        self.agent.ended().is_some() && self.identity.parent.is_some() && !self.agent.iteration.has_reported()
    }

    /// The caller, the outcome, and the result for the caller's model: the agent's text, or the answer that matches
    /// its schema. The transcript remains for [`Node::memory`].
    pub fn report(&mut self, owes_output: bool) -> Option<(Parent, Outcome, ToolReturn)> {
        let Node { identity, agent } = self;
        let (parent, outcome) = (identity.parent.clone()?, agent.ended().cloned()?);
        agent.iteration.note_reported();
        let (text, output) = agent.answers.take();
        let calls = std::mem::take(&mut agent.calls);
        agent
            .history
            .transcript
            .push_round(calls.batch.results(), Vec::new());
        let result = match outcome.outcome {
            OutcomeKind::Completed if owes_output => match output {
                Some(output) => ToolReturn::Value(output),
                None => failed(NO_OUTPUT, &text, true),
            },
            OutcomeKind::Completed if agent.answers.reply().finish_reason != Some(FinishReason::Length) => {
                ToolReturn::Value(Json::string(&text))
            }
            OutcomeKind::Completed => noted(&text, "The answer was cut off at its limit of output tokens."),
            OutcomeKind::Stopped => match outcome.stopped_by {
                Some(StoppedBy::StructuredOutput) => failed(NO_OUTPUT, &text, true),
                None | Some(StoppedBy::FatalTool) => {
                    failed("one of its tools failed permanently", &text, false)
                }
                Some(by) => {
                    let why = stopped_words(by, outcome.abort_reason.as_deref());
                    if owes_output {
                        failed(&format!("it was stopped by {why}"), &text, true)
                    } else {
                        noted(&text, &format!("The agent was stopped by {why}."))
                    }
                }
            },
            _ => {
                let why = match (&outcome.error, &outcome.abort_reason) {
                    (Some(error), _) => error.message.as_str(),
                    (_, Some(reason)) => reason.as_str(),
                    _ => "it was aborted",
                };
                failed(why, &text, true)
            }
        };
        Some((parent, outcome, result))
    }

    /// Takes the transcript of an ended agent. Returns the memory of a persistent subagent.
    pub fn memory(&mut self) -> Option<Memory> {
        let Node { identity, agent } = self;
        let transcript = std::mem::take(&mut agent.history.transcript);
        let head = transcript.heads.to_keep().map(Box::new);
        let messages = transcript.into_messages();
        agent.is_kept.then(|| Memory {
            agent_path: identity.home.clone(),
            messages,
            head,
        })
    }
}

fn noted(text: &str, note: &str) -> ToolReturn {
    let space = if text.is_empty() { "" } else { "\n\n" };
    ToolReturn::Value(Json::string(&format!("{text}{space}[{note}]")))
}

/// The words for the limit, hook or guardrail that has stopped an agent.
fn stopped_words(by: StoppedBy, reason: Option<&str>) -> String {
    let what = match by {
        StoppedBy::Hook => "a hook",
        StoppedBy::Guardrail => "a guardrail",
        _ => "its limit",
    };
    format!("{what}: {}", reason.unwrap_or(&word(by)).trim_end_matches('.'))
}

const NO_OUTPUT: &str = "it gave no answer that matches its schema";

/// The fault that is reported to the caller's model.
pub fn failed(why: &str, text: &str, recoverable: bool) -> ToolReturn {
    let mut message = format!("The agent failed: {why}");
    if !text.is_empty() {
        message.push_str("\nWhat it had written: ");
        message.push_str(text);
    }
    let mut fault = fault(
        "subagent_failed",
        message,
        "Call it again, do the work yourself, or continue without it.",
    );
    fault.recoverable = recoverable;
    ToolReturn::Fault(fault)
}
