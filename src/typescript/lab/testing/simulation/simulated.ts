/**
 * One simulated run: its processes, the store that outlives them, the time, and the record of everything that was
 * done. `playRun` plays it to its end.
 */
import type { Agent, AgentOptions } from "../../../core/api/agent.js";
import { LoopletError } from "../../../core/api/errors.js";
import type { Fetch, FetchInit } from "../../../core/api/model.js";
import type { Store } from "../../../core/api/run.js";
import { internalsOf } from "../../../core/kit/runs.js";
import type { Conversation } from "../../practice/conversation.js";
import { seededRandom } from "../../practice/random.js";
import type { ScriptedTurn } from "../../practice/types.js";
import { memoryStore } from "../../../extras/stores/memory.js";
import { isTaskOpen } from "../../../server/workers/hosting/task.js";
import { chaos, scriptOf, type AskedTurn, type WorldModel } from "./model/chaos.js";
import type { Choices } from "./choices.js";
import type { Checked } from "./options.js";
import { askPerson } from "./person.js";
import { Process } from "./process.js";
import type { Approval, Happening, SimulatedRun } from "./record.js";
import { START_MS, task, Timeline, turn } from "./timeline.js";
import type { Subject, World } from "./world.js";

/** Steps of virtual time in one run, beyond which it counts as endless. */
const MOST_STEPS = 20_000;
/**
 * Consecutive tasks without progress of time: on a platform with timers that do not fire, a task may never finish.
 */
const MOST_TASKS = 20;
/** The virtual time without an event after which the run counts as stuck. */
const PATIENCE_MS = 24 * 3_600_000;
/** The virtual time after the end of a run in which something may still happen. */
const AFTERMATH_MS = 600_000;

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };
type Open = Writable<
  Pick<SimulatedRun, "events" | "requests" | "calls" | "effects" | "errors" | "happenings">
> & {
  processes: SimulatedRun["processes"][number][];
};

/** Plays a run to its end. `isRecorded` also makes its `.loop` file. */
export async function playRun(
  subject: Subject,
  options: Checked["world"],
  choices: Choices,
  isRecorded = false,
): Promise<{ run: SimulatedRun; file: string | undefined }> {
  return new Simulated(subject, options, choices, isRecorded).play();
}

export class Simulated {
  readonly timeline = new Timeline();
  readonly store: Required<Store> = memoryStore({ now: () => this.timeline.nowMs });
  readonly rates: Checked["world"]["rates"];
  readonly random = seededRandom("the engine");
  readonly record: Open = {
    events: [],
    requests: [],
    calls: [],
    effects: [],
    processes: [],
    errors: [],
    happenings: [],
  };
  /** The tokens of all answers that have arrived whole. */
  tokens = 0;
  /** The number of the process that has the lease; undefined before one has it. */
  holder: number | undefined;
  /** The approvals of calls so far, by their ids. */
  readonly approvals = new Map<string, Approval>();
  /** The options of the agent, after it is created. */
  agent: AgentOptions | undefined;
  /** Whether an answer arrived as bytes, so that no line of the story shows its calls. */
  areInputsHidden = false;
  /** A question will never be answered. */
  neverAnswers = false;
  /** Turns of the event loop that real work of tools may still take. */
  patience = 0;
  readonly #model: WorldModel;
  readonly #kept = new Map<string, unknown>();
  readonly #processes: Process[] = [];
  /** The number of processes that will still start. */
  #coming = 0;
  #ids = 0;
  #isProgram = false;
  /** A mistake in the options or in the code of the simulation's user, which is no finding. */
  #mistake: unknown;

  constructor(
    readonly subject: Subject,
    readonly options: Checked["world"],
    readonly choices: Choices,
    readonly isRecorded: boolean,
  ) {
    this.rates = options.rates;
    const { model = chaos() } = options;
    this.#model = typeof model === "function" ? model : scriptOf(model);
  }

  async play(): Promise<{ run: SimulatedRun; file: string | undefined }> {
    this.#begin(false);
    const how = await this.#untilEnd();
    const elapsedMs = this.atMs;
    if (how === "ended") await this.#aftermath();
    const file = this.#file();
    // A frozen process ends after the one that resumed its run.
    const results = this.#processes.flatMap(({ result }) => result ?? []);
    const last = results.at(-1)?.outcome;
    const outcome = how === "ended" ? (this.#isProgram ? "over" : (last ?? "stuck")) : how;
    const pending = this.#isProgram ? [] : await this.store.pending();
    this.#close();
    if (this.#mistake !== undefined) throw this.#mistake;
    const { made } = this.choices;
    const run: SimulatedRun = {
      ...this.record,
      results,
      options: this.agent,
      outcome,
      elapsedMs,
      pending,
      choices: made,
    };
    return { run, file };
  }

  /** Milliseconds since the beginning of the run. */
  get atMs(): number {
    return this.timeline.nowMs - START_MS;
  }

  /** Whether processes may crash and others resume their runs. */
  get canCrash(): boolean {
    return this.options.crashes ?? this.agent?.store !== undefined;
  }

  readonly ids = (): string => `id-${++this.#ids}`;

  isStandIn(toolName: string): boolean {
    const { tools = "real" } = this.options;
    return typeof tools === "string" ? tools === "standIns" : tools[toolName] === "standIn";
  }

  /** The turn that answers a request. */
  turnOf(
    asked: Pick<AskedTurn, "request" | "agentPath" | "iteration"> & { conversation: () => Conversation },
  ): ScriptedTurn {
    const { choices } = this;
    let conversation: Conversation | undefined;
    try {
      return this.#model({
        ...asked,
        get conversation() {
          return (conversation ??= asked.conversation());
        },
        pick: (place, chances) => choices.pick(place, chances),
        number: (place, below) => choices.number(place, below),
      });
    } catch (error) {
      throw this.mistaken(error);
    }
  }

  /** Ends the simulation by this error, which is no finding. */
  mistaken(error: unknown): unknown {
    this.#mistake ??= error;
    return error;
  }

  tell(process: Process, kind: Happening["kind"], say: () => string): void {
    this.record.happenings.push({ atMs: this.atMs, process: process.number, kind, say });
  }

  /** Another process resumes the run. */
  next(delayMs: number, takeOver: boolean): void {
    this.#coming += 1;
    this.timeline.after(delayMs, () => {
      this.#coming -= 1;
      // No process acquires the run of another process that is still running.
      const isFree = this.#processes.every(({ told }) => told.end !== "going");
      const next = this.#begin(takeOver && isFree);
      next.tell("process", () => `process ${next.number} resumes the run`);
    });
  }

  handleOf(process: Process): World {
    const { record, timeline } = this;
    return {
      process: process.number,
      now: () => timeline.nowMs,
      sleep: (delayMs) => process.wait(delayMs),
      kept: <T>(name: string, make: () => T): T => {
        if (!this.#kept.has(name)) this.#kept.set(name, make());
        return this.#kept.get(name) as T;
      },
      effect: (name, key) => {
        if (process.isDead) return;
        record.effects.push({ name, key: String(key), process: process.number, atMs: this.atMs });
        process.tell("act", () => `${name} happens, for ${key}`);
      },
      chance: (name, chance) => {
        const isSo = this.choices.pick(name, [chance]) === 1;
        if (isSo) process.tell("fault", () => `${name}, as your stand-in has it`);
        return isSo;
      },
      ask: (toolCallId) => askPerson(process, toolCallId, "a call"),
      fetch: fetchOf(process),
      platform: { clock: process.clock, random: this.random, ids: this.ids, store: process.store },
      inside: (agent) => process.furnished(agent),
    };
  }

  #begin(takeOver: boolean): Process {
    const process = new Process(this, this.#processes.length + 1);
    this.#processes.push(process);
    void this.#live(process, takeOver);
    return process;
  }

  async #live(process: Process, takeOver: boolean): Promise<void> {
    const { subject } = this;
    try {
      const made: unknown = typeof subject === "function" ? await subject(process.handle) : subject;
      if (internalsOf(made) === undefined) this.#isProgram = true;
      else await process.runAgent(made as Agent, takeOver);
    } catch (error) {
      // Wrong options are no finding, unless the run itself has made them.
      const isEarly = process.number === 1 && this.record.requests.length === 0;
      if (isEarly && error instanceof LoopletError && error.code.startsWith("config_")) this.mistaken(error);
      this.record.errors.push(error);
      process.tell("end", () => `it throws ${String(error)}`);
    }
    if (!process.isDead) process.told.end = "ended";
  }

  /** Lets everything happen, until no process is under way. */
  async #untilEnd(): Promise<"ended" | "waiting" | "stuck" | "endless"> {
    let [told, toldMs] = [0, 0];
    for (let steps = 0; ; steps++) {
      await this.#settled();
      if (this.#coming === 0 && this.#processes.every(({ told }) => told.end !== "going")) return "ended";
      if (this.#mistake !== undefined) return "stuck";
      if (steps > MOST_STEPS) return "endless";
      const count = this.record.happenings.length + this.record.events.length;
      if (count !== told) [told, toldMs] = [count, this.timeline.nowMs];
      const isIdle = this.timeline.nowMs - toldMs > PATIENCE_MS;
      if (isIdle || !this.timeline.step(Infinity)) return this.neverAnswers ? "waiting" : "stuck";
    }
  }

  /** Lets everything happen that is still pending after the end of the run. */
  async #aftermath(): Promise<void> {
    const untilMs = this.timeline.nowMs + AFTERMATH_MS;
    do await this.#settled();
    while (this.timeline.step(untilMs));
  }

  async #settled(): Promise<void> {
    await turn();
    for (let tasks = 0; isTaskOpen() && tasks < MOST_TASKS; tasks++) await task();
    while (this.patience > 0 && this.#processes.some(({ working, isDead }) => working > 0 && !isDead)) {
      this.patience -= 1;
      await turn();
    }
  }

  #file(): string | undefined {
    if (!this.isRecorded) return undefined;
    const runs = this.#processes.flatMap(({ run }) => run ?? []);
    try {
      return runs.at(-1)?.export();
    } catch {
      return undefined;
    }
  }

  /** Lets go of runs that have not ended, without a word to the store. */
  #close(): void {
    for (const process of this.#processes) {
      process.isDead = true;
      if (process.run !== undefined && process.run.outcome === undefined)
        process.run.abort("the simulation is over");
    }
  }
}

/** The `fetch` of a process, for code that wants the platform's own. */
function fetchOf(process: Process): World["fetch"] {
  const send = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const request = input instanceof Request ? input : undefined;
    const url = request?.url ?? String(input);
    const signal = init.signal ?? request?.signal ?? new AbortController().signal;
    const body = init.body ?? (request === undefined ? undefined : await request.text());
    const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(String(body ?? ""));
    const method = (init.method ?? request?.method ?? "GET").toUpperCase();
    const own = new Headers(init.headers ?? request?.headers);
    const asked = { method, headers: own, body: bytes, signal, redirect: "manual" } as FetchInit;
    const { status, headers, body: given } = await process.fetch(url, asked);
    const reader = (
      given as { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array }> } }
    ).getReader();
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value!);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(stream, { status, headers: headers as Record<string, string> });
  };
  return send as unknown as Fetch & typeof fetch;
}
