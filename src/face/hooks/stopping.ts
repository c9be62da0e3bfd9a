/** Asks your functions whether one run should stop, and hands their answers on. It decides nothing. */
import type { StopOptions, StopPredicate } from "../api/iteration.js";
import type { Question } from "../host/driver.js";
import { conditions } from "../options/stopping.js";
import type { Driver } from "../run/engine.js";

export class Stopping {
  readonly #profiles: readonly StopOptions[];
  readonly #driver: () => Driver | undefined;
  readonly #report: (error: unknown) => void;

  constructor(
    profiles: readonly StopOptions[],
    driver: () => Driver | undefined,
    report: (error: unknown) => void,
  ) {
    this.#profiles = profiles;
    this.#driver = driver;
    this.#report = report;
  }

  ask(question: number, { about, round }: Question["stop"], profile: number): void {
    const options = this.#profiles[profile]!;
    const functions =
      about === "repeat"
        ? [options.onRepeat as unknown as StopPredicate]
        : conditions(options).filter((condition) => typeof condition === "function");
    void this.#any(functions, round).then((stop) => this.#driver()?.answer(question, { stop }));
  }

  async #any(functions: readonly StopPredicate[], round: Question["stop"]["round"]): Promise<boolean> {
    for (const decide of functions) {
      try {
        if (await decide(round)) return true;
      } catch (error) {
        this.#report(error);
      }
    }
    return false;
  }
}
