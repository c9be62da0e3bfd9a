/**
 * Writes the events of a run as chunks of the AI SDK. It knows the parts that the message has so far, and decides
 * nothing about the run. The caller hands in each event in its order.
 *
 * A reader of these chunks cannot take text back (`processUIMessageStream` of `ai` 5 and 6 only adds to it), and so a
 * failed attempt's parts are marked `{ looplet: { void: true } }`, or kept back until the attempt is over. `ai` 7 has
 * `reset-step`, which removes them.
 */
import type {
  EventStamp,
  Failure,
  FinishReason,
  Outcome,
  RunEvent,
  RunEventOf,
  Usage,
} from "../../core/api/event.js";
import type { AgentTranscript, Block } from "../../core/api/message.js";
import { agentsOf } from "../transcript/agents-of.js";
import { retold } from "../../core/run/events/retold.js";
import { pageCallOf } from "../tools/page-call.js";
import { fileUrl } from "./files.js";
import { pastChunks } from "./past.js";
import { approvalIdOf, waitingPart } from "./questions.js";
import { SubagentParts } from "./subagent-parts.js";
import { userParts } from "./to-ui.js";
import type { UiChunk, UiFinishReason } from "./types.js";

/** The options of `uiStream`. */
export interface UiStreamOptions {
  /**
   * The oldest major version of `ai` that reads the stream. 5 has no approvals: a question about a call is a part
   * `data-question`. 6 adds the chunks of approvals, and 7 `reset-step` and `tool-approval-response`. A reader of
   * HTTP ends the stream at a chunk that it does not know. Default 6: only an approval makes a chunk that 5 does not
   * know.
   */
  version?: 5 | 6 | 7 | undefined;
  /** The id of the message. Default: the id of the run, or the reader's own if there are only events. */
  messageId?: string | undefined;
  /**
   * Whether the blocks of an attempt are kept back until it is over, so that a failed attempt leaves nothing for
   * `ai` 5 and 6, but text does not stream. Default false: void parts have `{ looplet: { void: true } }` in their
   * `providerMetadata`, and `fromUIMessages` leaves them out.
   */
  holdAttempts?: boolean | undefined;
  /**
   * Whether the stream stays open while the run waits for an approval or a client tool: for a page that answers on a
   * way of its own, not for `useChat`. Default false.
   */
  staysOpen?: boolean | undefined;
  /**
   * Contract: returns the metadata of the message, which is merged into what it has; `undefined` adds none. Called
   * after each model call with the usage of the run so far. Default: `{ usage, costUsd }`.
   */
  metadata?: ((usage: Usage) => unknown) | undefined;
  /** Contract: returns the text of a failure that the reader gets. Default: `failure.message`, which has no key. */
  onError?: ((failure: Failure) => string) | undefined;
}

/** A question that waits for an answer. */
export interface OpenQuestion {
  readonly questionId: number;
  readonly kind: "approval" | "client" | "data";
  readonly toolCallId: string;
}

/** A block of the attempt. */
interface OpenBlock {
  readonly kind: "text" | "reasoning" | "tool-input";
  readonly id: string;
  readonly toolName?: string;
  /** Whether the reader has heard of it. A block without a text is not told. */
  isTold: boolean;
  /** Whether the model has ended it. The reader hears of that when the attempt can fail no more. */
  isOver: boolean;
  /** Whether the reader has heard that it is over. */
  isClosed: boolean;
}

/** The chunks with which a stream ends that another request continues. */
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

/**
 * The events that add to the blocks of an attempt, or that come before the attempt that replaces one which a crash
 * has cut off.
 */
const OF_ATTEMPT = new RegExp(
  "^(text|reasoning|tool-input|compact)-|^(run|agent|iteration|attempt)-start$|" +
    "^(usage|warning|retry|not-saved|limits|model-change|steer-delivered|answer-cut-off)$",
);

export class ChunkWriter {
  /** The open questions, by the ids that the reader knows them by. */
  readonly questions = new Map<string, OpenQuestion>();
  readonly #version: number;
  readonly #options: UiStreamOptions;
  readonly #runId: string;
  readonly #messageId: string | undefined;
  readonly #subagents = new SubagentParts();
  /** The blocks of the attempt, by their numbers. */
  #blocks = new Map<number, OpenBlock>();
  /** The calls that the message has, by their ids. */
  readonly #calls = new Set<string>();
  /** Those of this attempt that have not come back. */
  readonly #openCalls = new Set<string>();
  /** The approvals that the reader was asked for, by the calls. */
  readonly #approvals = new Map<string, string>();
  #held: UiChunk[] = [];
  #out: UiChunk[] = [];
  #isStarted = false;
  #isInStep = false;
  #isPaused = false;
  #hasCalls = false;
  #usage: Usage | undefined;
  #finishReason: FinishReason | null = null;

  readonly #transcripts: readonly AgentTranscript[];

  /**
   * `runId` makes the ids of questions unique; empty if nobody knows it. `transcripts` are those of the agents before
   * the first event.
   */
  constructor(options: UiStreamOptions, runId = "", transcripts: readonly AgentTranscript[] = []) {
    this.#transcripts = transcripts;
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
    if (event.agentPath !== "root") this.#ofSubagent(event);
    else this.#ofRoot(event);
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

  #ofRoot(event: RunEvent): void {
    const isOfUser = event.type === "message" && event.message.role === "user";
    if (!OF_ATTEMPT.test(event.type) && event.type !== "reset" && !isOfUser) this.#settleAttempt(event.type);
    switch (event.type) {
      case "run-start":
        return this.#start();
      case "snapshot":
        return this.#past(event);
      case "iteration-start":
        // The answer of a process that has ended is void if another attempt starts.
        return this.#blocks.size > 0 ? undefined : this.#startStep();
      case "attempt-start":
        if (this.#blocks.size > 0) this.#reset([...this.#blocks.keys()]);
        return;
      case "text-start":
      case "reasoning-start":
        return this.#open(event);
      case "tool-input-start":
        return this.#openCall(event);
      case "text-delta":
      case "reasoning-delta":
      case "tool-input-delta":
        return this.#grow(event);
      case "text-end":
      case "reasoning-end":
      case "tool-input-end": {
        const open = this.#blocks.get(event.block);
        if (open !== undefined) open.isOver = true;
        return;
      }
      case "reset":
        return this.#reset(event.blocks);
      case "retry": {
        const { nextAttempt, maxAttempts, delayMs, error } = event;
        const data = { nextAttempt, maxAttempts, delayMs, errorText: this.#textOf(error) };
        return this.#push({ type: "data-retry", data, transient: true });
      }
      case "tool-call":
        // A process that resumes the run repeats it. The page may have an answer to it.
        if (this.#openCalls.has(event.toolCallId)) return;
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

  /** An event came that no block follows, unless tools begin while the answer still streams. */
  #settleAttempt(type: RunEvent["type"]): void {
    const isLive = type.startsWith("tool-") && [...this.#blocks.values()].some(({ isOver }) => !isOver);
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

  #finishStep(): void {
    if (!this.#isInStep) return;
    this.#isInStep = false;
    this.#closeBlocks();
    const usage = this.#usage;
    if (usage !== undefined) {
      const messageMetadata = (this.#options.metadata ?? metadataOf)(usage);
      if (messageMetadata != null) this.#push({ type: "message-metadata", messageMetadata });
    }
    this.#push({ type: "finish-step" });
  }

  #open(event: RunEventOf<"text-start" | "reasoning-start">): void {
    const kind = event.type === "text-start" ? "text" : "reasoning";
    this.#blocks.set(event.block, { kind, id: idOf(event), isTold: false, isOver: false, isClosed: false });
  }

  #openCall({ block, toolCallId, toolName }: RunEventOf<"tool-input-start">): void {
    // A vendor may tell the id of a call with its end.
    if (toolCallId === "") return;
    const call = { kind: "tool-input", id: toolCallId, toolName, isTold: true } as const;
    this.#blocks.set(block, { ...call, isOver: false, isClosed: false });
    this.#pushBlock({ type: "tool-input-start", toolCallId, toolName });
  }

  #grow(event: RunEventOf<"text-delta" | "reasoning-delta" | "tool-input-delta">): void {
    const { block, text } = event;
    const open = this.#blocks.get(block) ?? this.#joined(event);
    if (open === undefined) return;
    const { kind, id } = open;
    if (kind === "tool-input")
      return this.#pushBlock({ type: "tool-input-delta", toolCallId: id, inputTextDelta: text });
    if (!open.isTold) this.#pushBlock({ type: `${kind}-start`, id });
    open.isTold = true;
    this.#pushBlock({ type: `${kind}-delta`, id, delta: text });
  }

  /** A block that has begun before somebody follows the run. */
  #joined(event: RunEventOf<"text-delta" | "reasoning-delta" | "tool-input-delta">): OpenBlock | undefined {
    if (event.type === "tool-input-delta") return undefined;
    const kind = event.type === "text-delta" ? "text" : "reasoning";
    const open = { kind, id: idOf(event), isTold: false, isOver: false, isClosed: false } as const;
    this.#blocks.set(event.block, open);
    return open;
  }

  /** Tells the ends of all blocks, and what was kept back. */
  #closeBlocks(): void {
    for (const open of this.#blocks.values()) {
      const { kind, id, isTold, isClosed } = open;
      open.isClosed = true;
      if (kind !== "tool-input" && isTold && !isClosed) this.#pushBlock({ type: `${kind}-end`, id });
    }
    if (this.#held.length > 0) this.#push(...this.#held.splice(0));
  }

  /** The attempt has failed. */
  #reset(blocks: readonly number[]): void {
    this.#held = [];
    this.#openCalls.clear();
    const isShown = !this.#options.holdAttempts;
    for (const block of isShown ? blocks : []) {
      const open = this.#blocks.get(block);
      if (open?.isTold) this.#push(...voidChunks(open));
    }
    this.#blocks.clear();
    if (isShown && this.#version >= 7) this.#push({ type: "reset-step" });
  }

  /** A whole call. `agentPath` is set for that of a subagent, which is no part of this message otherwise. */
  #call(toolCallId: string, toolName: string, input: unknown, agentPath?: string): void {
    this.#calls.add(toolCallId);
    this.#openCalls.add(toolCallId);
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
    this.#openCalls.delete(toolCallId);
    if (event.type === "tool-result")
      return this.#push({ type: "tool-output-available", toolCallId, output: event.output ?? null });
    // A denial that no person was asked for has no approval, which `ai` wants beside a denied output.
    if (isDenied && approvalId !== undefined) return this.#push({ type: "tool-output-denied", toolCallId });
    this.#push({ type: "tool-output-error", toolCallId, errorText: event.error.message });
  }

  #ask(event: RunEventOf<"question">): void {
    const { questionId, question, data } = event;
    const call = pageCallOf(event);
    // Another page runs a call that it has claimed.
    if (data === undefined || call?.page !== undefined) return;
    const id = approvalIdOf(this.#runId, questionId);
    // A process that resumes the run asks again, and the page may have an answer that waits for others.
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
    // No person has approved or denied the call.
    if (isWithdrawn === true && question?.kind === "approval") this.#approvals.delete(question.toolCallId);
    if (question?.kind !== "data") return;
    this.#push({ type: "data-question", id, data: { toolCallId: question.toolCallId, isAnswered: true } });
  }

  /** A file that the model has made. */
  #file(block: Block): void {
    if (block.type === "media") this.#push({ type: "file", url: fileUrl(block), mediaType: block.mediaType });
  }

  /** A subagent's events are a part of its own, but a person answers its questions as those of the root. */
  #ofSubagent(event: RunEvent): void {
    if (event.type === "question") this.#ask(event);
    else if (event.type === "answered") this.#answered(event);
    else if (event.type === "tool-progress" || event.type === "tool-result" || event.type === "tool-error")
      this.#settle(event);
    const part = this.#subagents.feed(event);
    if (part !== undefined) this.#push(part);
  }

  /** The message so far, of a run that is followed from here on. */
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
    this.#hasCalls = past.isInStep;
    if (event.blocks.length > 0) this.#startStep();
    for (const told of retold(event)) this.#ofRoot(told);
  }

  #finish({ outcome, stoppedBy, abortReason }: Outcome): void {
    this.#finishStep();
    if (outcome === "cancelled") return;
    if (outcome === "failed") return this.#push({ type: "finish", finishReason: "error" });
    // `sendAutomaticallyWhen` would send results that no model has read again and again. An empty step ends that.
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

/** Blocks are counted anew in each attempt. */
function idOf({ iteration, attempt, block }: EventStamp & { block: number }): string {
  return `${iteration}-${attempt}-${block}`;
}

/** The id of a call in the message. A subagent may use an id of the root again. */
export function callIdOf({ agentPath, parentToolCallId }: RunEvent, toolCallId: string): string {
  return agentPath === "root" ? toolCallId : `${parentToolCallId}/${toolCallId}`;
}

/** Marks what a failed attempt has told. Nothing tells of a text that is closed. */
function voidChunks({ kind, id, toolName = "", isClosed }: OpenBlock): UiChunk[] {
  const providerMetadata = { looplet: { void: true } };
  if (kind !== "tool-input") return isClosed ? [] : [{ type: `${kind}-end`, id, providerMetadata }];
  const errorText = "The answer with this call broke off, and the model is asked again.";
  return [{ type: "tool-input-error", toolCallId: id, toolName, input: {}, errorText, providerMetadata }];
}

function messageOf({ message }: Failure): string {
  return message;
}

function metadataOf({ costNanoUsd, ...usage }: Usage): object {
  return { usage, ...(costNanoUsd !== null && { costUsd: costNanoUsd / 1e9 }) };
}
