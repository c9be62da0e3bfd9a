/** `looplet/sprout`: Sprout's agent loop by its own names, on looplet's engine. */
export { agentLoop, AgentLoopError } from "./agent-loop.js";
export { defineAgent, type SizedAgent, type SizedOptions, type SizedRun } from "./sizes.js";
export { sseCallbacks, toEventStream, type SseWriter } from "./sse.js";
export type * from "./types.js";
export type { ApiBlock } from "../anthropic.js";
export type { Host } from "../host.js";
export { iterationPresets } from "../presets/index.js";
export { init, type WasmSource } from "../../core/kit/engine.js";
