/** Loads the WebAssembly. The types are those of the values that cross its boundary. */
export {
  /** An input that a host passes to the engine, as JSON. */
  type Input,
} from "../generated/input.js";
export {
  /** What the engine asks of its host, as JSON. */
  type Output,
  /** A call of a tool, as the engine passes it to the tool. */
  type ToolInvocation,
} from "../generated/model.js";
export {
  /** Receives the events of a driver's batches. */
  type BatchListener,
} from "../host/batch.js";
// What is internal here is not in the published types: its declarations use the glue, which has no types there.
/** @internal */
export {
  /** The functions that a driver calls. */
  type HostCallbacks,
  /** The outputs that a driver passes to its host. */
  type HostOutput,
  /** A question of the engine to the agent's functions. */
  type Question,
  /** The result of a run before its cost and names are added. */
  type RawRunResult,
  /** Reads the result of a run by its handle. */
  readResult,
  /** What a run starts from: options as JSON, or a journal. */
  type RunSource,
} from "../host/driver.js";
/** @internal */
export {
  /** A run in the engine. */
  type Driver,
  /** Opens a driver. */
  type OpenRun,
} from "../host/engine.js";
/** @internal */
export {
  /** An instance of the WebAssembly. */
  type Instance,
  /** The instance that new runs use. */
  instanceOf,
  /** Whether an error is the engine's refusal of an input. */
  isProblem,
} from "../host/instance.js";
export {
  /** The result of a tool. */
  type ToolReturn,
} from "../host/question.js";
/** @internal */
export {
  /** The methods of a run in the WebAssembly. */
  type Handle,
} from "../host/shell.js";
export {
  /** Sets the source of the WebAssembly, for the entries that have none. */
  init,
  /** What `init` accepts. */
  type WasmSource,
} from "../host/wasm.js";
/** @internal */
export {
  /** The compiled WebAssembly and its glue. */
  type LoadedWasm,
  /** Loads the WebAssembly once. */
  loadWasm,
} from "../host/wasm.js";
