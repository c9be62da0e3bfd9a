//! What follows an answer that is complete: tools, the next iteration, or the end, as its finish reason and the options say.

use crate::engine::agent::calls::written::WrittenCall;
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::OnOutputLimit;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::message::Block;

/// What the model is told when its answer was cut off and it is to go on.
const GO_ON: &str = "Your answer was cut off at the limit of output tokens. Go on exactly where it stopped, without repeating any of it.";

impl Agent {
    /// The answer is in the transcript; `calls` are its tool calls, none of them begun.
    pub(super) fn follow_answer(&mut self, desk: &mut Desk<'_>, calls: Vec<WrittenCall>) {
        let goes_on = calls.is_empty() && self.goes_on(desk);
        if let Some(failure) = self.refused_finish(desk).filter(|_| !goes_on) {
            self.shelve(desk, calls);
            return self.end_failed(desk, failure);
        }
        let calls = if goes_on {
            calls
        } else {
            match self.structure(desk, calls) {
                Some(calls) => calls,
                None => return,
            }
        };
        // An answer that is owed has not come as long as the model calls tools.
        let may_end = desk.config.strict_stop_reason && desk.config.output.is_none();
        let is_over = may_end && self.finish_reason == Some(FinishReason::Stop);
        if !calls.is_empty() && !is_over {
            return self.begin_tools(desk, calls);
        }
        self.shelve(desk, calls);
        self.finish_iteration(desk);
        let is_paused = self.finish_reason == Some(FinishReason::Pause);
        if goes_on {
            self.text_before = self.text.clone();
            self.transcript.push_user(vec![Block::text(GO_ON)]);
        }
        self.hand_over(desk, is_paused || goes_on);
    }

    /// `text` behind that of the answer which it continues.
    pub(super) fn with_before(&mut self, text: String) -> String {
        let before = std::mem::take(&mut self.text_before);
        if before.is_empty() {
            text
        } else {
            [before.as_str(), text.as_str()].concat()
        }
    }

    /// The answer was cut off, and the model is to continue it.
    fn goes_on(&self, desk: &Desk<'_>) -> bool {
        self.finish_reason == Some(FinishReason::Length)
            && desk.config.on_max_tokens == OnOutputLimit::Continue
            && !self.text.is_empty()
            && Some(self.iteration) < self.limits(desk).max_iterations
    }

    /// A finish reason that the options do not accept.
    fn refused_finish(&self, desk: &Desk<'_>) -> Option<Failure> {
        let raw = self.raw_finish_reason.as_deref().unwrap_or("none");
        let message = match self.finish_reason {
            Some(FinishReason::Length) if desk.config.on_max_tokens == OnOutputLimit::Error => [
                "The answer was cut off at the limit of output tokens (",
                raw,
                ").",
                " Raise maxOutputTokens, or set onMaxTokens to \"return\" or \"continue\".",
            ]
            .concat(),
            Some(FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause) => return None,
            _ if desk.config.strict_stop_reason => ["unexpected stop_reason: ", raw].concat(),
            _ => return None,
        };
        Some(Failure::new(FailureCode::FinishReason, message))
    }
}
