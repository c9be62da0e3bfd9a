/** The options of a query, in the words of the Claude Agent SDK. */
import type { Model } from "../../../core/api/index.js";
import type { ContextOptions } from "../../../core/api/iteration.js";
import type { CanUseTool, PermissionMode } from "../../../core/api/permission.js";
import type { HostAbortController } from "../../../core/api/platform.js";
import type { Host } from "../../host.js";
import type { AgentSdkCanUseTool } from "../../presets/agent-sdk-hooks.js";
import type { ToolPorts } from "../../../extras/tools/index.js";
import type { McpFetch } from "../../../extras/mcp/index.js";
import type { AgentDefinition } from "../agents/definition.js";
import type { QueryHooks } from "../hooks/types.js";
import type { McpServers, OnServerElicitation } from "../mcp.js";
import type {
  EffortLevel,
  OnUserDialog,
  OutputFormat,
  SandboxSettings,
  SdkPluginConfig,
  SettingSource,
  SpawnedProcess,
  SpawnOptions,
  ThinkingConfig,
  ToolConfig,
} from "./names.js";
import type { OptionOfTheProcess } from "./options.js";
import type { SessionStoreFlush } from "../sessions/mirror.js";
import type { SessionStore } from "../sessions/sessions.js";
import type { Settings } from "./settings.js";
import type { InlineSettings, TrustProject } from "../settings.js";
import type { Skill } from "../skills.js";

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
   * The system prompt. Texts are joined by blank lines. The preset is looplet's own short text about work with tools,
   * because Claude Code's is not published. `append` comes after it. Default: none.
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
   * Servers by name: what `createSdkMcpServer` returns, or `{ type: "http", url, headers }`. Processes and servers of
   * the type `sse` are not supported. Tools are named `mcp__<server>__<tool>`. The query continues without a server
   * that cannot be reached, and `init` reports it.
   */
  mcpServers?: McpServers | undefined;
  /**
   * Whether the definitions of servers' tools are withheld until the model finds them with the tool ToolSearch.
   * `"auto"` withholds them if they are more than 10 % of a window of 200,000 tokens, `"auto:N"` more than N %.
   * Default `"auto"`.
   */
  toolSearch?: boolean | "auto" | `auto:${number}` | undefined;
  /**
   * Other names under which the model may call tools, for example `{ Bash: "mcp__workspace__bash" }`: a skill may
   * mention Bash. Rules and hooks see the tool's own name. Default: none.
   */
  toolAliases?: { readonly [alias: string]: string } | undefined;
  /**
   * Contract: called when a server requests input from the user during a call. Default: elicitation is not supported.
   */
  onElicitation?: OnServerElicitation | undefined;
  /** Rules of tools that run without being asked about. A rule for a tool that is not there does nothing. */
  allowedTools?: readonly string[] | undefined;
  /** Rules of tools that never run. A bare name takes the tool out of the requests. */
  disallowedTools?: readonly string[] | undefined;
  /** Default `"default"`: a call that no rule covers is passed to `canUseTool`, and is denied without one. */
  permissionMode?: PermissionMode | undefined;
  canUseTool?: AgentSdkCanUseTool | undefined;
  /** With `"none"` the user is never asked, as without `canUseTool`. Default `"host"`. */
  permissionPrompts?: "host" | "none" | undefined;
  allowDangerouslySkipPermissions?: boolean | undefined;
  hooks?: QueryHooks | undefined;
  /** Whether `hook_started` and `hook_response` are sent. Default false. */
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
  effort?: EffortLevel | undefined;
  /** The most tokens of reasoning per answer, for a `model` by its name. Default: the model's own. */
  maxThinkingTokens?: number | undefined;
  /** The reasoning of a `model` by its name, in place of `maxThinkingTokens`. Default `{ type: "adaptive" }`. */
  thinking?: ThinkingConfig | undefined;
  /**
   * The model that is used when the first one is overloaded, or a list of names: `"sonnet, haiku"`. Default: none.
   */
  fallbackModel?: string | Model | undefined;
  /** The names of features in the header `anthropic-beta`. Applies to a `model` given by name. Default: none. */
  betas?: readonly string[] | undefined;
  /** The answer has to fit this schema. Default: a text. */
  outputFormat?: OutputFormat | undefined;
  /** Whether messages of the type `stream_event` come. Default false. */
  includePartialMessages?: boolean | undefined;
  /** The id of a session to resume. */
  resume?: string | undefined;
  /** Whether to resume the latest session of the store. Default false. */
  continue?: boolean | undefined;
  /** With `resume` or `continue`: whether to continue in a copy, and leave the session unchanged. Default false. */
  forkSession?: boolean | undefined;
  /** With `resume`: only the messages up to the one with this `uuid` count. */
  resumeSessionAt?: string | undefined;
  /**
   * With `resumeSessionAt`: the `uuid` of the prompt of the turn to drop. If the session has more after the cut than
   * this turn, the query ends immediately as `error_during_execution`, and `errors` begins with "Resume rejected by
   * --resume-drops-turn:". Default: everything after the cut is dropped.
   */
  resumeDropsTurn?: string | undefined;
  /** Whether `/compact` and `/clear` are texts like all others. Default false. */
  verbatimPrompts?: boolean | undefined;
  /** The title of a new session, in place of its first prompt. */
  title?: string | undefined;
  /**
   * Whether `rewindFiles` can restore files that Write and Edit have changed. They are stored in the memory of the
   * process, for the session and the object `host.vfs`. Default false.
   */
  enableFileCheckpointing?: boolean | undefined;
  /**
   * `{ "replay-user-messages": null }` also sends the prompt as a message, with its `uuid`. All other arguments have
   * no effect.
   */
  extraArgs?: { readonly [name: string]: string | null } | undefined;
  /** looplet confines no commands: with `enabled` a warning says so, and `failIfUnavailable: true` is a `TypeError`. */
  sandbox?: SandboxSettings | undefined;
  /** The id of a new session. Default: a random UUID. */
  sessionId?: string | undefined;
  /** Whether the session is saved. Default true. */
  persistSession?: boolean | undefined;
  /** The place of the sessions. Default: the memory of this process. */
  sessionStore?: SessionStore | undefined;
  /**
   * Whether the store gets each message immediately (`"eager"`), or in batches of 100 ms and the rest at the end of a
   * turn. Default `"batched"`.
   */
  sessionStoreFlush?: SessionStoreFlush | undefined;
  /** The folder of relative paths, below which files may be written, and the project of the session. Default `"/"`. */
  cwd?: string | undefined;
  /** Further folders below which files may be written. Default: none. */
  additionalDirectories?: readonly string[] | undefined;
  /** Variables for the commands of Bash. Default: none. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /**
   * The settings files to read from `host.vfs`: CLAUDE.md, `.claude/settings.json` (permissions and variables),
   * `.claude/agents` and `.claude/skills`. `project` and `local` are below `cwd`, `user` below `host.home`. Default:
   * none.
   */
  settingSources?: readonly SettingSource[] | undefined;
  /**
   * Settings in the form of `settings.json`: an object, its JSON, or the path of a file of `host.vfs`. They override
   * those of `settingSources`, and may name the `model`. Options override them, and every `deny` rule applies.
   * Default: none.
   */
  settings?: InlineSettings | undefined;
  /** Settings that only restrict: their `permissions.ask` and `permissions.deny` apply. Default: none. */
  managedSettings?: Settings | undefined;
  /**
   * Whether settings files of the project (`project` and `local`) may grant something: `permissions.allow`,
   * `defaultMode`, `additionalDirectories` and `env`. Whoever wrote the project wrote them. A function is asked with
   * what they would grant. Default false: they only restrict.
   */
  trustProject?: TrustProject | undefined;
  /** The names of the skills in the settings files that count, and skills of your own. Default: all that are found. */
  skills?: readonly (string | Skill)[] | "all" | undefined;
  /**
   * The name of an agent, from `agents` or settings files, that the query runs as. It uses the agent's prompt instead
   * of `systemPrompt` (except for `append`), its tools, and, unless the options set them, its model, effort, mode and
   * `maxTurns`. Default: none.
   */
  agent?: string | undefined;
  /** Agents that the model may call with the tool Agent, by name, in addition to those of settings files. */
  agents?: { readonly [name: string]: AgentDefinition } | undefined;
  /** Whether texts of agents are sent too, in addition to their calls and results. Default false. */
  forwardSubagentText?: boolean | undefined;
  abortController?: HostAbortController | undefined;
  /** What the SDK would get from its process: the models for names, the key, and replacements for tests. */
  host?: QueryHost | undefined;
}

/** Options of the SDK that do nothing here. A warning names those that are given. */
export interface OptionsOfTheProcess extends OnlyIgnored {
  agentProgressSummaries?: boolean | undefined;
  debug?: boolean | undefined;
  debugFile?: string | undefined;
  executable?: "bun" | "deno" | "node" | undefined;
  executableArgs?: readonly string[] | undefined;
  loadTimeoutMs?: number | undefined;
  mcpServersDelivery?: "argv" | "initialize" | undefined;
  onUserDialog?: OnUserDialog | undefined;
  pathToClaudeCodeExecutable?: string | undefined;
  permissionPromptToolName?: string | undefined;
  perTaskStopAffordance?: boolean | undefined;
  pluginDelivery?: "argv" | "initialize" | undefined;
  plugins?: readonly SdkPluginConfig[] | undefined;
  projectConfigRoot?: string | undefined;
  promptSuggestions?: boolean | undefined;
  spawnClaudeCodeProcess?: ((options: SpawnOptions) => SpawnedProcess) | undefined;
  stderr?: ((data: string) => void) | undefined;
  strictMcpConfig?: boolean | undefined;
  supportedDialogKinds?: readonly string[] | undefined;
  taskBudget?: { readonly total: number } | undefined;
  toolConfig?: ToolConfig | undefined;
}

/** The list of the check, which the names above have to be. */
type OnlyIgnored = { [name in OptionOfTheProcess]?: unknown };

/** What a program gives a query: that of every facade, and what the built-in tools need. */
export type QueryHost = Host &
  Omit<ToolPorts, "cwd" | "asksUser" | "additionalDirectories" | "env"> & {
    /** Sends the requests to the servers of `mcpServers`. Default: the global `fetch`. */
    mcpFetch?: McpFetch | undefined;
    /** The model of queries that name none. Default `"sonnet"`. */
    defaultModel?: string | Model | undefined;
    /**
     * Judges the calls of the mode `auto`: a function as `classifyTool` of `createAgent`, or a model that is asked
     * with a fixed prompt. It sees the call and the user's task, no results. Default: the model of the query.
     */
    judge?: CanUseTool | string | Model | undefined;
    /** The folder of the user's settings files. Default: none is read. */
    home?: string | undefined;
  };
