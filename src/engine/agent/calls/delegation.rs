//! Tool calls that another agent answers: a subagent, or the agent that takes the conversation over.
//!
//! [`Calls::advance`] starts such a call here instead of calling a function of yours. A subagent becomes a node below
//! this agent when the run settles its tree. A call that cannot be delegated gets a fault at once.

use serde::Deserialize;

use crate::engine::agent::asks::{About, Ask};
use crate::engine::agent::calls::{Calls, fault};
use crate::engine::agent::desk::Desk;
use crate::engine::ledger::spawn::{Parent, Spawn, Successor};
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::config::AgentTool;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::json;
use crate::engine::model::message::{Json, Message};
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{Facts, Point};

/// The result of a handoff, for the model.
pub const HANDED_OVER: &str = "The conversation has been handed over.";

impl Calls {
    /// Starts the call of a tool that is an agent. A subagent begins after this input. An agent that takes over
    /// begins after this round.
    pub(super) fn delegate(
        &mut self,
        desk: &mut Desk<'_>,
        index: usize,
        effect: EffectId,
        target: AgentTool,
    ) {
        let Some(call) = self.batch.get(index) else {
            return;
        };
        let (name, prompt) = (call.name().to_owned(), prompt_of(call.input()));
        let most = desk.max_depth();
        let result = if target.handoff {
            self.hand_to(target, name, call.input().clone())
        } else if desk.who.depth >= most {
            let message = "The call was not made: subagents nest no deeper here.";
            ToolReturn::Fault(fault("depth_limit", message, "Do the work yourself."))
        } else if prompt.trim_ascii().is_empty() {
            let message = "The call was not made: its prompt says nothing.";
            let hint = "Say in prompt what the agent shall do, and all that it has to know.";
            ToolReturn::Fault(fault("invalid_input", message, hint))
        } else {
            let tool_call_id = call.id().to_owned();
            let timeout_ms = desk
                .setup
                .profile(target.profile)
                .and_then(|profile| profile.config.timeouts.total_ms);
            desk.ledger.set_timer(TimerReason::Effect(effect), timeout_ms);
            desk.ledger.spawns.push(Spawn {
                parent: Parent {
                    agent: desk.who.agent,
                    call: effect,
                    tool_call_id,
                    name,
                },
                profile: target.profile,
                keep: target.keep,
                inherit_model: target.inherit_model,
                prompt,
            });
            return;
        };
        desk.ledger.close(effect);
        self.batch.finish(desk, index, result);
    }
}

impl Calls {
    /// Asks your code for the messages that the next agent begins with, once. Returns false if nobody is asked.
    pub fn ask_for_filter(&self, desk: &mut Desk<'_>, messages: &[Message]) -> bool {
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
        desk.ask(Ask::new(Point::FilterHandoff, About::Phase, &facts));
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

    /// Lets the agent take over after this round, unless another one does already. Returns the result of the call.
    fn hand_to(&mut self, target: AgentTool, name: String, input: Json) -> ToolReturn {
        if self.kept.successor.is_some() {
            return ToolReturn::Fault(fault(
                "handed_over",
                "The conversation has already been handed over in this answer.",
                "Hand over to one agent at a time.",
            ));
        }
        self.kept.successor = Some(Successor {
            profile: target.profile,
            inherit_model: target.inherit_model,
            name,
            unfiltered: target.filters.then_some(input),
        });
        ToolReturn::Value(Json::string(HANDED_OVER))
    }

    /// The result of a call whose handoff has called your code, which may have thrown. Any other result stays.
    pub(super) fn after_host(&mut self, desk: &Desk<'_>, index: usize, result: ToolReturn) -> ToolReturn {
        let call = self.batch.get(index);
        let target = call.and_then(|call| desk.tool(call.tool)?.agent);
        match (target, call) {
            (Some(target), Some(call)) if target.calls_host && !matches!(result, ToolReturn::Fault(_)) => {
                let (name, input) = (call.name().to_owned(), call.input().clone());
                self.hand_to(target, name, input)
            }
            _ => result,
        }
    }
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
