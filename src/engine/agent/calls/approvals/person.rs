//! Approval of a call by the user, by hooks, or by the classifier.
//!
//! [`Approvals::judge`] contests a call if a rule, the mode or the tool requires a question. The answer lets the call
//! run, perhaps with another input, or denies it. Its permission updates change the rules of the run immediately.

use crate::engine::agent::calls::approvals::{Approvals, change_input};
use crate::engine::agent::calls::batch::Batch;
use crate::engine::agent::calls::call::{Call, Wait};
use crate::engine::agent::calls::rules::ruled;
use crate::engine::agent::context::AgentContext;
use crate::engine::agent::next::Next;
use crate::engine::agent::profile::Profile;
use crate::engine::agent::questions::{About, Ask};
use crate::engine::model::config::permission::{Permissions, RuleKind};
use crate::engine::model::hook::{Decision, HookAnswer};
use crate::engine::model::input::{Behavior, PermissionAnswer, PermissionUpdate, UpdateType};
use crate::engine::model::journal::CallStatus;
use crate::engine::model::json::word;
use crate::engine::model::output::EffectId;
use crate::engine::model::question::{CallFacts, Facts, Point};
use crate::engine::policy::permission::IGNORED_RULES;

/// The `notification_type` of hooks.
const PROMPT: &str = "permission_prompt";

impl Approvals {
    /// Calls the `PermissionRequest` hooks, which may decide, and otherwise asks the user.
    pub fn contest(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        reason: String,
        classify: bool,
    ) {
        let point = Point::PermissionRequest;
        let Some(call) = batch.get_mut(index) else {
            return;
        };
        // The user was asked in another process, after the hooks.
        let is_asked = call.kept.question.is_some();
        if classify || is_asked || call.kept.gate.said(Decision::Defer) || !ctx.has_hooks(point, call.name())
        {
            return self.ask_for(batch, ctx, index, &reason, classify);
        }
        let facts = Facts::call(ruled(call, &self.readings, ctx, &reason));
        ctx.ask(Ask::new(point, About::Call(index), &facts).named(call.name()));
        call.waits = Some(Wait::Contest { reason });
    }

    pub fn after_permission_hooks(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        verdict: HookAnswer,
    ) -> Next {
        let behavior = match verdict.decision {
            Some(Decision::Allow) => Behavior::Allow,
            Some(Decision::Deny) => Behavior::Deny,
            _ => {
                let call = batch.get_mut(index);
                if let Some(Wait::Contest { reason }) = call.and_then(|call| call.waits.take()) {
                    self.ask_for(batch, ctx, index, &reason, false);
                }
                return Next::Advance;
            }
        };
        let answer = PermissionAnswer {
            behavior,
            updated_input: verdict.updated_input,
            message: verdict.reason,
            interrupt: verdict.interrupt,
            updated_permissions: verdict.updated_permissions,
        };
        self.apply_permission_answer(batch, ctx, index, answer)
    }

    /// Asks the user or the classifier.
    fn ask_for(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        reason: &str,
        classify: bool,
    ) {
        let Some(call) = batch.get_mut(index) else {
            return;
        };
        let (point, facts) = if classify {
            let facts = CallFacts {
                reason: Some(reason),
                classifier_context: Some(&self.kept.classifier_context),
                ..call.facts()
            };
            (Point::Classify, facts)
        } else {
            (Point::Permission, ruled(call, &self.readings, ctx, reason))
        };
        let facts = Facts::call(CallFacts {
            agent_path: ctx.identity.parent.as_ref().map(|_| ctx.identity.path.as_str()),
            ..facts
        });
        let ask = Ask {
            // A hook has deferred the call, so that its question stays open until your code answers it.
            is_put_off: call.kept.gate.said(Decision::Defer),
            id: call.kept.question,
            ..Ask::new(point, About::Call(index), &facts)
        };
        let is_new = ask.id.is_none();
        let question = ctx.ask(ask);
        call.kept.question = Some(question);
        if !classify && is_new && ctx.has_hooks(Point::Notification, PROMPT) {
            notify(call, ctx, question, reason);
        }
        batch.set(index, CallStatus::Asked, Some(Wait::Permission));
    }

    /// Applies the answer of the user, or of the function that answers for the user.
    pub fn take_permission(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        about: &About,
        answer: PermissionAnswer,
    ) -> Next {
        let &About::Call(index) = about else {
            return Next::Wait;
        };
        if let Some(call) = batch.get_mut(index) {
            call.kept.question = None;
        }
        self.apply_permission_answer(batch, ctx, index, answer)
    }

    fn apply_permission_answer(
        &mut self,
        batch: &mut Batch,
        ctx: &mut AgentContext<'_>,
        index: usize,
        answer: PermissionAnswer,
    ) -> Next {
        let mut is_changed = false;
        for update in answer.updated_permissions {
            if let Some(message) = unkept(&update) {
                ctx.warn("permission_update", message);
            }
            if !update.is_of_directories() {
                apply(update, ctx.permissions.get_or_insert_with(Permissions::open));
                is_changed = true;
            }
        }
        if is_changed {
            warn_of_rules(ctx);
        }
        if answer.behavior == Behavior::Allow {
            if change_input(batch, ctx, index, answer.updated_input) {
                self.admit(batch, ctx, index);
            }
            return Next::Advance;
        }
        let reason = "it was not approved";
        if answer.interrupt {
            batch.deny(ctx, index, answer.message.as_deref(), reason, false);
            let why = answer.message.unwrap_or_else(|| "a tool call was denied".into());
            return Next::Cancel(why);
        }
        self.refuse(batch, ctx, index, answer.message, reason.into());
        Next::Advance
    }
}

/// Calls the hooks with a notification that a call waits for the user.
fn notify(call: &Call, ctx: &mut AgentContext<'_>, question_id: EffectId, reason: &str) {
    let facts = Facts::Notification {
        notification_type: PROMPT,
        message: format!("{} needs your approval: {reason}", call.name()),
        question_id,
        tool_name: call.name(),
    };
    ctx.ask(Ask::new(Point::Notification, About::Nothing, &facts).named(PROMPT));
}

/// Warns of wrong rules that an answer has added. With wrong rules in the options, a run does not start.
fn warn_of_rules(ctx: &mut AgentContext<'_>) {
    let Some(permissions) = ctx.permissions.as_ref() else {
        return;
    };
    let check = |profile: &Profile| permissions.check(&profile.config.tools).err();
    let wrong = ctx.setup.profiles().find_map(check);
    let ignored = permissions.ignored_rules();
    if let Some(error) = wrong {
        let message = format!("{}: {}", error.field, error.problem);
        ctx.warn("invalid_rule", message);
    }
    if !ignored.is_empty() {
        let message = format!("{IGNORED_RULES}{}", ignored.join(", "));
        ctx.warn("rules_ignored", message);
    }
}

/// The part of an update that cannot be done, in words.
fn unkept(update: &PermissionUpdate) -> Option<String> {
    if update.is_of_directories() {
        return Some(format!(
            "{} does nothing: a run has no folders",
            word(update.r#type)
        ));
    }
    let destination = update.destination.as_deref();
    let destination = destination.filter(|destination| *destination != "session")?;
    Some(format!(
        "An update for {destination} is not stored: it applies to this run only"
    ))
}

fn apply(update: PermissionUpdate, permissions: &mut Permissions) {
    let kind = update.behavior.unwrap_or(RuleKind::Deny);
    match update.r#type {
        UpdateType::SetMode => permissions.mode = update.mode.unwrap_or(permissions.mode),
        UpdateType::AddRules => permissions.rules(kind).extend(update.rules),
        UpdateType::ReplaceRules => *permissions.rules(kind) = update.rules,
        UpdateType::RemoveRules => permissions
            .rules(kind)
            .retain(|rule| !update.rules.contains(rule)),
        UpdateType::AddDirectories | UpdateType::RemoveDirectories => {}
    }
}
