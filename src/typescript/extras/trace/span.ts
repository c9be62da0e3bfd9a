/** One span: the facts of its start and end, and its receiver. */
import type { Attributes } from "./conventions.js";

/** An event at one moment of a span. */
export interface SpanEvent {
  name: string;
  timeMs: number;
  attributes: Attributes;
}

/** The facts about a span that are known when it starts. */
export interface SpanStart {
  name: string;
  kind: "internal" | "client";
  startMs: number;
  attributes: Attributes;
}

export interface SpanEnd {
  endMs: number;
  /** The attribute `error.type`, for a span that failed. */
  error: string | undefined;
  /** The attributes of the start and all later ones. */
  attributes: Attributes;
  events: SpanEvent[];
}

/** The receiver of spans. `H` is its handle for a started span. */
export interface SpanWriter<H> {
  start(span: SpanStart, parent: H | undefined): H;
  end(span: H, end: SpanEnd): unknown;
}

/** A span that has started. */
export class Open<H> {
  readonly handle: H;
  readonly start: SpanStart;
  readonly attributes: Attributes;
  readonly events: SpanEvent[] = [];
  error: string | undefined;
  /** The end of a span with last attributes that are still unknown. */
  endMs: number | undefined;
  readonly #writer: SpanWriter<H>;

  constructor(writer: SpanWriter<H>, start: SpanStart, parent: Open<H> | undefined) {
    this.#writer = writer;
    this.start = start;
    this.attributes = start.attributes;
    this.handle = writer.start(start, parent?.handle);
  }

  note(name: string, timeMs: number, attributes: Attributes): void {
    this.events.push({ name: `looplet.${name}`, timeMs, attributes });
  }

  end(endMs: number): unknown {
    const { handle, attributes, events, error } = this;
    if (error !== undefined) attributes["error.type"] = error;
    return this.#writer.end(handle, { endMs, error, attributes, events });
  }
}
