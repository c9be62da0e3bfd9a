//! The questions of a run: the points at which it asks, the data of each question, and the accepted answers.
//!
//! An agent asks through its gate, which sends one [`Question`] per function. The shell passes it to your code, and
//! the [`Answer`] returns as an input. `agent/questions/points.rs` has a row for each point, with the answers that it
//! accepts and what happens if your code cannot answer. Answers that change inputs also have the platform's readings
//! of the new texts ([`Answer::Read`]).

use serde::{Deserialize, Serialize};

use crate::engine::model::answer::FinishReason;
use crate::engine::model::config::permission::PermissionMode;
use crate::engine::model::config::permission::Reading;
use crate::engine::model::event::CompactTrigger;
#[cfg(test)]
use crate::engine::model::event::ToolFault;
use crate::engine::model::hook::HookAnswer;
#[cfg(test)]
use crate::engine::model::input::PermissionUpdate;
use crate::engine::model::input::{
    Behavior, CheckedOutput, ElicitationAnswer, PermissionAnswer, PreparedCall, Reconciled,
};
use crate::engine::model::message::{Json, Message};
use crate::engine::model::outcome::{StoppedBy, ToolCallRecord};
use crate::engine::model::output::ToolInvocation;
use crate::engine::model::usage::Usage;

/// A point of a run at which it asks your code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Point {
    /// A call is about to be checked. The permission rules, the mode and `canUseTool` follow this hook.
    PreToolUse,
    /// A tool has returned; the model has not seen the result yet.
    PostToolUse,
    /// A tool has thrown or timed out.
    PostToolUseFailure,
    /// All calls of an answer have ended. The model has seen none of their results yet.
    PostToolBatch,
    /// A session begins with its first prompt. A session is a chat, or a run outside a chat. This hook precedes
    /// `UserPromptSubmit`.
    SessionStart,
    /// A prompt, a steer or a follow-up is about to go to the model.
    UserPromptSubmit,
    /// The model has finished.
    Stop,
    /// A subagent is about to start.
    SubagentStart,
    /// A subagent has finished.
    SubagentStop,
    /// The history is about to be summarised.
    PreCompact,
    /// A summary has replaced the history before it.
    PostCompact,
    /// `canUseTool` or a `question` event is about to ask whether a call may run.
    PermissionRequest,
    /// A rule, the mode or your code denied a call.
    PermissionDenied,
    /// The run waits for the user because a permission question is open. Nothing waits for this hook. Context that it
    /// adds reaches the model later.
    Notification,
    /// Messages are about to be sent.
    InputGuardrail,
    /// An answer is complete and has not been used yet.
    OutputGuardrail,
    /// A call is allowed and about to run.
    ToolGuardrail,
    /// The next request can be changed before it is sent.
    PrepareIteration,
    /// An iteration has ended.
    IterationEnd,
    /// A limit is reached and may be raised.
    Limit,
    /// Asks once per batch to validate the inputs and to name the resources of the calls, if their tools need it.
    #[serde(rename = "prepare_calls")]
    PrepareCalls,
    /// How should the model be informed of the errors of this round?
    #[serde(rename = "word_errors")]
    WordErrors,
    /// May this call run? The user or a function decides.
    #[serde(rename = "permission")]
    Permission,
    /// May this call run? Your classifier answers.
    #[serde(rename = "classify")]
    Classify,
    /// What happened to this call, which had started when the run was interrupted?
    #[serde(rename = "reconcile")]
    Reconcile,
    /// A running tool asks the user.
    #[serde(rename = "elicitation")]
    Elicitation,
    /// Which text should replace the first part of the conversation?
    #[serde(rename = "summarize")]
    Summarize,
    /// Does your Standard Schema or your function accept this answer, which matches its schema?
    #[serde(rename = "check_output")]
    CheckOutput,
    /// Do your conditions stop the run after this round of tools?
    #[serde(rename = "stop_condition")]
    StopCondition,
    /// Should the run stop because its rounds repeat?
    #[serde(rename = "stop_repeat")]
    StopRepeat,
    /// Which messages does the agent start with after a handoff?
    #[serde(rename = "filter_handoff")]
    FilterHandoff,
}

/// A question to one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    pub point: Point,
    /// The index of the function in [`crate::engine::model::config::Config::hooks`]. 0 at a point with one function.
    pub asker: u32,
    /// The index of the configuration that has the function. 0 is the run's own.
    pub profile: u32,
    /// The agent in the run's tree. `"root"` is the run's own agent.
    pub agent_path: String,
    /// The number of the agent's model call before this point, from 1. 0 before the first.
    pub iteration: u32,
    /// The name of the subagent's tool. Absent for the run's own agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// The current mode, in a run with permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The model's option `effort`, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The [`Facts`] of the point.
    pub data: Json,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Hook(Box<HookAnswer>),
    /// One entry per call in the question, in order.
    Prepared(Vec<PreparedCall>),
    /// One text per error in the question, in order.
    Worded(Vec<String>),
    Permission(PermissionAnswer),
    Classified(PermissionAnswer),
    Reconciled(Reconciled),
    Elicited(ElicitationAnswer),
    /// True if the run should stop.
    Stop(bool),
    Checked(CheckedOutput),
    /// The summary of the conversation so far.
    Summary(String),
    /// The messages that the next agent starts with.
    Filtered(Vec<Message>),
    /// An answer that changes inputs, with the platform's readings of the texts in them.
    Read {
        readings: Vec<Reading>,
        answer: Box<Answer>,
    },
    /// Your code could not answer. The point's default applies.
    Failed {
        why: String,
    },
}

impl Answer {
    /// The call's new input according to this answer, if it replaces the model's.
    pub fn updated_input(&self) -> Option<&Json> {
        match self {
            Answer::Hook(said) if !said.denies() => said.updated_input.as_ref(),
            Answer::Permission(said) | Answer::Classified(said) if said.behavior == Behavior::Allow => {
                said.updated_input.as_ref()
            }
            _ => None,
        }
    }
}

/// The data of a question, by its point. The marks `x-of` name the points of a variant or a field, with `!` if the
/// field is always present.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(untagged, extend("x-facts" = true)))]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Facts<'a> {
    /// The data of one call, at the points around a tool and for permissions.
    #[cfg_attr(test, schemars(extend("x-of" = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied", "ToolGuardrail", "permission", "classify", "reconcile", "elicitation"])))]
    Call(Box<CallFacts<'a>>),
    #[cfg_attr(test, schemars(extend("x-of" = ["SessionStart"])))]
    Session {
        #[cfg_attr(test, schemars(extend("x-type" = "\"startup\" | \"resume\" | \"clear\"")))]
        source: &'a str,
        /// The name of the model, as in `model.model`.
        model: &'a str,
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["UserPromptSubmit", "SubagentStart"])))]
    Prompt {
        /// The id of the call that the subagent answers.
        #[cfg_attr(test, schemars(extend("x-of" = ["SubagentStart!"])))]
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<&'a str>,
        /// The text of the prompt.
        prompt: String,
        #[cfg_attr(test, schemars(extend("x-type" = "\"prompt\" | \"steer\" | \"followUp\"")))]
        source: &'a str,
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["Stop", "SubagentStop"])))]
    Stop {
        /// The id of the call that the subagent answers.
        #[cfg_attr(test, schemars(extend("x-of" = ["SubagentStop!"])))]
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<&'a str>,
        /// Whether a `Stop` hook has already made the model continue. Check it to avoid an endless loop.
        stop_hook_active: bool,
        last_assistant_message: &'a str,
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["PreCompact"])))]
    Compact {
        #[cfg_attr(test, schemars(extend("x-type" = "\"auto\" | \"manual\" | \"overflow\"")))]
        trigger: CompactTrigger,
        /// Estimated tokens of the history.
        pre_tokens: u64,
        /// Additional instructions for the summary, from `run.compact` or the option `context.compaction`.
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["PostCompact"])))]
    Compacted {
        #[cfg_attr(test, schemars(extend("x-type" = "\"auto\" | \"manual\" | \"overflow\"")))]
        trigger: CompactTrigger,
        summary: &'a str,
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["summarize"])))]
    Summarize {
        #[cfg_attr(test, schemars(extend("x-type" = "\"auto\" | \"manual\" | \"overflow\"")))]
        trigger: CompactTrigger,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
        /// The messages that the summary will replace.
        messages: &'a [Message],
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["Notification"])))]
    Notification {
        #[cfg_attr(test, schemars(extend("x-type" = "\"permission_prompt\"")))]
        notification_type: &'a str,
        message: String,
        /// The argument for `run.answer`.
        question_id: u32,
        tool_name: &'a str,
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["PrepareIteration"])))]
    Iteration {
        /// The name of the model that answers, unless `prepareIteration` chooses another.
        model: &'a str,
        messages: &'a [Message],
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["InputGuardrail"])))]
    Input { messages: &'a [Message] },
    #[cfg_attr(test, schemars(extend("x-of" = ["OutputGuardrail"])))]
    Output { message: &'a Message },
    #[cfg_attr(test, schemars(extend("x-of" = ["IterationEnd"])))]
    IterationEnd {
        text: &'a str,
        finish_reason: Option<FinishReason>,
        /// `null` if the vendor reported none.
        usage: Option<Usage>,
        tool_calls: &'a [ToolCallRecord],
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["Limit"])))]
    Limit {
        #[cfg_attr(test, schemars(extend("x-type" = "Extract<StoppedBy, \"iterations\" | \"tokens\" | \"usd\" | \"time\" | \"tool_rounds\" | \"tool_calls\">")))]
        limit: StoppedBy,
        /// Which timeout was reached, for the limit `time`.
        #[cfg_attr(test, schemars(extend("x-type" = "\"totalMs\" | \"iterationMs\"")))]
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout: Option<&'a str>,
        /// Usage of the run so far. `null` if no vendor reported any.
        usage: Option<Usage>,
        tool_rounds: u32,
        /// Tool calls of the run, including those that would exceed the limit.
        tool_calls: usize,
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["filter_handoff"])))]
    Handoff {
        /// The name of the tool that hands off.
        tool_name: &'a str,
        input: &'a Json,
        /// The conversation, with the result of the handoff.
        messages: &'a [Message],
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["PostToolBatch"])))]
    Batch { tool_calls: &'a [ToolCallRecord] },
    #[cfg_attr(test, schemars(extend("x-of" = ["stop_condition", "stop_repeat"])))]
    Round {
        /// The number of the model call that requested it, from 1.
        iteration: u32,
        /// How many times the calls have repeated.
        #[cfg_attr(test, schemars(extend("x-of" = ["stop_repeat!"])))]
        #[serde(skip_serializing_if = "Option::is_none")]
        times: Option<u32>,
        tool_calls: &'a [ToolCallRecord],
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["prepare_calls"])))]
    Calls {
        calls: Vec<ToolInvocation>,
        /// Texts that rules compare. The answer has the platform's readings of them.
        texts: Vec<String>,
    },
    #[cfg_attr(test, schemars(extend("x-of" = ["word_errors"])))]
    Errors { errors: Vec<FaultyCall<'a>> },
    #[cfg_attr(test, schemars(extend("x-of" = ["check_output"])))]
    Checked { output: &'a Json },
}

impl<'a> Facts<'a> {
    pub fn call(facts: CallFacts<'a>) -> Facts<'a> {
        Facts::Call(Box::new(facts))
    }

    pub fn to_json(&self) -> Json {
        Json::of(self)
    }
}

/// A call in the form that your code receives.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallFacts<'a> {
    pub tool_call_id: &'a str,
    pub tool_name: &'a str,
    /// The input that the tool gets.
    pub input: Option<&'a Json>,
    #[cfg_attr(test, schemars(extend("x-of" = ["PostToolUse!"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    #[cfg_attr(test, schemars(with = "Option<ToolFault>", extend("x-of" = ["PostToolUseFailure!"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Json>,
    #[cfg_attr(test, schemars(extend("x-of" = ["PostToolUse!", "PostToolUseFailure!"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The reason for the question or the denial.
    #[cfg_attr(test, schemars(extend("x-of" = ["PermissionRequest!", "PermissionDenied!", "permission!", "classify!", "reconcile!", "elicitation!"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// True if a part of the run's journal is lost. That part may have had this call or a similar one with another
    /// id, so an unknown id proves nothing.
    #[cfg_attr(test, schemars(extend("x-of" = ["reconcile"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_torn: Option<bool>,
    /// The tool's version when the call was approved, or an empty text if it had none. Absent if the version has not
    /// changed.
    #[cfg_attr(test, schemars(extend("x-of" = ["reconcile"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_version: Option<&'a str>,
    /// The agent that made the call. `"root"` is the run's own.
    #[cfg_attr(test, schemars(extend("x-of" = ["permission", "classify", "reconcile", "elicitation"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_path: Option<&'a str>,
    /// The `ask` rule that caused the question. The rule requires a user's decision, so never answer it
    /// automatically.
    #[cfg_attr(test, schemars(extend("x-of" = ["PermissionRequest", "permission", "classify"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_ask_rule: Option<RuleFacts>,
    /// Updates that would allow this call and similar ones, if you return them as `updatedPermissions`. Absent if no
    /// rule could allow the call: in the mode `"plan"`, for a tool with `needsApproval`, and for calls that rules
    /// cannot express.
    #[cfg_attr(
        test,
        schemars(
            with = "Option<Vec<PermissionUpdate>>",
            extend("x-of" = ["PermissionRequest", "permission", "classify"])
        )
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<[Suggestion; 1]>,
    /// Context that `PostToolUse` hooks have returned for `classifyTool`.
    #[cfg_attr(test, schemars(extend("x-of" = ["classify"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier_context: Option<&'a [String]>,
    /// The tool's request, in MCP's terms.
    #[cfg_attr(test, schemars(with = "Option<ElicitationRequest>", extend("x-of" = ["elicitation!"])))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<&'a Json>,
}

/// A tool's request to the user, in MCP's terms. The engine passes it through without reading it.
#[cfg(test)]
#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ElicitationRequest {
    /// The text for the user.
    pub message: String,
    /// A form to fill in, or a page to open. Default `"form"`.
    #[schemars(extend("x-type" = "\"form\" | \"url\""))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The JSON Schema of the answer's `content`, for a form: an object of texts, numbers, booleans and choices.
    #[schemars(extend("x-type" = "{ readonly [key: string]: unknown }"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_schema: Option<Json>,
    /// The page to open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A rule in two parts: `Bash(npm *)` is `{ toolName: "Bash", ruleContent: "npm *" }`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "PermissionRuleParts"))]
#[serde(rename_all = "camelCase")]
pub struct RuleFacts {
    pub tool_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

/// A rule change that would settle the question permanently, in the form that an answer uses.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub behavior: &'static str,
    pub rules: [RuleFacts; 1],
    pub destination: &'static str,
}

/// A failed call.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FaultyCall<'a> {
    pub tool_call_id: &'a str,
    pub tool_name: &'a str,
    pub input: &'a Json,
    #[cfg_attr(test, schemars(with = "ToolFault"))]
    pub error: Json,
}
