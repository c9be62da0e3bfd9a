/**
 * `workersAi()`: a model of the Cloudflare Workers AI binding. The binding accepts the fields of OpenAI Chat
 * Completions and answers in that form. Older models answer in a shorter form, which this file translates:
 * `{"response", "tool_calls": [{"name", "arguments"}], "usage"}`, streamed and complete.
 *
 * <https://developers.cloudflare.com/workers-ai/configuration/bindings/>,
 * <https://developers.cloudflare.com/workers-ai/features/function-calling/traditional/>,
 * <https://github.com/cloudflare/ai/blob/main/packages/workers-ai-provider/src/streaming.ts> (2026-11-21)
 */
import { LoopletError } from "../../core/api/errors.js";
import type { Model, ModelOptions } from "../../core/api/index.js";
import { checkOptions, describe, isObject, joined } from "../../core/kit/check.js";
import { CUSTOM_TABLE } from "../../core/kit/tables.js";
import { completion, inProcessModel, refusal, type ChatRequest } from "./in-process.js";
import { flat } from "./json-reply.js";

/** The binding: `env.AI` of a Worker. */
export interface WorkersAiBinding {
  run(model: any, inputs: any, options?: any): PromiseLike<unknown>;
}

/** Options of `workersAi()`. */
export interface WorkersAiOptions extends ModelOptions {
  /** The name in events and in `Message.origin`. Default: the model's. */
  name?: string | undefined;
  /** The third argument of `env.AI.run`, for example `{ gateway: { id: "mine" } }` or `{ rejectIfBusy: true }`. */
  runOptions?: { [name: string]: unknown } | undefined;
}

/**
 * A model of Cloudflare Workers AI: `workersAi(env.AI, "@cf/meta/llama-3.3-70b-instruct-fp8-fast")`. The binding
 * gives access, so there is no key. Outside of a Worker, use `compatible(model, { baseUrl:
 * "https://api.cloudflare.com/client/v4/accounts/ID/ai/v1", … })`.
 *
 * The model's page at Cloudflare lists the options that it supports; it ignores or refuses others.
 *
 * @example
 * ```ts
 * import { createAgent } from "looplet";
 * import { workersAi, type WorkersAiBinding } from "looplet/models";
 *
 * declare const env: { AI: WorkersAiBinding };
 * const agent = createAgent({ model: workersAi(env.AI, "@cf/meta/llama-3.3-70b-instruct-fp8-fast") });
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function workersAi(binding: WorkersAiBinding, model: string, options: WorkersAiOptions = {}): Model {
  if (!isObject(binding) || typeof binding.run !== "function") {
    throw new LoopletError(
      "config_wrong_type",
      "model",
      `workersAi() needs the binding env.AI as its first argument, got ${describe(binding)}; is "ai" in the Wrangler configuration?`,
    );
  }
  if (typeof model !== "string" || model.trim() === "") {
    throw new LoopletError(
      "config_missing",
      "model.model",
      "needs the model's name as its second argument, for example @cf/meta/llama-3.3-70b-instruct-fp8-fast",
    );
  }
  const { name, runOptions, ...asked } = checkOptions(options, "model", {
    ...CUSTOM_TABLE,
    stream: "boolean",
    runOptions: "object",
  });
  const keepsStreamOptions = joined(asked).body?.["stream_options"] !== undefined;
  return inProcessModel("workers-ai", name ?? model, asked, async (request, signal) => {
    const inputs = inputsOf(request);
    if (!keepsStreamOptions) delete inputs["stream_options"];
    try {
      return answerOf(await binding.run(model, inputs, { ...runOptions, signal }));
    } catch (error) {
      signal.throwIfAborted();
      return refusalOf(error);
    }
  });
}

/**
 * The request in the form that the binding accepts; it checks more strictly than OpenAI. Content must not be null,
 * and older models accept text only as strings. To force one tool, no other is offered, as in Cloudflare's own
 * adapter. Usage comes without `stream_options`, which older models do not know.
 */
function inputsOf({ model: _, ...inputs }: ChatRequest): Record<string, unknown> {
  const messages = inputs.messages.map((message) => ({ ...message, content: flat(message.content ?? "") }));
  const choice = inputs.tool_choice;
  if (typeof choice !== "object") return { ...inputs, messages };
  const tools = (inputs.tools ?? []).filter(({ function: { name } }) => name === choice.function.name);
  return { ...inputs, messages, tools, tool_choice: "required" };
}

function answerOf(answer: unknown): Response {
  if (answer instanceof Response) {
    const isStream = answer.ok && (answer.headers.get("content-type") ?? "").includes("event-stream");
    return isStream && answer.body !== null ? streamed(answer.body) : answer;
  }
  if (answer instanceof ReadableStream) return streamed(answer as ReadableStream<Uint8Array>);
  const whole = typeof answer === "string" ? { response: answer } : answer;
  return completion(isShort(whole) ? chatOf(whole, "message") : (whole as object));
}

/** An answer, or a chunk of an answer, in the form of older models. */
interface ShortAnswer {
  response?: unknown;
  tool_calls?: unknown;
  usage?: unknown;
  finish_reason?: unknown;
  errors?: { code?: number; message?: string }[];
}

function isShort(value: unknown): value is ShortAnswer {
  if (!isObject(value) || "choices" in value) return false;
  return "response" in value || Array.isArray(value["tool_calls"]) || Array.isArray(value["errors"]);
}

function chatOf(short: ShortAnswer, news: "delta" | "message"): object {
  const { response, tool_calls, usage, finish_reason, errors } = short;
  if (errors !== undefined) return { error: errors[0] ?? { message: "Workers AI reported an error" } };
  // For a request with a JSON Schema, the response is the object itself.
  const content = response == null || typeof response === "string" ? response : JSON.stringify(response);
  return {
    choices: [
      {
        index: 0,
        [news]: { content: content ?? null, ...(Array.isArray(tool_calls) ? { tool_calls } : {}) },
        finish_reason: finish_reason ?? (news === "message" ? "stop" : null),
      },
    ],
    ...(isObject(usage) ? { usage } : {}),
  };
}

/** Translates a stream line by line; lines of Chat Completions stay as they are. */
function streamed(body: ReadableStream<Uint8Array>): Response {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  const lines = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // A chunk may end without a line break, and a pull that enqueues nothing is not repeated. So the loop reads on.
      for (;;) {
        const { done, value } = await reader.read();
        const all = `${rest}${decoder.decode(value, { stream: !done })}`.split("\n");
        rest = done ? "" : (all.pop() ?? "");
        const text = all.map(translated).join("\n");
        if (all.length > 0) controller.enqueue(encoder.encode(done ? text : `${text}\n`));
        if (done) return controller.close();
        if (all.length > 0) return;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(lines, { headers: { "content-type": "text/event-stream" } });
}

function translated(line: string): string {
  if (!line.startsWith("data:") || line.includes('"choices"')) return line;
  const value = parsed(line.slice("data:".length));
  return isShort(value) ? `data: ${JSON.stringify(chatOf(value, "delta"))}` : line;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/**
 * The status for Cloudflare's error codes: <https://developers.cloudflare.com/workers-ai/platform/errors/>
 * (2026-11-21)
 */
const STATUS_OF_CODE: { readonly [code: string]: number } = {
  3003: 400,
  3006: 413,
  3007: 408,
  3008: 408,
  3023: 403,
  3036: 429,
  3039: 400,
  3040: 429,
  3041: 403,
  3042: 404,
  5004: 400,
  5005: 405,
  5007: 404,
  5016: 403,
  5018: 403,
  5019: 405,
};

/**
 * Translates an `InferenceUpstreamError` or `AiError`, which have messages that begin with Cloudflare's code: `5007:
 * No such model …`. Any other error is rethrown, as a network failure.
 */
function refusalOf(error: unknown): Response {
  const message = error instanceof Error ? error.message : String(error);
  const code = /\b([35]\d{3}):/.exec(message)?.[1];
  if (code === undefined) throw error;
  // The day's free allocation returns tomorrow; timeouts come from a lack of capacity.
  if (code === "3036") return refusal(429, message, { code: "insufficient_quota" });
  if (code === "3007") return refusal(408, message, { mayRetry: true });
  return refusal(STATUS_OF_CODE[code] ?? 500, message);
}
