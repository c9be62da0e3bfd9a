/**
 * `simulate`: runs an agent under random faults until an invariant fails.
 *
 * The folder `simulation/` owns the world around an agent: its time, its network, its model, its store, its user, and
 * the crashes of its processes. The engine is its only model of a run: it drives the agent through the options that
 * every agent has. `simulate` plays a run for each seed (`simulated.ts`), judges it (`invariants.ts`), shrinks the
 * choices of a failure (`shrink.ts`) and describes it (`story.ts`).
 */
import { LoopletError } from "../../../core/api/errors.js";
import { loadWasm } from "../../../core/kit/engine.js";
import { describe } from "../../../core/kit/check.js";
import { internalsOf } from "../../../core/kit/runs.js";
import { Choices, type Choice } from "./choices.js";
import { Digest } from "./digest.js";
import { Effects } from "./effects.js";
import { broken, namedInvariants, type NamedInvariant } from "./invariants.js";
import { checkedOptions, type Checked, type SimulateOptions } from "./options.js";
import type { SimulatedRun } from "./record.js";
import { shrunk } from "./shrink.js";
import { playRun } from "./simulated.js";
import { storyOf } from "./story.js";
import type { Subject } from "./world.js";

/** An invariant that a run has broken. @beta */
export interface Failure {
  /** The seed; undefined for choices that were played again. */
  readonly seed: number | undefined;
  /** The name of the invariant. */
  readonly invariant: string;
  /** How it is broken. */
  readonly message: string;
  /** What happened, in about ten lines. */
  readonly story: string;
  /** The choices that lead there: the option `replay` plays them again. */
  readonly choices: readonly Choice[];
  /** The last process of the run as the text of a `.loop` file; undefined for a program. */
  readonly file: string | undefined;
  /** The record of the run. */
  readonly run: SimulatedRun;
}

/** What `simulate` has found. @beta */
export interface Simulation {
  /** The number of runs, without those that have shrunk a failure. */
  readonly runs: number;
  /** The first failure of each invariant. */
  readonly failures: readonly Failure[];
  /** 16 hexadecimal digits that are equal for equal runs, on every machine. */
  readonly digest: string;
}

/** The rejection of `simulate`. Its message is the story of the failure. @beta */
export class SimulationFailure extends Error implements Failure {
  override readonly name = "SimulationFailure";
  readonly seed: number | undefined;
  readonly invariant: string;
  readonly story: string;
  readonly choices: readonly Choice[];
  readonly file: string | undefined;
  readonly run!: SimulatedRun;
  /** How it is broken, without the story. */
  readonly how: string;

  constructor(failure: Failure) {
    super(failure.story);
    this.seed = failure.seed;
    this.invariant = failure.invariant;
    this.story = failure.story;
    this.choices = failure.choices;
    this.file = failure.file;
    this.how = failure.message;
    // Test runners print the fields of an error, and a record is long.
    Object.defineProperty(this, "run", { __proto__: null, value: failure.run } as PropertyDescriptor);
    Object.defineProperty(this, "file", { __proto__: null, value: failure.file } as PropertyDescriptor);
  }
}

/**
 * Plays runs of an agent under random faults, in virtual time, and judges each: by your invariants, and by
 * `legalTranscript()`, `ends()`, `nothingAfterTheEnd()` and `noDefects()`. Equal seeds play equal runs.
 *
 * Rejects with a {@link SimulationFailure} at the first failure, unless `onFailure` is `"return"`; with a
 * `LoopletError` of a code `config_…` for wrong options.
 *
 * @beta
 *
 * @example
 * ```ts
 * import { anthropic, createAgent, tool } from "looplet";
 * import { memoryStore } from "looplet/stores";
 * import { neverTwice, simulate, type World } from "looplet/testing";
 *
 * const shop = (world: World) =>
 *   createAgent({
 *     model: anthropic("claude-opus-5-5", { apiKey: "any" }),
 *     store: memoryStore(),
 *     timeouts: { toolMs: 60_000 },
 *     tools: {
 *       pay: tool({
 *         description: "Pays",
 *         inputSchema: { type: "object" },
 *         execute: (_, { toolCallId }) => void world.effect("payment", toolCallId),
 *       }),
 *     },
 *   });
 * await simulate(shop, { seeds: 20, invariants: [neverTwice("payment")] });
 * ```
 */
export async function simulate(subject: Subject, options: SimulateOptions = {}): Promise<Simulation> {
  const checked = checkedOptions(options);
  if (typeof subject !== "function" && internalsOf(subject) === undefined) {
    const problem = `needs an agent that createAgent has made, or a function that makes one, got ${describe(subject)}`;
    throw new LoopletError("config_wrong_type", "agent", problem);
  }
  // The code below waits only for promises.
  await loadWasm();
  const invariants = namedInvariants(checked.invariants);
  const failures: Failure[] = [];
  const digest = new Digest();
  const known = new Names(invariants);
  const effects = new Effects();
  const waiting = new Map<string, Waiting>();
  const found = async ({ seed, run, invariant }: Omit<Waiting, "sinceRun">): Promise<void> => {
    if (failures.some((failure) => failure.invariant === invariant.name)) return;
    const message = broken(invariant, run, effects);
    if (message === undefined) return;
    const failure = await failureOf(subject, checked, seed, run, invariant, message, effects);
    if (checked.onFailure === "throw") throw new SimulationFailure(failure);
    failures.push(failure);
  };
  const seeds = checked.replay === undefined ? checked.seeds : [undefined];
  for (const [at, seed] of seeds.entries()) {
    const choices = seed === undefined ? Choices.of(checked.replay!) : Choices.seeded(seed);
    const { run } = await playRun(subject, checked.world, choices);
    digest.add(run);
    known.add(run);
    effects.add(run);
    for (const invariant of invariants) {
      const tools = invariant.restsOn?.(run, effects) ?? [];
      const key = JSON.stringify([invariant.name, ...tools]);
      if (tools.length === 0) await found({ seed, run, invariant });
      else if (!waiting.has(key)) waiting.set(key, { seed, run, invariant, sinceRun: at });
    }
    for (const [key, one] of waiting) {
      if (one.sinceRun + MORE_RUNS !== at) continue;
      await found(one);
      waiting.delete(key);
    }
  }
  for (const one of waiting.values()) await found(one);
  if (seeds.length >= ENOUGH_RUNS) known.check();
  return { runs: seeds.length, failures, digest: digest.text };
}

async function failureOf(
  subject: Subject,
  { world, replay }: Checked,
  seed: number | undefined,
  first: SimulatedRun,
  invariant: NamedInvariant,
  message: string,
  effects: Effects,
): Promise<Failure> {
  const fails = async (choices: readonly Choice[]): Promise<boolean> =>
    broken(invariant, (await playRun(subject, world, Choices.of(choices))).run, effects) !== undefined;
  const isLonely = !(await fails(first.choices));
  const isShrinking = replay === undefined && !isLonely;
  const choices = isShrinking ? await shrunk(first.choices, fails) : first.choices;
  const played = await playRun(subject, world, Choices.of(choices), true);
  const again = broken(invariant, played.run, effects);
  const run = again === undefined ? first : played.run;
  const told = { seed, invariant: invariant.name, message: again ?? message, choices, run };
  const story = storyOf({ ...told, before: first.choices.length, isLonely });
  return { ...told, story, file: again === undefined ? undefined : played.file };
}

/** A run that breaks an invariant, unless one of the next {@link MORE_RUNS} has an effect of the tool. */
interface Waiting {
  readonly seed: number | undefined;
  readonly run: SimulatedRun;
  readonly invariant: NamedInvariant;
  /** The place of its seed. */
  readonly sinceRun: number;
}

/** The runs after which a tool that has shown no effect is judged by its calls. */
const MORE_RUNS = 20;

/** The number of runs after which an unknown name is a mistake. */
const ENOUGH_RUNS = 50;

/** The names of which invariants speak, and those that runs know. */
class Names {
  readonly #wanted: readonly (readonly [invariant: string, name: string])[];
  readonly #known = new Set<string>();

  constructor(invariants: readonly NamedInvariant[]) {
    this.#wanted = invariants.flatMap(({ name, speaksOf = [] }) =>
      speaksOf.filter((one) => !one.includes("*")).map((one) => [name, one] as const),
    );
  }

  add({ calls, effects, options }: SimulatedRun): void {
    if (this.#wanted.length === 0) return;
    for (const { toolName } of calls) this.#known.add(toolName);
    for (const { name } of effects) this.#known.add(name);
    for (const [name, tool] of Object.entries(options?.tools ?? {}))
      this.#known.add((tool as { name?: string } | undefined)?.name ?? name);
  }

  /** @throws LoopletError for a name that no run knows */
  check(): void {
    const wrong = this.#wanted.find(([, name]) => !this.#known.has(name));
    if (wrong === undefined) return;
    const problem = `${wrong[0]} names "${wrong[1]}", which is not a tool of the agent, and not an effect that a run has reported`;
    throw new LoopletError("config_invalid_value", "invariants", problem);
  }
}
