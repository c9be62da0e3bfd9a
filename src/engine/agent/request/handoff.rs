//! An agent that takes the conversation over from another one.
//!
//! A call has left a [`Successor`] with the agent's calls. When the round is over, [`Agent::ask_for_filter`] lets
//! your code choose the messages that the successor begins with, if the handoff has an `inputFilter`. The run then
//! gives the agent the successor's profile and calls [`Agent::take_over`]. A filter that fails, or that returns a
//! history that is not legal, fails the agent: the successor could read messages that the filter was to take out.

use crate::engine::agent::Agent;
use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::desk::Desk;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::request::active_model::{ActiveModel, inherited};
use crate::engine::ledger::spawn::Successor;
use crate::engine::model::error::{Failure, FailureCode};
use crate::engine::model::event::EventKind;
use crate::engine::model::journal::Step;
use crate::engine::model::message::{Block, Message, Role};
use crate::engine::model::question::{Facts, Point};

/// The result of a handoff, for the model.
pub const HANDED_OVER: &str = "The conversation has been handed over.";

impl Agent {
    /// Asks your code for the messages that the next agent begins with, once. Returns false if nobody is asked.
    pub(crate) fn ask_for_filter(&mut self, desk: &mut Desk<'_>) -> bool {
        let successor = self.calls.kept.successor.as_ref();
        let Some((name, input)) =
            successor.and_then(|successor| Some((&successor.name, successor.unfiltered.clone()?)))
        else {
            return false;
        };
        let facts = Facts::Handoff {
            tool_name: name,
            input: &input,
            messages: self.history.transcript.messages(),
        };
        desk.ask(Ask::new(Point::FilterHandoff, About::Phase, &facts));
        true
    }

    /// Takes the messages that your code has chosen, or the reason why there are none.
    pub(crate) fn after_filter(&mut self, desk: &mut Desk<'_>, chosen: Result<Vec<Message>, String>) {
        let Step::HandOver { owes_answer } = *self.machine.step() else {
            return;
        };
        let transcript = chosen.and_then(|messages| {
            Transcript::to_send(messages, |name| desk.setup.has_tool(name)).map_err(|error| error.to_text())
        });
        match transcript {
            Ok(transcript) => {
                if let Some(successor) = &mut self.calls.kept.successor {
                    successor.unfiltered = None;
                }
                self.history.tell_new(desk);
                self.begin_with(transcript);
                self.hand_over(desk, owes_answer);
            }
            Err(why) => {
                let name = self
                    .calls
                    .kept
                    .successor
                    .as_ref()
                    .map_or("", |successor| &successor.name);
                let message = format!("The inputFilter of {name} failed: {why}");
                self.end_failed(desk, Failure::new(FailureCode::ConfigInvalid, message));
            }
        }
    }

    /// Goes on with these messages. A model answers a user, so a conversation that ends with an answer is told about
    /// the handoff.
    fn begin_with(&mut self, transcript: Transcript) {
        self.history.transcript = transcript;
        self.history.forget_length();
        let last = self.history.transcript.messages().last();
        if last.is_some_and(|last| last.role == Role::Assistant) {
            self.history.transcript.push_user(vec![Block::text(HANDED_OVER)]);
        }
    }

    /// Hands the conversation to another agent. The desk holds the successor's system prompt, tools and model.
    pub fn take_over(&mut self, desk: &mut Desk<'_>, successor: Successor) {
        let kind = EventKind::Handoff { to: successor.name };
        desk.emit(kind);
        self.history.transcript.forget_body();
        let (asked, theirs) = (inherited(&desk.who.model.config), &desk.config.model);
        let taken = if successor.inherit_model {
            ActiveModel::checked(asked, desk.config).map(|model| desk.who.model = model)
        } else if asked == inherited(theirs) {
            // The conversation goes back to an agent that asks the same model.
            ActiveModel::checked(theirs.clone(), desk.config).map(|model| desk.who.model = model)
        } else {
            self.switch_model(desk, theirs.clone(), None)
        };
        if let Err(error) = taken {
            desk.warn("model_refused", error.to_text());
        }
        desk.who.keep_model(desk.setup);
    }
}
