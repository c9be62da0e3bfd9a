/** The claims of pages on calls of page tools: a page says again and again that it is there, or loses its claim. */
import type { RunEvent } from "../../../core/api/event.js";
import { pageCallOf } from "../../../extras/tools/page-call.js";

/** The time in which a page has to say that it is there. The browser lets a hidden page speak once a minute. */
const LEASE_MS = 90_000;

export class PageClaims {
  readonly #onLeft: (questionId: number, page: string) => void;
  readonly #leases = new Map<number, ReturnType<typeof setTimeout>>();

  /** `onLeft` is told that a page has said nothing for long. */
  constructor(onLeft: (questionId: number, page: string) => void) {
    this.#onLeft = onLeft;
  }

  /** A question was asked, or its page is there. */
  renew(event: RunEvent | undefined): void {
    const call = event && pageCallOf(event);
    if (call?.page === undefined) return;
    const { questionId, page } = call;
    this.end(questionId);
    this.#leases.set(
      questionId,
      setTimeout(() => this.#onLeft(questionId, page), LEASE_MS),
    );
  }

  end(questionId: number): void {
    clearTimeout(this.#leases.get(questionId));
    this.#leases.delete(questionId);
  }
}
