/** `looplet/production`: the pieces of a production loop by their own names, and the loop on looplet's engine. */
export { runProduction } from "./run-production.js";
export { shouldStop, type LoopState } from "./should-stop.js";
export {
  executeToolBlocks,
  serializeResult,
  toolError,
  toToolResult,
  type ToolBlockContext,
  type ToolErrorBody,
  type ToolResultOf,
  type ToolUseResult,
  type ToolUseBlock,
} from "./tool-blocks.js";
export type * from "./types.js";
export type { ApiBlock } from "../anthropic.js";
export type { Host } from "../host.js";
export { iterationPresets } from "../presets/index.js";
export { stopReason } from "../../extras/trace/rows.js";
export { init, type WasmSource } from "../../core/kit/engine.js";
