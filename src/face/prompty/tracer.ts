/** Spans of turns: a registry of tracers that each get every span. Without one, nothing happens. */
import { redacted } from "../trace/redacted.js";

/** Contract: called when a span begins; returns what hears its facts and its end. An error that it throws is logged. */
export type Tracer = (name: string, parents: readonly string[]) => SpanSink;

export interface SpanSink {
  /** A fact of the span: `signature`, `inputs`, `result`, `error`. Secrets are replaced by `[REDACTED]`. */
  set?(key: string, value: unknown): void;
  end(): void;
}

const registered = new Map<string, Tracer>();

export const tracers = {
  add(name: string, tracer: Tracer): void {
    registered.set(name, tracer);
  },
  remove(name: string): void {
    registered.delete(name);
  },
  clear(): void {
    registered.clear();
  },
};

/** An open span and what its children need to nest below it. */
export class Span {
  readonly #sinks: SpanSink[];
  readonly #path: readonly string[];
  readonly #more: readonly Tracer[];

  private constructor(name: string, parents: readonly string[], more: readonly Tracer[]) {
    this.#path = [...parents, name];
    this.#more = more;
    this.#sinks = [...registered.values(), ...more].flatMap(
      (tracer) => safely(() => tracer(name, parents)) ?? [],
    );
  }

  /** A span without a parent. `more` are the tracers of this call alone. */
  static root(name: string, more: readonly Tracer[] = []): Span {
    return new Span(name, [], more);
  }

  child(name: string): Span {
    return new Span(name, this.#path, this.#more);
  }

  set(key: string, value: unknown): void {
    for (const sink of this.#sinks) safely(() => sink.set?.(key, redacted(value)));
  }

  end(): void {
    for (const sink of this.#sinks) safely(() => sink.end());
  }

  /** Runs `work` in a child span, which has its result or its error. */
  async within<T>(
    name: string,
    facts: { [key: string]: unknown },
    work: (span: Span) => T | Promise<T>,
  ): Promise<T> {
    return spanned(this.child(name), facts, work);
  }
}

/** Runs `work` in a span and ends it. */
export async function spanned<T>(
  span: Span,
  facts: { [key: string]: unknown },
  work: (span: Span) => T | Promise<T>,
): Promise<T> {
  for (const [key, value] of Object.entries(facts)) span.set(key, value);
  try {
    const result = await work(span);
    span.set("result", result);
    return result;
  } catch (error) {
    span.set("error", String(error));
    throw error;
  } finally {
    span.end();
  }
}

function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    console.error(error);
    return undefined;
  }
}
