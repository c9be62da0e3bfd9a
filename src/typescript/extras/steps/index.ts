/**
 * `looplet/steps`: runs whose effects are steps of a durable engine, such as Cloudflare Workflows or Restate. The
 * engine saves the result of each step. After a crash it calls the function again, and replays the saved results of
 * completed steps. The run reaches the same point automatically, and needs no store.
 */
import type { AgentOptions, EffectSteps, Fetch } from "../../core/api/index.js";
import { withJoinedDeltas } from "./joined-deltas.js";

/**
 * Performs a step of a durable engine, or returns what it has returned before: `step.do` of Cloudflare Workflows,
 * `ctx.run` of Restate.
 *
 * Contract: called with a name that no other step of the run has, and that is the same in each life of the run.
 */
export type Step = (name: string, work: () => Promise<string>) => Promise<string>;

/** The options that `inSteps` gives an agent. */
export type SteppedOptions = Required<Pick<AgentOptions, "steps" | "random" | "ids">>;

/**
 * Options for an agent that performs each model call and tool call as a step: `createAgent({ ...inSteps(id, step),
 * model })`. The agent is used for one run with this id. Answers are not streamed.
 *
 * @example
 * ```ts
 * import { createAgent, custom } from "looplet";
 * import { inSteps, type Step } from "looplet/steps";
 *
 * const step: Step = (name, work) => work(); // of your durable engine
 * const agent = createAgent({ ...inSteps("order-7", step), model: custom(() => Promise.resolve("Hello.")) });
 * console.log((await agent.run("Hi").result).text); // prints "Hello."
 * ```
 */
export function inSteps(id: string, step: Step): SteppedOptions {
  const times = new Map<string, number>();
  /** A second step with the same name is a retry, or a call with an id that the vendor has used before. */
  const named = (name: string): string => {
    const count = (times.get(name) ?? 0) + 1;
    times.set(name, count);
    return count === 1 ? name : `${name} #${count}`;
  };
  const steps: EffectSteps = {
    fetch: (send) => (url, init) =>
      sent(send, url, init, (asked, work) => step(named(`model ${asked}`), work)),
    call: async (name, work) =>
      JSON.parse(await step(named(name), async () => JSON.stringify(await work()))) as Awaited<
        ReturnType<typeof work>
      >,
  };
  // They become the ids of calls that have none from the vendor, so they must be the same in each execution.
  return { steps, random: () => hashOf(id) / 2 ** 32, ids: () => id };
}

/** An answer as a step saves it. The body is text with the deltas of a stream joined, or base64 if it is not text. */
interface KeptAnswer {
  readonly status: number;
  /** The fields that mark a redirect that `fetch` followed or a browser hides. */
  readonly type?: string;
  readonly redirected?: boolean;
  readonly url?: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly isBase64?: true;
}

/** Headers of the way, which say nothing of a body that has been read. */
const OF_THE_WAY = ["content-encoding", "content-length", "transfer-encoding"];

const sent = async (send: Fetch, url: string, init: Parameters<Fetch>[1], step: Step): ReturnType<Fetch> => {
  const asked = hashOf(init.body ?? new TextEncoder().encode(url))
    .toString(16)
    .padStart(8, "0");
  const kept = await step(asked, async () => {
    const { status, headers, body, type, redirected, url: from } = (await send(url, init)) as Response;
    const pairs = [...new Headers(headers as HeadersInit | undefined)];
    const answer: KeptAnswer = {
      status,
      ...(redirected === true || type === "opaqueredirect" ? { type, redirected, url: from } : {}),
      headers: pairs.filter(([name]) => !OF_THE_WAY.includes(name)),
      ...written(await bytesOf(body), pairs.find(([name]) => name === "content-type")?.[1] ?? ""),
    };
    return JSON.stringify(answer);
  });
  const { body, isBase64, ...head } = JSON.parse(kept) as KeptAnswer;
  return {
    ...head,
    body: isBase64 ? Uint8Array.from(atob(body), (char) => char.charCodeAt(0)) : body,
  };
};

function written(bytes: Uint8Array, contentType: string): Pick<KeptAnswer, "body" | "isBase64"> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { body: withJoinedDeltas(text, contentType) };
  } catch {
    return { body: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")), isBase64: true };
  }
}

/** The most bytes of a body, as many as one that comes whole may have. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The whole body, of any kind that a `fetch` may return. @throws an error for one that is longer than `MAX_BYTES` */
async function bytesOf(body: unknown): Promise<Uint8Array> {
  const isIterable = typeof (body as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator] === "function";
  if (!(body instanceof ReadableStream) && !isIterable)
    return new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
  const chunks: Uint8Array[] = [];
  let left = MAX_BYTES;
  for await (const chunk of body instanceof ReadableStream
    ? chunksOf(body)
    : (body as AsyncIterable<Uint8Array>)) {
    left -= chunk.length;
    if (left < 0) throw new Error(`the body of the answer has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/** The chunks of a stream. Not all browsers can iterate it. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** FNV-1a in 32 bits. */
function hashOf(value: string | Uint8Array): number {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
