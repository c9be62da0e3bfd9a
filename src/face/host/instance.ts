/** One instance of the WebAssembly: what its runs share, the way into it, and its loss. */
import { BatchReader } from "./batch.js";
import type { LoadedWasm } from "./wasm.js";

/** A run in an instance. */
interface Tenant {
  /** The instance is lost, and this run with it. */
  lose(error: unknown): void;
}

/** What all runs of one instance of the WebAssembly share. A realm has one instance at a time. */
export class Instance {
  readonly reader: BatchReader;
  readonly shells = new Set<Tenant>();
  /** The last one whose run is over, empty: without any, a garbage collection drops the code optimised for its shape. */
  freed: Tenant | undefined;
  isLost = false;

  constructor(private readonly wasm: LoadedWasm) {
    const { linearMemory, outletAt } = wasm.glue;
    this.reader = new BatchReader(linearMemory() as WebAssembly.Memory, outletAt() >>> 2);
  }

  /**
   * Calls into the WebAssembly; undefined in an instance that is lost. Every import catches, so an error is either one
   * that the shell returns (the text of a problem, or `{ field, problem }`) or the loss of the instance, whatever its
   * class: a trap, a panic, a stack overflow, no memory. A loss ends every run of the instance.
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
        // On a stack that is nearly full. An empty one has room.
        void Promise.resolve().then(() => shell.lose(error));
      }
    }
  }

  /** Makes room for `length` bytes, or for as many as are taken at once. */
  widen(length: number): void {
    this.enter(() => {
      this.reader.inletAt = this.wasm.glue.inletFor(length);
      this.reader.capacity = this.wasm.glue.inletCapacity();
    });
  }
}

/** What the engine refuses: a configuration, a model, an input. */
export function isProblem(error: unknown): error is { field: string; problem: string } {
  return typeof error === "object" && error !== null && "field" in error && "problem" in error;
}

let latest: Instance | undefined;

/**
 * The instance that the next run is to be in: a fresh one, made of the compiled module, after a loss. Not to be called
 * from inside the WebAssembly: the glue would serve the frames of a lost instance with the memory of the fresh one.
 */
export function instanceOf(wasm: LoadedWasm): Instance {
  if (latest?.isLost) {
    wasm.glue.resetState();
    latest = undefined;
  }
  return (latest ??= new Instance(wasm));
}
