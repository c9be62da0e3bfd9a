/** Answers that arrive in pieces. */
import { isMap } from "../file/frontmatter.js";
import type { Answer } from "./answer.js";
import type { ToolCall } from "../types.js";

/** A piece of an answer from a processor. Calls come at the end, complete. */
export type StreamItem =
  | { kind: "text"; value: string }
  | { kind: "thinking"; value: string }
  /** The first piece of a call was received, so the answer has calls. */
  | { kind: "calling" }
  | { kind: "tool"; call: ToolCall }
  | { kind: "answer"; answer: Answer };

/** The model has declined to answer. The stream ends with it. */
export class RefusalError extends Error {
  override readonly name = "RefusalError";
}

/**
 * Reads chunks of Chat Completions, or the items of the built-in executor. Calls are assembled by their index, and
 * yielded in that order after the last chunk.
 *
 * @throws RefusalError `Model refused: …` immediately
 */
export async function* processChunks(chunks: AsyncIterable<unknown>): AsyncGenerator<StreamItem> {
  const calls = new Map<number, ToolCall>();
  for await (const chunk of chunks) {
    if (isItem(chunk)) {
      yield chunk;
      continue;
    }
    const delta = (chunk as any)?.choices?.[0]?.delta ?? {};
    if (delta.refusal) throw new RefusalError(`Model refused: ${delta.refusal}`);
    if (typeof delta.reasoning_content === "string")
      yield { kind: "thinking", value: delta.reasoning_content };
    for (const { index = 0, id, function: { name, arguments: text } = {} as any } of delta.tool_calls ?? []) {
      const call = calls.get(index) ?? { id: "", name: "", arguments: "" };
      calls.set(index, call);
      call.id ||= id ?? "";
      call.name ||= name ?? "";
      call.arguments += text ?? "";
      yield { kind: "calling" };
    }
    if (delta.content) yield { kind: "text", value: delta.content };
  }
  for (const [, call] of [...calls].sort(([one], [other]) => one - other)) yield { kind: "tool", call };
}

const KINDS = ["text", "thinking", "calling", "tool", "answer"];

function isItem(chunk: unknown): chunk is StreamItem {
  return isMap(chunk) && KINDS.includes(chunk["kind"] as string);
}

/** A piece for a caller of `processStream`: a text, a call, or the end that a failure has made. */
export type StreamChunk =
  | { kind: "text" | "thinking"; value: string }
  | { kind: "tool"; call: ToolCall }
  | { kind: "failure"; failure: { outcome: "indeterminate" | "determinate"; message: string } };

/**
 * The pieces of a provider's stream. A stream that is cut off ends with a `failure` piece. It is `indeterminate`,
 * because the answer may have been complete. A refusal is `determinate`.
 */
export async function* processStream(chunks: AsyncIterable<unknown>): AsyncGenerator<StreamChunk> {
  try {
    for await (const item of processChunks(chunks))
      if (item.kind !== "calling" && item.kind !== "answer") yield item;
  } catch (error) {
    const outcome = error instanceof RefusalError ? "determinate" : "indeterminate";
    yield { kind: "failure", failure: { outcome, message: (error as Error)?.message ?? String(error) } };
  }
}

/** The text of a last answer as it arrives. Stores its items. `onEnd` gets them once, at the end. */
export class PromptyStream implements AsyncIterable<string> {
  readonly items: string[] = [];
  readonly #source: AsyncIterator<string>;
  readonly #onEnd: (items: readonly string[]) => void;
  #hasEnded = false;

  constructor(source: AsyncIterable<string>, onEnd: (items: readonly string[]) => void = () => {}) {
    this.#source = source[Symbol.asyncIterator]();
    this.#onEnd = onEnd;
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return {
      next: async () => {
        try {
          const next = await this.#source.next();
          if (next.done === true) this.#end();
          else this.items.push(next.value);
          return next;
        } catch (error) {
          this.#end();
          throw error;
        }
      },
      return: async () => {
        await this.#source.return?.();
        this.#end();
        return { done: true, value: undefined };
      },
    };
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#onEnd(this.items);
  }
}
