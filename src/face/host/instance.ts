/** One instance of the WebAssembly: what its runs share, and how its end is noticed. */
import { BatchReader } from "./batch.js";
import type { LoadedWasm } from "./wasm.js";

/** A run in an instance. */
interface Tenant {
  /** The instance is lost, and this run with it. Does not throw. */
  lose(error: unknown): void;
}

/** What all runs of one instance of the WebAssembly share: the way out and the way in, and its end. */
export class Instance {
  readonly reader: BatchReader;
  readonly shells = new Set<Tenant>();
  /** The last one whose run is over, empty: without any, a garbage collection drops the code optimised for its shape. */
  freed: Tenant | undefined;
  /** How many parts of the engine it has. */
  private filled = 0;

  constructor(
    private readonly wasm: LoadedWasm,
    memory: WebAssembly.Memory,
  ) {
    const { lostFlag, outletAt } = wasm.glue;
    this.reader = new BatchReader(memory, lostFlag() >>> 2, outletAt() >>> 2);
  }

  /** Whether a trap has ended this instance; if so, so have its runs when this returns. */
  isLost(): boolean {
    const { reader } = this;
    if (reader.words.length === 0) reader.look();
    if (reader.words[reader.lostWord] === 0) return false;
    this.crash(trapped());
    return true;
  }

  /** Puts in the parts that have been loaded since. */
  fill(): void {
    const { parts, glue } = this.wasm;
    if (parts !== undefined) this.filled = parts.fill(glue.instanceExports(), this.filled);
  }

  /** Ends the runs of an instance that is lost. */
  crash(thrown: unknown): void {
    const error = this.wasm.parts?.explain(thrown) ?? thrown;
    const shells = [...this.shells];
    this.shells.clear();
    for (const shell of shells) shell.lose(error);
  }

  /** Makes room for `length` bytes, or for as many as are taken at once. */
  widen(length: number): void {
    this.reader.inletAt = this.wasm.glue.inletFor(length);
    this.reader.capacity = this.wasm.glue.inletCapacity();
  }
}

/** What ends the runs of an instance that a trap has ended. */
export function trapped(): Error {
  return new Error("the WebAssembly instance has ended by a trap");
}

let latest: Instance | undefined;

/** The instance that the next run is to be in, with every part that is loaded. */
// Asked of the glue each time, before anything else: it replaces an instance that was lost, at the first call, and a
// string that is an argument of that call would still go into the memory of the lost one.
export function instanceOf(wasm: LoadedWasm): Instance {
  const memory = wasm.glue.linearMemory() as WebAssembly.Memory;
  if (latest?.reader.memory !== memory) {
    latest?.isLost();
    latest = new Instance(wasm, memory);
  }
  latest.fill();
  return latest;
}
