//! Calls that agents of the run answer: subagents and handoffs.
//!
//! [`Delegations::start`] starts such a call. A subagent starts after this input, and the run passes its result to
//! the call through `Calls::finished`. After a handoff the next agent starts after this round:
//! [`Delegations::ask_for_filter`] lets your code choose its messages, and [`Delegations::take_successor`] returns
//! it. A call that cannot be delegated gets an error immediately.

use serde::Deserialize;

use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::Call;
use crate::engine::agent::calls::fault;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::ledger::spawn::{Parent, Spawn, Successor};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::AgentTool;
use crate::engine::model::event::ToolFault;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::journal::DelegationsState;
use crate::engine::model::json;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{Facts, Point};

/// The result of a handoff, for the model.
pub const HANDED_OFF: &str = "The conversation has been handed off.";

/// The delegated calls of an agent.
#[derive(Clone, Default)]
pub struct Delegations {
    kept: DelegationsState,
}

impl Delegations {
    pub fn restored(kept: DelegationsState) -> Delegations {
        Delegations { kept }
    }

    pub fn kept(&self) -> &DelegationsState {
        &self.kept
    }

    /// The agent that answers a call. `None` if a function does, which may still hand the conversation off.
    pub fn target_of(&self, call: &Call, ctx: &AgentContext<'_>) -> Option<AgentTool> {
        let target = ctx.tool(call.tool).and_then(|tool| tool.agent);
        target.filter(|target| !target.calls_host || self.kept.successor.is_some())
    }

    /// Starts a call that an agent answers.
    pub fn start(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        effect: EffectId,
        target: AgentTool,
    ) {
        let Some(call) = batch.get(index) else {
            return;
        };
        let result = if target.handoff {
            self.hand_to(target, call)
        } else {
            match spawn(call, ctx, effect, target) {
                Ok(()) => return,
                Err(fault) => ToolReturn::Fault(fault),
            }
        };
        ctx.ledger.close(effect);
        batch.finish(ctx, index, result);
    }

    /// The result of a handoff call after your function, which may have thrown. Any other result is returned
    /// unchanged.
    pub fn after_host(&mut self, ctx: &AgentContext<'_>, call: &Call, result: ToolReturn) -> ToolReturn {
        match ctx.tool(call.tool).and_then(|tool| tool.agent) {
            Some(target) if target.calls_host && !matches!(result, ToolReturn::Fault(_)) => {
                self.hand_to(target, call)
            }
            _ => result,
        }
    }

    /// Hands off to the agent after this round, unless the round already has a handoff. Returns the result of the
    /// call.
    fn hand_to(&mut self, target: AgentTool, call: &Call) -> ToolReturn {
        if self.kept.successor.is_some() {
            return ToolReturn::Fault(fault(
                "handed_over",
                "The conversation has already been handed off in this answer.",
                "Hand off to one agent at a time.",
            ));
        }
        self.kept.successor = Some(Successor {
            profile: target.profile,
            inherit_model: target.inherit_model,
            name: call.name().to_owned(),
            unfiltered: target.filters.then(|| call.input().clone()),
        });
        ToolReturn::Value(Json::string(HANDED_OFF))
    }

    /// Asks your code once for the next agent's first messages. Returns false if it is not asked.
    pub fn ask_for_filter(&self, ctx: &mut AgentContext<'_>, messages: &[Message]) -> bool {
        let Some(Successor {
            name,
            unfiltered: Some(input),
            ..
        }) = &self.kept.successor
        else {
            return false;
        };
        let facts = Facts::Handoff {
            tool_name: name,
            input,
            messages,
        };
        ctx.ask(Ask::new(Point::FilterHandoff, About::Phase, &facts));
        true
    }

    /// Your code has chosen these messages.
    pub fn note_filtered(&mut self) {
        if let Some(successor) = &mut self.kept.successor {
            successor.unfiltered = None;
        }
    }

    /// The name of the tool that has called the next agent.
    pub fn successor(&self) -> &str {
        let successor = self.kept.successor.as_ref();
        successor.map_or("", |successor| &successor.name)
    }

    /// Takes out the agent that takes the conversation over.
    pub fn take_successor(&mut self) -> Option<Successor> {
        self.kept.successor.take()
    }
}

/// Starts a subagent after this input.
///
/// # Errors
/// The error of a call that is not made.
fn spawn(
    call: &Call,
    ctx: &mut AgentContext<'_>,
    effect: EffectId,
    target: AgentTool,
) -> Result<(), ToolFault> {
    let prompt = prompt_of(call.input());
    if ctx.identity.depth >= ctx.max_depth() {
        let message = "The call was not made: subagents nest no deeper here.";
        return Err(fault("depth_limit", message, "Do the work yourself."));
    }
    if prompt.trim_ascii().is_empty() {
        let message = "The call was not made: its prompt is empty.";
        let hint = "Say in prompt what the agent should do and everything that it needs to know.";
        return Err(fault("invalid_input", message, hint));
    }
    let timeout_ms = ctx
        .setup
        .profile(target.profile)
        .and_then(|profile| profile.config.timeouts.total_ms);
    ctx.ledger.set_timer(TimerReason::Effect(effect), timeout_ms);
    ctx.ledger.spawns.push(Spawn {
        parent: Parent {
            agent: ctx.identity.agent,
            call: effect,
            tool_call_id: call.id().to_owned(),
            name: call.name().to_owned(),
        },
        profile: target.profile,
        keep: target.keep,
        inherit_model: target.inherit_model,
        prompt,
    });
    Ok(())
}

/// The field `prompt` of the input.
fn prompt_of(input: &Json) -> String {
    #[derive(Deserialize)]
    struct Input {
        prompt: String,
    }
    let input: Option<Input> = json::read("", input.as_str()).ok();
    input.map(|input| input.prompt).unwrap_or_default()
}
