/** Agents, runs and chats, for wings that host or show them. */
export { Conversation } from "../chat/chat.js";
export { sessionEnd } from "../hooks/hooks.js";
export { reportUnheard } from "../host/failures.js";
export type { AgentParts, LiveAgent } from "../run/agent-parts.js";
export { Delivery } from "../run/delivery.js";
export { EventBuffer, isDelta } from "../run/events/event-buffer.js";
export { OpenEvents } from "../run/events/open-events.js";
export { abortReason, isOnlySummary, type OnlySummary, promptOf } from "../run/prompt.js";
export { finished } from "../run/result.js";
export type { EngineRun } from "../run/run.js";
export { follow } from "../run/run-end.js";
export { traceOf } from "../run/tracing.js";
export { type AgentInternals, internalsOf } from "../tools/agent-internals.js";
