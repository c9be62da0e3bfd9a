//! The errors of a round in the words of a function of yours, where one finds them.

use crate::engine::agent::asks::Wait;
use crate::engine::agent::calls::batch::Call;
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::question::{Facts, FaultyCall, Point};
use crate::engine::policy::tool_error::ErrorFormat;

impl Agent {
    /// The round waits for words, or has just begun to.
    pub(crate) fn awaits_words(&mut self, desk: &mut Desk<'_>) -> bool {
        if self.asks.is_at(Point::WordErrors) {
            return true;
        }
        if self.tools.is_worded || self.tools.error_format != ErrorFormat::Host {
            return false;
        }
        let faulty = self.tools.told().filter_map(|call| {
            Some(FaultyCall {
                tool_call_id: &call.id,
                tool_name: &call.name,
                input: &call.input,
                error: call.fault()?.to_json(),
            })
        });
        let errors: Vec<FaultyCall<'_>> = faulty.collect();
        if errors.is_empty() {
            return false;
        }
        let data = Facts::Errors { errors }.to_json();
        self.ask(desk, Point::WordErrors, "", data, Wait::Point);
        true
    }

    /// Words that are missing leave the error as it is.
    pub(crate) fn handle_words(&mut self, desk: &mut Desk<'_>, texts: Vec<String>) {
        self.tools.is_worded = true;
        let is_faulty = |call: &&mut Call| !call.is_answer && call.fault().is_some();
        let faulty = self.tools.calls.iter_mut().filter(is_faulty);
        for (call, text) in faulty.zip(texts) {
            call.worded = Some(text);
        }
        self.finish_round(desk);
    }
}
