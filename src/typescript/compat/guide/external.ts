/**
 * `looplet/guide`: the pieces of the guide "How to Implement an Agent Loop". A session is a list of generic messages;
 * four pieces work on it, and each can be replaced by your own: the session, `invokeModel`, `executeToolCalls` and
 * `runSession`. They are independent of looplet's engine on purpose, because the guide asks for a loop that its
 * reader puts together; only `makeInvokeModel` asks a model of looplet once.
 */
export { compactSession, copySession, type CompactOptions } from "./compact.js";
export { makeInvokeModel, type InvokeModelOptions } from "./invoke-model.js";
export { agentLoop, executeToolCalls, runSession, type ExecuteOptions, type SessionOptions } from "./loop.js";
export { initSession, response } from "./session.js";
export { parseResponse, toApiMessages } from "./wire.js";
export type * from "./types.js";
export type { ApiBlock } from "../anthropic.js";
export { init, type WasmSource } from "../../core/kit/engine.js";
export type { Host } from "../host.js";
