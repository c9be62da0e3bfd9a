//! Tool calls that another agent answers: a subagent, which is a node below this one, or the agent that takes the
//! conversation over.

use crate::engine::model::json::word;
use serde::Deserialize;

use crate::engine::agent::calls::batch::CallPhase;
use crate::engine::agent::calls::course::fault;
use crate::engine::agent::calls::spawn::{Parent, Spawn};
use crate::engine::agent::profile::Profile;
use crate::engine::agent::request::active_model::ActiveModel;
use crate::engine::agent::{Agent, Desk, Successor};
use crate::engine::json::writer::decimal;
use crate::engine::ledger::timers::TimerReason;
use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::{AgentTool, Memory, ModelConfig};
use crate::engine::model::event::EventKind;
use crate::engine::model::input::ToolReturn;
use crate::engine::model::message::Json;
use crate::engine::model::outcome::{Outcome, OutcomeKind, StoppedBy};
use crate::engine::model::output::{EffectId, Output};

/// Deeper trees are not made, whatever the configuration says: ending a tree recurses.
pub const MAX_DEPTH: u32 = 8;

impl Agent {
    /// The call of a tool that is an agent starts: a subagent begins when this input is done, or the agent that takes
    /// over when the round is.
    pub(crate) fn delegate(
        &mut self,
        desk: &mut Desk<'_>,
        index: usize,
        effect: EffectId,
        target: AgentTool,
    ) {
        let started_ms = desk.ledger.now_ms;
        self.tools
            .set_phase(index, CallPhase::Running { effect, started_ms });
        let Some(call) = self.tools.calls.get(index) else {
            return;
        };
        let (name, prompt) = (call.name.clone(), prompt_of(&call.input));
        let most = desk.max_depth();
        let result = if target.handoff {
            match self.successor {
                Some(_) => ToolReturn::Fault(fault(
                    "handed_over",
                    "The conversation has already been handed over in this answer.".to_owned(),
                    "Hand over to one agent at a time.",
                )),
                None => {
                    self.successor = Some(Successor {
                        profile: target.profile,
                        inherit_model: target.inherit_model,
                        name,
                    });
                    ToolReturn::Value(Json::string("The conversation has been handed over."))
                }
            }
        } else if self.depth >= most {
            let message = "The call was not made: subagents nest no deeper here.".to_owned();
            ToolReturn::Fault(fault("depth_limit", message, "Do the work yourself."))
        } else if prompt.trim_ascii().is_empty() {
            let message = "The call was not made: its prompt says nothing.".to_owned();
            let hint = "Say in prompt what the agent shall do, and all that it has to know.";
            ToolReturn::Fault(fault("invalid_input", message, hint))
        } else {
            let tool_call_id = call.id.clone();
            let timeout_ms = desk
                .profiles
                .get(target.profile as usize)
                .and_then(|profile| profile.config.timeouts.total_ms);
            desk.ledger.set_timer(TimerReason::Effect(effect), timeout_ms);
            desk.ledger.spawns.push(Spawn {
                parent: Parent {
                    agent: self.index,
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
        self.finish_call(desk, index, result);
    }

    /// Tells what answers a call to stop: a subagent, whose text so far comes back, or the host's function.
    pub(crate) fn abort_call(&mut self, desk: &mut Desk<'_>, effect: EffectId, why: &str) -> String {
        let Some(child) = desk.child_of(effect) else {
            if !desk.ledger.is_delegated(effect) {
                desk.ledger.output(Output::AbortTool {
                    call: effect,
                    why: why.to_owned(),
                });
            }
            return String::new();
        };
        let mut text = String::new();
        desk.on_child(child, &mut |child, desk| {
            child.cancel(desk, why.to_owned());
            text = child.text();
        });
        text
    }

    /// Has ended, and who called it has not been told.
    pub fn owes_report(&self) -> bool {
        self.ended.is_some() && self.parent.is_some() && !self.has_reported
    }

    /// What the caller's model is told of an agent that has ended, and whose call that was. Nothing else than its text
    /// comes back, or its answer that fits a schema; its transcript is left for [`Agent::memory`].
    #[inline(never)]
    pub fn report(&mut self, owes_output: bool) -> Option<(Parent, Outcome, ToolReturn)> {
        let (parent, outcome) = (self.parent.clone()?, self.ended.clone()?);
        self.has_reported = true;
        let text = std::mem::take(&mut self.text);
        let open = std::mem::take(&mut self.tools);
        self.transcript.push_round(open.results(), Vec::new());
        self.records = Vec::new();
        let output = self.structured.output.take();
        let result = match outcome.outcome {
            OutcomeKind::Completed if owes_output => match output {
                Some(output) => ToolReturn::Value(output),
                None => failed(NO_OUTPUT, &text, true),
            },
            OutcomeKind::Completed if self.finish_reason != Some(FinishReason::Length) => {
                ToolReturn::Value(Json::string(&text))
            }
            OutcomeKind::Completed => noted(&text, "The answer was cut off at its limit of output tokens."),
            OutcomeKind::Stopped => match outcome.stopped_by {
                Some(StoppedBy::StructuredOutput) => failed(NO_OUTPUT, &text, true),
                None | Some(StoppedBy::FatalTool) => failed("one of its tools failed for good", &text, false),
                Some(by) => {
                    let why = stopped_words(by, outcome.abort_reason.as_deref());
                    if owes_output {
                        failed(&["it was stopped by ", &why].concat(), &text, true)
                    } else {
                        noted(&text, &["The agent was stopped by ", &why, "."].concat())
                    }
                }
            },
            _ => {
                let why = match (&outcome.error, &outcome.abort_reason) {
                    (Some(error), _) => error.message.as_str(),
                    (_, Some(reason)) => reason.as_str(),
                    _ => "it was aborted",
                };
                failed(why, &text, true)
            }
        };
        Some((parent, outcome, result))
    }

    /// What the agent is configured with from its beginning.
    pub fn begin_as(&mut self, profile: u32) {
        self.profile = profile;
        self.first_profile = profile;
    }

    /// Where those that it calls remember: subagents of one name, of it and of an agent that it has handed over to, are
    /// not the same.
    pub fn place_of_memory(&self) -> String {
        if self.profile == self.first_profile {
            return self.home.clone();
        }
        [&self.home, "@", &decimal(self.profile as usize)].concat()
    }

    /// The transcript of an agent that has ended, which gives it up; what is to be kept of it.
    pub fn memory(&mut self) -> Option<Memory> {
        let messages = std::mem::take(&mut self.transcript).into_messages();
        self.is_kept.then(|| Memory {
            agent_path: self.home.clone(),
            messages,
        })
    }

    /// The result of a call, of an agent that is about to be stopped.
    pub fn take_result(&mut self, desk: &mut Desk<'_>, effect: EffectId, result: ToolReturn) {
        if let Some(index) = self.tools.index_of(effect) {
            desk.ledger.close(effect);
            self.finish_call(desk, index, result);
        }
    }

    /// Another agent goes on with the transcript: its system prompt, tools and model are those of the desk.
    #[inline(never)]
    pub fn take_over(&mut self, desk: &mut Desk<'_>, successor: Successor) {
        let kind = EventKind::Handoff { to: successor.name };
        desk.ledger.emit(self.place(), kind);
        self.transcript.forget_body();
        let (asked, theirs) = (inherited(&self.asked.config), &desk.config.model);
        let taken = if successor.inherit_model {
            ActiveModel::checked(asked, desk.config).map(|model| self.asked = model)
        } else if asked == inherited(theirs) {
            // The conversation goes back to an agent that asks the same model.
            ActiveModel::checked(theirs.clone(), desk.config).map(|model| self.asked = model)
        } else {
            self.set_model(desk, theirs.clone())
        };
        if let Err(error) = taken {
            self.warn(desk, "model_refused", error.to_text());
        }
    }
}

impl Desk<'_> {
    /// The agent that answers this call and has not ended.
    pub fn child_of(&self, call: EffectId) -> Option<u32> {
        let answers = |agent: &&Agent| {
            agent.ended.is_none() && agent.parent.as_ref().is_some_and(|parent| parent.call == call)
        };
        self.below.iter().find(answers).map(|agent| agent.index)
    }

    /// Lets an agent below act.
    pub fn on_child(&mut self, child: u32, act: &mut dyn FnMut(&mut Agent, &mut Desk<'_>)) {
        let Some(at) = child.checked_sub(self.first_below) else {
            return;
        };
        let Some((upto, below)) = self.below.split_at_mut_checked(at as usize + 1) else {
            return;
        };
        let Some(agent) = upto.last_mut() else { return };
        let Some(Profile { config, catalog }) = self.profiles.get(agent.profile as usize) else {
            return;
        };
        let mut desk = Desk {
            profiles: self.profiles,
            config,
            catalog,
            ledger: &mut *self.ledger,
            permissions: &mut *self.permissions,
            below,
            first_below: child + 1,
        };
        act(agent, &mut desk);
    }

    /// How many levels of subagents there may be below the root.
    fn max_depth(&self) -> u32 {
        let root = self.profiles.first();
        root.map_or(0, |root| root.config.limits.max_subagent_depth.min(MAX_DEPTH))
    }
}

/// The field `prompt` of the input.
fn prompt_of(input: &Json) -> String {
    #[derive(Deserialize)]
    struct Input {
        prompt: String,
    }
    let input: Option<Input> = serde_json::from_str(input.as_str()).ok();
    input.map(|input| input.prompt).unwrap_or_default()
}

fn noted(text: &str, note: &str) -> ToolReturn {
    let space = if text.is_empty() { "" } else { "\n\n" };
    ToolReturn::Value(Json::string(&[text, space, "[", note, "]"].concat()))
}

/// What a model is asked for its tools and its answer belongs to the agent that asks.
pub fn inherited(model: &ModelConfig) -> ModelConfig {
    ModelConfig {
        tool_choice: None,
        response_format: None,
        ..model.clone()
    }
}

/// What has stopped an agent; a hook and a guardrail say why.
fn stopped_words(by: StoppedBy, reason: Option<&str>) -> String {
    let what = match by {
        StoppedBy::Hook => "a hook",
        StoppedBy::Guardrail => "a guardrail",
        _ => "its limit",
    };
    [what, ": ", reason.unwrap_or(&word(by)).trim_end_matches('.')].concat()
}

const NO_OUTPUT: &str = "it gave no answer that fits its schema";

/// The fault that a caller's model is told of.
pub fn failed(why: &str, text: &str, recoverable: bool) -> ToolReturn {
    let mut message = ["The agent failed: ", why].concat();
    if !text.is_empty() {
        message.push_str("\nWhat it had written: ");
        message.push_str(text);
    }
    let mut fault = fault(
        "subagent_failed",
        message,
        "Call it again, do the work yourself, or go on without it.",
    );
    fault.recoverable = recoverable;
    ToolReturn::Fault(fault)
}
