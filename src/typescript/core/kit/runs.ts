/** Agents, runs and chats, for wings that host or show them. */
export {
  /** The implementation of `Chat`. */
  Conversation,
} from "../chat/chat.js";
export {
  /** Makes the function that calls the `SessionEnd` hooks. */
  sessionEndCaller,
} from "../hooks/hooks.js";
export {
  /** Reports an error that no one else handles, as an uncaught error. */
  reportUncaught,
} from "../host/failures.js";
export {
  /** What all runs of an agent share. */
  type AgentParts,
  /** The parts of an agent's next run, and its open runs. */
  type LiveAgent,
} from "../run/agent-parts.js";
export {
  /** Calls the listeners of a run. */
  Delivery,
} from "../run/delivery.js";
export {
  /** Buffers events, and joins the deltas of a block. */
  EventBuffer,
  /** Whether an event is a delta. */
  isDelta,
} from "../run/events/event-buffer.js";
export {
  /** The events that a late reader needs. */
  OpenEvents,
} from "../run/events/open-events.js";
export {
  /** The reason of an abort as text. */
  abortReason,
  /** Whether a run only summarizes its history. */
  isOnlySummary,
  /** In place of a prompt: only summarize the history. */
  type OnlySummary,
  /** A prompt as blocks. */
  promptOf,
} from "../run/prompt.js";
export {
  /** The result of a run in the form for developers. */
  toRunResult,
} from "../run/result.js";
export {
  /** A run on the engine of this process. */
  type EngineRun,
} from "../run/run.js";
export {
  /** Calls a function when a signal fires. */
  onAbort,
} from "../run/run-end.js";
export {
  /** Calls a tracer for a run, and checks what it returns. */
  traceOf,
} from "../run/tracing.js";
export {
  /** The options and the parts of an agent. */
  type AgentInternals,
  /** The internals of an agent; undefined for any other value. */
  internalsOf,
} from "../tools/agent-internals.js";
