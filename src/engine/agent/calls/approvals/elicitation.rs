//! Questions of a running tool to the user, and the checkpoints from which a tool continues.
//!
//! [`Approvals::elicit`] opens a question of the run for a call, and stops the call's timer until
//! [`Approvals::take_elicited`] passes the answer on. The journal has both: a call that runs again in another process
//! asks under the same numbers, gets the answers that exist, and has its open questions asked again under their ids.
//! A call with a checkpoint runs again without a question to `reconcile`. Nothing here starts or ends a call.

use crate::engine::agent::calls::approvals::Approvals;
use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::Call;
use crate::engine::agent::calls::schedule::wait_ms;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::input::ElicitationAnswer;
use crate::engine::model::journal::Elicitation;
use crate::engine::model::message::Json;
use crate::engine::model::output::{EffectId, Output};
use crate::engine::model::question::{CallFacts, Facts, Point};

/// The reason that comes with the request.
const TOOL_ASKS: &str = "its tool asks the user";

impl Approvals {
    /// Asks the user for a running call, or answers from the journal.
    pub fn elicit(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        effect: EffectId,
        number: u32,
        request: Json,
    ) {
        let Some(index) = batch.index_of(effect) else {
            return;
        };
        let Some(call) = batch.get_mut(index) else {
            return;
        };
        let known = call.kept.elicitations.iter().find(|known| known.number == number);
        let known = known.filter(|known| known.request == request);
        if let Some(answer) = known.and_then(|known| known.answer.clone()) {
            return deliver_answer(ctx, effect, number, answer);
        }
        let facts = Facts::call(CallFacts {
            agent_path: ctx.identity.parent.as_ref().map(|_| ctx.identity.path.as_str()),
            reason: Some(TOOL_ASKS),
            request: Some(&request),
            ..call.facts()
        });
        let ask = Ask {
            id: known.map(|known| known.question),
            ..Ask::new(Point::Elicitation, About::Elicitation(index, number), &facts)
        };
        if ask.id.is_some_and(|id| ctx.ledger.is_open(id)) {
            return;
        }
        let is_new = ask.id.is_none();
        ctx.ledger.set_timer(TimerReason::Effect(effect), None);
        let question = ctx.ask(ask);
        if is_new {
            call.kept.elicitations.retain(|other| other.number != number);
            call.kept.elicitations.push(Elicitation {
                number,
                question,
                request,
                answer: None,
            });
        }
    }

    /// Passes the user's answer to the tool that has asked.
    pub fn take_elicited(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        about: &About,
        answer: ElicitationAnswer,
    ) -> Next {
        let &About::Elicitation(index, number) = about else {
            return Next::Wait;
        };
        let Some(call) = batch.get_mut(index) else {
            return Next::Wait;
        };
        let Some(effect) = call.running() else {
            return Next::Wait;
        };
        let mut asked = call.kept.elicitations.iter_mut();
        if let Some(asked) = asked.find(|asked| asked.number == number) {
            asked.answer = Some(answer.clone());
        }
        if !is_asking(call, ctx) {
            let wait_ms = wait_ms(call, ctx);
            ctx.ledger.set_timer(TimerReason::Effect(effect), wait_ms);
        }
        deliver_answer(ctx, effect, number, answer);
        Next::Wait
    }
}

/// Returns true if the user has not answered the call's function yet.
fn is_asking(call: &Call, ctx: &AgentContext<'_>) -> bool {
    let is_open = |asked: &Elicitation| asked.answer.is_none() && ctx.ledger.is_open(asked.question);
    call.kept.elicitations.iter().any(is_open)
}

fn deliver_answer(ctx: &mut AgentContext<'_>, call: EffectId, number: u32, answer: ElicitationAnswer) {
    ctx.ledger.output(Output::AnswerTool { call, number, answer });
}
