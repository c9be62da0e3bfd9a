/**
 * The span of one model call. It starts with the first request and ends with the answer, so it includes all attempts:
 * the conventions define the operation as the caller sees it, with its retries.
 */
import type { CompactTrigger, Failure, RunEventOf, Usage } from "../../core/api/index.js";
import {
  addUp,
  askedProvider,
  FINISH_REASONS,
  FIRST_CHUNK,
  OPERATION,
  usageOf,
  type Asked,
  type Attributes,
} from "./conventions.js";
import { Open, type SpanWriter } from "./span.js";

/** The circumstances of a model call. */
export interface CallFacts extends Asked {
  readonly iteration: number;
  /** The name of the span. */
  readonly name: string;
  /** Why a summary of the history is requested. Undefined for an answer. */
  readonly compaction: CompactTrigger | undefined;
  /** The history was summarised before. */
  readonly isCompacted: boolean;
}

export class ModelCall<H> {
  readonly #span: Open<H>;
  readonly #isSummary: boolean;
  /** The usage of the attempts that are over. */
  readonly #over: { [name: string]: number } = {};
  #attempts = 1;
  /** A retry was announced, and its request has not started. */
  #waits = false;

  constructor(writer: SpanWriter<H>, facts: CallFacts, startMs: number, parent: Open<H>) {
    const { name, iteration, compaction, isCompacted } = facts;
    this.#isSummary = compaction !== undefined;
    const attributes: Attributes = {
      [OPERATION]: "chat",
      ...askedProvider(facts),
      "looplet.iteration": iteration,
      ...(compaction === undefined ? {} : { "looplet.compaction": compaction }),
      ...(isCompacted ? { "gen_ai.conversation.compacted": true } : {}),
    };
    this.#span = new Open(writer, { name, kind: "client", startMs, attributes }, parent);
  }

  get attributes(): Attributes {
    return this.#span.attributes;
  }

  /** Takes a request as the next attempt of this call; false if it belongs to another call. */
  continues(): boolean {
    if (!this.#waits) return false;
    this.#waits = false;
    this.#attempts += 1;
    this.#span.error = undefined;
    delete this.attributes["http.response.status_code"];
    // The answer restarts, and the blocks of the previous attempt are void.
    delete this.attributes[FIRST_CHUNK];
    for (const [name, value] of Object.entries(this.attributes))
      if (name.startsWith("gen_ai.usage.") || name === "looplet.cost_usd") {
        this.#over[name] = 0;
        addUp(this.#over, name, value);
      }
    return true;
  }

  retry({ error, nextAttempt, delayMs }: RunEventOf<"retry">, timeMs: number): void {
    this.fail(error);
    this.#waits = true;
    this.#span.note("retry", timeMs, {
      attempt: nextAttempt,
      delay_ms: delayMs,
      "error.type": error.code,
      ...(error.status === undefined ? {} : { "http.response.status_code": error.status }),
    });
  }

  fail({ code, status }: Pick<Failure, "code" | "status">): void {
    this.#span.error = code;
    if (status !== undefined) this.attributes["http.response.status_code"] = status;
  }

  /** The first block of the answer. */
  begin(timeMs: number): void {
    this.attributes[FIRST_CHUNK] ??= (timeMs - this.#span.start.startMs) / 1000;
  }

  /** A block has ended. A tool call may have started while the answer was still streaming, so the call ends later. */
  block(timeMs: number): void {
    if (this.#span.endMs !== undefined) this.#span.endMs = timeMs;
  }

  /** The answer has its tool calls. */
  complete(timeMs: number): void {
    this.#span.endMs = timeMs;
  }

  used(usage: Usage): void {
    const sums: { [name: string]: number } = { ...this.#over };
    for (const [name, value] of Object.entries(usageOf(usage))) addUp(sums, name, value);
    Object.assign(this.attributes, sums);
  }

  told({ finishReason, responseId, responseModel }: RunEventOf<"iteration-finish">): void {
    if (finishReason !== null) this.attributes[FINISH_REASONS] = [finishReason];
    if (responseId != null) this.attributes["gen_ai.response.id"] = responseId;
    if (responseModel != null) this.attributes["gen_ai.response.model"] = responseModel;
  }

  end(timeMs: number): unknown {
    const span = this.#span;
    this.attributes["looplet.attempts"] = this.#attempts;
    // No event contains the finish reason of a summary.
    if (span.error !== undefined || !this.#isSummary) this.attributes[FINISH_REASONS] ??= ["error"];
    return span.end(span.endMs ?? timeMs);
  }
}
