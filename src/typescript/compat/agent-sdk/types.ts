import type { Model } from "../../core/api/index.js";
import type { PermissionMode } from "../../core/api/permission.js";
import type { RewindFilesResult } from "./control/checkpoints.js";
import type { ContextUsage } from "./control/context-usage.js";
import type {
  AccountInfo,
  AgentInfo,
  ModelInfo,
  SDKControlInitializeResponse,
  SDKControlInterruptResponse,
  SDKControlReadFileResponse,
  SDKControlSetPermissionModeResponse,
  SlashCommand,
} from "./control/responses.js";
import type { UnavailableMethods } from "./control/unavailable.js";
import type { McpServers, McpServerStatus } from "./mcp.js";
import type {
  SDKAssistantMessage,
  SDKPartialAssistantMessage,
  SDKUserInput,
  SDKUserMessageReplay,
  SDKYieldedUserMessage,
} from "./messages/conversation.js";
import type { SDKObservation, SDKSystemMessage, SDKToolProgressMessage } from "./messages/observations.js";
import type { SDKResultMessage } from "./messages/results.js";
import type { UnsentMessage } from "./messages/unsent.js";

export type { PermissionMode };
export type { AgentDefinition } from "./agents/definition.js";
export type * from "./control/responses.js";
export type * from "./messages/conversation.js";
export type * from "./messages/observations.js";
export type * from "./messages/results.js";
export type * from "./messages/unsent.js";
export type * from "./messages/usage.js";
export type * from "./options/types.js";

/** A message that looplet sends. */
export type SentMessage =
  | SDKSystemMessage
  | SDKAssistantMessage
  | SDKYieldedUserMessage
  | SDKUserMessageReplay
  | SDKPartialAssistantMessage
  | SDKObservation
  | SDKToolProgressMessage
  | SDKResultMessage;

/** A message of the SDK. Those of {@link UnsentMessage} never come here. */
export type SDKMessage = SentMessage | UnsentMessage;

/** What `setMcpServers` has changed, by the names of servers. */
export interface McpSetServersResult {
  readonly added: string[];
  readonly removed: string[];
  readonly errors: Record<string, string>;
}

/** A query under way: its messages, and the ways to change it. To leave the iteration aborts the query. */
export interface Query extends AsyncGenerator<SDKMessage, void>, UnavailableMethods {
  /**
   * Ends the turn under way. With streaming input the next message of the user begins another one; `still_queued` are
   * the ids of the messages that wait.
   */
  interrupt(): Promise<SDKControlInterruptResponse | undefined>;
  setPermissionMode(mode: PermissionMode): Promise<SDKControlSetPermissionModeResponse | undefined>;
  /** Asks another model from the next request on. Default: the model of the options. */
  setModel(model?: string | Model): Promise<void>;
  /** Changes the most tokens of reasoning per answer, for a `model` by its name; `null` switches reasoning off. */
  setMaxThinkingTokens(
    tokens: number | null,
    /** Does nothing. */
    thinkingDisplay?: "summarized" | "omitted" | "highlights" | null,
  ): Promise<void>;
  /**
   * Takes other servers in place of `mcpServers`, from the next turn on. Resolves when they are reached. One that
   * cannot be reached is in `errors`, and fails nothing.
   */
  setMcpServers(servers: McpServers): Promise<McpSetServersResult>;
  /** The servers of `mcpServers`, after the query has started. */
  mcpServerStatus(): Promise<McpServerStatus[]>;
  /** Reaches a server again, or one that failed. */
  reconnectMcpServer(name: string): Promise<void>;
  /** Takes a server away from the next turn on, or gives it back. */
  toggleMcpServer(name: string, enabled: boolean): Promise<void>;
  supportedAgents(): Promise<AgentInfo[]>;
  /** The short names, with the models that they refer to. */
  supportedModels(): Promise<ModelInfo[]>;
  /** Nothing: a key is all that looplet knows of an account. */
  accountInfo(): Promise<AccountInfo>;
  initializationResult(): Promise<SDKControlInitializeResponse>;
  /** As `initializationResult`. */
  reinitialize(): Promise<SDKControlInitializeResponse>;
  /** What fills the window: the vendor's count for the whole, and estimates for its parts. */
  getContextUsage(options?: { detail?: "summary" | "full" }): Promise<ContextUsage>;
  /** Puts files back as they were when the message of the user with this `uuid` came. Needs `enableFileCheckpointing`. */
  rewindFiles(userMessageId: string, options?: { dryRun?: boolean }): Promise<RewindFilesResult>;
  /** A file of `host.vfs`, or `null`. */
  readFile(
    path: string,
    options?: { maxBytes?: number; encoding?: "utf-8" | "base64" },
  ): Promise<SDKControlReadFileResponse | null>;
  /** The commands: prompts that begin with `/`. */
  supportedCommands(): Promise<SlashCommand[]>;
  /** Ends the run of an agent by the `task_id` of its `task_started`. */
  stopTask(id: string): Promise<void>;
  /**
   * Ends the query after the current round of tools, because the process is about to exit. Resolves when the session
   * is saved. Resume it elsewhere with `resume`.
   */
  shutdown(reason: string): Promise<void>;
  /** Adds messages of the user, as those of an iterable `prompt`. Resolves when the iterable is done. */
  streamInput(input: AsyncIterable<SDKUserInput>): Promise<void>;
  /** Ends the query. */
  close(): void;
}
