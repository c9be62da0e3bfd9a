/** A search in the steps of a run that does not block the page: it runs for a few milliseconds at a time. */
import type { ReplayStep } from "../../replay/playback.js";

/** Milliseconds of work before the page gets its turn. */
const SLICE_MS = 6;

/** A search under way, and what it has found. */
export class Search {
  /** Indexes of steps, in their order. */
  readonly found: number[] = [];
  isOver = false;
  readonly #steps: readonly ReplayStep[];
  readonly #words: string;
  readonly #onFound: () => void;
  #at = 0;
  /** The text of blocks that are still streaming, by agent and block: a word may lie across two pieces. */
  readonly #blocks = new Map<string, string>();
  #isStopped = false;

  constructor(steps: readonly ReplayStep[], words: string, onFound: () => void) {
    this.#steps = steps;
    this.#words = words.toLowerCase();
    this.#onFound = onFound;
    this.#searchMore();
  }

  stop(): void {
    this.#isStopped = true;
  }

  #searchMore(): void {
    if (this.#isStopped) return;
    const startedMs = performance.now();
    while (this.#at < this.#steps.length && performance.now() - startedMs < SLICE_MS) {
      for (let batch = 0; batch < 50 && this.#at < this.#steps.length; batch++, this.#at++)
        if (this.#textOf(this.#steps[this.#at]!).toLowerCase().includes(this.#words))
          this.found.push(this.#at);
    }
    this.isOver = this.#at >= this.#steps.length;
    this.#onFound();
    if (!this.isOver) setTimeout(() => this.#searchMore(), 0);
  }

  #textOf({ input, events, calls, questions }: ReplayStep): string {
    const told = input.input;
    const pieces = ["json" in told ? JSON.stringify(told.json) : ""];
    for (const event of events) {
      const key = `${event.agentPath} ${"block" in event ? event.block : ""}`;
      if (
        event.type === "text-delta" ||
        event.type === "reasoning-delta" ||
        event.type === "tool-input-delta"
      )
        this.#blocks.set(key, (this.#blocks.get(key) ?? "") + event.text);
      else pieces.push(JSON.stringify(event));
      if (event.type === "text-end" || event.type === "reasoning-end" || event.type === "tool-input-end") {
        pieces.push(this.#blocks.get(key) ?? "");
        this.#blocks.delete(key);
      }
    }
    if (calls.length + questions.length > 0) pieces.push(JSON.stringify([calls, questions]));
    return pieces.join("\n");
  }
}
