/** Spans of turns: a registry of tracers that each get every span. Without one, nothing happens. */
import { soundsSecret } from "../../core/kit/check.js";
import { redacted } from "../../extras/trace/redacted.js";
import { isMap } from "./file/frontmatter.js";
import { extractFirstJsonBlock } from "./turn/arguments.js";

/**
 * Contract: called when a span starts. Returns the receiver of its facts and its end. An error that it throws is
 * logged.
 */
export type Tracer = (name: string, parents: readonly string[]) => SpanSink;

export interface SpanSink {
  /**
   * A fact of the span: `signature`, `inputs`, `arguments`, `result`, `error`, and at its end `usage`, the tokens of
   * the model calls in it by the provider's names. Secrets are replaced by `[REDACTED]`, also in texts that are JSON.
   */
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
  readonly #parent: Span | undefined;
  readonly #usage: Usage = {};

  private constructor(name: string, parent: Span | undefined, more: readonly Tracer[]) {
    const parents = parent === undefined ? [] : parent.#path;
    this.#path = [...parents, name];
    this.#parent = parent;
    this.#more = more;
    this.#sinks = [...registered.values(), ...more].flatMap(
      (tracer) => safely(() => tracer(name, parents)) ?? [],
    );
  }

  /** A span without a parent. `more` are the tracers of only this call. */
  static root(name: string, more: readonly Tracer[] = []): Span {
    return new Span(name, undefined, more);
  }

  child(name: string): Span {
    return new Span(name, this, this.#more);
  }

  set(key: string, value: unknown): void {
    for (const sink of this.#sinks) safely(() => sink.set?.(key, redacted(value, redactedJson)));
  }

  /** Adds what a model call has used to this span and to those around it. */
  use(usage: unknown): void {
    if (!isMap(usage)) return;
    add(this.#usage, usage);
    this.#parent?.use(usage);
  }

  end(): void {
    // The names of token counts sound like secrets, but the counts are not secret.
    if (Object.keys(this.#usage).length > 0)
      for (const sink of this.#sinks) safely(() => sink.set?.("usage", structuredClone(this.#usage)));
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

interface Usage {
  [name: string]: number | Usage;
}

/** Adds the numbers of `usage` to those of the same names. */
function add(sums: Usage, usage: { [name: string]: unknown }): void {
  for (const [name, value] of Object.entries(usage)) {
    const sum = Object.hasOwn(sums, name) ? sums[name] : undefined;
    if (typeof value === "number") sums[name] = value + (typeof sum === "number" ? sum : 0);
    else if (isMap(value)) {
      const inner: Usage = typeof sum === "object" ? sum : {};
      add(inner, value);
      if (Object.keys(inner).length > 0) sums[name] = inner;
    }
  }
}

/**
 * A text that is an object or a list in JSON, such as the arguments of a call, without its secrets. An object
 * within a text counts too, because the arguments of a call are also read there.
 */
function redactedJson(text: string): string {
  if (!/^\s*[{[]/.test(text)) {
    const start = text.search(/\{\s*"/);
    if (start < 0) return text;
    const block = extractFirstJsonBlock(text.slice(start)) ?? text.slice(start);
    return text.slice(0, start) + redactedJson(block) + text.slice(start + block.length);
  }
  try {
    return JSON.stringify(redacted(JSON.parse(text), redactedJson));
  } catch {
    return soundsSecret(text) ? "[REDACTED]" : text;
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
