/** The claims of pages on calls of page tools. A page renews its claim at intervals, or loses it. */
import type { RunEvent } from "../../../core/api/event.js";
import { pageCallOf } from "../../../extras/tools/page-call.js";

/** The time after which a claim expires. The browser runs timers of a hidden page only once a minute. */
const LEASE_MS = 90_000;

export class PageClaims {
  readonly #onLeft: (questionId: number, page: string) => void;
  readonly #leases = new Map<number, ReturnType<typeof setTimeout>>();

  /** `onLeft` is called when a page has not renewed its claim. */
  constructor(onLeft: (questionId: number, page: string) => void) {
    this.#onLeft = onLeft;
  }

  /** A question was asked, or its page has renewed the claim. */
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
