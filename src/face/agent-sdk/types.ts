import type { Model } from "../api/index.js";
import type { ContextOptions } from "../api/iteration.js";
import type { CanUseTool, PermissionMode } from "../api/permission.js";
import type { HostAbortController } from "../api/platform.js";
import type { ApiBlock } from "../facades/anthropic.js";
import type { Host } from "../facades/host.js";
import type { AgentSdkCanUseTool } from "../hooks/agent-sdk.js";
import type { ToolPorts } from "../builtin-tools/index.js";
import type { McpFetch } from "../mcp/index.js";
import type { RewindFilesResult } from "./control/checkpoints.js";
import type { ContextUsage } from "./control/context-usage.js";
import type { UnavailableMethods } from "./control/unavailable.js";
import type { QueryHooks } from "./hooks/types.js";
import type { McpServers, McpServerStatus, OnServerElicitation } from "./mcp.js";
import type { ApiEvent } from "./stream-events.js";
import type { OptionOfTheProcess } from "./options.js";
import type { SessionStoreFlush } from "./sessions/mirror.js";
import type { SessionStore } from "./sessions/sessions.js";
import type { TrustProject } from "./settings.js";
import type { Skill } from "./skills.js";

export type { PermissionMode };

/** The options of {@link query}, in the words of the Claude Agent SDK. An unknown one is a `TypeError` that names it. */
export interface Options extends OptionsOfTheProcess {
  /**
   * The name of a model of Anthropic or of `host.model`, an alias (`sonnet`, `opus`, `haiku`), or a model of looplet.
   * Default: `host.defaultModel`, and `sonnet` without it.
   */
  model?: string | Model | undefined;
  /** Tokens that the model can read. Default: as in the table of models of Anthropic; unknown for other models. */
  contextWindow?: number | undefined;
  /** When and how the session is summarised before its window is full, as for `createAgent`; `false` switches it off. */
  compaction?: ContextOptions["compaction"];
  /**
   * The system prompt; texts are joined by blank lines. The preset is a short text of looplet's own about work with tools,
   * because the one of Claude Code is not published; `append` stands behind it. Default: none.
   */
  systemPrompt?:
    | string
    | readonly string[]
    | { type: "custom"; prompt: string | readonly string[]; snapshot?: boolean }
    | {
        type: "preset";
        preset: "claude_code";
        append?: string;
        excludeDynamicSections?: boolean;
        snapshot?: boolean;
      }
    | undefined;
  /** The built-in tools that the model gets, by name. Default, and the preset: all for which `host` has what they need. */
  tools?: readonly string[] | { type: "preset"; preset: "claude_code" } | undefined;
  /**
   * Servers by name: what `createSdkMcpServer` returns, or `{ type: "http", url, headers }`. Their tools are called
   * `mcp__<server>__<tool>`. The query goes on without a server that cannot be reached, and `init` says so.
   */
  mcpServers?: McpServers | undefined;
  /**
   * Whether the definitions of servers' tools are withheld until the model finds them with the tool ToolSearch. `"auto"`
   * withholds them if they are more than 10 % of a window of 200,000 tokens, `"auto:N"` more than N %. Default `"auto"`.
   */
  toolSearch?: boolean | "auto" | `auto:${number}` | undefined;
  /**
   * Names under which the model may call tools that have other names, for example `{ Bash: "mcp__workspace__bash" }`: a
   * skill may speak of Bash. Rules and hooks see the tool's own name. Default: none.
   */
  toolAliases?: { readonly [alias: string]: string } | undefined;
  /** Contract: called when a server needs something of the user in a call. Default: the server is told that nobody is there. */
  onElicitation?: OnServerElicitation | undefined;
  /** Rules of tools that run without being asked about. A rule for a tool that is not there does nothing. */
  allowedTools?: readonly string[] | undefined;
  /** Rules of tools that never run. A bare name takes the tool out of the requests. */
  disallowedTools?: readonly string[] | undefined;
  /** Default `"default"`: a call that no rule covers goes to `canUseTool`, and is denied without one. */
  permissionMode?: PermissionMode | undefined;
  canUseTool?: AgentSdkCanUseTool | undefined;
  allowDangerouslySkipPermissions?: boolean | undefined;
  hooks?: QueryHooks | undefined;
  /** Whether `hook_started` and `hook_response` are told. Default false. */
  includeHookEvents?: boolean | undefined;
  /** What the model does in the mode `plan`, in place of looplet's own words. */
  planModeInstructions?: string | undefined;
  /** Whether tools that only read run in the mode `plan`. Default true. */
  planAllowsReadOnly?: boolean | undefined;
  /** The most rounds of tool calls. Default: no limit. */
  maxTurns?: number | undefined;
  /** The most that a turn may cost, its agents included, in US dollars. The model needs a price. Default: no limit. */
  maxBudgetUsd?: number | undefined;
  /** Whether `maxBudgetUsd` is allowed for a model without a price. Default false. */
  allowUnknownPrice?: boolean | undefined;
  /** For a `model` by its name. Default `"high"`. */
  effort?: "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  /** The most tokens of reasoning per answer, for a `model` by its name. Default: the model's own. */
  maxThinkingTokens?: number | undefined;
  /** The reasoning of a `model` by its name, in place of `maxThinkingTokens`. Default `{ type: "adaptive" }`. */
  thinking?: ThinkingConfig | undefined;
  fallbackModel?: string | Model | undefined;
  /** The names of features in the header `anthropic-beta`, for a `model` by its name. Default: none. */
  betas?: readonly string[] | undefined;
  outputFormat?:
    { readonly type: "json_schema"; readonly schema: { readonly [key: string]: unknown } } | undefined;
  /** Whether messages of the type `stream_event` come. Default false. */
  includePartialMessages?: boolean | undefined;
  /** The id of a session to go on with. */
  resume?: string | undefined;
  /** Goes on with the latest session of the store. Default false. */
  continue?: boolean | undefined;
  /** With `resume` or `continue`: goes on in a copy, and the session stays as it is. Default false. */
  forkSession?: boolean | undefined;
  /** With `resume`: only the messages up to the one with this `uuid` count. */
  resumeSessionAt?: string | undefined;
  /** The title of a new session, in place of its first prompt. */
  title?: string | undefined;
  /**
   * Whether `rewindFiles` can put files back that Write and Edit have changed. They are kept in the memory of the process, for
   * the session and the object `host.vfs`. Default false.
   */
  enableFileCheckpointing?: boolean | undefined;
  /** `{ "replay-user-messages": null }` tells the prompt too, with its `uuid`. All other arguments do nothing. */
  extraArgs?: { readonly [name: string]: string | null } | undefined;
  /** looplet confines no commands: with `enabled` a warning says so, and `failIfUnavailable: true` is a `TypeError`. */
  sandbox?:
    | {
        readonly enabled?: boolean;
        readonly failIfUnavailable?: boolean;
        readonly [setting: string]: unknown;
      }
    | undefined;
  /** The id of a new session. Default: a random UUID. */
  sessionId?: string | undefined;
  /** Whether the session is kept. Default true. */
  persistSession?: boolean | undefined;
  /** The place of the sessions. Default: the memory of this process. */
  sessionStore?: SessionStore | undefined;
  /**
   * Whether the store gets each message at once (`"eager"`), or those of a tenth of a second together and the rest at the end of a
   * turn. Default `"batched"`.
   */
  sessionStoreFlush?: SessionStoreFlush | undefined;
  /** The folder of relative paths, below which files may be written, and the project of the session. Default `"/"`. */
  cwd?: string | undefined;
  /** Further folders below which files may be written. Default: none. */
  additionalDirectories?: readonly string[] | undefined;
  /** Variables for the commands of Bash. Default: none. */
  env?: { readonly [name: string]: string } | undefined;
  /**
   * The settings files that are read of `host.vfs`: CLAUDE.md, `.claude/settings.json` (permissions and variables),
   * `.claude/agents` and `.claude/skills`.
   * `project` and `local` are below `cwd`, `user` below `host.home`. Default: none.
   */
  settingSources?: readonly ("user" | "project" | "local")[] | undefined;
  /**
   * Whether settings files of the project (`project` and `local`) may grant something: `permissions.allow`, `defaultMode`,
   * `additionalDirectories` and `env`. Whoever wrote the project wrote them. A function is asked with what they would grant.
   * Default false: they only restrict.
   */
  trustProject?: TrustProject | undefined;
  /** The names of the skills in the settings files that count, and skills of your own. Default: all that are found. */
  skills?: readonly (string | Skill)[] | "all" | undefined;
  /** Agents that the model may ask by the tool Agent, by their names, beside those of settings files. */
  agents?: { readonly [name: string]: AgentDefinition } | undefined;
  /** Whether texts of agents come too, beside their calls and results. Default false. */
  forwardSubagentText?: boolean | undefined;
  abortController?: HostAbortController | undefined;
  /** What the SDK would take from its process: the model behind a name, the key, and what tests replace. */
  host?: QueryHost | undefined;
}

/** Options of the SDK that do nothing here. A warning names those that are given. */
export type OptionsOfTheProcess = { [name in OptionOfTheProcess]?: unknown };

/** How much a model reasons: as it likes, up to a number of tokens, or not at all. */
export type ThinkingConfig =
  | { readonly type: "adaptive" }
  | { readonly type: "enabled"; readonly budgetTokens?: number }
  | { readonly type: "disabled" };

/** An agent that the tool Agent asks. It sees only the prompt of its call, and its last text is the result. */
export interface AgentDefinition {
  /** Tells the model when to ask it. */
  readonly description: string;
  /** Its system prompt. */
  readonly prompt: string;
  /** The names of its tools. Default: those of the query, without Agent. */
  readonly tools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  /** The name of a model, or `"inherit"`. Default: the model of the query's options. */
  readonly model?: string | undefined;
  /** The most rounds of tool calls. Default: no limit. */
  readonly maxTurns?: number | undefined;
  /** Default: that of the query. */
  readonly effort?: Options["effort"];
}

/** What a program gives a query: that of every facade, and what the built-in tools need. */
export type QueryHost = Host &
  Omit<ToolPorts, "cwd" | "asksUser" | "additionalDirectories" | "env"> & {
    /** Sends the requests to the servers of `mcpServers`. Default: the global `fetch`. */
    mcpFetch?: McpFetch | undefined;
    /** The model of queries that name none. Default `"sonnet"`. */
    defaultModel?: string | Model | undefined;
    /**
     * Judges the calls of the mode `auto`: a function as `classifyTool` of `createAgent`, or a model that is asked with a
     * fixed prompt. It sees the call and the user's task, no results. Default: the model of the query.
     */
    judge?: CanUseTool | string | Model | undefined;
    /** The folder of the user's settings files. Default: none is read. */
    home?: string | undefined;
  };

/** A message of the user in streaming input. */
export interface SDKUserInput {
  readonly type: "user";
  readonly message: { readonly role: "user"; readonly content: string | readonly ApiBlock[] };
  readonly parent_tool_use_id?: string | null;
  readonly uuid?: string;
  readonly session_id?: string;
}

interface Stamp {
  readonly uuid: string;
  readonly session_id: string;
}

/** The usage of requests, in the words of the Messages API. */
export interface ApiUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
}

export interface SDKAssistantMessage extends Stamp {
  readonly type: "assistant";
  readonly message: {
    /** looplet's own: the vendor's id is known when the tools have run. */
    readonly id: string;
    readonly type: "message";
    readonly role: "assistant";
    readonly model: string;
    readonly content: readonly ApiBlock[];
    /** The vendor's word; `null` for an answer with calls, which come before it. */
    readonly stop_reason: string | null;
    readonly usage: ApiUsage;
  };
  readonly parent_tool_use_id: string | null;
}

/** A message of the user, or the results of a round of calls. */
export interface SDKUserMessage extends SDKUserInput {
  readonly parent_tool_use_id: string | null;
}

/** As a query yields it. */
export interface SDKYieldedUserMessage extends SDKUserMessage {
  readonly message: { readonly role: "user"; readonly content: readonly ApiBlock[] };
  readonly uuid: string;
  readonly session_id: string;
}

/** A raw event of the Messages API; of other protocols in the same shape. */
export interface SDKPartialAssistantMessage extends Stamp {
  readonly type: "stream_event";
  readonly event: ApiEvent;
  readonly parent_tool_use_id: string | null;
}

export interface SDKInitMessage extends Stamp {
  readonly type: "system";
  readonly subtype: "init";
  readonly tools: readonly string[];
  readonly mcp_servers: readonly McpServerStatus[];
  readonly model: string;
  readonly permissionMode: PermissionMode;
  readonly slash_commands: readonly string[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  readonly plugins: readonly never[];
  readonly cwd: string;
  readonly apiKeySource: "none";
  readonly output_style: string;
}

/** What happened between the messages. A consumer that ignores them loses nothing. */
export type SDKObservation = Stamp & { readonly type: "system" } & (
    | {
        readonly subtype: "compact_boundary";
        readonly compact_metadata: { readonly trigger: "auto" | "manual"; readonly pre_tokens: number };
      }
    | { readonly subtype: "informational"; readonly content: string; readonly level: "info" | "warning" }
    | {
        readonly subtype: "api_retry";
        readonly attempt: number;
        readonly max_retries: number;
        readonly retry_delay_ms: number;
        readonly error_status: number | null;
        readonly error: string;
      }
    | {
        readonly subtype: "permission_denied";
        readonly tool_name: string;
        readonly tool_use_id: string;
        readonly message: string;
      }
    | { readonly subtype: "mirror_error"; readonly error: string }
    /** `shutdown` was called: the query ends with the round of tools under way. */
    | { readonly subtype: "worker_shutting_down"; readonly reason: string }
    /** A summary of the history is being made, or is over. */
    | { readonly subtype: "status"; readonly status: "compacting" | null }
    | {
        readonly subtype: "hook_started";
        readonly hook_event: string;
        readonly hook_name: string;
        readonly hook_id: string;
      }
    | {
        readonly subtype: "hook_response";
        readonly hook_event: string;
        readonly hook_name: string;
        readonly hook_id: string;
        readonly outcome: "success" | "error";
        /** The hook's answer, or its error. */
        readonly output: string;
        readonly stdout: "";
        readonly stderr: "";
      }
    | {
        readonly subtype: "task_started";
        readonly task_id: string;
        readonly tool_use_id: string;
        readonly description: string;
      }
    | {
        readonly subtype: "task_notification";
        readonly task_id: string;
        readonly tool_use_id: string;
        readonly status: "completed" | "failed" | "stopped";
        readonly summary: string;
      }
  );

export type SDKToolProgress = Stamp & {
  readonly type: "tool_progress";
  readonly tool_use_id: string;
  readonly tool_name: string;
  readonly data: unknown;
  readonly parent_tool_use_id: string | null;
};

/** A call that was not allowed. */
export interface SDKPermissionDenial {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: unknown;
}

interface ResultFacts extends Stamp {
  readonly type: "result";
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  readonly is_error: boolean;
  /** Answers of the model in this query. */
  readonly num_turns: number;
  /** The vendor's word for the end of the last answer. */
  readonly stop_reason: string | null;
  /** By `looplet/prices`, or by the price of the model that you give; 0 if there is none. */
  readonly total_cost_usd: number;
  readonly usage: ApiUsage;
  readonly modelUsage: {
    readonly [model: string]: {
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly cacheReadInputTokens: number;
      readonly cacheCreationInputTokens: number;
      readonly costUSD: number;
    };
  };
  readonly permission_denials: readonly SDKPermissionDenial[];
  readonly terminal_reason: string;
}

/** The end of a query. It has `result` only if the subtype is `success`. */
export type SDKResultMessage =
  | (ResultFacts & {
      readonly subtype: "success";
      readonly result: string;
      readonly structured_output?: unknown;
    })
  | (ResultFacts & {
      readonly subtype:
        | "error_max_turns"
        | "error_max_budget_usd"
        | "error_during_execution"
        | "error_max_structured_output_retries";
      readonly errors: readonly string[];
    });

export type SDKMessage =
  | SDKInitMessage
  | SDKAssistantMessage
  | SDKYieldedUserMessage
  | SDKPartialAssistantMessage
  | SDKObservation
  | SDKToolProgress
  | SDKResultMessage;

export interface ModelInfo {
  readonly value: string;
  readonly resolvedModel: string;
  readonly displayName: string;
  readonly description: string;
}

export interface AccountInfo {
  readonly email?: string;
  readonly organization?: string;
  readonly subscriptionType?: string;
  readonly tokenSource?: string;
  readonly apiKeySource?: string;
}

export interface InitializationResult {
  readonly commands: { name: string; description: string; argumentHint: string }[];
  readonly agents: { name: string; description: string }[];
  readonly models: ModelInfo[];
  readonly account: AccountInfo;
  readonly output_style: string;
  readonly available_output_styles: string[];
}

export interface ReadFileResult {
  readonly contents: string;
  readonly absPath: string;
  readonly truncated?: boolean;
  readonly encoding?: "base64";
}

/** What `setMcpServers` has changed, by the names of servers. */
export interface McpSetServersResult {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly errors: { readonly [name: string]: string };
}

/** A query under way: its messages, and the ways to change it. To leave the iteration aborts the query. */
export interface Query extends AsyncGenerator<SDKMessage, void>, UnavailableMethods {
  /**
   * Ends the turn under way. With streaming input the next message of the user begins another one; `still_queued` are the ids
   * of those that wait.
   */
  interrupt(): Promise<{ still_queued: string[] }>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** Asks another model from the next request on; without an argument that of the options. */
  setModel(model?: string | Model): Promise<void>;
  /** Changes the most tokens of reasoning per answer, for a `model` by its name; `null` switches reasoning off. */
  setMaxThinkingTokens(tokens: number | null): Promise<void>;
  /**
   * Takes other servers in place of `mcpServers`, from the next turn on. Resolves when they are reached. One that cannot
   * be reached is in `errors`, and fails nothing.
   */
  setMcpServers(servers: McpServers): Promise<McpSetServersResult>;
  /** The servers of `mcpServers`, when the query has begun. */
  mcpServerStatus(): Promise<readonly McpServerStatus[]>;
  /** Reaches a server again, or one that failed. */
  reconnectMcpServer(name: string): Promise<void>;
  /** Takes a server away from the next turn on, or gives it back. */
  toggleMcpServer(name: string, enabled: boolean): Promise<void>;
  supportedAgents(): Promise<{ name: string; description: string }[]>;
  /** The short names, with the models that they stand for. */
  supportedModels(): Promise<ModelInfo[]>;
  /** Nothing: a key is all that looplet knows of an account. */
  accountInfo(): Promise<AccountInfo>;
  initializationResult(): Promise<InitializationResult>;
  /** As `initializationResult`. */
  reinitialize(): Promise<InitializationResult>;
  /** What fills the window: the vendor's count for the whole, and estimates for its parts. */
  getContextUsage(options?: { detail?: "summary" | "full" }): Promise<ContextUsage>;
  /** Puts files back as they were when the message of the user with this `uuid` came. Needs `enableFileCheckpointing`. */
  rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<RewindFilesResult>;
  /** A file of `host.vfs`; `null` if there is none. */
  readFile(
    path: string,
    options?: { maxBytes?: number; encoding?: "utf-8" | "base64" },
  ): Promise<ReadFileResult | null>;
  /** Prompts that begin with `/` and have a meaning of their own. */
  supportedCommands(): Promise<{ name: string; description: string; argumentHint: string }[]>;
  /** Ends the run of an agent by the `task_id` of its `task_started`. */
  stopTask(id: string): Promise<void>;
  /**
   * Ends the query when the round of tools under way is over, because the process is about to end. Resolves when the session
   * is kept: `resume` goes on with it elsewhere.
   */
  shutdown(reason: string): Promise<void>;
  /** Adds messages of the user, as those of an iterable `prompt`. Resolves when the iterable is done. */
  streamInput(input: AsyncIterable<SDKUserInput>): Promise<void>;
  /** Ends the query. */
  close(): void;
}
