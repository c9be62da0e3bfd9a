//! A tool of an agent: plain data, part of a [`Config`](crate::engine::model::config::Config).

use serde::{Deserialize, Serialize};

use crate::engine::model::message::Json;

/// One tool, without its function, which stays in JavaScript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ToolConfig {
    pub name: String,
    pub description: String,
    /// JSON Schema of the input, sent to the model as it is.
    pub input_schema: Json,
    /// Whether the vendor makes the model follow the schema, where it can (Anthropic, OpenAI, Bedrock, Gemini). Such
    /// a schema must stay within the vendor's subset of JSON Schema.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub strict: bool,
    /// JSON Schema of the input with the bound fields, against which a call is checked; present only when the model
    /// is not shown all fields.
    pub full_schema: Option<Json>,
    /// Fields that your code fills in.
    pub bindings: Vec<Binding>,
    /// Characters of a result that the model is shown, a positive integer. Default: the agent's
    /// `toolCalls.maxResultChars`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "tool")))]
    pub max_result_chars: Option<u64>,
    /// Whether looplet checks the input against the schema before the call. The engine does not if a Standard Schema
    /// does. Empty arguments of a tool with required fields are an error in any case.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub validate: bool,
    /// Whether the tool changes nothing, so that its calls may run beside other read-only calls.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub read_only: bool,
    /// Your code sees the calls before they run, for a Standard Schema or a `resourceKey`.
    pub prepare: bool,
    /// The fate of a call that was under way when the process ended. `safe` runs it again. `once` asks your code:
    /// such a call starts only when the save of its start is confirmed, and never early. A save outlives a crash only
    /// with a store: a run without one warns of tools with `once` (`replay_needs_store`). Default: `safe` for a
    /// read-only tool, else `once`.
    pub replay: Option<Replay>,
    /// The version of what the tool does, any text that you change with it. A run that goes on in another process
    /// judges a call of another version anew, and asks `reconcile` about one that was let through or had begun.
    /// Default: none.
    #[cfg_attr(test, schemars(length(min = 1), extend("x-option" = "tool")))]
    pub version: Option<String>,
    /// Milliseconds after which looplet gives a call up and tells the model, a positive integer. Default:
    /// `timeouts.toolMs`.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "tool")))]
    pub timeout_ms: Option<u64>,
    /// Calls in one run, a positive integer; further calls get an error result (`call_limit`). Default: any number.
    #[cfg_attr(test, schemars(range(min = 1), extend("x-option" = "tool")))]
    pub max_calls: Option<u64>,
    /// Each call waits until your code approves it.
    pub needs_approval: bool,
    /// Your code says of each call whether it waits for an approval.
    pub may_need_approval: bool,
    /// The kind of access that permission modes and the specifiers of rules look at. Default: none, or the kind that
    /// a well-known tool name implies.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub access: Option<Access>,
    /// The input field that permission rules compare their specifiers with. The mode `acceptEdits` looks at
    /// it too: an edit that shows no path there needs a decision. Default: by `access`.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub rule_subject: Option<String>,
    /// Whether the model gets the definition only when it has found the tool by a search. Vendors that have such a
    /// search (Anthropic, OpenAI) run it; elsewhere the model gets the tools `search_tools` and `call_tool`. Default
    /// false.
    #[cfg_attr(test, schemars(extend("x-option" = "tool")))]
    pub defer_loading: bool,
    /// Set for a tool by which the model reaches those with `defer_loading`.
    pub loader: Option<Loader>,
    /// The answer tool, by which the model gives its structured answer. Your code never sees it.
    pub answers: bool,
    /// The agent of the run that answers the calls.
    pub agent: Option<AgentTool>,
    /// Set for a tool that the vendor defines.
    pub vendor: Option<VendorTool>,
}

/// A tool that the vendor defines. Its entry goes into the request's list of tools in the vendor's own form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct VendorTool {
    /// The wire protocol whose requests have the entry. Default: that of the agent's model.
    pub protocol: Option<String>,
    /// The entry. `None` for a tool that another entry brings along: a member of a toolset.
    pub entry: Option<Json>,
    /// Headers of requests with the entry. Values that are lists are joined with those of other entries.
    pub headers: Vec<(String, String)>,
    /// Fields of requests with the entry. Objects are merged and lists are joined; the model's `body` wins.
    pub body: Option<Json>,
    /// Whether the vendor runs the calls.
    pub hosted: bool,
    /// The type of the items that are calls of the tool, for a tool that the model does not call by a name.
    pub item: Option<String>,
}

/// A tool that is an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AgentTool {
    /// The index of its configuration: 0 is the run's own, 1 the first of the other agents.
    pub profile: u32,
    /// Each call goes on where the last one ended.
    pub keep: bool,
    /// The agent takes the conversation over instead of answering the call.
    pub handoff: bool,
    /// Your code is called before the agent takes the conversation over. Its error keeps the conversation here.
    pub calls_host: bool,
    /// Your code chooses the messages that the agent begins with.
    pub filters: bool,
    /// The agent asks the model of its caller.
    pub inherit_model: bool,
}

impl VendorTool {
    /// Returns true if the entry is in the form of this protocol.
    pub fn is_of(&self, protocol: &str) -> bool {
        self.protocol.as_deref() == Some(protocol)
    }
}

impl Default for ToolConfig {
    fn default() -> ToolConfig {
        ToolConfig::new(String::new(), Json::empty_object())
    }
}

impl ToolConfig {
    /// Returns true if a call of the tool starts only when the save of its start is confirmed. An agent saves its own
    /// steps.
    pub fn awaits_save(&self) -> bool {
        self.agent.is_none() && self.runs_once()
    }

    /// Returns true if the vendor runs the calls: the run gets none.
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

    /// Creates a tool with this name and schema; every other field has its default.
    pub fn new(name: String, input_schema: Json) -> ToolConfig {
        ToolConfig {
            name,
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

/// The fate of a call that was under way when the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Replay {
    Safe,
    Once,
}

/// What a tool does for tools with `defer_loading`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Loader {
    /// It finds them.
    Search,
    /// It finds them by a function of yours, which takes the place of the vendor's search too.
    OwnSearch,
    /// It calls one of them: its input has the `name` and the `input` of the call.
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
    /// Reads addresses of the web.
    Fetch,
}

/// A field of a tool's input that is filled in from the run's inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Binding {
    /// The name of a field of the tool's input.
    pub field: String,
    /// The name of one of the run's inputs.
    pub input: String,
}
