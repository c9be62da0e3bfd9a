/**
 * JSON-RPC over Streamable HTTP: a POST for each message, with JSON or an event stream as the response. A stream that
 * closes before its answer is resumed. <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports>
 */
import { isObject } from "../../core/kit/check.js";
import { shownUrl } from "../../core/kit/http.js";
import { send, type ByteBudget, type FetchLike, type LimitedResponse } from "../../core/kit/send.js";
import { HOST_CLOCK } from "../../core/kit/journal.js";
import type { HostAbortSignal } from "../../core/api/platform.js";
import { McpError, mcpErrorOf } from "./errors.js";
import { eventsOf, type StreamPlace } from "./events.js";
import { headersOf } from "./options.js";
import { Resumption } from "./resumed.js";
import type { McpOptions } from "./types.js";

export interface Fields {
  readonly [field: string]: unknown;
}

/** A message of JSON-RPC. */
export interface RpcMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Reply {
  readonly result: Fields;
  readonly status: number;
  /** The id of the session that the server started. */
  readonly session: string | null;
  /** A text of the server without the secrets of the request. */
  readonly clean: (text: string) => string;
}

export interface AskLimits {
  readonly signal?: HostAbortSignal | undefined;
  /** Whether only the signal limits the duration of the request. */
  readonly isCall?: boolean;
  /** Milliseconds that the request has. Default: those of the options. */
  readonly timeoutMs?: number | undefined;
  /** Default: a new one. */
  readonly budget?: ByteBudget | undefined;
}

/** The maximum number of characters of a body, and of an error's message, in an error. */
const BODY_SHOWN = 300;
const MESSAGE_SHOWN = 2000;

const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

export class Wire {
  readonly #options: McpOptions;
  /** The address of the server, without what may be a key. */
  readonly address: string;
  #lastId = 0;

  constructor(options: McpOptions) {
    this.#options = options;
    this.address = shownUrl(options.url);
  }

  nextId(): number {
    return (this.#lastId += 1);
  }

  /** The maximum number of bytes of one answer. */
  budget(): ByteBudget {
    return { left: this.#options.maxResponseBytes ?? MAX_RESPONSE_BYTES };
  }

  /** The remaining milliseconds of one request, for requests that share it. */
  deadline(): () => number {
    const end = HOST_CLOCK.now() + this.#timeoutMs;
    return () => Math.min(Math.max(1, end - HOST_CLOCK.now()), this.#timeoutMs);
  }

  get #timeoutMs(): number {
    return this.#options.timeoutMs ?? TIMEOUT_MS;
  }

  /**
   * Sends a request and returns its result. Passes other messages of the stream to `hear`, which may throw.
   *
   * @throws McpError
   */
  async ask(
    message: RpcMessage,
    headers: Record<string, string>,
    hear: (message: RpcMessage, clean: Reply["clean"]) => void,
    limits: AskLimits = {},
  ): Promise<Reply> {
    const { signal, isCall = false, timeoutMs = this.#timeoutMs } = limits;
    const end = HOST_CLOCK.now() + (isCall ? Infinity : timeoutMs);
    const left = (): number => end - HOST_CLOCK.now();
    const budget = limits.budget ?? this.budget();
    const first = await this.send("POST", headers, message, limits);
    const session = first.header("mcp-session-id");
    // The first request of a session has no header of it.
    const own = { ...(session === null ? {} : { "mcp-session-id": session }), ...headers };
    const get = (more: Record<string, string>): Promise<LimitedResponse> =>
      this.send("GET", { ...own, ...more }, undefined, { signal, isCall, timeoutMs: Math.max(1, left()) });
    const rest = new Resumption(get, signal, left);
    let answer: LimitedResponse | undefined = first;
    try {
      for (; answer !== undefined; answer = await rest.next()) {
        const { status, clean } = answer;
        try {
          for await (const heard of messagesOf(answer, budget, rest.place)) {
            const isAnswer = heard.id === message.id && heard.method === undefined;
            if (!isAnswer) hear(heard, clean);
            else if (heard.error !== undefined) throw rpcError(message, heard.error, answer);
            else return { result: heard.result ?? {}, status, session, clean };
          }
          await refuse(answer, this.#place(message));
        } catch (error) {
          if (!rest.canResume(mcpErrorOf(error))) throw error;
        } finally {
          answer.end();
        }
        signal?.throwIfAborted();
        if (!rest.canResume()) break;
      }
    } catch (error) {
      throw mcpErrorOf(error);
    }
    throw new McpError("http", `${this.#place(message)} ended without an answer.`, { status: first.status });
  }

  /** Sends a message that is answered only by a status. @throws McpError */
  async tell(
    method: "POST" | "DELETE",
    headers: Record<string, string>,
    message?: RpcMessage,
    limits: Pick<AskLimits, "signal" | "timeoutMs"> = {},
  ): Promise<void> {
    (await this.send(method, headers, message, limits)).end();
  }

  /**
   * Sends a message and returns the answer, with any status.
   *
   * @throws McpError `network`, `redirected`, `timeout`, `needs_auth`
   */
  async send(
    method: "GET" | "POST" | "DELETE",
    headers: Record<string, string>,
    message: RpcMessage | undefined,
    { signal, isCall = false, timeoutMs = this.#timeoutMs }: AskLimits,
  ): Promise<LimitedResponse> {
    const { url, fetch, headers: given } = this.#options;
    const ownHeaders = typeof given === "function" ? headersOf(await given()) : given;
    const session = headers["mcp-session-id"];
    try {
      const answer = await send({
        url,
        place: this.#place(message),
        method,
        ownHeaders,
        headers: {
          accept: "application/json, text/event-stream",
          ...(message === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(session === undefined ? {} : { secrets: [session] }),
        ...(message === undefined ? {} : { body: JSON.stringify({ jsonrpc: "2.0", ...message }) }),
        fetch: fetch as FetchLike | undefined,
        signal,
        ...(isCall ? {} : { timeoutMs }),
      });
      if (answer.status === 401 || answer.status === 403) await refuse(answer, this.#place(message));
      return answer;
    } catch (error) {
      throw mcpErrorOf(error);
    }
  }

  #place(message: RpcMessage | undefined): string {
    return `${message?.method ?? "A message"} to the MCP server ${this.address}`;
  }
}

function rpcError(
  { method }: RpcMessage,
  error: NonNullable<RpcMessage["error"]>,
  answer: LimitedResponse,
): McpError {
  const { code, message } = error;
  // The cut could split a secret, so it is made after the redaction.
  const said = answer.clean(message.slice(0, 8 * MESSAGE_SHOWN)).slice(0, MESSAGE_SHOWN);
  return new McpError("rpc", `The MCP server answered ${method} with an error (${code}): ${said}`, {
    status: answer.status,
    rpcCode: code,
  });
}

/** @throws McpError if the status is an error */
async function refuse(answer: LimitedResponse, place: string): Promise<void> {
  const { status } = answer;
  if (status < 400) return;
  const said = await answer.excerpt(BODY_SHOWN);
  const needsAuth = status === 401 || status === 403;
  throw new McpError(needsAuth ? "needs_auth" : "http", `${place} got status ${status}. ${said}`.trim(), {
    status,
  });
}

/** The messages of an answer. An answer that is neither JSON nor an event stream has none. */
async function* messagesOf(
  answer: LimitedResponse,
  budget: ByteBudget,
  place: StreamPlace,
): AsyncGenerator<RpcMessage> {
  const type = answer.header("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    for await (const data of eventsOf(answer.chunks(budget), place)) yield* read(data);
  } else if (/^application\/(?:[\w.+-]{1,80}\+)?json\b/.test(type)) yield* read(await answer.text(budget));
}

function* read(text: string): Generator<RpcMessage> {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return;
  }
  for (const message of Array.isArray(said) ? said : [said]) if (isObject(message)) yield messageOf(message);
}

/** A message with only the fields of the right type. Null fields are dropped. */
function messageOf({ id, method, params, result, error }: Record<string, unknown>): RpcMessage {
  return {
    ...(typeof id === "string" || typeof id === "number" ? { id } : {}),
    ...(typeof method === "string" ? { method } : {}),
    ...(isObject(params) ? { params } : {}),
    ...(isObject(result) ? { result } : {}),
    ...(isObject(error)
      ? { error: { code: Number(error["code"]), message: wordsOf(error["message"]) } }
      : {}),
  };
}

/** A text of a server; another value as JSON. */
export function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // Lists that are nested deep enough fill the stack.
    return "";
  }
}
