/** One instance of the WebAssembly: what its runs share, the way into it, and its loss. */
import { BatchReader } from "./batch.js";
import type { LoadedWasm } from "./wasm.js";

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

  constructor(private readonly wasm: LoadedWasm) {
    const { linearMemory, outletAt } = wasm.glue;
    this.reader = new BatchReader(linearMemory() as WebAssembly.Memory, outletAt() >>> 2);
  }

  /**
   * Calls into the WebAssembly; returns undefined if the instance is lost. Every import catches its errors. So an
   * error here is either one that the shell returns (the text of a problem, or `{ field, problem }`) or the loss of
   * the instance, whatever its class: a trap, a stack overflow, no memory. A panic traps. A loss ends every run of
   * the instance.
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

/** Whether an error is the engine's refusal of a configuration, a model or an input. */
export function isProblem(error: unknown): error is { field: string; problem: string } {
  return typeof error === "object" && error !== null && "field" in error && "problem" in error;
}

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
