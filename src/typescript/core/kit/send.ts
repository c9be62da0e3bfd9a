/**
 * The requests that the TypeScript sends itself: to MCP servers, for prompty's files, for pages of WebFetch. The
 * requests to models go through `host/shell.ts`. Both use the same code to read redirects and to redact secrets.
 *
 * No redirect is followed, a body has a limit, and an error has lost the secrets of its request.
 */
import type { HostAbortSignal, HostResponse } from "../api/platform.js";
import { fetchOnce } from "../fetch-once.js";
import { describeRejection, cancelBody, redirectOf } from "../host/exchange.js";
import { readUrl, redactor, secretsOf, urlSecrets } from "../host/secrets/redact.js";

/** The global `fetch`, or a function like it. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: { readonly [name: string]: string };
    readonly body?: string;
    readonly signal: HostAbortSignal;
    readonly redirect: "manual";
  },
) => PromiseLike<HostResponse> | HostResponse;

export interface Outgoing {
  readonly url: string;
  /** Words for the request at the beginning of an error, without secrets. */
  readonly place: string;
  readonly method: string;
  readonly headers?: { readonly [name: string]: string };
  /** Headers that the user has given: each value is a secret. */
  readonly ownHeaders?: { readonly [name: string]: string } | undefined;
  /** Further secrets of the request. */
  readonly secrets?: readonly string[];
  readonly body?: string;
  /** Default: the global `fetch`. */
  readonly fetch?: FetchLike | undefined;
  readonly signal?: HostAbortSignal | undefined;
  /** Milliseconds until the body is read to its end. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

export type SendErrorCode = "network" | "redirected" | "timeout" | "too_large";

/** The failure of a request. Its message has no secret of the request; a `cause`, which could have one, is left out. */
export class SendError extends Error {
  override readonly name = "SendError";
  readonly code: SendErrorCode;
  /** The HTTP status of a redirect. */
  readonly status: number | undefined;
  /** The address to which a redirect leads, as the server writes it; its origin is in the message. */
  readonly target: string | undefined;

  constructor(code: SendErrorCode, message: string, status?: number, target?: string) {
    super(message);
    this.code = code;
    this.status = status;
    this.target = target;
  }
}

/** The bytes that may still come. Answers can share it. */
export interface ByteBudget {
  left: number;
}

/**
 * FetchLike a request, and resolves with the head of its answer. The answer must be read to its end or ended.
 *
 * @throws SendError, or the reason of the signal
 */
export async function send(out: Outgoing): Promise<LimitedResponse> {
  const { url, place, signal, timeoutMs } = out;
  // The platform's error would repeat the address, with a key that cannot be told from the rest.
  if (readUrl(url) === undefined)
    throw new SendError("network", `${place} was not sent: its address cannot be read.`);
  const own = Object.entries(out.ownHeaders ?? {}).map(([name, value]) => [name, String(value)] as const);
  const secrets = [...secretsOf([], own), ...urlSecrets(url), ...(out.secrets ?? [])];
  const redact = redactor(secrets);
  const clean = (text: string): string => redact(text);
  const ending = new Ending(place, signal, timeoutMs);
  try {
    const asked = (async () =>
      fetchOnce(out.fetch, url, {
        method: out.method,
        headers: { ...Object.fromEntries(own), ...out.headers },
        ...(out.body === undefined ? {} : { body: out.body }),
        signal: ending.signal,
      }))();
    // A `fetch` that ignores the signal may answer when no one waits any more.
    asked.then(
      (late) => ending.isOver && cancelBody(late),
      () => {},
    );
    const response = await Promise.race([asked, ending.over]);
    refuseRedirect(response, url, place, clean);
    return new LimitedResponse(response, place, ending, clean);
  } catch (error) {
    const isAborted = ending.reason !== undefined;
    ending.end();
    if (isAborted) throw ending.reason;
    if (error instanceof SendError) throw error;
    throw new SendError("network", `${place} was not sent: ${clean(describeRejection(error))}`);
  }
}

/** @throws SendError `redirected` */
function refuseRedirect(
  response: HostResponse,
  url: string,
  place: string,
  clean: (text: string) => string,
): void {
  const redirect = redirectOf(response as never, url);
  if (redirect === undefined) return;
  const { status, headers } = redirect;
  cancelBody(response);
  const origin = headers.find(([name]) => name === "location")?.[1];
  const isFollowed = headers.some(([name]) => name === "x-looplet-followed");
  const target = response.headers?.get("location") ?? undefined;
  const where = origin === undefined ? "to an address that is hidden here" : `to ${clean(origin)}`;
  const what = isFollowed
    ? `was redirected ${where}, and the fetch that was given has followed: its keys have gone there. Pass init.redirect on`
    : `was redirected ${where} (status ${status}), and no redirect is followed. Give the address to which it leads`;
  throw new SendError("redirected", `${place} ${what}.`, status, target);
}

/** The end of a request: by its signal, by its time, or because it is over. */
class Ending {
  readonly #controller = new AbortController();
  readonly #given: HostAbortSignal | undefined;
  readonly #place: string;
  #timer: unknown;
  /** Rejects when the request is aborted or late. */
  readonly over: Promise<never>;
  #fail: (reason: unknown) => void = () => {};
  isOver = false;
  /** Why the request was ended; undefined unless it was aborted or late. */
  reason: unknown;

  constructor(place: string, given: HostAbortSignal | undefined, timeoutMs: number | undefined) {
    this.over = new Promise<never>((_, reject) => (this.#fail = reject));
    this.over.catch(() => {});
    this.#given = given;
    this.#place = place;
    if (timeoutMs !== undefined) this.within(timeoutMs);
    if (given?.aborted === true) this.#aborted();
    else given?.addEventListener("abort", this.#aborted);
  }

  get signal(): HostAbortSignal {
    return this.#controller.signal as HostAbortSignal;
  }

  /** Gives the rest of the request a time, unless it has one. */
  within(timeoutMs: number): void {
    if (this.isOver || this.#timer !== undefined) return;
    const why = `${this.#place} has not answered to the end within ${timeoutMs} ms.`;
    this.#timer = setTimeout(() => this.#stop(new SendError("timeout", why)), timeoutMs);
  }

  end(): void {
    this.isOver = true;
    clearTimeout(this.#timer as number);
    this.#given?.removeEventListener("abort", this.#aborted);
  }

  readonly #aborted = (): void => this.#stop(this.#given!.reason ?? new Error("aborted"));

  #stop(reason: unknown): void {
    this.reason = reason;
    this.end();
    this.#fail(reason);
    this.#controller.abort(reason);
  }
}

interface ByteReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** The answer to a request. Its body is read once, up to a limit. */
export class LimitedResponse {
  readonly #response: HostResponse;
  readonly #place: string;
  readonly #ending: Ending;
  /** The beginning of a body that was read as a text. */
  #begun: string | undefined;
  /** A text of the server without the secrets of the request. */
  readonly clean: (text: string) => string;

  constructor(response: HostResponse, place: string, ending: Ending, clean: (text: string) => string) {
    this.#response = response;
    this.#place = place;
    this.#ending = ending;
    this.clean = clean;
  }

  get status(): number {
    return this.#response.status;
  }

  header(name: string): string | null {
    return this.#response.headers?.get(name) ?? null;
  }

  /** Lets go of the connection. A second time does nothing. */
  end(): void {
    this.#ending.end();
    cancelBody(this.#response);
  }

  /**
   * The bytes of the body.
   *
   * @throws SendError `too_large`, `timeout`, `network`; or the reason of the signal
   */
  async *chunks(budget: ByteBudget): AsyncGenerator<Uint8Array> {
    const body = this.#response.body as { getReader?(): ByteReader } | null | undefined;
    const reader = typeof body?.getReader === "function" ? body.getReader() : textReader(this.#response);
    try {
      for (;;) {
        // The end by the signal may come before a read was begun.
        if (this.#ending.reason !== undefined) throw this.#ending.reason;
        const { done, value } = await Promise.race([reader.read(), this.#ending.over]);
        if (done) return;
        if (value === undefined) continue;
        budget.left -= value.length;
        if (budget.left < 0)
          throw new SendError("too_large", `The answer to ${this.#place} is longer than is taken.`);
        yield value;
      }
    } catch (error) {
      if (error instanceof SendError || error === this.#ending.reason) throw error;
      const why = this.clean(describeRejection(error));
      throw new SendError("network", `The answer to ${this.#place} has broken off: ${why}`);
    } finally {
      this.#ending.end();
      void reader.cancel().catch(() => {});
    }
  }

  /** The body as a text. @throws like {@link chunks} */
  async text(budget: ByteBudget): Promise<string> {
    const decoder = new TextDecoder();
    const pieces: string[] = [];
    for await (const chunk of this.chunks(budget)) pieces.push(decoder.decode(chunk, { stream: true }));
    const text = pieces.join("") + decoder.decode();
    this.#begun = text.slice(0, EXCERPT_CHARS);
    return text;
  }

  /** The beginning of a body that is an error, for a message: without secrets, whatever goes wrong. */
  async excerpt(maxChars: number): Promise<string> {
    const text = this.#begun ?? (await this.#beginning());
    return this.clean(text.slice(0, EXCERPT_CHARS)).slice(0, maxChars).trim();
  }

  async #beginning(): Promise<string> {
    const { body } = this.#response;
    if ((body as { locked?: boolean } | null | undefined)?.locked === true) return "";
    const decoder = new TextDecoder();
    let text = "";
    this.#ending.within(EXCERPT_MS);
    try {
      for await (const chunk of this.chunks({ left: Infinity })) {
        text += decoder.decode(chunk, { stream: true });
        if (text.length > EXCERPT_CHARS) break;
      }
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
    }
    return text;
  }
}

/** The body of an error has the same bounds here as in the engine. */
const EXCERPT_CHARS = 64 * 1024;
const EXCERPT_MS = 10_000;

/** The body of an object that is like a response and has no stream. */
function textReader(response: HostResponse): ByteReader {
  let isRead = typeof response.text !== "function";
  const read = async (): Promise<{ done: boolean; value?: Uint8Array }> => {
    if (isRead) return { done: true };
    isRead = true;
    return { done: false, value: new TextEncoder().encode(await response.text()) };
  };
  return { read, cancel: () => Promise.resolve() };
}
