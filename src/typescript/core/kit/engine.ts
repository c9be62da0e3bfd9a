/** The WebAssembly and the types of what crosses its boundary. */
export type { Input } from "../generated/input.js";
export type { Output } from "../generated/model.js";
export type { BatchListener } from "../host/batch.js";
export {
  type HostCallbacks,
  type HostOutput,
  type Question,
  type RawRunResult,
  readResult,
  type RunSource,
  type ToolInvocation,
} from "../host/driver.js";
export type { Driver, OpenRun } from "../host/engine.js";
export { type Instance, instanceOf, isProblem } from "../host/instance.js";
export type { ToolReturn } from "../host/question.js";
export type { Handle } from "../host/shell.js";
export { init, type LoadedWasm, loadWasm, type WasmSource } from "../host/wasm.js";
