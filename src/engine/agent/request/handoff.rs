//! The handoff of a conversation to another agent.
//!
//! A call has left a [`Successor`] with the agent's calls. After the round, `Delegations::ask_for_filter` lets your
//! code choose the successor's first messages, if the handoff has an `inputFilter`. The run then gives the agent the
//! successor's profile and calls [`accept_handoff`]. If a filter fails or returns an invalid history, the agent
//! fails, because otherwise the successor could read messages that the filter should have removed.

use crate::engine::agent::calls::delegations::HANDED_OFF;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::history::transcript::Transcript;
use crate::engine::agent::identity::active_model::{ActiveModel, inherited};
use crate::engine::agent::request::switch_model;
use crate::engine::ledger::spawn::Successor;
use crate::engine::model::event::EventKind;
use crate::engine::model::event::prefix::PrefixCause;
use crate::engine::model::message::{Block, Message, Role};

/// The messages that your code has chosen for the successor. A model answers a user, so a conversation that ends with
/// an answer gets a note about the handoff.
///
/// # Errors
/// The reason why there are none.
pub fn chosen(ctx: &AgentContext<'_>, messages: Result<Vec<Message>, String>) -> Result<Transcript, String> {
    let mut transcript =
        Transcript::to_send(messages?, |name| ctx.setup.has_tool(name)).map_err(|error| error.to_text())?;
    let last = transcript.messages().last();
    if last.is_some_and(|last| last.role == Role::Assistant) {
        transcript.push_user(vec![Block::notice(HANDED_OFF)]);
    }
    Ok(transcript)
}

/// Hands off the conversation to another agent. The context has the successor's system prompt, tools and model.
pub fn accept_handoff(ctx: &mut AgentContext<'_>, transcript: &mut Transcript, successor: Successor) {
    let kind = EventKind::Handoff { to: successor.name };
    ctx.emit(kind);
    transcript.forget_body();
    transcript.causes.add(PrefixCause::Handoff);
    let (asked, theirs) = (inherited(&ctx.identity.model.config), &ctx.config.model);
    let taken = if successor.inherit_model {
        ActiveModel::checked(asked, ctx.config).map(|model| ctx.identity.model = model)
    } else if asked == inherited(theirs) {
        // The conversation returns to an agent with the same model.
        ActiveModel::checked(theirs.clone(), ctx.config).map(|model| ctx.identity.model = model)
    } else {
        switch_model(ctx, transcript, theirs.clone(), None)
    };
    if let Err(error) = taken {
        ctx.warn("model_refused", error.to_text());
    }
    ctx.identity.keep_model(ctx.setup);
}
