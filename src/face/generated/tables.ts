// Printed from src/engine/model by `npm run format`: change the types there.
import type { OptionRow } from "../options/options.js";

export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "plan",
  "dontAsk",
  "auto",
  "bypassPermissions",
] as const;

export const TOOL_EXECUTIONS = ["read-only-parallel", "parallel", "sequential"] as const;

/** The scalar options of an agent. */
export const SCALAR_OPTIONS: readonly OptionRow[] = [
  { name: "maxIterations", kind: "count", default: "50" },
  { name: "maxTotalTokens", kind: "count", default: "none" },
  { name: "maxToolRounds", kind: "count", default: "none" },
  { name: "maxToolCalls", kind: "count", default: "none" },
  { name: "maxStructuredOutputRetries", kind: "whole", default: "3" },
  { name: "maxSubagentDepth", kind: "count", default: "1" },
  { name: "contextWindow", kind: "count", default: "none" },
  { name: "contextBudget", kind: "count", default: "none" },
  { name: "timeouts.totalMs", kind: "milliseconds", default: "none" },
  { name: "timeouts.iterationMs", kind: "milliseconds", default: "none" },
  { name: "timeouts.firstChunkMs", kind: "milliseconds", default: "600000" },
  { name: "timeouts.chunkMs", kind: "milliseconds", default: "120000" },
  { name: "timeouts.toolMs", kind: "milliseconds", default: "none" },
  { name: "retry.maxRetries", kind: "whole", default: "3" },
  { name: "retry.baseMs", kind: "milliseconds", default: "1000" },
  { name: "retry.factor", kind: "count", default: "2" },
  { name: "retry.jitterMs", kind: "milliseconds", default: "1000" },
  { name: "retry.maxMs", kind: "milliseconds", default: "60000" },
  { name: "retry.respectRetryAfter", kind: "boolean", default: "true" },
  { name: "retry.maxCalls", kind: "count", default: "1" },
  { name: "toolExecution", kind: "tool-execution", default: "read-only-parallel" },
  { name: "maxToolConcurrency", kind: "count", default: "8" },
  { name: "strictStopReason", kind: "boolean", default: "false" },
  { name: "maxToolResultChars", kind: "count", default: "100000" },
  { name: "eagerTools", kind: "boolean", default: "false" },
  { name: "estimateUsage", kind: "boolean", default: "false" },
  { name: "joinDeltas", kind: "boolean", default: "true" },
];
