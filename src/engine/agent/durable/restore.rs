//! Restores an agent from a checkpoint.

use crate::engine::agent::answer::Answers;
use crate::engine::agent::calls::Calls;
use crate::engine::agent::calls::rounds::Rounds;
use crate::engine::agent::durable::state::last_text;
use crate::engine::agent::history::History;
use crate::engine::agent::history::head::Heads;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::AgentIdentity;
use crate::engine::agent::identity::active_model::ActiveModel;
use crate::engine::agent::identity::model_name;
use crate::engine::agent::iteration_state::IterationState;
use crate::engine::agent::limits::AgentLimits;
use crate::engine::agent::machine::Machine;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::request::Requests;
use crate::engine::agent::setup::Setup;
use crate::engine::agent::{Agent, Node};
use crate::engine::model::error::ConfigError;
use crate::engine::model::journal::{AgentCheckpoint, AgentState, ModelName, Step};

impl Node {
    /// The agent of a checkpoint, which waits for [`Agent::continue_from_checkpoint`].
    ///
    /// # Errors
    /// An invalid history. If the agent's model is not available any more, the profile's own model replaces it, and
    /// its name is added to `lost_models`.
    pub fn restored(
        index: u32,
        checkpoint: AgentCheckpoint,
        setup: &Setup,
        profile: &Profile,
        lost_models: &mut Vec<String>,
    ) -> Result<Node, ConfigError> {
        let AgentCheckpoint {
            place,
            earlier,
            messages,
            head,
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
            rounds,
            approvals,
            delegations,
            repeats,
            requests,
            answers,
            history,
            inbox,
        } = state;
        let mut restored = |name: &ModelName| {
            let model = model_name::model_of(name, profile, setup);
            let model = model.and_then(|model| ActiveModel::checked(model, &profile.config).ok());
            if model.is_none() && !lost_models.contains(&name.model) {
                lost_models.push(name.model.clone());
            }
            model
        };
        let model = counts.model.as_ref().and_then(&mut restored);
        let next_model = requests.next_model.as_ref().and_then(&mut restored);
        let model = model.unwrap_or_else(|| profile.model.clone());
        let mut identity = AgentIdentity::new(index, &place.path, model);
        identity.kept = counts;
        identity.limits = AgentLimits::restored(limits);
        identity.keep_model(setup);
        identity.first_profile = place.first_profile;
        identity.parent = place.parent;
        (identity.depth, identity.home) = (place.depth, place.home);
        let mut agent = Agent::new(Transcript::default());
        let mut transcript = Transcript::restored(earlier, messages, history.sent)?;
        transcript.heads = Heads::restored(head.map(|head| *head));
        transcript.heads.note_kept();
        agent.history = History::restored(transcript, history.length);
        agent.is_kept = place.is_kept;
        agent.answers = Answers::restored(answers, || last_text(agent.history.transcript.messages()));
        agent.inbox = inbox;
        let rounds = Rounds::restored(rounds, repeats, records, last_round);
        agent.calls = Calls::restored(approvals, delegations, calls, rounds);
        let asks = step.step == Step::Ask;
        agent.requests = Requests::restored(requests, &streamed, asks);
        if let Some(model) = next_model {
            agent.requests.set_next_model(Box::new(model.config), setup);
        }
        agent.iteration = IterationState::restored(course, identity.kept.iteration);
        // A subagent that has ended never acts again.
        agent.machine = Machine::restored(step, identity.parent.is_some());
        Ok(Node { identity, agent })
    }
}
