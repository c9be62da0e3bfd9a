/** Asks your function for the summaries of one run, and hands its answers on. It decides nothing. */
import type { CompactionRequest, ContextOptions } from "../api/iteration.js";
import type { Question } from "../host/driver.js";
import { at, describe } from "../options/check.js";
import { message } from "../options/thrown.js";
import type { Driver } from "../run/engine.js";

export class Summaries {
  readonly #profiles: readonly ContextOptions[];
  readonly #driver: () => Driver | undefined;
  /** The controller is made when it is first needed, because one abort costs as much as the rest of a run's end. */
  #open: AbortController | undefined;

  constructor(profiles: readonly ContextOptions[], driver: () => Driver | undefined) {
    this.#profiles = profiles;
    this.#driver = driver;
  }

  ask(question: number, { compact }: Question["summarize"], profile: number): void {
    const { signal } = (this.#open ??= new AbortController());
    this.#summarize({ ...compact, signal }, profile).then(
      (summary) => this.#driver()?.answer(question, { summary }),
      (error: unknown) => this.#driver()?.answer(question, { failed: { why: message(error) } }),
    );
  }

  close(): void {
    this.#open?.abort();
  }

  /** Asks for a summary. A subagent without a function of its own uses the run's. */
  async #summarize(request: CompactionRequest, profile: number): Promise<string> {
    const [own, runs] = [profile, 0].map((of) => this.#profiles[of]?.compaction || undefined);
    const summary: unknown = await (own?.summarize ?? runs?.summarize)?.(request);
    if (typeof summary !== "string")
      throw new TypeError(`${at("compaction", "summarize")} returned ${describe(summary)}`);
    return summary;
  }
}
