//! A tool of an agent: plain data, part of a [`Config`](crate::engine::model::config::Config).

use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;

/// One tool, without its function, which is in JavaScript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolConfig {
    pub name: String,
    pub description: String,
    /// JSON Schema of the input, sent to the model unchanged.
    pub input_schema: Json,
    /// Whether the vendor enforces the schema, where it can (Anthropic, OpenAI, Bedrock, Gemini). Such a schema must
    /// be within the vendor's subset of JSON Schema.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub strict: bool,
    /// JSON Schema of the input including the bound fields, used to check calls. Present only if some fields are
    /// hidden from the model.
    pub full_schema: Option<Json>,
    /// Fields that your code fills in.
    pub bindings: Vec<Binding>,
    /// Maximum number of characters of a result that the model sees, a positive integer. Default: the agent's
    /// `toolCalls.maxResultChars`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "tool")))]
    pub max_result_chars: Option<u64>,
    /// Whether looplet checks the input against the schema before the call. The engine does not if a Standard Schema
    /// does. Empty arguments of a tool with required fields are always an error.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub validate: bool,
    /// Whether the tool changes nothing, so that its calls may run in parallel with other read-only calls.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub read_only: bool,
    /// Whether your code sees the calls before they run, for a Standard Schema or a `resourceKey`.
    pub prepare: bool,
    /// What happens to a call that was running when the process ended. `safe` runs it again. `once` asks your code. A
    /// call with `once` starts only after the save of its start is confirmed, never early. A save survives a crash
    /// only with a store: a run without one warns about tools with `once` (`replay_needs_store`). Default: `safe` for
    /// a read-only tool, otherwise `once`.
    pub replay: Option<Replay>,
    /// The version of what the tool does: any text, which you change when the tool changes. When a run resumes, a
    /// call of another version is checked again. For a call that was already approved or started, looplet asks
    /// `reconcile`. Default: none.
    #[cfg_attr(test, schemars(length(min = 1), extend("x-option" = "tool")))]
    pub version: Option<String>,
    /// Timeout of a call in milliseconds, a positive integer. The model gets an error result. Default:
    /// `timeouts.toolMs`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "tool")))]
    pub timeout_ms: Option<u64>,
    /// Maximum number of calls in one run, a positive integer. Further calls get an error result (`call_limit`).
    /// Default: no limit.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "tool")))]
    pub max_calls: Option<u64>,
    /// Whether each call waits for your code's approval.
    pub needs_approval: bool,
    /// Whether your code decides for each call if it needs an approval.
    pub may_need_approval: bool,
    /// The kind of access, for permission modes and the specifiers of rules. Default: none, or the kind that a
    /// well-known tool name implies.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub access: Option<Access>,
    /// The input field that permission rules compare with their specifiers. The mode `acceptEdits` uses it too: an
    /// edit without a path in this field needs a decision. Default: by `access`.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub rule_subject: Option<String>,
    /// Whether the model gets the definition only after it has found the tool by a search. Anthropic and OpenAI run
    /// their own search. For other vendors the model gets the tools `search_tools` and `call_tool`. Default false.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub defer_loading: bool,
    /// Set for a tool that finds or calls the tools with `defer_loading`.
    pub loader: Option<Loader>,
    /// Whether it is the answer tool, which the model calls with its structured answer. Your code never sees it.
    pub answers: bool,
    /// The agent of the run that handles the calls.
    pub agent: Option<AgentTool>,
    /// Set for a tool that the vendor defines.
    pub vendor: Option<VendorTool>,
}

/// A tool that the vendor defines. The request's list of tools has its entry in the vendor's own format.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct VendorTool {
    /// The wire protocol of the requests that have the entry. Default: that of the agent's model.
    pub protocol: Option<String>,
    /// The entry. `None` for a tool that another entry includes, such as a member of a toolset.
    pub entry: Option<Json>,
    /// Headers of requests with the entry. List values are joined with those of other entries.
    pub headers: Vec<(String, String)>,
    /// Fields of requests with the entry. Objects are merged and lists are joined. The model's `body` overrides them.
    pub body: Option<Json>,
    /// Whether the vendor runs the calls.
    pub hosted: bool,
    /// The type of the items that are calls of the tool, for a tool that the model does not call by name.
    pub item: Option<String>,
}

/// A tool that is an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AgentTool {
    /// The index of its configuration: 0 is the run's own, 1 the first of `agents`.
    pub profile: u32,
    /// Whether each call continues the conversation of the previous one.
    pub keep: bool,
    /// Whether the conversation is handed off to the agent, instead of returning a result.
    pub handoff: bool,
    /// Whether your code is called before the handoff. If it throws, there is no handoff.
    pub calls_host: bool,
    /// Whether your code chooses the agent's first messages.
    pub filters: bool,
    /// Whether the agent uses its caller's model.
    pub inherit_model: bool,
}

impl VendorTool {
    /// Returns true if the entry is in this protocol's format.
    pub fn is_of(&self, protocol: &str) -> bool {
        self.protocol.as_deref() == Some(protocol)
    }
}

impl Default for ToolConfig {
    fn default() -> ToolConfig {
        ToolConfig::new("", Json::empty_object())
    }
}

impl ToolConfig {
    /// Returns true if a call starts only after the save of its start is confirmed. A call of an agent does not wait:
    /// the agent saves its own steps.
    pub fn awaits_save(&self) -> bool {
        self.agent.is_none() && self.runs_once()
    }

    /// Returns true if the vendor runs the calls. The run then gets none.
    pub fn is_hosted(&self) -> bool {
        self.vendor.as_ref().is_some_and(|vendor| vendor.hosted)
    }

    /// Returns true if a call of the tool must not be made twice.
    pub fn runs_once(&self) -> bool {
        match self.replay {
            Some(replay) => replay == Replay::Once,
            None => !self.read_only,
        }
    }

    /// Creates a tool with default values for all other fields.
    pub fn new(name: impl Into<String>, input_schema: Json) -> ToolConfig {
        ToolConfig {
            name: name.into(),
            description: String::new(),
            input_schema,
            full_schema: None,
            bindings: Vec::new(),
            max_result_chars: None,
            strict: false,
            validate: true,
            read_only: false,
            prepare: false,
            replay: None,
            version: None,
            timeout_ms: None,
            max_calls: None,
            needs_approval: false,
            may_need_approval: false,
            access: None,
            rule_subject: None,
            defer_loading: false,
            loader: None,
            answers: false,
            agent: None,
            vendor: None,
        }
    }
}

/// What happens to a call that was running when the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Replay {
    Safe,
    Once,
}

/// The role of a tool for tools with `defer_loading`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Loader {
    /// It searches for them.
    Search,
    /// It searches for them with your function, which also replaces the vendor's search.
    OwnSearch,
    /// It calls one of them. Its input has the `name` and the `input` of the call.
    Call,
}

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ToolAccess"))]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Reads files.
    Read,
    /// Writes files.
    Edit,
    /// Runs commands.
    Shell,
    /// Fetches web addresses.
    Fetch,
}

/// A field of a tool's input that looplet fills from the run's inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Binding {
    /// The name of a field of the tool's input.
    pub field: String,
    /// The name of one of the run's inputs.
    pub input: String,
}
