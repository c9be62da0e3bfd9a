/**
 * What a page has received of a run. If the page stops a run while its host cannot be reached, the result is built
 * from it: the initial messages, and the answers, calls and results of the events.
 */
import type { Block, Message, MessageInput, ToolCallRecord } from "../../core/api/index.js";
import type { RunEvent, RunEventOf, Usage } from "../../core/api/event.js";
import type { RunResult } from "../../core/api/result.js";
import { EventFold, type Facts, type FoldedEvent } from "../../extras/transcript/fold.js";
import { toRunResult } from "../../core/kit/runs.js";

/** What the page knows of the state before a run. */
export type KnownHistory = Pick<RunResult, "messages" | "subagents" | "chatUsage">;

/** A transcript with the next prompt. */
export function withAsked(given: readonly MessageInput[] = [], asked: Message["content"]): Message[] {
  const messages = given.map(({ content, ...message }): Message => {
    const blocks: Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return { ...message, content: blocks };
  });
  return asked.length === 0 ? messages : [...messages, { role: "user", content: asked }];
}

const NOT_RUN = {
  error: true,
  code: "not_run",
  message: "The run was stopped before the call had a result.",
  hint: "Call the tool again if its result is still needed.",
  recoverable: true,
} as const;

export class ReceivedRun {
  readonly #history: KnownHistory;
  readonly #beganAt = Date.now();
  readonly #fold = new EventFold();
  #before: readonly Message[];
  /** The rounds of calls that are over. */
  readonly #rounds: Message[] = [];
  /** The blocks of the current answer, by number. */
  readonly #blocks = new Map<number, Block>();
  #calls: ToolCallRecord[] = [];
  readonly #records: ToolCallRecord[] = [];
  #usage: Usage | null = null;
  #iterations = 0;

  constructor(history: Partial<KnownHistory> = {}) {
    this.#history = { messages: [], subagents: [], chatUsage: null, ...history };
    this.#before = this.#history.messages;
  }

  hear(given: RunEvent): void {
    for (const { event, facts } of this.#fold.take(given))
      if (event.type === "usage") this.#usage = event.total;
      else if (event.agentPath === "root") this.#take(event, facts);
  }

  #take(event: FoldedEvent, { blocks = [] }: Facts): void {
    switch (event.type) {
      case "snapshot":
        return this.#join(event);
      case "iteration-start":
        this.#endRound();
        this.#iterations = event.iteration;
        return;
      case "text-delta":
      case "reasoning-delta":
        return this.#add(event.block, event.type === "text-delta" ? "text" : "thinking", event.text);
      case "reset":
        for (const { block, toolCallId } of blocks) {
          this.#blocks.delete(block);
          this.#calls = this.#calls.filter((one) => one.toolCallId !== toolCallId);
        }
        return;
      case "tool-call":
        return this.#call(event.toolCallId, event.toolName, event.input);
      case "tool-result":
        return this.#settle(event, { output: event.output, isError: false });
      case "tool-error":
        return this.#settle(event, { output: { error: true, ...event.error }, isError: true });
      default:
        // A new event does not compile until it is handled above, or is in this list of events that add nothing.
        event.type satisfies
          | "agent-begin"
          | "agent-lost"
          | "run-start"
          | "agent-start"
          | "answer-cut-off"
          | "handoff"
          | "model-change"
          | "attempt-start"
          | "text-start"
          | "text-end"
          | "reasoning-start"
          | "reasoning-end"
          | "reasoning-progress"
          | "tool-input-start"
          | "tool-input-delta"
          | "tool-input-end"
          | "tool-progress"
          | "question"
          | "answered"
          | "waiting"
          | "not-saved"
          | "retry"
          | "steer-delivered"
          | "compact-start"
          | "compact-boundary"
          | "usage"
          | "limits"
          | "message"
          | "warning"
          | "iteration-finish"
          | "agent-finish"
          | "abort"
          | "error"
          | "finish";
    }
  }

  /** A snapshot replaces what was received. An answer with calls that have no results yet is the current one. */
  #join({ messages, usage, iterations }: RunEventOf<"snapshot">): void {
    const last = messages.at(-1);
    const answer = last?.role === "assistant" ? last.content : [];
    this.#before = answer.length > 0 ? messages.slice(0, -1) : messages;
    this.#usage = usage;
    this.#iterations = iterations;
    this.#rounds.length = 0;
    this.#blocks.clear();
    this.#calls = [];
    for (const [at, block] of answer.entries())
      if (block.type === "tool_call") this.#call(block.id, block.name, block.input ?? block.inputText);
      else this.#blocks.set(at - answer.length, block);
  }

  #call(toolCallId: string, toolName: string, input: unknown): void {
    // A process that resumes the run repeats a call.
    const others = this.#calls.filter((one) => one.toolCallId !== toolCallId);
    const call = { toolCallId, toolName, input, output: null, isError: false, durationMs: 0 };
    this.#calls = [...others, call as ToolCallRecord];
  }

  /** The result of the run, stopped by this page. */
  result(id: string, abortReason: string): RunResult {
    const last = this.#text();
    this.#endRound();
    const { subagents, chatUsage } = this.#history;
    const report = {
      text: last,
      output: undefined,
      toolCalls: this.#records,
      messages: [...this.#before, ...this.#rounds],
      subagents,
      usage: this.#usage,
      modelUsage: {},
      chatUsage,
      durationMs: Date.now() - this.#beganAt,
      apiDurationMs: 0,
      costNanoUsd: null,
      profile: 0,
      iterations: this.#iterations,
      finishReason: null,
      rawFinishReason: null,
      undelivered: [],
    };
    return toRunResult(id, report, { outcome: "cancelled", abortReason }, "root");
  }

  #text(): string {
    return [...this.#blocks.values()].map((block) => (block.type === "text" ? block.text : "")).join("");
  }

  #add(number: number, type: "text" | "thinking", more: string): void {
    const block = this.#blocks.get(number);
    const text = block !== undefined && "text" in block ? block.text + more : more;
    this.#blocks.set(number, { type, text });
  }

  #settle(
    event: { toolCallId: string; durationMs: number },
    end: { output: unknown; isError: boolean },
  ): void {
    const at = this.#calls.findIndex(({ toolCallId }) => toolCallId === event.toolCallId);
    const call = this.#calls[at];
    if (call === undefined) return;
    this.#calls[at] = { ...call, ...end, durationMs: event.durationMs } as ToolCallRecord;
  }

  /** Adds the answer and the results of its calls to the transcript. A call without a result gets one. */
  #endRound(): void {
    const calls = this.#calls.map((call) =>
      call.output === null ? ({ ...call, output: NOT_RUN, isError: true } as ToolCallRecord) : call,
    );
    const content: Block[] = [...this.#blocks.values()];
    for (const { toolCallId, toolName, input } of calls)
      content.push({ type: "tool_call", id: toolCallId, name: toolName, input });
    if (content.length > 0)
      this.#rounds.push({ role: "assistant", content, ...(calls.length === 0 && { partial: true }) });
    const results = calls.map(({ toolCallId, output, isError }): Block => {
      const text = typeof output === "string" ? output : JSON.stringify(output ?? null);
      return { type: "tool_result", callId: toolCallId, content: [{ type: "text", text }], isError };
    });
    if (results.length > 0) this.#rounds.push({ role: "user", content: results });
    this.#records.push(...calls);
    this.#calls = [];
    this.#blocks.clear();
  }
}
