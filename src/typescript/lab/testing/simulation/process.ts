/**
 * One process of a simulated run: everything that an agent uses of its platform. After the process has crashed, its
 * code has no effect, and nothing that it waits for arrives.
 */
import type { Agent, AgentOptions, Clock } from "../../../core/api/agent.js";
import { RunError } from "../../../core/api/errors.js";
import type { RunEvent } from "../../../core/api/event.js";
import type { Fetch } from "../../../core/api/model.js";
import type { RunResult } from "../../../core/api/result.js";
import type { Run, Store } from "../../../core/api/run.js";
import type { ToolReturn } from "../../../core/kit/engine.js";
import { internalsOf } from "../../../core/kit/runs.js";
import { recorder } from "../../replay/recorder.js";
import { answerRequest, inputText, type AskedBy } from "./model/answers.js";
import { Questions } from "./person.js";
import {
  RUN_ID,
  type Approval,
  type Happening,
  type SimulatedCall,
  type SimulatedProcess,
} from "./record.js";
import { never, type Owner } from "./timeline.js";
import type { Simulated } from "./simulated.js";
import type { World } from "./world.js";

/** How long a process is frozen, and the delay before another one resumes the run: a lease lasts 90 seconds. */
const FROZEN_MS = 200_000;
const NEXT_MS = 100_000;
/** The time that a slow tool takes more. */
const SLOW_MS = 20_000;
/** The delay between a request and the user's message. */
const SPEAKS_MS = 50;

export class Process implements Owner {
  isDead = false;
  asleepUntilMs = 0;
  /** The result of the run in this process. */
  result: RunResult | undefined;
  /** The run of the agent, after its start. */
  run: Run | undefined;
  readonly clock: Clock;
  readonly told: SimulatedProcess;
  /** Who has asked for the requests that are about to come. */
  readonly #asking: AskedBy[] = [];
  /** The inputs of calls, by their ids. */
  readonly #inputs = new Map<string, unknown>();
  /** The ids of calls that have a result. */
  readonly #over = new Set<string>();
  /** The number of calls with tools that may wait for real I/O. */
  working = 0;
  #inside = 0;
  readonly #questions = new Questions(this);

  constructor(
    readonly world: Simulated,
    readonly number: number,
  ) {
    this.clock = world.timeline.clock(this);
    this.told = { number, startedMs: world.atMs, end: "going" };
    world.record.processes.push(this.told);
  }

  /** Starts the run of an agent, or resumes it. */
  async runAgent(agent: Agent, takeOver: boolean): Promise<void> {
    const { world } = this;
    const own = this.furnished(agent, true);
    const { prompt = "Go on.", run: given } = world.options;
    const onEvent = (event: RunEvent): void => {
      if (!this.isDead) this.#hear(event);
      (given?.onEvent as ((event: RunEvent) => void) | undefined)?.(event);
    };
    const listeners = { onError: () => {}, ...given, onEvent };
    const isKept = ((await world.store.load(RUN_ID)) ?? []).length > 0;
    const { messages: _, subagents: _s, agent: _a, chatUsage: _c, inputs: _i, ...resumed } = listeners;
    this.run = isKept
      ? own.resume(RUN_ID, { ...resumed, takeOver })
      : own.run(prompt, { ...listeners, id: RUN_ID });
    const { run } = this;
    const result = await run.result.catch((error: unknown) => {
      if (error instanceof RunError) return error.result;
      throw error;
    });
    if (this.isDead) return;
    if (result.outcome === "failed" && result.error.code === "run_held")
      return this.world.next(NEXT_MS, false);
    this.result = result;
    const why = result.outcome === "failed" ? `: ${result.error.message}` : "";
    this.tell("end", () => `the run ends as ${result.outcome}${why}`);
    await run.saved().catch(() => {});
  }

  /** The agent with the platform of this process. */
  furnished(agent: Agent, isRoot = false): Agent {
    const made = internalsOf(agent)!;
    const { options } = made;
    if (isRoot) this.world.agent = options;
    const { store, ...rest } = options;
    return made.again({
      ...rest,
      ...(isRoot ? this.#questions.watched(options) : {}),
      ...((store !== undefined || (isRoot && this.world.canCrash)) && { store: this.store }),
      ...(isRoot && this.world.isRecorded && { record: recorder() }),
      clock: this.clock,
      random: this.world.random,
      ids: this.world.ids,
      steps: {
        fetch: () => (isRoot ? this.#fetchAsRun : this.fetch),
        call: (name, work) => this.#call(name, work as () => Promise<unknown>) as ReturnType<typeof work>,
      },
    } as AgentOptions);
  }

  /** A `fetch` for agents and programs that the run does not know. */
  readonly fetch: Fetch = (url, init) =>
    answerRequest(this, url, init, { agentPath: "inside", iteration: ++this.#inside });

  readonly #fetchAsRun: Fetch = (url, init) =>
    answerRequest(
      this,
      url,
      init,
      this.#asking.shift() ?? { agentPath: "inside", iteration: ++this.#inside },
    );

  /** The store of the run, as this process reaches it. */
  readonly store: Store = {
    append: async (key, entries, expectedSeq, fence) => {
      const { choices, rates, store } = this.world;
      await this.place("at a save");
      const fault = choices.pick("the store", [rates.storeFails, rates.storeFailsLate]);
      if (fault > 0)
        this.tell("fault", () => `a write into the store fails${fault === 2 ? ", but it has arrived" : ""}`);
      if (fault === 1) throw new Error("the store is not there");
      await store.append(key, entries, expectedSeq, fence);
      await this.place("behind a save");
      if (fault === 2) throw new Error("the store is not there");
    },
    load: async (key, after) => {
      await this.alive();
      return this.world.store.load(key, after);
    },
    lease: async (key, options) => {
      await this.alive();
      const lease = await this.world.store.lease(key, options);
      if (lease === undefined) return undefined;
      this.world.holder = this.number;
      return {
        fence: lease.fence,
        renew: async (ttlMs) => (await this.alive(), lease.renew(ttlMs)),
        release: async (isPending) => (await this.alive(), lease.release(isPending)),
      };
    },
    pending: async () => (await this.alive(), this.world.store.pending()),
    ended: async (ageMs) => (await this.alive(), this.world.store.ended(ageMs)),
    delete: async (key) => (await this.alive(), this.world.store.delete(key)),
  };

  /** Resolves if the process lives and is awake, as soon as it is. */
  async alive(): Promise<void> {
    if (this.isDead) return never();
    if (this.asleepUntilMs > this.world.timeline.nowMs) await this.wait(0);
  }

  /** A place at which the process may crash or freeze. It does not resolve in a process that has ended. */
  async place(where: string): Promise<void> {
    await this.alive();
    if (!this.world.canCrash || this.told.end === "ended") return;
    const { choices, rates } = this.world;
    const mayEnd = this.world.record.processes.length <= MOST_ENDS ? 1 : 0;
    const fate = choices.pick(`the process ${where}`, [mayEnd * rates.crash, mayEnd * rates.freeze]);
    if (fate === 1) return this.end(where);
    if (fate === 2) {
      this.tell("process", () => `the process freezes ${where}, for longer than its lease`);
      this.asleepUntilMs = this.world.timeline.nowMs + FROZEN_MS;
      this.world.next(NEXT_MS, false);
      await this.alive();
    }
  }

  /** Chooses whether the process ends at a later place, which calls `end`. */
  mayEnd(where: string): boolean {
    const { choices, rates, canCrash, record } = this.world;
    if (!canCrash || this.told.end !== "going" || record.processes.length > MOST_ENDS) return false;
    return choices.pick(`the process ${where}`, [rates.crash]) === 1;
  }

  /** The process crashes here, and another one resumes its run. */
  end(where: string): Promise<never> {
    if (this.isDead) return never();
    this.tell("process", () => `the process crashes ${where}`);
    this.isDead = true;
    this.told.end = "died";
    // Either the lease has expired, or the store knows that its holder is gone.
    const isKnown = this.world.choices.pick("the next process", [0.5]) === 1;
    this.world.next(isKnown ? 1000 : NEXT_MS, isKnown);
    return never();
  }

  /** Resolves when the time has passed in this process; rejects with the signal's reason. */
  wait(delayMs: number, signal?: AbortSignal): Promise<void> {
    const { timeline } = this.world;
    let due: unknown;
    const passed = new Promise<void>((resolve) => (due = timeline.after(delayMs, resolve, this)));
    return signal === undefined ? passed : this.until(passed, signal, () => timeline.cancel(due));
  }

  /** Settles as `work` does, or rejects with the signal's reason. */
  until<T>(work: Promise<T>, signal: AbortSignal, stop = (): void => {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => (stop(), reject(signal.reason));
      if (signal.aborted) return onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      const over = (): void => signal.removeEventListener("abort", onAbort);
      work.then((value) => (over(), resolve(value)), reject);
    });
  }

  tell(kind: Happening["kind"], say: () => string): void {
    this.world.tell(this, kind, say);
  }

  /** The user may send a message after a request. */
  interfere(): void {
    const { choices, rates, timeline } = this.world;
    const { run } = this;
    if (run === undefined) return;
    const word = choices.pick("the person", [rates.abort, rates.steer]);
    if (word === 0) return;
    const speak = (): void => {
      if (run.outcome !== undefined) return;
      this.tell("person", () => (word === 1 ? "the user aborts the run" : 'the user adds "Hurry."'));
      if (word === 1) run.abort("the user aborted it");
      else run.steer("Hurry.");
    };
    timeline.after(SPEAKS_MS, speak, this);
  }

  #hear(event: RunEvent): void {
    const { record } = this.world;
    record.events.push(event);
    const { agentPath, iteration } = event;
    if (event.type === "attempt-start") this.#asking.push({ agentPath, iteration });
    else if (event.type === "tool-call") this.#inputs.set(event.toolCallId, event.input);
    else if (event.type === "tool-error" || event.type === "tool-result") this.#over.add(event.toolCallId);
    else if (event.type === "question") this.#questions.hear(event);
  }

  /** A tool call: what happens before, during and after it. */
  async #call(name: string, work: () => Promise<unknown>): Promise<unknown> {
    const { world } = this;
    const { choices, rates, record } = world;
    const at = name.indexOf(" ");
    const [toolName, toolCallId] = [name.slice(0, at), name.slice(at + 1)];
    await this.place(`before ${toolName} runs`);
    const fate = choices.pick(`the tool ${toolName}`, [
      rates.toolFails,
      rates.toolFailsLate,
      rates.toolSlow,
      rates.toolHangs,
      rates.toolHangsLate,
    ]);
    if (fate > 0) this.tell("fault", () => `${toolName} ${TOOL_FATES[fate]}`);
    if (fate === 1) throw new Error("the service is not there");
    // A call that was aborted meanwhile would not have started.
    if (fate === 4 || this.#over.has(toolCallId) || this.run?.outcome !== undefined) return never();
    const input = this.#inputs.get(toolCallId);
    const approval = world.approvals.get(toolCallId) ?? {};
    const begun = { process: this.number, startedMs: world.atMs };
    const call: SimulatedCall = { toolCallId, toolName, input, ...begun, approval };
    // The call of a process that has lost its lease does not start, unless looplet has a bug.
    const isHolder = world.holder === undefined || world.holder === this.number;
    if (isHolder) record.calls.push(call);
    const times = record.calls.filter((other) => other.toolCallId === toolCallId).length;
    const given = world.areInputsHidden ? ` with ${inputText(JSON.stringify(input) ?? "no input")}` : "";
    if (isHolder)
      this.tell(
        given === "" ? "act" : "input",
        () => `${toolName} runs${times > 1 ? " once more" : ""}${given}, as ${toolCallId}`,
      );
    const result = (world.isStandIn(toolName) ? STAND_IN : await this.#worked(work)) as ToolReturn;
    if (this.isDead) return never();
    if ("fault" in result && result.fault.code === "save_failed") {
      const { message } = result.fault;
      if (isHolder) record.calls.splice(record.calls.indexOf(call), 1);
      this.tell("act", () => `${toolName} does not run after all: ${message}`);
      return result;
    }
    if (!isHolder) record.calls.push(call);
    call.endedMs = world.atMs;
    call.isError = "fault" in result;
    if ("value" in result) call.output = result.value;
    await this.place(`behind ${toolName}`);
    if (fate === 3) await this.wait(SLOW_MS);
    if (fate === 5) return never();
    if (fate === 2) throw new Error("the answer of the service was lost");
    return result;
  }

  async #worked(work: () => Promise<unknown>): Promise<unknown> {
    this.working += 1;
    this.world.patience = PATIENCE_TURNS;
    try {
      return await work();
    } finally {
      this.working -= 1;
    }
  }

  /** Adds to how the calls with this id are approved. */
  approve(toolCallId: string, approval: Approval): void {
    const { approvals } = this.world;
    approvals.set(toolCallId, { ...approvals.get(toolCallId), ...approval });
  }

  /** The world as the user's code sees it in this process. */
  get handle(): World {
    return this.world.handleOf(this);
  }
}

/** The maximum number of processes of one run that crash or freeze. */
const MOST_ENDS = 3;

/** Turns of the event loop in which a tool may do real work before the clock moves on. */
const PATIENCE_TURNS = 20;

const STAND_IN: ToolReturn = { value: '"Done by a stand-in."' };

const TOOL_FATES = [
  "",
  "fails before it has done anything",
  "does its work, and its answer is lost",
  "takes 20 seconds",
  "hangs before it has done anything",
  "does its work, and never answers",
] as const;
