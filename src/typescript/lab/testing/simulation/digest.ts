/** A digest of simulated runs: equal on every machine, and another one if a byte of a run differs. */
import type { SimulatedRun } from "./record.js";

export class Digest {
  #high = 0x811c9dc5;
  #low = 0x9dc5811c;

  /** Takes a run in: its events, its requests, its calls and effects, its choices and its end. */
  add({ events, requests, calls, effects, choices, outcome, elapsedMs, processes }: SimulatedRun): void {
    for (const { request, ...more } of requests) {
      this.#take(request.bodyText);
      this.#take(JSON.stringify(more));
    }
    this.#take(JSON.stringify([events, calls, effects, choices, outcome, elapsedMs, processes]));
  }

  /** 16 hexadecimal digits. */
  get text(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
  }

  /** FNV-1a over UTF-16 units, twice from two beginnings. */
  #take(text: string): void {
    let [high, low] = [this.#high, this.#low];
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      high = Math.imul(high ^ unit, 0x01000193);
      low = Math.imul(low ^ unit, 0x01000193) ^ (high >>> 15);
    }
    [this.#high, this.#low] = [high, low];
  }
}
