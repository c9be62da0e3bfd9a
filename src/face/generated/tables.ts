// Printed from src/engine/model by `npm run format`: change the types there.
import type { OptionTable } from "../options/options.js";

export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "plan",
  "dontAsk",
  "auto",
  "bypassPermissions",
] as const;

export const ON_UNKNOWN_TOOL = ["tool_result", "throw"] as const;

/** The codes of failures that may go away. */
export const RETRYABLE = [
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "timeout",
  "malformed_stream",
] as const;

export const AGENT_OPTIONS = {
  timeouts: {
    totalMs: "whole64?",
    iterationMs: "whole64?",
    firstChunkMs: "whole64?",
    chunkMs: "whole64?",
    toolMs: "whole64?",
  },
  retry: {
    maxRetries: "whole",
    baseMs: "whole64",
    factor: "count",
    delaysMs: "wholes",
    jitterMs: "whole64",
    jitter: ["added", "full"],
    maxMs: "whole64",
    respectRetryAfter: "boolean",
    on: "texts",
    maxModelCallRetries: "whole",
  },
  toolExecution: ["read-only-parallel", "parallel", "sequential"],
  maxToolConcurrency: "count",
  onMaxTokens: ["return", "continue", "error"],
  strictStopReason: "boolean",
  maxToolResultChars: "count",
  eagerTools: "boolean",
} satisfies OptionTable;

export const AGENT_LIMITS = {
  maxIterations: "count",
  maxTotalTokens: "count64",
  maxToolRounds: "whole",
  maxToolCalls: "count",
} satisfies OptionTable;

export const AGENT_CONTEXT = {
  contextWindow: "count64",
  contextBudget: "count64",
} satisfies OptionTable;

export const AGENT_OUTPUT = {
  maxStructuredOutputRetries: "whole",
} satisfies OptionTable;

export const RUN_OPTIONS = {
  steeringMode: ["all", "one"],
  followUpMode: ["all", "one"],
  estimateUsage: "boolean",
  joinDeltas: "boolean",
  holdText: "boolean",
  messageEvents: "boolean",
} satisfies OptionTable;

export const RUN_LIMITS = {
  maxSubagentDepth: "count",
} satisfies OptionTable;

export const TOOL_DATA = {
  strict: "boolean",
  maxResultChars: "count64",
  validate: "boolean",
  readOnly: "boolean",
  timeoutMs: "count64",
  maxCalls: "count64",
  access: ["read", "edit", "shell", "fetch"],
  ruleSubject: "text",
} satisfies OptionTable;

export const HISTORY = {
  afterResponses: "count",
  prefixChars: "whole",
} satisfies OptionTable;

/** The default of each scalar option. */
export const DEFAULTS: { readonly [option: string]: unknown } = {
  "timeouts.totalMs": null,
  "timeouts.iterationMs": null,
  "timeouts.firstChunkMs": 600000,
  "timeouts.chunkMs": 120000,
  "timeouts.toolMs": null,
  "retry.maxRetries": 3,
  "retry.baseMs": 1000,
  "retry.factor": 2,
  "retry.jitterMs": 1000,
  "retry.jitter": "added",
  "retry.maxMs": 60000,
  "retry.respectRetryAfter": true,
  "retry.maxModelCallRetries": 0,
  toolExecution: "read-only-parallel",
  maxToolConcurrency: 8,
  onMaxTokens: "return",
  strictStopReason: false,
  maxToolResultChars: 100000,
  eagerTools: false,
  maxIterations: 50,
  maxTotalTokens: null,
  maxToolRounds: null,
  maxToolCalls: null,
  contextWindow: null,
  contextBudget: null,
  maxStructuredOutputRetries: 3,
  steeringMode: "all",
  followUpMode: "one",
  estimateUsage: false,
  joinDeltas: true,
  holdText: false,
  messageEvents: false,
  maxSubagentDepth: 1,
};
