/**
 * Streams that close or break before their answer. The server continues the request, and the client fetches the rest
 * by GET with `Last-Event-ID`, after the delay that the server asks for.
 * <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>
 */
import type { HostAbortSignal } from "../../core/api/platform.js";
import type { LimitedResponse } from "../../core/kit/send.js";
import { McpError } from "./errors.js";
import type { StreamPlace } from "./events.js";

/** Tries in a row that bring no event, before the request fails. */
const MAX_TRIES = 5;

/** The delay before a retry if the server names none, in milliseconds: the first, which doubles, and the maximum. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/** The minimum delay, even if the server names less. */
const MIN_WAIT_MS = 100;

/** The longest time that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The attempts to get the rest of one answer. */
export class Resumption {
  /** The position where the streams so far have ended. */
  readonly place: StreamPlace = {};
  readonly #get: (headers: Record<string, string>) => Promise<LimitedResponse>;
  readonly #signal: HostAbortSignal | undefined;
  readonly #left: () => number;
  #tries = 0;
  #before: string | undefined;

  /** `get` sends a GET with these headers. `left` returns the remaining time of the request in milliseconds. */
  constructor(
    get: (headers: Record<string, string>) => Promise<LimitedResponse>,
    signal: HostAbortSignal | undefined,
    left: () => number,
  ) {
    this.#get = get;
    this.#signal = signal;
    this.#left = left;
  }

  /**
   * Whether the rest can be fetched after this end of a stream. `broken` is undefined, or the error that broke the
   * stream.
   */
  canResume(broken?: unknown): boolean {
    const isBroken = broken === undefined || (broken as Partial<McpError>).code === "network";
    return isBroken && this.place.id !== undefined;
  }

  /** The stream with the rest, or undefined if the server has none. @throws the error of the last attempt */
  async next(): Promise<LimitedResponse | undefined> {
    const { place } = this;
    if (place.id !== this.#before) this.#tries = 0;
    this.#before = place.id;
    let failure: unknown;
    while ((this.#tries += 1) <= MAX_TRIES) {
      const wait = place.retryMs ?? Math.min(FIRST_WAIT_MS * 2 ** (this.#tries - 1), LONGEST_WAIT_MS);
      if (wait >= this.#left()) break;
      await pause(Math.min(Math.max(wait, MIN_WAIT_MS), MAX_TIMER_MS), this.#signal);
      try {
        const answer = await this.#get({ accept: "text/event-stream", "last-event-id": place.id! });
        if (answer.status === 200 && isStream(answer)) return answer;
        answer.end();
        failure = undefined;
        if (answer.status < 500 && answer.status !== 429) return undefined;
      } catch (error) {
        if (!this.canResume(error)) throw error;
        failure = error;
      }
    }
    if (failure !== undefined) throw failure;
    return undefined;
  }
}

function isStream(answer: LimitedResponse): boolean {
  return (answer.header("content-type") ?? "").startsWith("text/event-stream");
}

/** Waits, or rejects with the reason of the signal. */
export function pause(ms: number, signal: HostAbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal!.reason ?? new Error("aborted"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, ms);
    if (signal?.aborted === true) aborted();
    else signal?.addEventListener("abort", aborted, { once: true });
  });
}
