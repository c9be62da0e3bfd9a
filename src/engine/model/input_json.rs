//! What the host answers, from JSON, by hand: see [`crate::engine::model::config_json`].

use crate::engine::json::record::{Record, document, text_of, within};
use crate::engine::model::config_json::{prepared, raise, rule};
use crate::engine::model::error::ConfigError;
use crate::engine::model::event::ToolFault;
use crate::engine::model::input::{
    CheckedOutput, PermissionAnswer, PermissionUpdate, PreparedCall, ToolReturn,
};
use crate::engine::model::message_json::{blocks, messages};
use crate::engine::model::question::Answer;
use crate::engine::policy::hook::{Decision, HookAnswer, Raise};
use crate::engine::policy::permission::{PermissionMode, RuleKind};
use crate::engine::policy::rule::Rule;

impl ToolReturn {
    /// Reads `{"value": …}`, `{"content": [blocks]}` or `{"fault": {…}}`.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn from_json(json: &str) -> Result<ToolReturn, ConfigError> {
        let mut record = Record::new(document("", json)?);
        let result = if let Some(content) = record.get("content") {
            let read = blocks(content, 0).map_err(|(index, problem)| within("", index, problem));
            ToolReturn::Content(record.within("content", read).unwrap_or_default())
        } else if record.given("fault").is_some() {
            ToolReturn::Fault(record.object_or_default("fault", fault))
        } else {
            ToolReturn::Value(record.json("value"))
        };
        let result = if record.flag("terminate", false) {
            ToolReturn::Last(Box::new(result))
        } else {
            result
        };
        record.finish(result)
    }
}

fn fault(r: &mut Record<'_>) -> ToolFault {
    if r.get("recoverable").is_none() {
        r.refuse("recoverable", "is missing");
    }
    ToolFault {
        code: r.text("code"),
        message: r.text("message"),
        hint: r.text("hint"),
        recoverable: r.flag("recoverable", true),
    }
}

impl Answer {
    /// Reads `{"prepared": […]}`, `{"hook": {…}}`, `{"behavior": "allow" | "deny", …}`, `{"stop": true}` or `{"failed": {"why": …}}`.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn from_json(json: &str) -> Result<Answer, ConfigError> {
        let mut record = Record::new(document("", json)?);
        if record.given("failed").is_some() {
            let why = record.object_or_default("failed", |r| r.text("why"));
            return record.finish(Answer::Failed { why });
        }
        if record.given("stop").is_some() {
            let stop = record.flag("stop", false);
            return record.finish(Answer::Stop(stop));
        }
        if record.given("summary").is_some() {
            let summary = record.text("summary");
            return record.finish(Answer::Summary(summary));
        }
        if record.given("checked").is_some() {
            let checked = record.object_or_default("checked", |r| CheckedOutput {
                problem: r.text_if("problem"),
                output: r.json_if("output"),
            });
            return record.finish(Answer::Checked(checked));
        }
        if record.given("hook").is_some() {
            let answer = record.object_or_default("hook", hook);
            return record.finish(Answer::Hook(Box::new(answer)));
        }
        if record.given("worded").is_some() {
            let texts = record.texts("worded");
            return record.finish(Answer::Worded(texts));
        }
        if record.given("classified").is_some() {
            let permission = record.object_or_default("classified", permission);
            return record.finish(Answer::Classified(permission));
        }
        if record.given("behavior").is_some() {
            let permission = permission(&mut record);
            return record.finish(Answer::Permission(permission));
        }
        let mut prepared = Vec::new();
        if record.get("prepared").is_none() {
            record.refuse("prepared", "is missing");
        }
        record.each("prepared", &mut |json| {
            let mut record = Record::new(json);
            let call = PreparedCall {
                input: record.json_if("input"),
                resource_key: record.text_if("resourceKey"),
                problem: record.text_if("problem"),
                needs_approval: record.flag("needsApproval", false),
            };
            prepared.push(record.finish(call)?);
            Ok(())
        });
        record.finish(Answer::Prepared(prepared))
    }
}

impl Raise {
    /// Reads what a host gives an agent unasked, and the agent's path.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn added(json: &str) -> Result<(String, Raise), ConfigError> {
        let mut record = Record::new(document("", json)?);
        let added = (record.text("agentPath"), raise(&mut record));
        record.finish(added)
    }
}

fn hook(r: &mut Record<'_>) -> HookAnswer {
    let decision = r.word("decision", Decision::NAMES);
    HookAnswer {
        decision: decision.map(Decision::nth),
        reason: r.text_if("reason"),
        updated_input: r.json_if("updatedInput"),
        updated_output: r.json_if("updatedOutput"),
        messages: r.given("messages").map(|_| messages(r)),
        context: r.texts("context"),
        stop: r.text_if("stop"),
        retry: r.flag("retry", false),
        interrupt: r.flag("interrupt", false),
        updates: updates(r),
        system_message: r.text_if("systemMessage"),
        classifier_context: r.text_if("classifierContext").into_iter().collect(),
        prepared: r
            .given("prepared")
            .map(|_| Box::new(r.object_or_default("prepared", prepared))),
        limits: r.given("limits").map(|_| r.object_or_default("limits", raise)),
    }
}

/// `{"behavior":"allow","updatedInput":…,"updatedPermissions":[…]}` or `{"behavior":"deny","message":…,"interrupt":…}`.
fn permission(r: &mut Record<'_>) -> PermissionAnswer {
    let behavior = r.word("behavior", &["allow", "deny"]);
    PermissionAnswer {
        allow: behavior == Some(0),
        updated_input: r.json_if("updatedInput"),
        message: r.text_if("message"),
        interrupt: r.flag("interrupt", false),
        updates: updates(r),
    }
}

fn updates(r: &mut Record<'_>) -> Vec<PermissionUpdate> {
    let mut updates = Vec::new();
    r.each("updatedPermissions", &mut |json| {
        let mut record = Record::new(json);
        let update = update(&mut record);
        let destination = record.text_if("destination").unwrap_or_default();
        updates.extend(record.finish(update)?);
        if !matches!(destination.as_str(), "" | "session") {
            let why = " is stored nowhere: it counts for this run";
            updates.push(PermissionUpdate::Beside(
                ["An update for ", &destination, why].concat(),
            ));
        }
        Ok(())
    });
    updates
}

fn update(r: &mut Record<'_>) -> Option<PermissionUpdate> {
    const TYPES: &[&str] = &[
        "addRules",
        "replaceRules",
        "removeRules",
        "setMode",
        "addDirectories",
        "removeDirectories",
    ];
    let kind = match r.text("type") {
        kind if TYPES.contains(&kind.as_str()) => kind,
        _ => {
            r.word("type", TYPES);
            return None;
        }
    };
    if kind == "setMode" {
        return r
            .word("mode", PermissionMode::NAMES)
            .map(|mode| PermissionUpdate::SetMode(PermissionMode::nth(mode)));
    }
    if kind.ends_with("Directories") {
        let message = [&kind, " does nothing: a run has no folders"].concat();
        return Some(PermissionUpdate::Beside(message));
    }
    let behavior = RuleKind::nth(r.word("behavior", RuleKind::NAMES)?);
    let mut rules = Vec::new();
    r.each("rules", &mut |json| {
        rules.push(rule_of(json)?);
        Ok(())
    });
    Some(match kind.as_str() {
        "addRules" => PermissionUpdate::AddRules { behavior, rules },
        "replaceRules" => PermissionUpdate::ReplaceRules { behavior, rules },
        _ => PermissionUpdate::RemoveRules { behavior, rules },
    })
}

/// A rule's text, or `{"toolName": …, "ruleContent": …}`.
fn rule_of(json: &str) -> Result<Rule, ConfigError> {
    if !json.starts_with('{') {
        return rule(&text_of(json)?);
    }
    let mut record = Record::new(json);
    let parts = (record.text("toolName"), record.text_if("ruleContent"));
    let (tool, content) = record.finish(parts)?;
    match content {
        Some(content) => rule(&[&tool, "(", &content, ")"].concat()),
        None => rule(&tool),
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<PermissionAnswer, ConfigError> {
        match Answer::from_json(json)? {
            Answer::Permission(answer) => Ok(answer),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_hosts_answer_about_a_call_with_its_changes_of_rules() {
        let answer = read(
            r#"{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[
                {"type":"addRules","behavior":"allow","destination":"session",
                 "rules":["Read",{"toolName":"Bash","ruleContent":"npm *"}]},
                {"type":"addDirectories","directories":["/a"]},
                {"type":"setMode","mode":"acceptEdits","destination":"userSettings"}]}"#,
        )
        .unwrap();
        assert!(answer.allow && !answer.interrupt);
        assert_eq!(answer.updated_input.unwrap().as_str(), r#"{"a":1}"#);
        let rules = ["Read", "Bash(npm *)"]
            .map(|text| Rule::parse(text).unwrap())
            .to_vec();
        assert_eq!(
            answer.updates,
            [
                PermissionUpdate::AddRules {
                    behavior: RuleKind::Allow,
                    rules
                },
                PermissionUpdate::Beside("addDirectories does nothing: a run has no folders".into()),
                PermissionUpdate::SetMode(PermissionMode::AcceptEdits),
                PermissionUpdate::Beside(
                    "An update for userSettings is stored nowhere: it counts for this run".into()
                )
            ]
        );
        let denied = read(r#"{"behavior":"deny","message":"no","interrupt":true}"#).unwrap();
        assert!(!denied.allow && denied.interrupt && denied.message.as_deref() == Some("no"));
    }

    #[test]
    fn a_wrong_answer_names_its_field() {
        for (json, field) in [
            (r#"{"behavior":"maybe"}"#, "behavior"),
            (
                r#"{"behavior":"allow","updatedPermissions":[{"type":"x"}]}"#,
                "updatedPermissions[0].type",
            ),
            (
                r#"{"behavior":"allow","updatedPermissions":[{"type":"addRules","behavior":"allow","rules":["a("]}]}"#,
                "updatedPermissions[0].rules[0]",
            ),
            (
                r#"{"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"x"}]}"#,
                "updatedPermissions[0].mode",
            ),
        ] {
            assert_eq!(read(json).unwrap_err().field, field, "{json}");
        }
    }
}
