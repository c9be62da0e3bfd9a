//! An agent of a checkpoint, and the step that it takes again.

use crate::engine::agent::answer::Answers;
use crate::engine::agent::answer::message::Whole;
use crate::engine::agent::answer::telling::take_back_blocks;
use crate::engine::agent::calls::Calls;
use crate::engine::agent::calls::calls_of;
use crate::engine::agent::course::Course;
use crate::engine::agent::desk::Desk;
use crate::engine::agent::durable::models;
use crate::engine::agent::durable::state::last_text;
use crate::engine::agent::history::History;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::limits::AgentLimits;
use crate::engine::agent::machine::Machine;
use crate::engine::agent::machine::step::Phase;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::request::Requests;
use crate::engine::agent::request::active_model::ActiveModel;
use crate::engine::agent::setup::Setup;
use crate::engine::agent::who::Who;
use crate::engine::agent::{Agent, Node};
use crate::engine::model::error::{ConfigError, Failure, FailureCode};
use crate::engine::model::journal::{AgentCheckpoint, AgentState, ModelName, Step};
use crate::engine::model::message::{Block, Message, Role};
use crate::engine::model::outcome::OutcomeKind;

impl Node {
    /// The agent of a checkpoint, which waits for [`Agent::go_on_from_checkpoint`].
    ///
    /// # Errors
    /// A history that is not legal. A model that cannot be asked any more gives way to the profile's own, and
    /// `lost_models` gets its name.
    pub fn restored(
        index: u32,
        checkpoint: AgentCheckpoint,
        setup: &Setup,
        profile: &Profile,
        lost_models: &mut Vec<String>,
    ) -> Result<Node, ConfigError> {
        let AgentCheckpoint {
            place,
            messages,
            state,
            calls,
            records,
            last_round,
            streamed,
            ..
        } = checkpoint;
        let AgentState {
            step,
            course,
            who: counts,
            limits,
            usage: _,
            calls: kept_calls,
            requests,
            answers,
            history,
            inbox,
        } = state;
        let mut restored = |name: &ModelName| {
            let model = models::model_of(name, profile, setup);
            let model = model.and_then(|model| ActiveModel::checked(model, &profile.config).ok());
            if model.is_none() && !lost_models.contains(&name.model) {
                lost_models.push(name.model.clone());
            }
            model
        };
        let model = counts.model.as_ref().and_then(&mut restored);
        let next_model = requests.next_model.as_ref().and_then(&mut restored);
        let model = model.unwrap_or_else(|| profile.model.clone());
        let mut who = Who::new(index, &place.path, model);
        who.kept = counts;
        who.limits = AgentLimits::restored(limits);
        who.keep_model(setup);
        who.first_profile = place.first_profile;
        who.parent = place.parent;
        (who.depth, who.home) = (place.depth, place.home);
        let mut agent = Agent::new(Transcript::default());
        let transcript = Transcript::restored(messages, history.sent)?;
        agent.history = History::restored(transcript, history.length);
        agent.is_kept = place.is_kept;
        agent.answers = Answers::restored(answers, || last_text(agent.history.transcript.messages()));
        agent.inbox = inbox;
        agent.calls = Calls::restored(kept_calls, calls, records, last_round);
        let asks = step.step == Step::Ask;
        agent.requests = Requests::restored(requests, &streamed, asks);
        if let Some(model) = next_model {
            agent.requests.set_next_model(Box::new(model.config), setup);
        }
        agent.course = Course::restored(course, who.kept.iteration);
        // A subagent that has ended never acts again.
        agent.machine = Machine::restored(step, who.parent.is_some());
        Ok(Node { who, agent })
    }
}

impl Agent {
    /// Takes the step again at which the agent was when its process ended. `reopens` says that a run goes on that has
    /// been stopped, perhaps with higher limits.
    pub fn go_on_from_checkpoint(&mut self, desk: &mut Desk<'_>, reopens: bool) {
        if !self.machine.is(Phase::Restored) {
            return;
        }
        match self.machine.take_step() {
            Step::Ready => {
                let why = "The journal ends before the prompt.";
                self.end_failed(desk, Failure::new(FailureCode::ConfigInvalid, why));
            }
            Step::Prompt {
                content,
                is_opening: true,
                ..
            } => self.open_with(desk, content),
            Step::Prompt {
                content,
                source,
                owes_answer,
                ..
            } => self.submit(desk, content, &source, owes_answer),
            Step::Ask => self.ask_again(desk),
            Step::Judge {
                message,
                text,
                cut_off,
            } => {
                self.answers.let_through(text);
                let answer = Whole {
                    calls: calls_of(&message, &cut_off, desk),
                    message,
                    blocks: 0,
                };
                self.guard_answer(desk, answer);
            }
            Step::Act => self.act_again(desk),
            Step::Close { repeats } => self.judge_round(desk, repeats),
            Step::HandOver { owes_answer } => self.hand_over(desk, owes_answer),
            Step::Complete => self.complete(desk),
            Step::Ended(outcome) if outcome.outcome == OutcomeKind::Completed || !reopens => {
                self.end(desk, outcome)
            }
            Step::Ended(_) => match self.history.transcript.messages().last() {
                Some(last) if last.role == Role::Assistant && has_calls(last) => self.act_again(desk),
                last => {
                    let owes_answer = last.is_some_and(|last| last.role == Role::User);
                    self.hand_over(desk, owes_answer);
                }
            },
        }
    }

    /// Lists the calls of the open round as they were. `goes_on` is false for a run that goes no further.
    pub fn recall_calls(&mut self, desk: &mut Desk<'_>, goes_on: bool) {
        let last = self.history.transcript.messages().last();
        if let Some(last) = last.filter(|last| last.role == Role::Assistant) {
            let calls = calls_of(last, &[], desk);
            self.calls.recall(desk, calls, goes_on);
        }
    }

    /// Takes back the blocks that were told of an answer, if the answer was lost and the model is asked again.
    pub fn take_back_lost(&self, desk: &mut Desk<'_>, blocks: u32) {
        if self.machine.is(Phase::Restored) && *self.machine.step() == Step::Ask {
            take_back_blocks(desk, blocks);
        }
    }

    /// Asks the model again. The iteration and its attempts go on.
    fn ask_again(&mut self, desk: &mut Desk<'_>) {
        self.course.cut_off(desk.who);
        self.begin(desk);
    }

    fn act_again(&mut self, desk: &mut Desk<'_>) {
        let wait_ms = desk.config.timeouts.iteration_ms;
        desk.ledger.set_timer(desk.who.iteration_timer(), wait_ms);
        let last = self.history.transcript.messages().last();
        let calls = last.map(|answer| calls_of(answer, &[], desk));
        self.act_on_answer(desk, calls.unwrap_or_default());
    }
}

fn has_calls(message: &Message) -> bool {
    message
        .content
        .iter()
        .any(|block| matches!(block, Block::ToolCall { .. }))
}
