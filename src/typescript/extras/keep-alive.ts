/** The keep-alive of a silent server-sent event stream, so that no proxy closes the connection. */

/** The time without an event after which a stream sends a comment, in milliseconds. */
export const QUIET_MS = 15_000;

/** A comment, which every reader of server-sent events ignores. */
export const KEEP_ALIVE = ": \n\n";

/** Reads one value after another, and reports when the next one takes too long. */
export class KeepAlive<T> {
  #next: Promise<T> | undefined;
  #stop = (): void => {};

  /**
   * The next value of `read`, or undefined if no value arrives within 15 seconds. The next call waits for the same
   * value.
   */
  async next(read: () => PromiseLike<T>): Promise<T | undefined> {
    this.#next ??= Promise.resolve(read());
    const came = this.#next;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<undefined>((resolve) => {
      this.#stop = () => (clearTimeout(timer), resolve(undefined));
      timer = setTimeout(() => resolve(undefined), QUIET_MS);
      // A response that no one reads does not keep the process alive.
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

  /** The reader has disconnected. */
  stop(): void {
    this.#stop();
  }
}
