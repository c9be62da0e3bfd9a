//! The errors of a round in the host's words, where it wants to find them itself.

use crate::engine::agent::tool_batch::{Call, Wording};
use crate::engine::agent::{Agent, Desk};
use crate::engine::json::writer::{push_comma, push_raw, push_text};
use crate::engine::ledger::timers::{QUESTION_MS, TimerReason};
use crate::engine::model::event::EventKind;
use crate::engine::model::input::QuestionAnswer;
use crate::engine::model::message::Json;
use crate::engine::model::output::{EffectKind, Output, Question};
use crate::engine::policy::tool_error::ErrorFormat;

impl Agent {
    /// The round waits for the host's words, or has just begun to.
    pub(super) fn awaits_words(&mut self, desk: &mut Desk<'_>) -> bool {
        match self.tools.wording {
            Wording::Asked(_) => return true,
            Wording::Given => return false,
            Wording::Open => {}
        }
        let is_asked = self.tools.error_format == ErrorFormat::Host
            && self.tools.told().any(|call| call.fault().is_some());
        if is_asked {
            self.ask_words(desk);
        }
        is_asked
    }

    fn ask_words(&mut self, desk: &mut Desk<'_>) {
        let question = desk.ledger.open(self.index, EffectKind::Question);
        self.tools.wording = Wording::Asked(question);
        let wait_ms = desk.config.timeouts.tool_ms.or(Some(QUESTION_MS));
        desk.ledger.set_timer(TimerReason::Question { question }, wait_ms);
        let kind = EventKind::Question {
            question_id: question,
            question: "word_errors".into(),
            data: None,
        };
        desk.ledger.emit(self.place(), kind);
        let errors = self.errors_json();
        desk.ledger.output(Output::Ask {
            question,
            ask: Question::WordErrors { errors },
        });
    }

    /// Words that are missing leave the error as it is.
    pub(super) fn handle_words(&mut self, desk: &mut Desk<'_>, answer: QuestionAnswer) {
        self.tools.wording = Wording::Given;
        if let QuestionAnswer::Worded(texts) = answer {
            let is_faulty = |call: &&mut Call| !call.is_answer && call.fault().is_some();
            let faulty = self.tools.calls.iter_mut().filter(is_faulty);
            for (call, text) in faulty.zip(texts) {
                call.worded = Some(text);
            }
        }
        self.finish_round(desk);
    }

    fn errors_json(&self) -> Json {
        let mut json = b"[".to_vec();
        let into = &mut json;
        for call in self.tools.told() {
            let Some(fault) = call.fault() else { continue };
            push_comma(into);
            into.push(b'{');
            push_text(into, "toolCallId", &call.id);
            push_text(into, "toolName", &call.name);
            push_raw(into, "input", call.input.as_str());
            push_raw(into, "error", fault.to_json().as_str());
            into.push(b'}');
        }
        into.push(b']');
        Json::from_valid(&String::from_utf8(json).unwrap_or_default())
    }
}
