import type { Model } from "../../core/api/index.js";
import type { PermissionMode } from "../../core/api/permission.js";
import type { ApiBlock } from "../anthropic.js";
import type { RewindFilesResult } from "./control/checkpoints.js";
import type { ContextUsage } from "./control/context-usage.js";
import type { UnavailableMethods } from "./control/unavailable.js";
import type { McpServers, McpServerStatus } from "./mcp.js";
import type { ApiEvent } from "./stream-events.js";

export type { PermissionMode };
export type { AgentDefinition } from "./agents/definition.js";
export type * from "./options/types.js";

/** A message of the user in streaming input. */
export interface SDKUserInput {
  readonly type: "user";
  readonly message: { readonly role: "user"; readonly content: string | readonly ApiBlock[] };
  readonly parent_tool_use_id?: string | null;
  readonly uuid?: string;
  readonly session_id?: string;
  /** Whether it goes to the model as it is, also if it begins with `/compact` or `/clear`. Default: `verbatimPrompts`. */
  readonly client_composed?: boolean;
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
   * Ends the turn under way. With streaming input the next message of the user begins another one; `still_queued` are
   * the ids of the messages that wait.
   */
  interrupt(): Promise<{ still_queued: string[] }>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  /** Asks another model from the next request on. Default: the model of the options. */
  setModel(model?: string | Model): Promise<void>;
  /** Changes the most tokens of reasoning per answer, for a `model` by its name; `null` switches reasoning off. */
  setMaxThinkingTokens(tokens: number | null): Promise<void>;
  /**
   * Takes other servers in place of `mcpServers`, from the next turn on. Resolves when they are reached. One that
   * cannot be reached is in `errors`, and fails nothing.
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
   * Ends the query when the round of tools under way is over, because the process is about to end. Resolves when the
   * session is kept: `resume` goes on with it elsewhere.
   */
  shutdown(reason: string): Promise<void>;
  /** Adds messages of the user, as those of an iterable `prompt`. Resolves when the iterable is done. */
  streamInput(input: AsyncIterable<SDKUserInput>): Promise<void>;
  /** Ends the query. */
  close(): void;
}
