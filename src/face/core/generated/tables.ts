// Printed from src/engine/model by `npm run format`: change the types there.
import type { OptionTable } from "../option-table.js";

/** The version of looplet. */
export const VERSION = "0.1.0";

export const PERMISSION_MODES = [
  "default",
  "acceptEdits",
  "plan",
  "dontAsk",
  "auto",
  "bypassPermissions",
] as const;

export const ON_UNKNOWN_TOOL = ["tool_result", "throw"] as const;

export const HOOK_POINTS = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "SessionStart",
  "UserPromptSubmit",
  "Stop",
  "SubagentStart",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
  "PermissionRequest",
  "PermissionDenied",
  "Notification",
] as const;

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
    errorBodyMs: "whole64?",
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
  maxAnswerBlocks: "count",
  maxAnswerTextBytes: "count",
  maxAnswerArgumentBytes: "count",
  maxAnswerEventBytes: "count",
  maxErrorBodyBytes: "count",
  maxToolConcurrency: "count",
  onMaxTokens: ["return", "continue", "error"],
  onCutOff: ["again", "continue"],
  runCutOffCalls: "boolean",
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
  recovery: {
    maxCrashes: "count",
    maxInterruptions: "count",
  },
  steeringMode: ["all", "one"],
  followUpMode: ["all", "one"],
  estimateUsage: "boolean",
  tellUpdatedInput: "boolean",
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
  version: "text",
  timeoutMs: "count64",
  maxCalls: "count64",
  access: ["read", "edit", "shell", "fetch"],
  ruleSubject: "text",
} satisfies OptionTable;

export const MODEL_DATA = {
  maxOutputTokens: "count64",
  temperature: "number",
  topP: "number",
  topK: "number",
  frequencyPenalty: "number",
  presencePenalty: "number",
  seed: "number",
  stopSequences: "texts",
  thinking: "object",
  effort: ["none", "minimal", "low", "medium", "high", "xhigh", "max"],
  toolChoice: [
    "auto",
    "none",
    "required",
    {
      tool: "text!",
    },
  ],
  parallelToolCalls: "boolean",
  responseFormat: {
    schema: "object!",
    name: "text",
    strict: "boolean",
  },
  metadata: "object",
  body: "object",
} satisfies OptionTable;

export const HTTP_MODEL_DATA = {
  baseUrl: "text",
  stream: "boolean",
} satisfies OptionTable;

export const COMPACTION_DATA = {
  auto: "boolean",
  keepLast: "whole",
  instructions: "text",
} satisfies OptionTable;

export const REPEAT_OPTIONS = {
  nudgeAfter: "count?",
  askAfter: "count?",
  stopAfter: "count?",
} satisfies OptionTable;

export const PERMISSION_RULES = {
  allow: "texts",
  ask: "texts",
  deny: "texts",
  cwd: "text",
  additionalDirectories: "texts",
} satisfies OptionTable;

export const OUTPUT_DATA = {
  name: "text",
  description: "string",
  strict: "boolean",
  mode: ["auto", "native", "tool"],
} satisfies OptionTable;

export const RAISED_DATA = {
  maxIterations: "count",
  maxTotalTokens: "count64",
  maxToolRounds: "whole",
  maxToolCalls: "count",
  timeMs: "whole64",
} satisfies OptionTable;

export const PREPARED_DATA = {
  tools: "texts",
  toolChoice: [
    "auto",
    "none",
    "required",
    {
      tool: "text!",
    },
  ],
  system: "string",
} satisfies OptionTable;

export const HOOK_DATA = {
  reason: "string",
  updatedInput: "object",
  updatedOutput: "any",
  retry: "boolean",
  interrupt: "boolean",
  updatedPermissions: "any",
  systemMessage: "string",
} satisfies OptionTable;

export const PRUNING = {
  afterResponses: "count",
  prefixChars: "whole",
} satisfies OptionTable;

export const PROMPT_CACHING = {
  ttl: "text",
  key: "text",
} satisfies OptionTable;

export const PERMISSION_RESULT = {
  behavior: ["allow", "deny"],
  updatedInput: "object",
  message: "string",
  interrupt: "boolean",
  updatedPermissions: "any",
} satisfies OptionTable;

/** The default of each scalar option. */
export const DEFAULTS: { readonly [option: string]: unknown } = {
  "timeouts.totalMs": null,
  "timeouts.iterationMs": null,
  "timeouts.firstChunkMs": 600000,
  "timeouts.chunkMs": 120000,
  "timeouts.errorBodyMs": 10000,
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
  maxAnswerBlocks: 1000,
  maxAnswerTextBytes: 33554432,
  maxAnswerArgumentBytes: 67108864,
  maxAnswerEventBytes: 67108864,
  maxErrorBodyBytes: 65536,
  maxToolConcurrency: 8,
  onMaxTokens: "return",
  onCutOff: "again",
  runCutOffCalls: false,
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
  "recovery.maxCrashes": 3,
  "recovery.maxInterruptions": 20,
  steeringMode: "all",
  followUpMode: "one",
  estimateUsage: false,
  tellUpdatedInput: true,
  joinDeltas: true,
  holdText: false,
  messageEvents: false,
  maxSubagentDepth: 1,
};
