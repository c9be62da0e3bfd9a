/**
 * Writes the events of a run as chunks of the AI SDK. It tracks the parts of the message so far and makes no
 * decisions about the run. The caller passes each event in order.
 *
 * A reader of these chunks cannot remove text (`processUIMessageStream` of `ai` 5 and 6 only appends). So the parts
 * of a failed attempt are marked `{ looplet: { void: true } }`, or held back until the attempt is over. `ai` 7 has
 * `reset-step`, which removes them.
 */
import type { Failure, FinishReason, Outcome, RunEvent, RunEventOf, Usage } from "../../core/api/event.js";
import type { AgentTranscript, Block } from "../../core/api/message.js";
import { EventFold, type Folded, type FoldedType } from "../../extras/transcript/fold.js";
import { callsOf, seenOf, type SeenBlock } from "../../extras/transcript/seen.js";
import { agentsOf } from "../../extras/transcript/agents-of.js";
import { pageCallOf } from "../../extras/tools/page-call.js";
import { fileUrl } from "./files.js";
import { pastChunks } from "./past.js";
import { approvalIdOf, waitingPart } from "./questions.js";
import { SubagentParts } from "./subagent-parts.js";
import { userParts } from "./to-ui.js";
import type { UiChunk, UiFinishReason, UiStreamOptions } from "./types.js";

/** A question that waits for an answer. */
export interface OpenQuestion {
  readonly questionId: number;
  readonly kind: "approval" | "client" | "data";
  readonly toolCallId: string;
}

/** The part of a block that the reader has received. A block without text is not sent. */
interface ToldBlock {
  readonly block: SeenBlock;
  readonly toolName: string;
  isTold: boolean;
  /** Whether the reader has received its end. */
  isClosed: boolean;
}

/** The chunks that end a stream which another request continues. */
export const PAUSE_END: readonly UiChunk[] = [
  { type: "finish-step" },
  { type: "finish", finishReason: "tool-calls" },
];

const REASONS: { readonly [K in FinishReason]: UiFinishReason } = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  content_filter: "content-filter",
  refusal: "content-filter",
  pause: "other",
  other: "other",
};

/** Whether an event ends the blocks of an attempt. Other events add to them, or come before a retry after a crash. */
const ENDS_ATTEMPT: { readonly [K in FoldedType]: boolean } = {
  "run-start": false,
  "agent-begin": false,
  "agent-start": false,
  "iteration-start": false,
  "attempt-start": false,
  "text-start": false,
  "text-delta": false,
  "text-end": false,
  "reasoning-start": false,
  "reasoning-delta": false,
  "reasoning-end": false,
  "tool-input-start": false,
  "tool-input-delta": false,
  "tool-input-end": false,
  reset: false,
  usage: false,
  warning: false,
  retry: false,
  "not-saved": false,
  limits: false,
  "model-change": false,
  "steer-delivered": false,
  "answer-cut-off": false,
  "compact-start": false,
  "compact-boundary": false,
  "reasoning-progress": false,
  snapshot: true,
  "agent-finish": true,
  "agent-lost": true,
  "iteration-finish": true,
  "tool-call": true,
  "tool-progress": true,
  "tool-result": true,
  "tool-error": true,
  question: true,
  answered: true,
  waiting: true,
  handoff: true,
  message: true,
  abort: true,
  error: true,
  finish: true,
};

export class ChunkWriter {
  /** The open questions, by the ids that the reader knows them by. */
  readonly questions = new Map<string, OpenQuestion>();
  readonly #version: number;
  readonly #options: UiStreamOptions;
  readonly #runId: string;
  readonly #messageId: string | undefined;
  readonly #subagents = new SubagentParts();
  readonly #fold: EventFold;
  /** The blocks of the attempt, by their numbers. */
  readonly #blocks = new Map<number, ToldBlock>();
  /** The calls that the message has, by their ids. */
  readonly #calls = new Set<string>();
  /** The approvals that the reader was asked for, by call. */
  readonly #approvals = new Map<string, string>();
  #held: UiChunk[] = [];
  #out: UiChunk[] = [];
  #isStarted = false;
  #isInStep = false;
  /** Whether the step belongs to an answer from before the reader connected. */
  #isPastStep = false;
  #isPaused = false;
  #hasCalls = false;
  #usage: Usage | undefined;
  #finishReason: FinishReason | null = null;

  readonly #transcripts: readonly AgentTranscript[];

  /**
   * `runId` makes the ids of questions unique. It is empty if unknown. `transcripts` are the agents' transcripts
   * before the first event.
   */
  constructor(options: UiStreamOptions, runId = "", transcripts: readonly AgentTranscript[] = []) {
    this.#transcripts = transcripts;
    this.#fold = new EventFold(seenOf(transcripts.slice(1).flatMap((agent) => [...callsOf(agent)])));
    this.#options = options;
    this.#version = options.version ?? 6;
    this.#runId = runId;
    this.#messageId = options.messageId ?? (runId === "" ? undefined : runId);
  }

  /** The chunks of the next event. */
  feed(event: RunEvent): UiChunk[] {
    this.#out = [];
    if (this.#isPaused) this.#push(waitingPart([]));
    this.#isPaused = false;
    for (const folded of this.#fold.take(event)) {
      if (folded.event.agentPath !== "root") this.#ofSubagent(folded);
      else this.#ofRoot(folded);
    }
    return this.#out;
  }

  /** Whether the run waits for answers that the AI SDK sends with a new request. */
  isPause(event: RunEvent): boolean {
    if (event.type !== "waiting") return false;
    const waits = [...this.questions.values()].filter(({ questionId }) =>
      event.questionIds.includes(questionId),
    );
    return waits.some(({ kind }) => kind !== "data");
  }

  /** Notes in the message which calls wait for the page, for `isAnswered`. */
  pauseChunks(): UiChunk[] {
    const waits = [...this.questions.values()].filter(({ kind }) => kind !== "data");
    this.#isPaused = true;
    return [waitingPart(waits.map(({ toolCallId }) => toolCallId))];
  }

  #ofRoot({ event, facts }: Folded): void {
    const isOfUser = event.type === "message" && event.message.role === "user";
    if (ENDS_ATTEMPT[event.type] && !isOfUser) this.#settleAttempt(event.type);
    switch (event.type) {
      case "run-start":
        return this.#start();
      case "snapshot":
        return this.#past(event);
      case "iteration-start":
        return this.#startStep();
      case "text-start":
      case "reasoning-start":
        this.#beginAnswer();
        return void this.#blocks.set(event.block, opened(facts.block!));
      case "tool-input-start":
        return this.#openCall(event, facts.block!);
      case "text-delta":
      case "reasoning-delta":
      case "tool-input-delta":
        return this.#grow(event);
      case "text-end":
      case "reasoning-end":
      case "tool-input-end": {
        const told = this.#blocks.get(event.block);
        if (told !== undefined) this.#blocks.set(event.block, { ...told, block: facts.block! });
        return;
      }
      case "reset":
        return this.#reset(facts.blocks!);
      case "retry": {
        const { nextAttempt, maxAttempts, delayMs, error } = event;
        const data = { nextAttempt, maxAttempts, delayMs, errorText: this.#textOf(error) };
        return this.#push({ type: "data-retry", data, transient: true });
      }
      case "tool-call":
        // A resumed run repeats it. The page may already have an answer to it, and in a later step `ai` would add a
        // second part.
        if (this.#calls.has(event.toolCallId)) return;
        return this.#call(event.toolCallId, event.toolName, event.input);
      case "tool-progress":
      case "tool-result":
      case "tool-error":
        return this.#settle(event);
      case "question":
        return this.#ask(event);
      case "answered":
        return this.#answered(event);
      case "usage":
        this.#usage = event.total;
        return;
      case "steer-delivered":
        return this.#push(userMessagePart(event));
      case "message":
        for (const block of event.message.role === "assistant" ? event.message.content : [])
          this.#file(block);
        return;
      case "iteration-finish":
        this.#finishReason = event.finishReason;
        this.#finishStep();
        return this.#blocks.clear();
      case "abort":
        this.#finishStep();
        return this.#push({ type: "abort", ...(this.#version >= 7 && { reason: event.reason }) });
      case "error":
        this.#finishStep();
        return this.#push({ type: "error", errorText: this.#textOf(event.error) });
      case "finish":
        return this.#finish(event.outcome);
      default:
        // A new event does not compile until it is written above, or is in this list of events that no chunk shows.
        event.type satisfies
          | "agent-begin"
          | "agent-start"
          | "agent-finish"
          | "agent-lost"
          | "attempt-start"
          | "reasoning-progress"
          | "waiting"
          | "answer-cut-off"
          | "handoff"
          | "model-change"
          | "not-saved"
          | "limits"
          | "compact-start"
          | "compact-boundary"
          | "warning";
    }
  }

  #push(...chunks: UiChunk[]): void {
    this.#start();
    this.#out.push(...chunks);
  }

  /** As `push`, for the blocks of an attempt that may fail. */
  #pushBlock(chunk: UiChunk): void {
    if (this.#options.holdAttempts) this.#held.push(chunk);
    else this.#push(chunk);
  }

  /** After such an event no block follows, unless tools start while the answer still streams. */
  #settleAttempt(type: FoldedType): void {
    const isLive = type.startsWith("tool-") && [...this.#blocks.values()].some(({ block }) => !block.isOver);
    if (!isLive) this.#closeBlocks();
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#out.push({ type: "start", ...(this.#messageId !== undefined && { messageId: this.#messageId }) });
  }

  #startStep(): void {
    if (this.#isInStep) this.#finishStep();
    this.#isInStep = true;
    this.#hasCalls = false;
    this.#push({ type: "start-step" });
  }

  /** Handles a block of an answer when the reader missed its `iteration-start`. */
  #beginAnswer(): void {
    if (!this.#isInStep || this.#isPastStep) this.#startStep();
  }

  #finishStep(): void {
    if (!this.#isInStep) return;
    this.#isInStep = false;
    this.#isPastStep = false;
    this.#closeBlocks();
    const usage = this.#usage;
    if (usage !== undefined) {
      const messageMetadata = (this.#options.metadata ?? metadataOf)(usage);
      if (messageMetadata != null) this.#push({ type: "message-metadata", messageMetadata });
    }
    this.#push({ type: "finish-step" });
  }

  #openCall({ toolCallId, toolName }: RunEventOf<"tool-input-start">, block: SeenBlock): void {
    this.#beginAnswer();
    this.#blocks.set(block.block, { ...opened(block), toolName, isTold: true });
    this.#pushBlock({ type: "tool-input-start", toolCallId, toolName });
  }

  #grow({ block: number, text }: RunEventOf<"text-delta" | "reasoning-delta" | "tool-input-delta">): void {
    const told = this.#blocks.get(number);
    if (told === undefined) return;
    const { type, toolCallId } = told.block;
    if (type === "tool-input")
      return this.#pushBlock({ type: "tool-input-delta", toolCallId: toolCallId!, inputTextDelta: text });
    const id = idOf(told.block);
    if (!told.isTold) this.#pushBlock({ type: `${type}-start`, id });
    told.isTold = true;
    this.#pushBlock({ type: `${type}-delta`, id, delta: text });
  }

  /** Writes the end of all blocks, and the chunks that were held back. */
  #closeBlocks(): void {
    for (const told of this.#blocks.values()) {
      const { block, isTold, isClosed } = told;
      told.isClosed = true;
      if (block.type !== "tool-input" && isTold && !isClosed)
        this.#pushBlock({ type: `${block.type}-end`, id: idOf(block) });
    }
    if (this.#held.length > 0) this.#push(...this.#held.splice(0));
  }

  /** The attempt has failed. */
  #reset(blocks: readonly SeenBlock[]): void {
    this.#held = [];
    const isShown = !this.#options.holdAttempts;
    for (const { block } of isShown ? blocks : []) {
      const told = this.#blocks.get(block);
      if (told?.isTold) this.#push(...voidChunks(told));
    }
    this.#blocks.clear();
    if (isShown && this.#version >= 7 && !this.#isPastStep) this.#push({ type: "reset-step" });
  }

  /** A whole call. `agentPath` is set for that of a subagent, which is no part of this message otherwise. */
  #call(toolCallId: string, toolName: string, input: unknown, agentPath?: string): void {
    this.#calls.add(toolCallId);
    this.#hasCalls = true;
    const foreign = agentPath !== undefined && {
      dynamic: true,
      providerMetadata: { looplet: { agentPath } },
    };
    this.#push({ type: "tool-input-available", toolCallId, toolName, input, ...foreign });
  }

  /** Progress, a result or an error of a call that the message has. */
  #settle(event: RunEventOf<"tool-progress" | "tool-result" | "tool-error">): void {
    const toolCallId = callIdOf(event, event.toolCallId);
    if (!this.#calls.has(toolCallId)) return;
    const isDenied = event.type === "tool-error" && event.error.code === "denied";
    const approvalId = this.#approvals.get(toolCallId);
    if (approvalId !== undefined && this.#version >= 7) {
      const reason = isDenied ? { reason: event.error.message } : {};
      this.#push({ type: "tool-approval-response", approvalId, approved: !isDenied, ...reason });
    }
    this.#approvals.delete(toolCallId);
    if (event.type === "tool-progress")
      return this.#push({ type: "tool-output-available", toolCallId, output: event.data, preliminary: true });
    if (event.type === "tool-result")
      return this.#push({ type: "tool-output-available", toolCallId, output: event.output ?? null });
    // A denial without a request for approval has no approval id, and `ai` requires one for a denied output.
    if (isDenied && approvalId !== undefined) return this.#push({ type: "tool-output-denied", toolCallId });
    this.#push({ type: "tool-output-error", toolCallId, errorText: event.error.message });
  }

  #ask(event: RunEventOf<"question">): void {
    const { questionId, question, data } = event;
    const call = pageCallOf(event);
    // Another page runs a call that it has claimed.
    if (data === undefined || call?.page !== undefined) return;
    const id = approvalIdOf(this.#runId, questionId);
    // A resumed run asks again, and the page may hold an answer until others arrive.
    if (this.questions.has(id)) return;
    const toolCallId = callIdOf(event, data.toolCallId);
    const isClient = call !== undefined;
    const isApproval = question === "permission" && this.#version >= 6;
    const kind = isClient ? "client" : isApproval ? "approval" : "data";
    this.questions.set(id, { questionId, kind, toolCallId });
    if (kind === "data")
      return this.#push({ type: "data-question", id, data: { ...data, question, isAnswered: false } });
    if (!this.#calls.has(toolCallId)) {
      const { agentPath } = event;
      this.#call(toolCallId, data.toolName, data.input, agentPath === "root" ? undefined : agentPath);
    }
    if (isClient) return;
    this.#approvals.set(toolCallId, id);
    this.#push({ type: "tool-approval-request", approvalId: id, toolCallId });
  }

  #answered({ questionId, isWithdrawn }: RunEventOf<"answered">): void {
    const id = approvalIdOf(this.#runId, questionId);
    const question = this.questions.get(id);
    this.questions.delete(id);
    // No one approved or denied the call.
    if (isWithdrawn === true && question?.kind === "approval") this.#approvals.delete(question.toolCallId);
    if (question?.kind !== "data") return;
    this.#push({ type: "data-question", id, data: { toolCallId: question.toolCallId, isAnswered: true } });
  }

  /** A file that the model has made. */
  #file(block: Block): void {
    if (block.type === "media") this.#push({ type: "file", url: fileUrl(block), mediaType: block.mediaType });
  }

  /** A subagent's events go into its own part. The user answers its questions as if the root had asked them. */
  #ofSubagent(folded: Folded): void {
    const { event } = folded;
    if (event.type === "question") this.#ask(event);
    else if (event.type === "answered") this.#answered(event);
    else if (event.type === "tool-progress" || event.type === "tool-result" || event.type === "tool-error")
      this.#settle(event);
    const part = this.#subagents.feed(folded);
    if (part !== undefined) this.#push(part);
  }

  /** Writes the message so far, for a run that is followed from here on. */
  #past(event: RunEventOf<"snapshot">): void {
    const isFirst = !this.#isStarted;
    this.#start();
    const agents = agentsOf([...this.#transcripts].reverse());
    const below = (toolCallId: string): UiChunk[] =>
      isFirst ? agents(toolCallId).map((agent) => this.#subagents.begin(agent)) : [];
    const past = pastChunks(event.messages, this.#calls, this.#version, below);
    if (!isFirst) return this.#push(...past.settled);
    this.#push(...past.chunks);
    this.#isInStep = past.isInStep;
    this.#isPastStep = past.isInStep;
    this.#hasCalls = past.isInStep;
  }

  #finish({ outcome, stoppedBy, abortReason }: Outcome): void {
    this.#finishStep();
    if (outcome === "cancelled") return;
    if (outcome === "failed") return this.#push({ type: "finish", finishReason: "error" });
    // Otherwise `sendAutomaticallyWhen` would send results that no model has read, again and again. An empty step
    // stops it.
    if (this.#hasCalls) this.#push({ type: "start-step" }, { type: "finish-step" });
    const isStopped = outcome === "stopped";
    const finishReason = isStopped || this.#finishReason === null ? "other" : REASONS[this.#finishReason];
    const messageMetadata = { stoppedBy, ...(abortReason !== undefined && { stopReason: abortReason }) };
    const isTold = isStopped && this.#options.metadata === undefined;
    this.#push({ type: "finish", finishReason, ...(isTold && { messageMetadata }) });
  }

  #textOf(failure: Failure): string {
    return (this.#options.onError ?? messageOf)(failure);
  }
}

/** A message that the user has added to the run: `useChat` has one message of the agent for a stream. */
function userMessagePart({ iteration, content }: RunEventOf<"steer-delivered">): UiChunk {
  return { type: "data-user-message", id: `user-${iteration}`, data: { parts: userParts(content) } };
}

/** Block numbers restart in each attempt. */
function idOf({ iteration, attempt, block }: SeenBlock): string {
  return `${iteration}-${attempt}-${block}`;
}

/** The id of a call in the message. A subagent may use an id of the root again. */
export function callIdOf({ agentPath, parentToolCallId }: RunEvent, toolCallId: string): string {
  return agentPath === "root" ? toolCallId : `${parentToolCallId}/${toolCallId}`;
}

function opened(block: SeenBlock): ToldBlock {
  return { block, toolName: "", isTold: false, isClosed: false };
}

/** Marks the parts of a failed attempt. A closed text has no chunk that could mark it. */
function voidChunks({ block, toolName, isClosed }: ToldBlock): UiChunk[] {
  const providerMetadata = { looplet: { void: true } };
  const { type, toolCallId } = block;
  if (type !== "tool-input")
    return isClosed ? [] : [{ type: `${type}-end`, id: idOf(block), providerMetadata }];
  const errorText = "The answer with this call broke off, and the model is asked again.";
  return [
    { type: "tool-input-error", toolCallId: toolCallId!, toolName, input: {}, errorText, providerMetadata },
  ];
}

function messageOf({ message }: Failure): string {
  return message;
}

function metadataOf({ costNanoUsd, ...usage }: Usage): object {
  return { usage, ...(costNanoUsd !== null && { costUsd: costNanoUsd / 1e9 }) };
}
