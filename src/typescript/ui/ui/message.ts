/**
 * The parts of a conversation as a screen draws them: messages with parts. All are plain JSON and immutable. When a
 * part changes, it is replaced, and all others stay the same objects.
 */
import type {
  CompactTrigger,
  ElicitationAnswer,
  OutcomeKind,
  PermissionResult,
  Reconciliation,
  RunEventOf,
  ToolFault,
} from "../../core/api/index.js";

/** A message of the user, or everything that the model said and did up to the next one. */
export interface UiMessage {
  /** A key for lists: the message's place in the conversation. */
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly parts: readonly UiPart[];
  /** The versions of a user message. Absent if it was never edited. */
  readonly branch?: Branch;
}

/** The version of an edited message that is shown, from 1, and the number of them. */
export interface Branch {
  readonly number: number;
  readonly count: number;
}

/** A part of a message. `type` is the discriminator. */
export type UiPart =
  TextUiPart | ReasoningUiPart | ToolUiPart | FileUiPart | SourceUiPart | CompactionUiPart | RawUiPart;

export interface TextUiPart {
  readonly type: "text";
  readonly text: string;
  readonly state: "streaming" | "done";
  /**
   * The number of characters that more text does not change, in Markdown: whole paragraphs, lists, tables and fenced
   * code. The length of the text when it is done.
   */
  readonly stable: number;
  /** Present for a refusal that the vendor marks as such. */
  readonly isRefusal?: true;
}

export interface ReasoningUiPart {
  readonly type: "reasoning";
  /** Empty for reasoning that the provider does not reveal. */
  readonly text: string;
  readonly state: "streaming" | "done";
}

/** A tool call, with the names of states that the AI SDK uses. */
export interface ToolUiPart {
  readonly type: "tool";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly state: ToolState;
  /** The partial JSON of the arguments, while the model writes them. */
  readonly inputText?: string;
  /** The arguments: those that the tool got, if your code changed the model's. */
  readonly input?: unknown;
  /** The open question about this call. */
  readonly question?: OpenQuestion;
  /** The latest progress that the tool has reported. */
  readonly progress?: unknown;
  readonly output?: unknown;
  readonly error?: ToolFault;
  /** Absent for a call of before a reload. */
  readonly durationMs?: number;
  /** The subagent that works on the call, or has. */
  readonly agent?: AgentUiPart;
}

export type ToolState =
  /** The model writes the arguments. */
  | "input-streaming"
  /** The call is complete: it waits for its turn, or its tool is at work. */
  | "input-available"
  /** The user is asked whether it may run. */
  | "approval-requested"
  /** The user is asked for the outcome of the call, which was running when its process ended. */
  | "reconcile-requested"
  | "output-available"
  | "output-error"
  /** The user, a rule or a hook has denied it. */
  | "output-denied";

/** Whether the call has a result. */
export function isDone({ state }: ToolUiPart): boolean {
  return state.startsWith("output");
}

/** A subagent. */
export interface AgentUiPart {
  readonly agentPath: string;
  readonly model?: string;
  readonly status: "running" | OutcomeKind;
  readonly parts: readonly UiPart[];
}

/** A file in a message, as base64 (`data`) or by `url`. */
export interface FileUiPart {
  readonly type: "file";
  readonly mediaType: string;
  readonly name?: string;
  readonly data?: string;
  readonly url?: string;
}

/** A page that the vendor names as the source of the text before it. */
export interface SourceUiPart {
  readonly type: "source";
  readonly url: string;
  readonly title?: string;
}

/** The messages before it were summarised or shortened for the model. */
export interface CompactionUiPart {
  readonly type: "compaction";
  readonly state: "running" | "done";
  readonly trigger?: CompactTrigger;
  /** Estimated tokens of the history, before and after. */
  readonly preTokens?: number;
  readonly postTokens?: number;
  /** The text of the summary. Present after the run has ended, and when a conversation is opened again. */
  readonly summary?: string;
}

/** A block of the vendor that has no neutral form. */
export interface RawUiPart {
  readonly type: "raw";
  readonly json: unknown;
}

/** A question that waits for the user. `kind` narrows the facts and the answer. */
export type OpenQuestion = {
  [K in keyof Answers]: {
    readonly questionId: number;
    readonly kind: K;
    /** The agent that asks. */
    readonly agentPath: string;
  } & Omit<FactsOf<K>, "agentPath">;
}[keyof Answers];

/** The answers that the kinds of questions take. */
export interface Answers {
  /** May this call run? */
  permission: PermissionResult;
  /** Was this call done? It was running when its process ended. */
  reconcile: Reconciliation;
  /** The tool asks the user. */
  elicitation: ElicitationAnswer;
}

type FactsOf<K extends keyof Answers> = Extract<RunEventOf<"question">, { question: K }>["data"];
