/**
 * The result of a run, from the engine's report. For a run that the engine never took over, it is made of the
 * options.
 */
import { isOnlySummary, type OnlySummary } from "./prompt.js";
import type { ContentBlock, ModelUsage, Outcome, RunOptions, RunResult, Usage } from "../api/index.js";
import { NANO } from "../options/money.js";
import type { EngineResult } from "../host/engine.js";
import type { EventStamp, RunEventOf } from "../api/event.js";
import type { Message } from "../api/message.js";

/** The result of the run `id` in the form for users. `agent` spoke last, and `priceBasis` is the source of the model's price. */
export function toRunResult(
  id: string,
  raw: EngineResult,
  outcome: Outcome,
  agent: string,
  priceBasis: "option" | "table" = "option",
): RunResult {
  const { text, usage, durationMs, apiDurationMs, costNanoUsd } = raw;
  const { iterations, finishReason, rawFinishReason, undelivered } = raw;
  // The engine's JSON writes null for a missing field.
  const there = Object.entries(outcome).filter(([, value]) => value != null);
  const told = Object.fromEntries(there) as unknown as Outcome;
  return {
    ...told,
    id,
    agent,
    text,
    output: raw.output ?? undefined,
    // The getters keep the history unparsed until it is read: see `RunDriver.result`.
    get toolCalls() {
      return kept(this, "toolCalls", raw.toolCalls);
    },
    get messages() {
      return kept(this, "messages", raw.messages);
    },
    get subagents() {
      return kept(this, "subagents", raw.subagents);
    },
    usage,
    modelUsage: Object.fromEntries(
      Object.entries(raw.modelUsage).map(([model, used]) => [model, withCost(used)]),
    ),
    chatUsage: withCost(raw.chatUsage),
    durationMs,
    apiDurationMs,
    costUsd: usd(raw),
    costNanoUsd,
    costBasis: costNanoUsd === null ? "unknown" : usage?.isCostReported === true ? "reported" : priceBasis,
    iterations,
    finishReason,
    rawFinishReason,
    ...(raw.stopDetails === undefined ? {} : { stopDetails: raw.stopDetails }),
    undelivered,
  };
}

/** The content of a `snapshot` event. */
export function soFar(
  now: Pick<EngineResult, "messages" | "usage" | "iterations" | "streaming">,
): Omit<RunEventOf<"snapshot">, keyof EventStamp> {
  const { messages, usage, iterations, streaming: blocks = [] } = now;
  const texts = blocks.map((block) => (block.type === "text" ? block.text : ""));
  return { type: "snapshot", text: texts.join(""), blocks, messages, usage, iterations };
}

export function withCost(usage: Usage | null): ModelUsage | null {
  return usage && { ...usage, costUsd: usd(usage) };
}

function usd({ costNanoUsd }: { readonly costNanoUsd: number | null }): number {
  return (costNanoUsd ?? 0) / NANO;
}

function kept<T>(result: object, name: string, value: T): T {
  Object.defineProperty(result, name, {
    __proto__: null,
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  } as PropertyDescriptor);
  return value;
}

/**
 * The result of a run that the engine has not begun, or that was lost with its instance: the history, the prompt, and
 * `text`, the streamed part of the latest answer.
 */
export function unfinished(
  {
    messages = [],
    subagents = [],
    chatUsage = null,
  }: Pick<RunOptions, "messages" | "subagents" | "chatUsage">,
  prompt: ContentBlock[] | OnlySummary,
  text: string,
  undelivered: number[],
  hasPrice: boolean,
  profile: number,
  durationMs: number,
): EngineResult {
  const asked: Message[] =
    isOnlySummary(prompt) || prompt.length === 0 ? [] : [{ role: "user", content: prompt }];
  const said: Message[] = text === "" ? [] : [{ role: "assistant", content: [{ type: "text", text }] }];
  return {
    text,
    output: undefined,
    toolCalls: [],
    subagents: [...subagents],
    messages: [...(messages as readonly Message[]), ...asked, ...said],
    usage: null,
    modelUsage: {},
    chatUsage,
    durationMs,
    apiDurationMs: 0,
    costNanoUsd: hasPrice ? 0 : null,
    profile,
    iterations: 0,
    finishReason: null,
    rawFinishReason: null,
    undelivered,
  };
}
