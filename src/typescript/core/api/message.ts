/**
 * Messages and their blocks: the neutral form of a conversation, equal for every provider, and plain JSON. You can
 * store `result.messages` anywhere and pass it to the next run. A chat does this for you.
 */
import type { NotAMethodOfChat, NotOfRun } from "../peer-names.js";
import type {
  AgentTranscript as EngineTranscript,
  Facts,
  MediaBlock,
  Message,
  RawBlock,
  SubagentMemory,
  TextBlock,
  Usage,
} from "../generated/model.js";
import type { ModelUsage, ToolCallRecord } from "./result.js";
import type { JournalEntry, Prompt, ResumeOptions, RunOptions, TypedRun, TypedRunOptions } from "./run.js";
import type { Tools, ToolTypes, ToolTypesOf } from "./tool.js";

export type {
  Block,
  MediaBlock,
  Message,
  PendingCall,
  RawBlock,
  RedactedThinkingBlock,
  RefusalBlock,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultBlock,
} from "../generated/model.js";

/**
 * A block that a prompt, a steer, a follow-up or a tool's `{ content }` may contain. A raw block has the vendor's own
 * format and is sent unchanged, so the model must use that protocol.
 */
export type ContentBlock = TextBlock | MediaBlock | RawBlock;

/**
 * A message as you write it: `content` is the text, or the blocks. looplet converts a text to a block, so every
 * message that it returns is a {@link Message}.
 */
export interface MessageInput extends Omit<Message, "content"> {
  content: string | Message["content"];
}

/**
 * How a session starts: without a history (`startup`), with a given history (`resume`), or after `chat.reset`
 * (`clear`).
 */
export type SessionSource = Facts["SessionStart"]["source"];

/** The options of a run that a chat sets itself. */
export type OptionsSetByChat = Pick<RunOptions, "messages" | "subagents" | "agent" | "chatUsage">;

/** The initial state of `agent.chat`; each field comes from an earlier chat. */
export interface ChatHistory {
  /** Default: none. */
  messages?: readonly MessageInput[] | undefined;
  /** The memory of persistent subagents. Default: none. */
  subagents?: readonly SubagentMemory[] | undefined;
  /** The usage so far. Default: none. */
  usage?: Usage | null | undefined;
}

/** A conversation. Each run continues from the end of the previous run, whatever its outcome. */
export type Chat<T extends Tools = Tools, Output = unknown> = TypedChat<ToolTypesOf<T>, Output>;

/** A conversation with an agent with tools of these types. */
export interface TypedChat<C extends ToolTypes, Output> extends NotAMethodOfChat {
  /** The id of a chat of `agent.openChat`; undefined for any other. */
  readonly id: string | undefined;
  /**
   * The transcript so far; replaced when a run ends. If `agent.openChat` resumed a run, it includes the messages that
   * the run had at that time. An unfinished tool call has a result with `pending`.
   */
  readonly messages: readonly Message[];
  /** The memory of persistent subagents so far. */
  readonly subagents: readonly SubagentMemory[];
  /**
   * Tokens and cost of all runs so far, including those before a `reset`; replaced when a run ends. `null` if no
   * answer reported usage. In a chat of `agent.openChat` this includes runs in other processes.
   */
  readonly usage: ModelUsage | null;
  /**
   * Whether the journal was intact when the chat was opened. If it was damaged, the chat has every readable message,
   * and a notice in place of each lost message. Always true for a chat without a store.
   */
  readonly isWhole: boolean;
  /** The run in progress. */
  readonly current: TypedRun<C, Output> | undefined;
  /**
   * Starts a run on the transcript.
   *
   * @throws LoopletError `misuse_chat_busy` while another run of this chat is in progress, `misuse_chat_closed` after
   * `close`
   */
  run(
    prompt: Prompt,
    options?: Omit<TypedRunOptions<C, Output>, keyof OptionsSetByChat> & NotOfRun,
  ): TypedRun<C, Output>;
  /**
   * Starts a run that only summarises the transcript and ends as `completed`. `instructions` are added to the summary
   * prompt. The last messages are not summarised (`context.compaction.keepLast`); if there are no others, the
   * transcript does not change.
   *
   * @throws LoopletError as `run`
   */
  compact(
    options?: Omit<TypedRunOptions<C, Output>, keyof OptionsSetByChat> & {
      instructions?: string | undefined;
    },
  ): TypedRun<C, Output>;
  /**
   * Clears the memory of subagents, and clears the transcript or replaces it with `messages`. `SessionEnd` hooks
   * receive the reason `"clear"`. A chat with an id saves the change immediately.
   *
   * @throws LoopletError `misuse_chat_busy` while a run is in progress, `misuse_chat_closed`; `config_invalid_value`
   * in a chat with an id, if `messages` is not a valid history
   */
  reset(messages?: readonly MessageInput[]): void;
  /**
   * Whether the chat has already accepted this request id, as the `id` of a run or as the `requestId` of a steer or
   * follow-up. Repeating such a request has no effect. A message that was not delivered by the end of its run can be
   * sent again. A chat of `agent.openChat` remembers the last 256 ids across processes; other chats remember none.
   *
   * @throws LoopletError `config_…` for a value that is not an id
   */
  hasTaken(requestId: string): boolean;
  /**
   * Resolves when the store has saved everything so far, including the latest prompt or reset. Without an id it
   * resolves immediately. Rejects as `run.saved()` does.
   */
  saved(): Promise<void>;
  /**
   * Ends the conversation: `SessionEnd` hooks receive the reason `"close"`, and no more runs can start. The messages
   * remain readable. `agent.openChat` can reopen a chat with an id. A second call does nothing.
   *
   * @throws LoopletError `misuse_chat_busy` while a run is in progress
   */
  close(): void;
}

/** The full transcript of one agent of a chat, from its first message on. */
export interface AgentTranscript extends Omit<EngineTranscript, "toolCalls"> {
  /** The completed calls, in the order in which their rounds ended. */
  toolCalls: ToolCallRecord[];
}

/** A saved chat, as `agent.readChat` returns it. */
export interface SavedChat {
  readonly messages: readonly Message[];
  readonly subagents: readonly SubagentMemory[];
  /** As `chat.usage`, including the completed model calls of an unfinished run. */
  readonly usage: ModelUsage | null;
  /** Whether the chat has an unfinished run. `messages` includes its messages so far. */
  readonly isRunning: boolean;
  /** The id of the last run in the journal. A reset of the chat counts as a run. */
  readonly lastRun: string;
  /** Whether the journal is intact, up to its last entry. */
  readonly isWhole: boolean;
  /** The transcripts of all agents of all runs, the root's first. Present with the option `transcripts`. */
  readonly transcripts?: readonly AgentTranscript[];
  /** How many messages of the root's transcript precede the last run. Present with the option `transcripts`. */
  readonly runStart?: number;
}

/** The options of `agent.readChat`. */
export interface ReadChatOptions {
  /** Entries to read instead of those in the store. Default: the store's. */
  readonly entries?: readonly JournalEntry[] | undefined;
  /**
   * Whether to include messages that summaries replaced, and the transcripts of the subagents of all runs. Default:
   * false.
   */
  readonly transcripts?: boolean | undefined;
}

/** The options of `agent.openChat`. They apply to the run that resumes, if there is one. */
export type OpenChatOptions<C extends ToolTypes = ToolTypes, Output = unknown> = Omit<
  ResumeOptions<C, Output>,
  "id" | "afterEvent"
> & {
  /**
   * As for `agent.resume`, or a function that returns it. Contract: called before a run resumes, with the saved chat,
   * including `transcripts`, so that it can compare the journal with your event log.
   */
  afterEvent?: number | ((chat: SavedChat) => number) | undefined;
};
