/**
 * Models that run inside the process. Each is a `fetch` that speaks OpenAI Chat Completions, so the engine writes
 * requests and reads answers as for any server. This file has no state across requests.
 */
import type { Model, ModelOptions } from "../../core/api/index.js";
import { configFromOptions, sealModel } from "../../core/kit/models.js";

/** The body of a request, as the engine writes it. */
export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: ChatTool[];
  tool_choice?: "auto" | "none" | "required" | { function: { name: string } };
  stream?: boolean;
  [field: string]: unknown;
}

export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content?: string | ChatPart[] | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export type ChatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "input_audio"; input_audio: { data: string; format: string } }
  | { type: "file"; file: { filename?: string; file_data?: string } };

export interface ChatTool {
  type: "function";
  function: { name: string; description?: string; parameters: Record<string, unknown> };
}

/** One chunk of a streamed answer. Fields that the engine does not need may be missing. */
export interface ChatChunk {
  id?: string;
  choices: { index: number; delta: object; finish_reason?: string | null }[];
  usage?: object;
}

/**
 * Contract: answers one request. If it throws, the attempt failed and may be retried. Use `refusal` to say more.
 * `signal` aborts when the attempt is over.
 */
export type ChatAnswer = (request: ChatRequest, signal: AbortSignal) => Promise<Response>;

/** A model with requests that `answer` handles. `label` is part of its address, to which no request is ever sent. */
export function inProcessModel(
  label: string,
  model: string,
  options: ModelOptions,
  answer: ChatAnswer,
): Model {
  return sealModel({
    config: {
      vendor: "compatible",
      protocol: "openai_chat",
      model,
      baseUrl: `http://${label}.invalid`,
      ...configFromOptions(options),
    },
    fetch: async (_url, { body, signal }) => {
      signal.throwIfAborted();
      return answer(JSON.parse(new TextDecoder().decode(body)) as ChatRequest, signal);
    },
    isDirect: false,
    dangerouslyAllowBrowser: false,
  });
}

/**
 * A response with an error status. `code` is an error code of OpenAI, for cases in which the status is not enough.
 * `mayRetry` overrides whether the status allows a retry.
 */
export function refusal(
  status: number,
  message: string,
  { code, mayRetry }: { code?: string; mayRetry?: boolean } = {},
): Response {
  return new Response(JSON.stringify({ error: { message, code } }), {
    status,
    headers: {
      "content-type": "application/json",
      ...(mayRetry === undefined ? {} : { "x-should-retry": String(mayRetry) }),
    },
  });
}

/** A whole completion, not streamed. */
export function completion(body: object): Response {
  return new Response(JSON.stringify(body), { headers: { "content-type": "application/json" } });
}

/**
 * The chunks as server-sent events, pulled as fast as they are read. An error of the generator becomes an error event
 * with the text of `errorOf`. A reader that cancels ends the generator.
 */
export function eventStream(
  chunks: AsyncGenerator<ChatChunk>,
  errorOf: (error: unknown) => { message: string; code?: string },
): Response {
  const encoder = new TextEncoder();
  const event = (data: string): Uint8Array => encoder.encode(`data: ${data}\n\n`);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await chunks.next();
        if (next.done !== true) return controller.enqueue(event(JSON.stringify(next.value)));
        controller.enqueue(event("[DONE]"));
      } catch (error) {
        controller.enqueue(event(JSON.stringify({ error: errorOf(error) })));
      }
      controller.close();
    },
    cancel() {
      void chunks.return(undefined).catch(() => {});
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** A chunk with the news of the first choice. */
export function chunkOf(delta: object, finishReason?: string | null): ChatChunk {
  return { choices: [{ index: 0, delta, finish_reason: finishReason ?? null }] };
}
