/**
 * A run with code that may change. It is a layer between the run and the engine.
 *
 * When there is new code, the old code starts nothing more: requests, calls and questions of the engine are held
 * back, while streaming answers and started calls continue. As soon as no answer is streaming, the run resumes from
 * its journal with the new code, and the engine repeats what was held back.
 */
import { message } from "../../core/kit/check.js";
import type { HostCallbacks, HostOutput, RunSource, Driver, OpenRun } from "../../core/kit/engine.js";
import type { AgentParts, EngineRun } from "../../core/kit/runs.js";
import type { RunEvent } from "../../core/api/event.js";
import { withPermissions } from "./permissions.js";

const runs = new WeakMap<EngineRun, HotRun>();

/** The hot half of a run. */
export function hotRunOf(run: EngineRun): HotRun {
  const known = runs.get(run) ?? new HotRun(run);
  runs.set(run, known);
  return known;
}

/** A driver at work. */
interface Turn {
  driver?: Driver;
  /** Whether it has no listener any more. */
  isOver: boolean;
  /** The requests that wait for the new code. */
  held: number;
  /** Whether the run resumes from its journal and has emitted nothing new yet. */
  retells: boolean;
}

/** Events that a run repeats when it resumes from its journal. */
const RETOLD = ["iteration-start", "attempt-start", "tool-call", "question", "waiting"];

class HotRun {
  /** The code that the run will switch to. */
  #next: AgentParts | undefined;
  /** The code that the next driver takes. */
  #taken: AgentParts | undefined;
  #turn: Turn | undefined;
  #isLooking = false;
  /** Events of the current iterations, which must not be emitted twice. */
  readonly #told = new Set<string>();

  constructor(private readonly run: EngineRun) {}

  /** Takes new code before the run's next effect. */
  take(parts: AgentParts): void {
    this.#next = parts;
    this.#look();
  }

  /** Opens the drivers of the run. */
  between(open: OpenRun): OpenRun {
    return (config, source, host) => {
      const turn: Turn = { isOver: false, held: 0, retells: false };
      this.#turn = turn;
      const parts = this.#taken;
      this.#taken = undefined;
      turn.driver =
        parts === undefined
          ? open(config, source, this.#host(host, turn))
          : this.#renewed(open, config, source, host, turn, parts);
      return turn.driver;
    };
  }

  /** Opens a driver with the new code, or with the code before if the engine refuses the new one. */
  #renewed(
    open: OpenRun,
    config: string,
    source: RunSource,
    host: HostCallbacks,
    turn: Turn,
    parts: AgentParts,
  ): Driver {
    turn.retells = true;
    try {
      const changed = parts.config();
      const journal = typeof source === "string" ? source : withPermissions(source, config, changed);
      const driver = open(changed, journal, this.#host(host, turn, RENEWED));
      this.run.equip(parts, changed);
      return driver;
    } catch (error) {
      const why = `${REFUSED}${problemOf(error)}`;
      console.warn(`[looplet] ${this.run.id}: ${why}`);
      return open(config, source, this.#host(host, turn, why));
    }
  }

  /** The callbacks of a driver. `note` is reported instead of the loss of an instance. */
  #host(host: HostCallbacks, turn: Turn, note?: string): HostCallbacks {
    const heard =
      <A extends unknown[]>(hear: (...args: A) => void) =>
      (...args: A): void => {
        if (!turn.isOver) hear(...args);
      };
    return {
      ...host,
      fetch: (url, init, model) => {
        if (this.#next === undefined) return host.fetch(url, init, model);
        turn.held++;
        init.signal.addEventListener("abort", () => void turn.held--);
        this.#look();
        return new Promise(() => {});
      },
      perform: heard((output) => {
        if (this.#next !== undefined && begins(output)) this.#look();
        else host.perform(output);
      }),
      onEvent: heard((event, agent) => {
        if (this.#isRetold(event, agent, turn)) return;
        const isLoss = event.type === "warning" && event.code === "instance_lost";
        const told = isLoss && note !== undefined ? { ...event, code: "hot_reload", message: note } : event;
        host.onEvent(told, agent);
      }),
      save: (save, entries) => {
        host.save(save, entries);
        this.#look();
      },
      done: heard(() => host.done()),
    };
  }

  /** Whether listeners have already received the event from the previous driver. */
  #isRetold(event: RunEvent, agent: number, turn: Turn): boolean {
    const { type } = event;
    if (type === "iteration-finish" && agent === 0) this.#told.clear();
    const text = RETOLD.includes(type) ? JSON.stringify([agent, { ...event, seq: 0 }]) : "";
    if (turn.retells && this.#told.has(text)) return true;
    if (type !== "warning") turn.retells = false;
    if (text !== "") this.#told.add(text);
    return false;
  }

  /** Looks once the input at hand is done whether the run can take its new code. */
  #look(): void {
    if (this.#next === undefined || this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      this.#swap();
    });
  }

  #swap(): void {
    const turn = this.#turn;
    if (this.#next === undefined || turn?.driver === undefined || turn.isOver) return;
    if (turn.driver.requests > turn.held) return;
    this.#taken = this.#next;
    this.#next = undefined;
    turn.isOver = true;
    this.run.renew(CHANGED);
  }
}

/** Whether an output begins something that the code of the agent does. */
function begins(output: HostOutput): boolean {
  return "callTool" in output || "ask" in output;
}

/** The words of the engine about a configuration or a journal that it refuses. */
function problemOf(error: unknown): string {
  const { field, problem } = error as { field?: string; problem?: string };
  return problem === undefined ? message(error) : `${field} ${problem}`.trimStart();
}

const CHANGED = "the code of the agent has changed";
const RENEWED = "The code of the agent has changed, and the run continues with the new code.";
const REFUSED = "The new code of the agent was refused, and the run continues with the previous code: ";
