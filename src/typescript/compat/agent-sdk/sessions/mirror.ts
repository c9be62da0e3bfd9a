/** The copy of a session in its store. A store that fails loses entries, and stops nothing. */
import type { Clock } from "../../../core/api/index.js";
import { HOST_CLOCK, withTimeLimit } from "../../../core/kit/journal.js";
import type { SessionEntry, SessionKey, SessionStore } from "./sessions.js";

/** Tries of one append. */
const ATTEMPTS = 3;

/** The time that an append may take, in milliseconds. One that takes longer is not repeated, because it may still come. */
const APPEND_MS = 60_000;

/** The time that entries wait for others in the mode `batched`, in milliseconds. */
const BATCH_MS = 100;

/** Whether the store gets each entry immediately, or in batches of 100 ms. */
export type SessionStoreFlush = "batched" | "eager";

export class Mirror {
  readonly #store: SessionStore;
  readonly #isEager: boolean;
  readonly #clock: Clock;
  readonly #failed: (error: unknown, key: SessionKey) => void;
  #waiting: { readonly key: SessionKey; readonly entries: SessionEntry[] } | undefined;
  #timer: unknown;
  /** The appends one after the other. */
  #written: Promise<void> = Promise.resolve();

  /** `failed` is called with the error for entries that were not saved. */
  constructor(
    store: SessionStore,
    flush: SessionStoreFlush,
    clock: Clock = HOST_CLOCK,
    failed: (error: unknown, key: SessionKey) => void,
  ) {
    this.#store = store;
    this.#isEager = flush === "eager";
    this.#clock = clock;
    this.#failed = failed;
  }

  keep(key: SessionKey, entries: readonly SessionEntry[]): void {
    const before = this.#waiting?.key;
    if (before?.sessionId !== key.sessionId || before.subpath !== key.subpath) this.#write();
    this.#waiting ??= { key, entries: [] };
    this.#waiting.entries.push(...entries);
    if (this.#isEager) this.#write();
    else this.#timer ??= this.#clock.setTimer(() => this.#write(), BATCH_MS);
  }

  /** Resolves when the store has taken everything, or has refused it. */
  flush(): Promise<void> {
    this.#write();
    return this.#written;
  }

  #write(): void {
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    this.#written = this.#written.then(() => this.#append(waiting.key, waiting.entries));
  }

  async #append(key: SessionKey, entries: readonly SessionEntry[]): Promise<void> {
    const late = new DOMException(`the store took longer than ${APPEND_MS} ms`, "TimeoutError");
    for (let attempt = 1; ; attempt++) {
      try {
        const append = (async () => this.#store.append(key, entries))();
        return await withTimeLimit(this.#clock, APPEND_MS, append, () => late);
      } catch (error) {
        if (attempt < ATTEMPTS && error !== late) continue;
        return this.#failed(error, key);
      }
    }
  }
}
