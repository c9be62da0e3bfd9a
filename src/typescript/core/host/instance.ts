/** One instance of the WebAssembly: the state that its runs share, the one way into it, and its loss. */
import { BatchReader } from "./batch.js";
import type { LoadedWasm } from "./wasm.js";

/** The number of prepared agents that an instance keeps. A forgotten one is prepared again at its next run. */
const MAX_AGENTS = 16;

type AgentHandle = InstanceType<LoadedWasm["glue"]["AgentHandle"]>;

/** A run in an instance. */
interface Tenant {
  /** Ends the run, because the instance is lost. */
  lose(error: unknown): void;
}

/** The state that all runs of one instance of the WebAssembly share. A realm has one instance at a time. */
export class Instance {
  readonly reader: BatchReader;
  readonly shells = new Set<Tenant>();
  /**
   * The last shell whose run is over, emptied. Without any shell a garbage collection would drop the code that is
   * optimised for its shape.
   */
  freed: Tenant | undefined;
  isLost = false;
  /** Prepared agents by their configuration, the one that was used last at the end. */
  private readonly agents = new Map<string, AgentHandle>();

  constructor(private readonly wasm: LoadedWasm) {
    const { linearMemory, outletAt } = wasm.glue;
    this.reader = new BatchReader(linearMemory() as WebAssembly.Memory, outletAt() >>> 2);
  }

  /**
   * Calls into the WebAssembly; returns undefined if the instance is lost. Every method of `Shell` that the
   * WebAssembly calls catches its errors, and `respond` gets a plain `Response` only. So an error here is either one
   * that the shell returns (the text of a problem, or `{ field, problem }`) or the loss of the instance, whatever its
   * class: a trap, a stack overflow, no memory. A panic throws an error with its words (`src/shell/panic.rs`). A loss
   * ends every run of the instance.
   */
  enter<T>(call: () => T): T | undefined {
    if (this.isLost) return undefined;
    try {
      return call();
    } catch (error) {
      if (typeof error === "string" || isProblem(error)) throw error;
      this.crash(error);
      return undefined;
    }
  }

  /**
   * The prepared agent of a configuration. Agents with equal configurations share it, so a server that makes its
   * agent for each request prepares it once. Returns undefined if the instance is lost; throws `{ field, problem
   * }` for a configuration that cannot run.
   */
  agent(config: string): AgentHandle | undefined {
    return this.enter(() => {
      const agent = this.agents.get(config) ?? new this.wasm.glue.AgentHandle(config);
      this.agents.delete(config);
      this.agents.set(config, agent);
      if (this.agents.size > MAX_AGENTS) this.forgetAgent();
      return agent;
    });
  }

  private forgetAgent(): void {
    const [oldest] = this.agents;
    this.agents.delete(oldest![0]);
    oldest![1].free();
  }

  /** Ends the runs of an instance that is lost. */
  crash(error: unknown): void {
    this.isLost = true;
    const shells = [...this.shells];
    this.shells.clear();
    for (const shell of shells) {
      try {
        shell.lose(error);
      } catch {
        // The stack may be nearly full; a microtask begins with an empty one.
        void Promise.resolve().then(() => shell.lose(error));
      }
    }
  }

  /** Makes room for `length` bytes, or for as many as one call can take. */
  widen(length: number): void {
    this.enter(() => {
      this.reader.inletAt = this.wasm.glue.inletFor(length);
      this.reader.capacity = this.wasm.glue.inletCapacity();
    });
  }
}

/** True for an error by which the engine refuses a configuration, a model or an input. */
export function isProblem(error: unknown): error is { field: string; problem: string } {
  return typeof error === "object" && error !== null && "field" in error && "problem" in error;
}

/**
 * The JSON with U+FFFD in place of each half of a letter (a lone surrogate), as an encoder of UTF-8 writes it. A text
 * that was cut within a letter has a half, and a model can write one. The engine would refuse the whole answer: a
 * hook that denies a call and quotes such a text would have no effect.
 */
export function wholeLetters(json: string): string {
  return json.replace(ESCAPES, (escape, half?: string) => (half === undefined ? escape : "\ufffd"));
}

/** Escapes of JSON: pairs of halves, halves, and all others. */
const ESCAPES =
  /\\(?:[^u]|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u([dD][89a-fA-F][\da-fA-F]{2})|u)/g;

let latest: Instance | undefined;

/**
 * The instance for the next run; after a loss, a fresh one made of the compiled module. It must not be called from
 * inside the WebAssembly: the glue would give the memory of the fresh instance to frames of the lost one.
 */
export function instanceOf(wasm: LoadedWasm): Instance {
  if (latest?.isLost) {
    wasm.glue.resetState();
    latest = undefined;
  }
  return (latest ??= new Instance(wasm));
}
