/** What a response of server-sent events says while its stream is silent, so that no proxy cuts the connection. */

/** The time without an event after which a stream sends a comment, in milliseconds. */
export const QUIET_MS = 15_000;

/** A comment, which every reader of server-sent events passes over. */
export const KEEP_ALIVE = ": \n\n";

/** Reads one value after another, and says when the next one takes long. */
export class KeepAlive<T> {
  #next: Promise<T> | undefined;
  #stop = (): void => {};

  /** The next value of `read`; undefined if there is none within 15 seconds. The next call waits for the same one. */
  async next(read: () => PromiseLike<T>): Promise<T | undefined> {
    this.#next ??= Promise.resolve(read());
    const came = this.#next;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<undefined>((resolve) => {
      this.#stop = () => (clearTimeout(timer), resolve(undefined));
      timer = setTimeout(() => resolve(undefined), QUIET_MS);
      // A response that nobody reads holds no process up.
      (timer as { unref?: () => void }).unref?.();
    });
    let isHere = false;
    const found = came.finally(() => (isHere = true));
    try {
      return await Promise.race([found, silence]);
    } finally {
      clearTimeout(timer);
      if (isHere) this.#next = undefined;
    }
  }

  /** The reader is gone. */
  stop(): void {
    this.#stop();
  }
}
