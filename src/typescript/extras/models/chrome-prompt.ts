/**
 * `chromePrompt()`: the language model that is built into the browser. Each model call uses its own session. The
 * history becomes its initial prompts, the newest messages are prompted, and the session is destroyed after the
 * answer. <https://developer.chrome.com/docs/ai/prompt-api> (2026-11-21)
 */
import type { Model, ModelOptions } from "../../core/api/index.js";
import { checkOptions, type OptionTable } from "../../core/kit/check.js";
import {
  chunkOf,
  eventStream,
  inProcessModel,
  refusal,
  type ChatChunk,
  type ChatPart,
  type ChatRequest,
} from "./in-process.js";
import { partsOf, plain, ReplyReader, type PlainMessage } from "./json-reply.js";
import type {
  LanguageModelCoreOptions,
  LanguageModelCreateOptions,
  LanguageModelExpected,
  LanguageModelMessage,
  LanguageModelMonitor,
  LanguageModelSession,
  LanguageModelStatic,
} from "./language-model.js";

/** Options of `chromePrompt()`. */
export interface ChromePromptOptions extends Pick<
  ModelOptions,
  "temperature" | "topK" | "toolChoice" | "price"
> {
  /** The name in events and in `Message.origin`. Default `"built-in"`. */
  name?: string | undefined;
  /**
   * Contract: called while the browser downloads the model, with the loaded share from 0 to 1. An error that it
   * throws is reported as uncaught, as in any event listener.
   */
  onDownload?: ((loaded: number) => void) | undefined;
  /** Languages and kinds of input. Default: the browser's; images and audio are added if the messages have some. */
  expectedInputs?: readonly LanguageModelExpected[] | undefined;
  /** Languages of the answers. Default: the browser's. */
  expectedOutputs?: readonly LanguageModelExpected[] | undefined;
  /** How varied the answers are, from `"most-predictable"` to `"most-creative"`. Default: the browser's. */
  samplingMode?: string | undefined;
  /** A polyfill or a test double. Default: `globalThis.LanguageModel`. */
  languageModel?: LanguageModelStatic | undefined;
}

const TABLE: OptionTable = {
  name: "text",
  onDownload: "function",
  expectedInputs: "any",
  expectedOutputs: "any",
  samplingMode: "text",
  languageModel: "any",
  temperature: "number",
  topK: "number",
  toolChoice: "any",
  price: "object",
};

/**
 * The browser's built-in model (Prompt API: Chrome 148 and newer on desktops, Edge). It works in pages and
 * extensions, not in workers. It needs no key, and no data leaves the device.
 *
 * The API's own tools are not settled. So with tools the model must reply with JSON that is either an answer or one
 * call (`responseConstraint`). The API has no limit of output tokens: `maxOutputTokens` fails the run.
 *
 * A model that must be downloaded first needs a click or a key press: start the first run in its handler.
 *
 * @example
 * ```ts
 * import { createAgent } from "looplet";
 * import { chromePrompt } from "looplet/models";
 *
 * const agent = createAgent({ model: chromePrompt({ onDownload: (part) => console.log(part) }) });
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function chromePrompt(given: ChromePromptOptions = {}): Model {
  const options = checkOptions(given, "model", TABLE);
  const { temperature, topK, toolChoice, price } = options;
  return inProcessModel(
    "language-model",
    options.name ?? "built-in",
    { temperature, topK, toolChoice, price },
    (request, signal) => answer(options, request, signal),
  );
}

async function answer(
  options: ChromePromptOptions,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<Response> {
  const api = options.languageModel ?? (globalThis as { LanguageModel?: LanguageModelStatic }).LanguageModel;
  if (api === undefined) return refusal(404, NO_API);
  if (request["max_tokens"] !== undefined)
    return refusal(
      400,
      "The browser's built-in model has no limit of output tokens: leave maxOutputTokens out.",
    );
  try {
    const { messages, schema } = plain(request);
    const prompts = messages.map(promptOf);
    const core = coreOptions(options, messages, request);
    const availability = await api.availability(core);
    if (availability === "unavailable") return refusal(404, UNAVAILABLE);
    // The user messages after the last answer are prompted. There is always at least one.
    let asked = prompts.length - 1;
    while (asked > 0 && prompts[asked - 1]?.role === "user") asked -= 1;
    const create: LanguageModelCreateOptions = {
      ...core,
      signal,
      initialPrompts: prompts.slice(0, asked),
      // Without a download the monitor would report 0 and 1 each time.
      ...(availability === "available" ? {} : { monitor: (monitor) => watch(monitor, options) }),
    };
    const session = await api.create(create);
    if (signal.aborted) {
      session.destroy();
      signal.throwIfAborted();
    }
    return eventStream(stream(session, prompts.slice(asked), schema, signal), wordsOf);
  } catch (error) {
    signal.throwIfAborted();
    return refusalOf(error);
  }
}

function watch(monitor: LanguageModelMonitor, { onDownload }: ChromePromptOptions): void {
  monitor.addEventListener("downloadprogress", ({ loaded }) => onDownload?.(loaded));
}

const NO_API =
  "There is no LanguageModel here: the Prompt API needs Chrome 148 or newer on a desktop, a page over https (or an extension), and does not exist in workers.";
const UNAVAILABLE =
  "The browser's built-in model is unavailable: the device does not meet its needs, or it lacks the languages or kinds of input that were asked for.";

function coreOptions(
  options: ChromePromptOptions,
  messages: readonly PlainMessage[],
  { temperature, top_k: topK }: ChatRequest,
): LanguageModelCoreOptions {
  const { expectedInputs, expectedOutputs, samplingMode } = options;
  const inputs = [...(expectedInputs ?? [])];
  const kinds = new Set(messages.flatMap(({ content }) => partsOf(content).map(kindOf)));
  for (const type of kinds)
    if (type !== "text" && !inputs.some((input) => input.type === type)) inputs.push({ type });
  return {
    ...(inputs.length === 0 ? {} : { expectedInputs: inputs }),
    ...(expectedOutputs === undefined ? {} : { expectedOutputs: [...expectedOutputs] }),
    ...(samplingMode === undefined ? {} : { samplingMode }),
    ...(temperature === undefined ? {} : { temperature: temperature as number }),
    ...(topK === undefined ? {} : { topK: topK as number }),
  };
}

async function* stream(
  session: LanguageModelSession,
  input: LanguageModelMessage[],
  schema: Record<string, unknown> | undefined,
  signal: AbortSignal,
): AsyncGenerator<ChatChunk> {
  const destroy = (): void => session.destroy();
  signal.addEventListener("abort", destroy, { once: true });
  try {
    const options = schema === undefined ? { signal } : { signal, responseConstraint: schema };
    const before = session.contextUsage ?? session.inputUsage;
    const measured = measure(session, input, options);
    const reader = session.promptStreaming(input, options).getReader();
    const reply = schema === undefined ? undefined : new ReplyReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const chunk = reply === undefined ? chunkOf({ content: value }) : reply.feed(value ?? "");
      if (chunk !== undefined) yield chunk;
    }
    const usage = usageOf(before, await measured, session.contextUsage ?? session.inputUsage);
    yield { ...(reply?.end() ?? chunkOf({}, "stop")), ...(usage === undefined ? {} : { usage }) };
  } finally {
    signal.removeEventListener("abort", destroy);
    destroy();
  }
}

/** The tokens of the prompt, if the browser can count them. */
async function measure(
  session: LanguageModelSession,
  input: LanguageModelMessage[],
  options: { signal: AbortSignal },
): Promise<number | undefined> {
  try {
    return await (session.measureContextUsage?.(input, options) ??
      session.measureInputUsage?.(input, options));
  } catch {
    return undefined;
  }
}

/** The usage of one call: the session's count grows by the prompt and by the answer. */
function usageOf(before?: number, asked?: number, after?: number): object | undefined {
  if (before === undefined || asked === undefined || after === undefined) return undefined;
  const input = Math.round(before + asked);
  return { prompt_tokens: input, completion_tokens: Math.max(0, Math.round(after) - input) };
}

function promptOf({ role, content }: PlainMessage): LanguageModelMessage {
  if (typeof content === "string") return { role, content };
  return { role, content: content.map((part) => ({ type: kindOf(part), value: valueOf(part) })) };
}

function kindOf(part: ChatPart): "text" | "image" | "audio" {
  return part.type === "image_url" ? "image" : part.type === "input_audio" ? "audio" : "text";
}

function valueOf(part: ChatPart): unknown {
  if (part.type === "text") return part.text;
  if (part.type === "input_audio") return blobOf(part.input_audio.data, `audio/${part.input_audio.format}`);
  const url = part.type === "image_url" ? part.image_url.url : "";
  const [, type, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  if (data === undefined)
    throw new TypeError(
      "the built-in model accepts images and audio only as data; it accepts no URLs and no documents",
    );
  return blobOf(data, type ?? "");
}

function blobOf(base64: string, type: string): Blob {
  return new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type });
}

/**
 * Translates DOMExceptions by name: <https://webmachinelearning.github.io/prompt-api/#language-model-errors>
 * (2026-11-21).
 */
function refusalOf(error: unknown): Response {
  const { message, code } = wordsOf(error);
  switch (nameOf(error)) {
    case "NotAllowedError":
      return refusal(
        400,
        `The browser must download its model first and wants a click or a key press for that: start the run in its handler. The page may also lack the permission language-model. (${message})`,
      );
    case "NetworkError":
      return refusal(503, `The download of the model failed: ${message}`);
    case "OperationError":
    case "UnknownError":
    case "InvalidStateError":
      return refusal(500, message);
    default:
      return refusal(400, message, code === undefined ? {} : { code });
  }
}

function wordsOf(error: unknown): { message: string; code?: string } {
  const message = error instanceof Error ? error.message || error.name : String(error);
  switch (nameOf(error)) {
    case "QuotaExceededError":
      return {
        message: `The prompt is larger than what the built-in model can hold: ${message}`,
        code: "context_length_exceeded",
      };
    case "NotSupportedError":
    case "NotReadableError":
    case "EncodingError":
    case "SecurityError":
    case "TypeError":
    case "DataError":
      return { message, code: "invalid_request_error" };
    default:
      return { message };
  }
}

function nameOf(error: unknown): unknown {
  return (error as { name?: unknown } | null | undefined)?.name;
}
