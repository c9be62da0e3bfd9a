/**
 * `webllm()`: a model that WebLLM runs on the device's GPU. Its engine speaks OpenAI Chat Completions as objects: it
 * accepts the request unchanged, and looplet's decoder reads its chunks.
 * <https://webllm.mlc.ai/docs/user/api_reference.html>,
 * <https://github.com/mlc-ai/web-llm/blob/main/src/openai_api_protocols/chat_completion.ts> (2026-11-21)
 */
import { LoopletError } from "../../core/api/errors.js";
import type { Model, ModelOptions } from "../../core/api/index.js";
import { checkOptions, describe, describeWord, isObject, type OptionTable } from "../../core/kit/check.js";
import { CUSTOM_TABLE } from "../../core/kit/tables.js";
import { eventStream, inProcessModel, type ChatChunk, type ChatRequest } from "./in-process.js";
import { flat, plain, ReplyReader } from "./json-reply.js";

/** The part of WebLLM's `MLCEngineInterface` that looplet uses: an `MLCEngine`, or one in a worker. */
export interface WebLlmEngine {
  readonly chat: { readonly completions: { create(request: any): PromiseLike<unknown> } };
  /** Stops the generation under way. */
  interruptGenerate(): unknown;
}

/** Options of `webllm()`. */
export interface WebLlmOptions extends Omit<ModelOptions, "stream" | (typeof NOT_HERE)[number]> {
  /** The name in events and in `Message.origin`. Default: the option `model`, or `"webllm"`. */
  name?: string | undefined;
  /** The model's id, for an engine that has loaded several. Default: the loaded one. */
  model?: string | undefined;
  /**
   * How the model calls tools. Default `"json"`.
   * - `"json"` works with every model: its reply must be JSON that is either an answer or one call.
   * - `"native"` uses WebLLM's own function calling, which only the Hermes models have. If there are tools, they
   * answer
   *   only with calls, and Hermes 2 Pro then accepts no system prompt.
   */
  toolCalls?: "json" | "native" | undefined;
}

/** Options that WebLLM does not have. */
const NOT_HERE = ["thinking", "effort", "parallelToolCalls"] as const;

/**
 * A model of WebLLM: `webllm(await CreateMLCEngine("Llama-3.2-3B-Instruct-q4f16_1-MLC"))`. The engine itself loads
 * the model and reports the download. It generates one answer at a time, so other runs wait.
 *
 * @throws LoopletError `config_…`
 */
export function webllm(engine: WebLlmEngine, options: WebLlmOptions = {}): Model {
  if (!isObject(engine) || typeof engine.chat?.completions?.create !== "function") {
    throw new LoopletError(
      "config_wrong_type",
      "model",
      `webllm() needs an engine of @mlc-ai/web-llm, got ${describe(engine)}`,
    );
  }
  const table: { -readonly [K in keyof OptionTable]: OptionTable[K] } = { ...CUSTOM_TABLE };
  for (const name of NOT_HERE) delete table[name];
  const {
    name,
    model,
    toolCalls = "json",
    ...asked
  } = checkOptions(options, "model", { ...table, model: "text", toolCalls: "any" });
  if (toolCalls !== "json" && toolCalls !== "native") {
    throw new LoopletError(
      "config_invalid_value",
      "model.toolCalls",
      `needs "json" or "native", got ${describeWord(toolCalls)}`,
    );
  }
  return inProcessModel("webllm", name ?? model ?? "webllm", asked, async (request, signal) => {
    const isNative = toolCalls === "native";
    const schema = isNative ? flatten(request) : constrain(request);
    if (model === undefined) delete (request as Partial<ChatRequest>).model;
    else request.model = model;
    return eventStream(stream(engine, request, isNative, schema !== undefined, signal), (error) => ({
      message: error instanceof Error ? error.message : String(error),
      ...errorCode(error),
    }));
  });
}

/** Content that is only text becomes a string, because text-only models accept nothing else. */
function flatten(request: ChatRequest): undefined {
  for (const message of request.messages) message.content = flat(message.content ?? "");
}

/** Moves the tools out of the request and asks for JSON. */
function constrain(request: ChatRequest): object | undefined {
  const { messages, schema } = plain(request);
  request.messages = messages.map(({ role, content }) => ({ role, content: flat(content) }));
  delete request.tools;
  delete request.tool_choice;
  if (schema !== undefined)
    request["response_format"] = { type: "json_object", schema: JSON.stringify(schema) };
  return schema;
}

async function* stream(
  engine: WebLlmEngine,
  request: ChatRequest,
  isNative: boolean,
  isJson: boolean,
  signal: AbortSignal,
): AsyncGenerator<ChatChunk> {
  // The engine has only one generation, so an abort must not interrupt another run's. It interrupts only after this
  // run's first chunk, and only once.
  let state: "waiting" | "generating" | "over" = "waiting";
  const interrupt = (): void => {
    if (state !== "generating") return;
    state = "over";
    void engine.interruptGenerate();
  };
  signal.addEventListener("abort", interrupt, { once: true });
  const reply = isJson ? new ReplyReader() : undefined;
  // Native calls are in the last chunk, but the text that they consist of also streams. It is held back here.
  const held: string[] = [];
  try {
    const chunks = (await engine.chat.completions.create(request)) as AsyncIterable<ChatChunk>;
    for await (const chunk of chunks) {
      if (state === "waiting") state = "generating";
      if (signal.aborted) {
        interrupt();
        return;
      }
      const [choice] = chunk.choices;
      const delta = (choice?.delta ?? {}) as { content?: string | null; tool_calls?: unknown[] };
      const reason = choice?.finish_reason;
      if (reply !== undefined && choice !== undefined) {
        const news = reply.feed(delta.content ?? "");
        if (news !== undefined) yield { ...news, ...(chunk.id === undefined ? {} : { id: chunk.id }) };
        if (reason != null) yield reply.end(reason === "stop" ? undefined : reason);
      } else if (isNative && request.tools !== undefined && choice !== undefined) {
        held.push(delta.content ?? "");
        const hasCalls = (delta.tool_calls ?? []).length > 0;
        if (hasCalls) delta.content = null;
        else delta.content = reason == null ? null : held.join("");
        yield chunk;
      } else yield chunk;
    }
  } finally {
    state = "over";
    signal.removeEventListener("abort", interrupt);
  }
}

/** Translates WebLLM's errors by name: <https://github.com/mlc-ai/web-llm/blob/main/src/error.ts> (2026-11-22) */
function errorCode(error: unknown): { code?: string } {
  const name = (error as { name?: unknown } | null | undefined)?.name;
  if (name === "ContextWindowSizeExceededError") return { code: "context_length_exceeded" };
  if (typeof name !== "string") return {};
  if (/NotLoadedError$|^SpecifiedModelNotFoundError$/.test(name)) return { code: "model_not_found" };
  const isOurs =
    /^(Unsupported|UserMessage|System|Message|Custom|Invalid|Seed|Range|Negative|NonNegative|MinValue|UnclearModel|ContentType|Dependency|FunctionNotFound)/;
  return isOurs.test(name) ? { code: "invalid_request_error" } : {};
}
