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
    permissionMs: "whole64?",
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
} satisfies OptionTable;

export const AGENT_LIMITS = {
  maxIterations: "count",
  maxTotalTokens: "count64",
  maxToolRounds: "whole",
  maxToolCalls: "count",
} satisfies OptionTable;

export const AGENT_CONTEXT = {
  window: "count64",
  maxChars: "count64",
} satisfies OptionTable;

export const AGENT_ANSWERS = {
  maxBlocks: "count",
  maxTextBytes: "count",
  maxArgumentBytes: "count",
  maxEventBytes: "count",
  maxErrorBodyBytes: "count",
  onMaxTokens: ["return", "continue", "error"],
  onCutOff: ["again", "continue"],
  strictStopReason: "boolean",
} satisfies OptionTable;

export const AGENT_TOOL_CALLS = {
  execution: ["read-only-parallel", "parallel", "sequential"],
  maxConcurrency: "count",
  maxResultChars: "count",
  eager: "boolean",
  runCutOff: "boolean",
} satisfies OptionTable;

export const RUN_OPTIONS = {
  steeringMode: ["all", "one"],
  followUpMode: ["all", "one"],
} satisfies OptionTable;

export const RUN_LIMITS = {
  maxSubagentDepth: "count",
  estimateUsage: "boolean",
} satisfies OptionTable;

export const RUN_TOOL_CALLS = {
  tellUpdatedInput: "boolean",
} satisfies OptionTable;

export const RUN_EVENTS = {
  joinDeltas: "boolean",
  holdText: "boolean",
  messages: "boolean",
  prefix: "boolean",
} satisfies OptionTable;

export const RUN_RECOVERY = {
  maxCrashes: "count",
  maxInterruptions: "count",
} satisfies OptionTable;

export const OUTPUT_DATA = {
  name: "text",
  description: "string",
  strict: "boolean",
  mode: ["auto", "native", "tool"],
  maxRetries: "whole",
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
  deferLoading: "boolean",
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
  serverState: "boolean",
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
  protectSettings: "boolean",
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
  by: ["vendor", "looplet"],
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
  "timeouts.permissionMs": null,
  "retry.maxRetries": 3,
  "retry.baseMs": 1000,
  "retry.factor": 2,
  "retry.jitterMs": 1000,
  "retry.jitter": "added",
  "retry.maxMs": 60000,
  "retry.respectRetryAfter": true,
  "retry.maxModelCallRetries": 0,
  "limits.maxIterations": 50,
  "limits.maxTotalTokens": null,
  "limits.maxToolRounds": null,
  "limits.maxToolCalls": null,
  "context.window": null,
  "context.maxChars": null,
  "answers.maxBlocks": 1000,
  "answers.maxTextBytes": 33554432,
  "answers.maxArgumentBytes": 67108864,
  "answers.maxEventBytes": 67108864,
  "answers.maxErrorBodyBytes": 65536,
  "answers.onMaxTokens": "return",
  "answers.onCutOff": "again",
  "answers.strictStopReason": false,
  "toolCalls.execution": "read-only-parallel",
  "toolCalls.maxConcurrency": 8,
  "toolCalls.maxResultChars": 100000,
  "toolCalls.eager": false,
  "toolCalls.runCutOff": false,
  steeringMode: "all",
  followUpMode: "one",
  "limits.maxSubagentDepth": 1,
  "limits.estimateUsage": false,
  "toolCalls.tellUpdatedInput": true,
  "events.joinDeltas": true,
  "events.holdText": false,
  "events.messages": false,
  "events.prefix": false,
  "durable.maxCrashes": 3,
  "durable.maxInterruptions": 20,
  "output.name": "answer",
  "output.description": "",
  "output.strict": null,
  "output.mode": "auto",
  "output.maxRetries": 3,
};
