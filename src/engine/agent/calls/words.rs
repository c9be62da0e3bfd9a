//! The end of a round, before the model hears of it: its hooks, and the errors in words of yours.

use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::batch::Call;
use crate::engine::agent::calls::{Calls, Next};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::who::Who;
use crate::engine::model::hook::HookAnswer;
use crate::engine::model::outcome::ToolCallRecord;
use crate::engine::model::question::{Facts, FaultyCall, Point};

impl Calls {
    /// Whether somebody is asked before the round is over, or has just been.
    pub(super) fn ask_before_end(&self, who: &Who, desk: &mut Desk<'_>) -> bool {
        let point = Point::PostToolBatch;
        if desk.asks.is_at(who.agent, point) || desk.asks.is_at(who.agent, Point::WordErrors) {
            return true;
        }
        if !desk.has_hooks(point, "") {
            return self.ask_for_words(who, desk);
        }
        let tool_calls: Vec<ToolCallRecord> = self.batch.told().map(|call| call.record(false)).collect();
        let facts = Facts::Batch {
            tool_calls: &tool_calls,
        };
        desk.ask(who, Ask::new(point, About::Phase, &facts));
        true
    }

    pub(super) fn after_batch(&mut self, who: &Who, desk: &mut Desk<'_>, mut verdict: HookAnswer) -> Next {
        self.note(&mut verdict, true);
        if let Some(why) = verdict.stop {
            return Next::StopBecause(why);
        }
        if self.ask_for_words(who, desk) {
            return Next::Wait;
        }
        Next::RoundOver
    }

    /// Whether somebody is asked for the words of this round's errors.
    fn ask_for_words(&self, who: &Who, desk: &mut Desk<'_>) -> bool {
        if !desk.config.word_errors {
            return false;
        }
        let faulty = self.batch.told().filter_map(|call| {
            Some(FaultyCall {
                tool_call_id: &call.id,
                tool_name: &call.name,
                input: &call.input,
                error: call.shown_fault()?.to_json(),
            })
        });
        let errors: Vec<FaultyCall<'_>> = faulty.collect();
        if errors.is_empty() {
            return false;
        }
        let facts = Facts::Errors { errors };
        desk.ask(who, Ask::new(Point::WordErrors, About::Phase, &facts));
        true
    }

    /// Words that are missing leave the error as it is.
    pub fn take_words(&mut self, texts: Vec<String>) -> Next {
        let is_faulty = |call: &&mut Call| !call.is_answer && call.fault().is_some();
        let faulty = self.batch.calls.iter_mut().filter(is_faulty);
        for (call, text) in faulty.zip(texts) {
            call.worded = Some(text);
        }
        Next::RoundOver
    }
}
