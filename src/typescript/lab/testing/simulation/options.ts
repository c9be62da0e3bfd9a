/** The options of `simulate`: seeds, the world and its rates. */
import { LoopletError } from "../../../core/api/errors.js";
import type { Prompt, RunOptions } from "../../../core/api/run.js";
import { checkOptions, describe, type OptionTable } from "../../../core/kit/check.js";
import type { ScriptedTurn } from "../../practice/types.js";
import type { WorldModel } from "./model/chaos.js";
import type { Choice } from "./choices.js";
import type { Invariant } from "./invariants.js";

/**
 * The chances of what may happen, each between 0 and 1: for each request, each call, each question and so on.
 *
 * @beta
 */
export interface Rates {
  /** A request is answered with 429. Default 0.02. */
  refused: number;
  /** A request is answered with 500. Default 0.01. */
  overloaded: number;
  /** The network refuses a request. Default 0.02. */
  unreachable: number;
  /** A page of HTML with status 200 answers. Default 0.005. */
  html: number;
  /** The connection drops in the middle of an answer. Default 0.02. */
  cut: number;
  /** An answer ends without its last events. Default 0.01. */
  truncated: number;
  /** The chance of a vendor error in the middle of an answer. Default 0.01. */
  streamError: number;
  /** An answer stops in the middle without an end. Default 0.005. */
  stalled: number;
  /** A request gets no answer at all. Default 0.005. */
  silent: number;
  /** A tool fails before it has done anything. Default 0.02. */
  toolFails: number;
  /** A tool has done its work, and fails all the same. Default 0.02. */
  toolFailsLate: number;
  /** A tool takes 20 seconds more. Default 0.02. */
  toolSlow: number;
  /** A tool never begins its work and never answers. Default 0.01. */
  toolHangs: number;
  /** A tool has done its work, and never answers. Default 0.01. */
  toolHangsLate: number;
  /** The process crashes: at a request, within an answer, at a call, after a call, at a save. Default 0.02. */
  crash: number;
  /**
   * The process is frozen for longer than its lease, and wakes up while another one performs the run. Default 0.004.
   */
  freeze: number;
  /** A write fails. Default 0.01. */
  storeFails: number;
  /** A write arrives, and fails all the same. Default 0.005. */
  storeFailsLate: number;
  /** The user aborts the run after a request. Default 0.01. */
  abort: number;
  /** The user adds a message after a request. Default 0.01. */
  steer: number;
  /** The user denies a question. Default 0.15. */
  deny: number;
  /** The user answers a question after an hour. Default 0.1. */
  lateAnswer: number;
  /** The user never answers a question. Default 0.02. */
  noAnswer: number;
}

const RATES: Rates = {
  refused: 0.02,
  overloaded: 0.01,
  unreachable: 0.02,
  html: 0.005,
  cut: 0.02,
  truncated: 0.01,
  streamError: 0.01,
  stalled: 0.005,
  silent: 0.005,
  toolFails: 0.02,
  toolFailsLate: 0.02,
  toolSlow: 0.02,
  toolHangs: 0.01,
  toolHangsLate: 0.01,
  crash: 0.02,
  freeze: 0.004,
  storeFails: 0.01,
  storeFailsLate: 0.005,
  abort: 0.01,
  steer: 0.01,
  deny: 0.15,
  lateAnswer: 0.1,
  noAnswer: 0.02,
};

/** What may happen to an agent. @beta */
export interface WorldOptions {
  /** The user's prompt. Default `"Go on."`. */
  prompt?: Prompt | undefined;
  /** Further options of `agent.run`, such as `messages` and `inputs`. Default: none. */
  run?: Omit<RunOptions, "id" | "signal"> | undefined;
  /**
   * The model: turns as `scripted` takes them, one for each iteration of each agent and the last one for all further
   * ones; `recorded(file)`; or a function that makes each turn. Default `chaos()`.
   */
  model?: readonly ScriptedTurn[] | WorldModel | undefined;
  /**
   * Whether calls run your tools' functions, or stand-ins that do nothing and say so: for all tools, or by name.
   * Default `"real"`.
   */
  tools?: "real" | "standIns" | { readonly [toolName: string]: "real" | "standIn" } | undefined;
  /** The chances of what may happen; those that you leave out have their defaults. */
  rates?: Partial<Rates> | undefined;
  /** What may happen at all; all other chances are 0. Default: everything. */
  only?: readonly (keyof Rates)[] | undefined;
  /**
   * Whether processes may crash and others resume their runs. Default: true if the agent has a `store`, which is
   * replaced by a simulated store.
   */
  crashes?: boolean | undefined;
}

/** The options of `simulate`. @beta */
export interface SimulateOptions {
  /** The number of seeds, 0, 1, 2 and so on, or the seeds themselves. Default 200. */
  seeds?: number | readonly number[] | undefined;
  /** What may happen. Default: everything, with the chances of {@link Rates}. */
  world?: WorldOptions | undefined;
  /**
   * The conditions for each run, in addition to `legalTranscript()`, `ends()`, `nothingAfterTheEnd()` and
   * `noDefects()`: an invariant, or a function that gets the record of the run and throws or returns a text if it is
   * violated.
   */
  invariants?: readonly Invariant[] | undefined;
  /** The choices of a failure, to play this one run again. Default: the seeds. */
  replay?: readonly Choice[] | undefined;
  /**
   * `"throw"` rejects with a `SimulationFailure` at the first failure. `"return"` plays all seeds, and the first
   * failure of each invariant is in `failures`. Default `"throw"`.
   */
  onFailure?: "throw" | "return" | undefined;
}

const OPTIONS: OptionTable = {
  seeds: "any",
  world: {
    prompt: "any",
    run: "object",
    model: "any",
    tools: "any",
    rates: Object.fromEntries(Object.keys(RATES).map((name) => [name, "number"])) as OptionTable,
    only: "texts",
    crashes: "boolean",
  },
  invariants: "any",
  replay: "any",
  onFailure: ["throw", "return"],
};

/** Checked options: the seeds as a list, and all rates. */
export interface Checked {
  readonly seeds: readonly number[];
  readonly world: Omit<WorldOptions, "rates" | "only"> & { readonly rates: Readonly<Rates> };
  readonly invariants: readonly Invariant[];
  readonly replay: readonly Choice[] | undefined;
  readonly onFailure: "throw" | "return";
}

/** @throws LoopletError `config_…` */
export function checkedOptions(given: SimulateOptions): Checked {
  const {
    seeds = 200,
    world = {},
    invariants = [],
    replay,
    onFailure = "throw",
  } = checkOptions(given, "", OPTIONS);
  const { rates = {}, only, ...rest } = world;
  if (!Array.isArray(invariants)) throw wrong("invariants", "needs an array", invariants);
  for (const [at, invariant] of invariants.entries()) {
    const isOne =
      typeof invariant === "function" || typeof (invariant as { check?: unknown })?.check === "function";
    if (!isOne)
      throw wrong(`invariants[${at}]`, "needs a function or an invariant of looplet/testing", invariant);
  }
  if (replay !== undefined && !(Array.isArray(replay) && replay.every(isChoice)))
    throw wrong("replay", "needs the choices of a failure", replay);
  const { tools } = rest;
  if (typeof tools === "string" && tools !== "real" && tools !== "standIns")
    throw wrong("world.tools", 'needs "real", "standIns" or an object', tools);
  const { model } = rest;
  if (model !== undefined && typeof model !== "function" && !(Array.isArray(model) && model.length > 0))
    throw wrong("world.model", "needs turns, recorded(file), chaos() or a function", model);
  for (const name of only ?? [])
    if (!Object.hasOwn(RATES, name))
      throw wrong("world.only", `needs names of ${Object.keys(RATES).join(", ")}`, name);
  const chances = { ...RATES, ...rates };
  for (const name of Object.keys(RATES) as (keyof Rates)[]) {
    if (!(chances[name] >= 0 && chances[name] <= 1))
      throw wrong(`world.rates.${name}`, "needs a number from 0 to 1", chances[name]);
    if (only !== undefined && !only.includes(name)) chances[name] = 0;
  }
  return { seeds: seedsOf(seeds), world: { ...rest, rates: chances }, invariants, replay, onFailure };
}

function seedsOf(seeds: unknown): readonly number[] {
  if (typeof seeds === "number" && Number.isSafeInteger(seeds) && seeds > 0)
    return Array.from({ length: seeds }, (_, seed) => seed);
  if (Array.isArray(seeds) && seeds.length > 0 && seeds.every((seed) => Number.isSafeInteger(seed)))
    return seeds;
  throw wrong("seeds", "needs a positive whole number, or an array of whole numbers", seeds);
}

function isChoice(value: unknown): boolean {
  const { at, pick } = Object(value) as Partial<Choice>;
  return typeof at === "string" && Number.isSafeInteger(pick);
}

function wrong(field: string, need: string, value: unknown): LoopletError {
  return new LoopletError("config_invalid_value", field, `${need}, got ${describe(value)}`);
}
