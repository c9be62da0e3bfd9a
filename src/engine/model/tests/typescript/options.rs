//! The types of our configuration that hold options, and the marks of their fields.

/// The interfaces of options that are plain data: name, type and mark of the fields, documentation. A mark says whose
/// option a field is: each `agent` may have its own, or the `run` has one.
pub const DATA: [(&str, &str, &str, &str); 20] = [
    (
        "AgentData",
        "Config",
        "agent",
        "The options of an agent that are plain data and stand in no group.",
    ),
    (
        "RunData",
        "Config",
        "run",
        "The options of a run with all of its agents that are plain data and stand in no group.",
    ),
    (
        "AgentLimits",
        "Limits",
        "agent",
        "The limits that each agent can set separately.",
    ),
    (
        "RunLimits",
        "Limits",
        "run",
        "The limits that a run has for all of its agents.",
    ),
    (
        "ContextData",
        "ContextPolicy",
        "agent",
        "The options of `context` that are plain data.",
    ),
    (
        "AnswerOptions",
        "AnswerPolicy",
        "agent",
        "The bounds of one answer of a model, and how looplet treats one that is not whole.",
    ),
    (
        "AgentToolCalls",
        "ToolCallPolicy",
        "agent",
        "How the tool calls of one agent run.",
    ),
    (
        "RunToolCalls",
        "ToolCallPolicy",
        "run",
        "The options of `toolCalls` that are plain data and the same for all agents of a run.",
    ),
    ("EventOptions", "EventPolicy", "run", "Which events a run emits."),
    (
        "RecoveryData",
        "Recovery",
        "run",
        "How often processes may end with a run that has a `store` before they bring it further.",
    ),
    (
        "ToolData",
        "ToolConfig",
        "tool",
        "The options of a tool that are plain data.",
    ),
    (
        "ModelData",
        "ModelConfig",
        "model",
        "The options of every model that are plain data.",
    ),
    (
        "HttpModelData",
        "ModelConfig",
        "http",
        "The options of a model over HTTP that are plain data.",
    ),
    (
        "CompactionData",
        "ContextPolicy",
        "compaction",
        "The options of `context.compaction` that are plain data.",
    ),
    (
        "RepeatOptions",
        "RepeatPolicy",
        "repeat",
        "Steps against tool calls that repeat.",
    ),
    (
        "PermissionRules",
        "Permissions",
        "permissions",
        "Rules of the form `Tool` or `Tool(specifier)`.",
    ),
    (
        "OutputData",
        "OutputFormat",
        "output",
        "The options of `output` that are plain data.",
    ),
    (
        "RaisedData",
        "Raise",
        "raise",
        "New limits for the rest of the run; a limit that is left out stays.",
    ),
    (
        "HookData",
        "HookAnswer",
        "hook",
        "The answer of a hook that is plain data.",
    ),
    (
        "PreparedData",
        "Prepared",
        "prepared",
        "Changes of one iteration that are plain data.",
    ),
];

/// The tables that options are checked against: name, type and mark of the fields. The last is the path of the group,
/// if the defaults of these options are printed.
pub const TABLES: [(&str, &str, &str, Option<&str>); 20] = [
    ("AGENT_OPTIONS", "Config", "agent", Some("")),
    ("AGENT_LIMITS", "Limits", "agent", Some("limits.")),
    ("AGENT_CONTEXT", "ContextPolicy", "agent", Some("context.")),
    ("AGENT_ANSWERS", "AnswerPolicy", "agent", Some("answers.")),
    ("AGENT_TOOL_CALLS", "ToolCallPolicy", "agent", Some("toolCalls.")),
    ("RUN_OPTIONS", "Config", "run", Some("")),
    ("RUN_LIMITS", "Limits", "run", Some("limits.")),
    ("RUN_TOOL_CALLS", "ToolCallPolicy", "run", Some("toolCalls.")),
    ("RUN_EVENTS", "EventPolicy", "run", Some("events.")),
    ("RUN_RECOVERY", "Recovery", "run", Some("durable.")),
    ("OUTPUT_DATA", "OutputFormat", "output", Some("output.")),
    ("TOOL_DATA", "ToolConfig", "tool", None),
    ("MODEL_DATA", "ModelConfig", "model", None),
    ("HTTP_MODEL_DATA", "ModelConfig", "http", None),
    ("COMPACTION_DATA", "ContextPolicy", "compaction", None),
    ("REPEAT_OPTIONS", "RepeatPolicy", "repeat", None),
    ("PERMISSION_RULES", "Permissions", "permissions", None),
    ("RAISED_DATA", "Raise", "raise", None),
    ("PREPARED_DATA", "Prepared", "prepared", None),
    ("HOOK_DATA", "HookAnswer", "hook", None),
];
