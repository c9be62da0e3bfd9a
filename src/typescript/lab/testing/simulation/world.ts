/** The world of a simulated run, as your code reaches it. */
import type { Agent, AgentOptions } from "../../../core/api/agent.js";
import type { Fetch } from "../../../core/api/model.js";

/**
 * The world in which an agent is simulated. The function that creates your agent receives a new one in each process
 * of a run. All of its times are virtual.
 *
 * @beta
 */
export interface World {
  /** The number of the process, from 1. It increases when a process has crashed and another one resumes the run. */
  readonly process: number;
  /** Milliseconds since the epoch, by the clock of the world. */
  now(): number;
  /** Resolves when this time has passed. A tool that waits with it waits in virtual time. */
  sleep(delayMs: number): Promise<void>;
  /**
   * A value that outlives the process, such as a database: `make` makes it when the run asks for this name for the
   * first time.
   */
  kept<T>(name: string, make: () => T): T;
  /**
   * Reports an external effect: a payment, a sent mail. Invariants find it by its name. Equal keys are one effect.
   */
  effect(name: string, key: string): void;
  /**
   * True with this probability, for your stand-in that fails sometimes. It is one of the choices of the run, and
   * false if it is not needed to reproduce a failure.
   */
  chance(name: string, chance: number): boolean;
  /**
   * Asks the user about a call. Resolves with true if they allow it. They may answer late or never. For your own
   * `canUseTool`.
   */
  ask(toolCallId: string): Promise<boolean>;
  /** The world's `fetch`, with answers from its model: for programs, and for vendors' SDKs. */
  readonly fetch: Fetch & typeof fetch;
  /** The platform of this process: options for an agent that a program makes itself. */
  readonly platform: Required<Pick<AgentOptions, "clock" | "random" | "ids" | "store">>;
  /** The same agent in this world. For an agent that a tool or a program runs itself. */
  inside(agent: Agent): Agent;
}

/**
 * The subject of a simulation: an agent, or a function that creates it, and is called again in each process. A
 * function that returns no agent is a program: the run is over when its promise settles.
 *
 * @beta
 */
export type Subject = Agent | ((world: World) => unknown);
