/**
 * JSON-RPC over Streamable HTTP: a POST for each message, whose response is JSON or a stream of events.
 * <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports>
 */
import { isObject } from "../options/check.js";
import type { HostAbortSignal, HostResponse } from "../api/platform.js";
import { McpError } from "./errors.js";
import type { McpOptions } from "./types.js";

export interface Fields {
  readonly [field: string]: unknown;
}

/** A message of JSON-RPC. */
export interface RpcMessage extends Fields {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface Reply {
  readonly result: Fields;
  readonly response: HostResponse;
}

/** The most characters of a body that stand in an error. */
const SHOWN = 300;

export class Wire {
  readonly #options: McpOptions;
  #lastId = 0;

  constructor(options: McpOptions) {
    this.#options = options;
  }

  nextId(): number {
    return (this.#lastId += 1);
  }

  /**
   * Sends a request and returns its result. Other messages of the stream go to `hear`.
   *
   * @throws McpError
   */
  async ask(
    message: RpcMessage,
    headers: Record<string, string>,
    hear: (message: RpcMessage) => void,
    signal?: HostAbortSignal,
  ): Promise<Reply> {
    const response = await this.send("POST", headers, message, signal);
    for await (const heard of messagesOf(response, signal)) {
      const isAnswer = heard.id === message.id && heard.method === undefined;
      if (!isAnswer) hear(heard);
      else if (heard.error !== undefined) throw rpcError(message, heard.error, response.status);
      else return { result: isObject(heard.result) ? heard.result : {}, response };
    }
    signal?.throwIfAborted();
    await refuse(response, this.#place(message));
    throw new McpError("http", `${this.#place(message)} ended without an answer.`, {
      status: response.status,
    });
  }

  /**
   * Sends a message and returns the response, whatever its status.
   *
   * @throws McpError `network`, `needs_auth`
   */
  async send(
    method: "POST" | "DELETE",
    headers: Record<string, string>,
    message?: RpcMessage,
    signal?: HostAbortSignal,
  ): Promise<HostResponse> {
    const { url, fetch = globalThis.fetch as never } = this.#options;
    const own =
      typeof this.#options.headers === "function" ? await this.#options.headers() : this.#options.headers;
    let response: HostResponse;
    try {
      response = await (fetch as NonNullable<McpOptions["fetch"]>)(url, {
        method,
        headers: {
          accept: "application/json, text/event-stream",
          ...(message === undefined ? {} : { "content-type": "application/json" }),
          ...own,
          ...headers,
        },
        ...(message === undefined ? {} : { body: JSON.stringify({ jsonrpc: "2.0", ...message }) }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      const why = error instanceof Error ? error.message : String(error);
      const place = typeof document === "undefined" ? "" : " In a page: CORS, a wrong address or no network.";
      throw new McpError("network", `${this.#place(message)} was not sent: ${why}.${place}`, {
        cause: error,
      });
    }
    if (response.status === 401 || response.status === 403) await refuse(response, this.#place(message));
    return response;
  }

  #place(message: RpcMessage | undefined): string {
    // A query of an address may hold a key.
    return `${message?.method ?? "A message"} to the MCP server ${this.#options.url.split("?")[0]}`;
  }
}

function rpcError(
  { method }: RpcMessage,
  { code, message }: NonNullable<RpcMessage["error"]>,
  status: number,
): McpError {
  return new McpError("rpc", `The MCP server answered ${method} with an error (${code}): ${message}`, {
    status,
    rpcCode: code,
  });
}

/** @throws McpError if the status is an error */
async function refuse(response: HostResponse, place: string): Promise<void> {
  const { status } = response;
  if (status < 400) return;
  const said = (await response.text().catch(() => "")).slice(0, SHOWN).trim();
  const needsAuth = status === 401 || status === 403;
  throw new McpError(needsAuth ? "needs_auth" : "http", `${place} got status ${status}. ${said}`.trim(), {
    status,
  });
}

/** The messages of a response. A response that is neither JSON nor a stream of events has none. */
async function* messagesOf(response: HostResponse, signal?: HostAbortSignal): AsyncGenerator<RpcMessage> {
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    for await (const data of eventsOf(response.body as ByteStream | null, signal)) yield* read(data);
  } else if (/^application\/(?:[\w.+-]+\+)?json\b/.test(type)) yield* read(await response.text());
}

function* read(text: string): Generator<RpcMessage> {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return;
  }
  for (const message of [said].flat()) if (isObject(message)) yield message as RpcMessage;
}

interface ByteStream {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
    cancel(): Promise<void>;
  };
}

/** The data of each event of a stream. <https://html.spec.whatwg.org/multipage/server-sent-events.html> */
async function* eventsOf(body: ByteStream | null, signal?: HostAbortSignal): AsyncGenerator<string> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  for await (const chunk of chunksOf(body, signal)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      else if (line === "" && data.length > 0) {
        yield data.join("\n");
        data = [];
      }
    }
  }
}

/** The chunks of a stream, until the signal fires. Streams are not iterable everywhere. */
async function* chunksOf(stream: ByteStream, signal?: HostAbortSignal): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  const end = (): void => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", end);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value !== undefined) yield value;
    }
  } finally {
    signal?.removeEventListener("abort", end);
    end();
  }
}
