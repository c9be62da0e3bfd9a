/**
 * Messages and their blocks: the neutral form of a conversation, equal for every provider, and plain JSON. You can
 * store `result.messages` anywhere and hand it to the next run. A chat does so from run to run.
 */
import type { NotAMethodOfChat, NotOfRun } from "../peer-names.js";
import type {
  AgentTranscript as SaidByAgent,
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
 * A block that a prompt, a steer, a follow-up or a tool's `{ content }` may contain. A raw block is one of the
 * vendor's own form; it goes out as it is, so the model must speak that protocol.
 */
export type ContentBlock = TextBlock | MediaBlock | RawBlock;

/**
 * A message as you write it: `content` is the text, or the blocks. looplet makes a block of the text, so that every
 * message that it returns is a {@link Message}.
 */
export interface MessageInput extends Omit<Message, "content"> {
  content: string | Message["content"];
}

/**
 * How a session begins: without a history (`startup`), with a given history (`resume`), or after `chat.reset`
 * (`clear`).
 */
export type SessionSource = Facts["SessionStart"]["source"];

/** The options of a run that a chat sets itself. */
export type KeptByChat = Pick<RunOptions, "messages" | "subagents" | "agent" | "chatUsage">;

/** The state with which `agent.chat` begins; each field comes from an earlier chat. */
export interface ChatHistory {
  /** Default: none. */
  messages?: readonly MessageInput[] | undefined;
  /** The memory of persistent subagents. Default: none. */
  subagents?: readonly SubagentMemory[] | undefined;
  /** The usage so far. Default: none. */
  usage?: Usage | null | undefined;
}

/** A conversation: each run continues from the end of the last one, whatever its outcome. */
export type Chat<T extends Tools = Tools, Output = unknown> = TypedChat<ToolTypesOf<T>, Output>;

/** A conversation with an agent with tools of these types. */
export interface TypedChat<C extends ToolTypes, Output> extends NotAMethodOfChat {
  /** The id of a chat of `agent.openChat`; undefined for any other. */
  readonly id: string | undefined;
  /**
   * The transcript so far; replaced when a run ends. If `agent.openChat` goes on with a run, it has the messages of
   * that run by then. An open call of it has a result with `pending`.
   */
  readonly messages: readonly Message[];
  /** The memory of persistent subagents so far. */
  readonly subagents: readonly SubagentMemory[];
  /**
   * The tokens and the money of all runs so far, those before a `reset` too; replaced when a run ends. `null` if no
   * answer came with any. In a chat of `agent.openChat` the runs of every process count.
   */
  readonly usage: ModelUsage | null;
  /**
   * Whether all entries of its journal counted when it was opened. If not, a part of it is damaged: what is intact is
   * there, and a notice has the place of each message that is lost. Always true for a chat that no store has.
   */
  readonly isWhole: boolean;
  /** The run under way. */
  readonly current: TypedRun<C, Output> | undefined;
  /**
   * Starts a run on the transcript.
   *
   * @throws LoopletError `misuse_chat_busy` while another run of this chat goes on, `misuse_chat_closed` after
   * `close`
   */
  run(
    prompt: Prompt,
    options?: Omit<TypedRunOptions<C, Output>, keyof KeptByChat> & NotOfRun,
  ): TypedRun<C, Output>;
  /**
   * Has the transcript summarised now, by a run that asks nothing else and ends as `completed`; `instructions` are
   * added to the summary's prompt. Nothing happens if there is nothing to summarise: the last messages stay as they
   * are (`context.compaction.keepLast`).
   *
   * @throws LoopletError as `run`
   */
  compact(
    options?: Omit<TypedRunOptions<C, Output>, keyof KeptByChat> & {
      instructions?: string | undefined;
    },
  ): TypedRun<C, Output>;
  /**
   * Forgets the memory of subagents and the transcript, or replaces the transcript by `messages`. `SessionEnd` hooks
   * get the reason `"clear"`. A chat with an id saves it at once.
   *
   * @throws LoopletError `misuse_chat_busy` while a run goes on, `misuse_chat_closed`; `config_invalid_value` in a
   * chat with an id, for messages that are not a legal history
   */
  reset(messages?: readonly MessageInput[]): void;
  /**
   * Whether the chat has taken this request before, so that a second delivery changes nothing: as the `id` of a run,
   * or as the `requestId` of a steer or follow-up. A message that no model call took until the end of its run may
   * come again. A chat of `agent.openChat` remembers the last 256, in every process; any other remembers none.
   *
   * @throws LoopletError `config_…` for a value that is not an id
   */
  hasTaken(requestId: string): boolean;
  /**
   * Resolves when the store has everything so far, with a prompt just given and a reset; at once without an id.
   * Rejects as `run.saved()` does.
   */
  saved(): Promise<void>;
  /**
   * Ends the conversation: `SessionEnd` hooks get the reason `"close"`, and no further run can start. Its messages
   * stay, and `agent.openChat` opens a chat with an id again. A second call does nothing.
   *
   * @throws LoopletError `misuse_chat_busy` while a run goes on
   */
  close(): void;
}

/** What an agent of a chat has said, from its first message on. */
export interface AgentTranscript extends Omit<SaidByAgent, "toolCalls"> {
  /** The calls that have come back, in the order in which their rounds have ended. */
  toolCalls: ToolCallRecord[];
}

/** A chat as a store has it. */
export interface KeptChat {
  readonly messages: readonly Message[];
  readonly subagents: readonly SubagentMemory[];
  /** As `chat.usage`, with the finished model calls of a run that goes on. */
  readonly usage: ModelUsage | null;
  /** Whether a run of it has not ended. Its messages are those so far. */
  readonly isRunning: boolean;
  /** The id of the last run that its journal has. A reset of the chat counts as a run. */
  readonly lastRun: string;
  /** Whether all entries of its journal count, up to the last one. */
  readonly isWhole: boolean;
  /** With the option `transcripts`: those of all agents of all runs, the root's first. */
  readonly transcripts?: readonly AgentTranscript[];
  /** With the option `transcripts`: how many messages of the root's transcript are older than the last run. */
  readonly runStart?: number;
}

/** The options of `agent.readChat`. */
export interface ReadChatOptions {
  /** These are read in place of the entries that the store has. */
  readonly entries?: readonly JournalEntry[] | undefined;
  /** Reads also what summaries have replaced, and what the subagents of all runs have said. Default: false. */
  readonly transcripts?: boolean | undefined;
}

/** The options of `agent.openChat`: for the run that goes on, if there is one. */
export type OpenChatOptions<C extends ToolTypes = ToolTypes, Output = unknown> = Omit<
  ResumeOptions<C, Output>,
  "id" | "afterEvent"
> & {
  /**
   * As for `agent.resume`, or a function that returns it. Contract: it is called before a run resumes, with the chat
   * as its journal has it, `transcripts` included. So it can compare the journal with a log of the events.
   */
  afterEvent?: number | ((chat: KeptChat) => number) | undefined;
};
