//! Whether the calls of an answer may run: judged by rules, or asked of the host.

use super::super::event::{EventKind, ToolFault};
use super::super::input::{PermissionAnswer, PermissionUpdate, QuestionAnswer, ToolReturn};
use super::super::json_writer::{push_raw, push_text};
use super::super::message::Json;
use super::super::output::{EffectKind, Output, Question};
use super::super::policy::permission::{Permissions, Verdict};
use super::super::timers::TimerReason;
use super::super::tool_batch::{Call, CallPhase};
use super::calling::fault;
use super::{Agent, Desk};

impl Agent {
    /// Every call whose input is checked may run, is denied, or waits for the host; calls that do not depend on it go on.
    pub(super) fn judge_calls(&mut self, desk: &mut Desk<'_>) {
        let is_streaming = self.is_streaming();
        for index in 0..self.tools.calls.len() {
            let Some(call) = self.tools.calls.get_mut(index) else {
                continue;
            };
            if call.phase != CallPhase::Checked {
                continue;
            }
            match verdict(call, desk) {
                Verdict::Allow => call.phase = CallPhase::Queued,
                // Nobody is asked about what a failure of the answer would take back.
                _ if is_streaming => {}
                Verdict::Deny { reason } => self.deny(desk, index, None, &reason),
                Verdict::Ask { reason, classify } => self.ask_permission(desk, index, reason, classify),
            }
        }
    }

    fn ask_permission(&mut self, desk: &mut Desk<'_>, index: usize, reason: String, classify: bool) {
        let place = self.place();
        let Some(call) = self.tools.calls.get_mut(index) else {
            return;
        };
        let question = desk.ledger.open(self.index, EffectKind::Question);
        call.phase = CallPhase::AwaitingAnswer { question };
        let call = described(call, &reason);
        let kind = EventKind::Question {
            question_id: question,
            question: "permission".into(),
            data: Some(call.clone()),
        };
        desk.ledger.emit(place, kind);
        let timeout_ms = desk
            .permissions
            .as_ref()
            .and_then(|permissions| permissions.timeout_ms);
        desk.ledger
            .set_timer(TimerReason::Question { question }, timeout_ms);
        let ask = Question::Permission { call, classify };
        desk.ledger.output(Output::Ask { question, ask });
    }

    /// Whatever is no answer to it denies the call.
    pub(super) fn handle_permission(&mut self, desk: &mut Desk<'_>, index: usize, answer: QuestionAnswer) {
        let answer = match answer {
            QuestionAnswer::Permission(answer) => answer,
            QuestionAnswer::Failed { why } => PermissionAnswer {
                message: Some(why),
                ..PermissionAnswer::default()
            },
            _ => PermissionAnswer::default(),
        };
        for update in answer.updates {
            apply(update, desk.permissions.get_or_insert_default());
        }
        if !answer.allow {
            self.deny(desk, index, answer.message.as_deref(), "it was not approved");
            if answer.interrupt {
                let why = answer.message.unwrap_or_else(|| "a tool call was denied".into());
                return self.cancel(desk, why);
            }
        } else if let Some(call) = self.tools.calls.get_mut(index) {
            if let Some(input) = answer.updated_input {
                call.input = input;
            }
            call.phase = CallPhase::Queued;
        }
        self.advance_tools(desk);
    }

    /// The model is told, in the host's words if there are any.
    fn deny(&mut self, desk: &mut Desk<'_>, index: usize, message: Option<&str>, reason: &str) {
        let fault = ToolFault {
            message: message.map_or_else(|| ["The call was denied: ", reason].concat(), str::to_owned),
            ..fault(
                "denied",
                String::new(),
                "Do not repeat the call as it is; go on without it or ask the user.",
            )
        };
        self.finish_call(desk, index, ToolReturn::Fault(fault));
    }
}

fn described(call: &Call, reason: &str) -> Json {
    let mut json = b"{".to_vec();
    push_text(&mut json, "toolCallId", &call.id);
    push_text(&mut json, "toolName", &call.name);
    push_raw(&mut json, "input", call.input.as_str());
    push_text(&mut json, "reason", reason);
    json.push(b'}');
    Json::from_valid(&String::from_utf8(json).unwrap_or_default())
}

fn verdict(call: &Call, desk: &Desk<'_>) -> Verdict {
    let tool = desk.config.tools.iter().find(|tool| tool.name == call.name);
    match (desk.permissions.as_ref(), tool) {
        (Some(permissions), Some(tool)) => permissions.judge(tool, call.input.as_str(), call.needs_approval),
        _ if call.needs_approval => Verdict::Ask {
            reason: "the tool needs an approval".into(),
            classify: false,
        },
        _ => Verdict::Allow,
    }
}

fn apply(update: PermissionUpdate, permissions: &mut Permissions) {
    match update {
        PermissionUpdate::SetMode(mode) => permissions.mode = mode,
        PermissionUpdate::AddRules { behavior, rules } => permissions.rules(behavior).extend(rules),
        PermissionUpdate::ReplaceRules { behavior, rules } => *permissions.rules(behavior) = rules,
        PermissionUpdate::RemoveRules { behavior, rules } => {
            permissions.rules(behavior).retain(|rule| !rules.contains(rule));
        }
    }
}
