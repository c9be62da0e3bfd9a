/**
 * The choices of one simulated run. A run is a function of them only: every place at which something may happen calls
 * this. Most places choose 0, which means that nothing special happens. A failure is shrunk to the list of the
 * others.
 */
import { seededRandom, type Random } from "../../practice/random.js";

/**
 * A choice that is not 0. `at` is the number of requests that models had got by then, a place, and how often the run
 * had come there since: `2 the process at a save #3`.
 *
 * @beta
 */
export interface Choice {
  readonly at: string;
  readonly pick: number;
}

export class Choices {
  /** The choices so far that are not 0. */
  readonly made: Choice[] = [];
  readonly #random: Random | undefined;
  readonly #given: ReadonlyMap<string, number> | undefined;
  readonly #times = new Map<string, number>();
  #round = 0;

  private constructor(random: Random | undefined, given: ReadonlyMap<string, number> | undefined) {
    this.#random = random;
    this.#given = given;
  }

  /** Choices by a seed: equal seeds make equal choices at equal places. */
  static seeded(seed: number): Choices {
    return new Choices(seededRandom(`looplet ${seed}`), undefined);
  }

  /** The choices of this list, and 0 at all other places. */
  static of(list: readonly Choice[]): Choices {
    return new Choices(undefined, new Map(list.map(({ at, pick }) => [at, pick])));
  }

  /** 1 with the first chance, 2 with the second, and so on; 0 with what is left of 1. */
  pick(place: string, chances: readonly number[]): number {
    return this.#choose(place, (random) => {
      let left = random;
      for (let at = 0; at < chances.length; at++) if ((left -= chances[at]!) < 0) return at + 1;
      return 0;
    });
  }

  /** A whole number from 0 to `below`, which is left out. */
  number(place: string, below: number): number {
    return this.#choose(place, (random) => Math.floor(random * below));
  }

  /** A model has received a request: places are numbered from zero again. */
  beginRound(): void {
    this.#round += 1;
    this.#times.clear();
  }

  #choose(place: string, chosen: (random: number) => number): number {
    const times = (this.#times.get(place) ?? 0) + 1;
    this.#times.set(place, times);
    const at = `${this.#round} ${place}${times === 1 ? "" : ` #${times}`}`;
    const pick = this.#random === undefined ? (this.#given?.get(at) ?? 0) : chosen(this.#random());
    if (pick !== 0) this.made.push({ at, pick });
    return pick;
  }
}
