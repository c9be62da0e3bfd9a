/**
 * The table that options are checked against. A test shows each scalar row at work in the engine. A `!` marks a
 * required option.
 */

import { SCALAR_OPTIONS } from "../generated/tables.js";

/** The shape that an option's value must have. */
export type OptionKind =
  /** A positive integer. */
  | "count"
  /** A non-negative integer of milliseconds, or `null` where the default is a number or none. */
  | "milliseconds"
  /** A non-negative integer. */
  | "whole"
  | "boolean"
  | "tool-execution"
  | "number"
  | "string"
  | "text"
  | "texts"
  | "function"
  | "object"
  | "any";

/** One scalar option of a run: its dotted path, its shape, and its default as text. */
export interface OptionRow {
  readonly name: string;
  readonly kind: OptionKind;
  readonly default: string;
}

/** The options of one object, by name; `!` after the kind marks a required option. */
export type OptionTable = { readonly [name: string]: OptionKind | `${OptionKind}!` };

/** The rows of `SCALAR_OPTIONS` below `group`, or the undotted ones. */
export function scalarTable(group?: string): OptionTable {
  const table: { [name: string]: OptionKind } = {};
  const prefix = group === undefined ? "" : `${group}.`;
  for (const row of SCALAR_OPTIONS) {
    const name = row.name.slice(prefix.length);
    if (row.name.startsWith(prefix) && !name.includes(".")) table[name] = row.kind;
  }
  return table;
}

/** The options that both an agent and a subagent have, besides the scalar ones. */
const PROFILE_TABLE: OptionTable = {
  timeouts: "object",
  retry: "object",
  maxUsd: "number",
  stopWhen: "any",
  repeat: "any",
  onRepeat: "function",
  output: "object",
  fallbackModels: "any",
  compaction: "any",
  historyCompaction: "any",
  onMaxTokens: "any",
};

/** All options of `createAgent`. */
export function agentTable(): OptionTable {
  return {
    model: "any!",
    system: "string",
    tools: "any",
    maxOutputTokens: "count",
    ...PROFILE_TABLE,
    fetch: "function",
    clock: "object",
    random: "function",
    ids: "function",
    allowUnknownPrice: "boolean",
    prepareIteration: "function",
    onIterationEnd: "function",
    hooks: "object",
    guardrails: "object",
    instructions: "any",
    ...FINISH_TABLE,
    trace: "any",
    steeringMode: "any",
    followUpMode: "any",
    wordToolError: "function",
    onUnknownTool: "any",
    toolHandlers: "object",
    inputs: "object",
    ...PERMISSION_TABLE,
    ...scalarTable(),
  };
}

export const FINISH_TABLE: OptionTable = {
  onCancel: "any",
  onRefusal: "any",
  onLimit: "any",
  onFailure: "any",
};

export const PERMISSION_TABLE: OptionTable = {
  permissionMode: "any",
  permissions: "object",
  canUseTool: "function",
  classifyTool: "function",
  permissionTimeoutMs: "whole",
  allowDangerouslySkipPermissions: "boolean",
};

export const RUN_TABLE: OptionTable = {
  messages: "any",
  subagents: "any",
  inputs: "object",
  signal: "any",
  onText: "function",
  onThinking: "function",
  onPartialOutput: "function",
  onToolCall: "function",
  onToolResult: "function",
  onEvent: "function",
  onError: "function",
};

export const TOOL_TABLE: OptionTable = {
  name: "text",
  description: "text!",
  inputSchema: "any!",
  execute: "function",
  kind: "text",
  bindings: "object",
  maxResultChars: "count",
  readOnly: "boolean",
  strict: "boolean",
  resourceKey: "function",
  timeoutMs: "count",
  validate: "boolean",
  replay: "any",
  needsApproval: "any",
  access: "any",
  ruleSubject: "text",
  maxCalls: "count",
};

const AGENT_TOOL_TABLE = {
  name: "text",
  description: "text!",
  system: "string",
  model: "any",
  tools: "any",
  maxOutputTokens: "count",
  needsApproval: "any",
  maxCalls: "count",
} as const;

export const HANDOFF_TABLE: OptionTable = { ...AGENT_TOOL_TABLE, handBack: "boolean" };

/** All options of `subagent`. */
export function subagentTable(): OptionTable {
  const { maxSubagentDepth: _, joinDeltas: __, estimateUsage: ___, ...scalars } = scalarTable();
  return { ...AGENT_TOOL_TABLE, persistent: "boolean", readOnly: "boolean", ...PROFILE_TABLE, ...scalars };
}

export const CUSTOM_TABLE: OptionTable = {
  name: "text",
  maxOutputTokens: "count",
  temperature: "number",
  topP: "number",
  topK: "number",
  frequencyPenalty: "number",
  presencePenalty: "number",
  seed: "number",
  stopSequences: "texts",
  thinking: "object",
  effort: "text",
  toolChoice: "any",
  parallelToolCalls: "boolean",
  responseFormat: "object",
  promptCaching: "any",
  metadata: "object",
  body: "object",
  price: "any",
};

export const FORMAT_TABLE: OptionTable = { name: "string", schema: "object!", strict: "boolean" };

export const CACHING_TABLE: OptionTable = { ttl: "text", key: "text" };

export const HTTP_MODEL_TABLE: OptionTable = {
  ...CUSTOM_TABLE,
  stream: "boolean",
  apiKey: "any",
  authorize: "function",
  baseUrl: "text",
  headers: "any",
  fetch: "function",
  dangerouslyAllowBrowser: "boolean",
};

export const COMPATIBLE_TABLE: OptionTable = {
  ...HTTP_MODEL_TABLE,
  baseUrl: "text!",
  model: "text!",
  protocol: "any",
  quirks: "object",
};

const QUIRKS =
  "maxOutputTokens temperature topP topK frequencyPenalty presencePenalty seed effort budgetTokens thinking parallelToolCalls responseFormat metadata promptCaching cacheKey cacheTtl systemRole streamUsage requiredReasoning";

export const QUIRK_TABLE: OptionTable = Object.fromEntries(QUIRKS.split(" ").map((name) => [name, "any"]));

export const PRICE_TABLE: OptionTable = {
  inputUsdPerMillion: "number!",
  outputUsdPerMillion: "number!",
  cacheReadUsdPerMillion: "number",
  cacheWriteUsdPerMillion: "number",
  cacheWriteHourUsdPerMillion: "number",
  longPrompt: "object",
};

export const LONG_PROMPT_TABLE: OptionTable = {
  aboveTokens: "count!",
  inputFactor: "number!",
  outputFactor: "number!",
};

/** Option names of other libraries, each with looplet's name. */
export const KNOWN_ELSEWHERE: { readonly [name: string]: string } = {
  maxTokens:
    "use maxOutputTokens (tokens of one answer) or maxTotalTokens (input plus output of the whole run)",
  eager: "use eagerTools",
  maxSteps: "use maxIterations (model calls of one run) or maxToolRounds (answers with tool calls)",
  maxTurns: "use maxToolRounds (answers with tool calls) or maxIterations (model calls of one run)",
  systemPrompt: "use system",
  prompt: "give it to agent.run(prompt)",
  parameters: "use inputSchema",
  schema: "use inputSchema",
  input_schema: "use inputSchema",
  handler: "use execute",
  response_format: "use responseFormat: { schema }",
  outputSchema: "use output: { schema }",
  outputFormat: "use output: { schema }",
  cacheControl: "use promptCaching",
  max_tokens: "use maxOutputTokens",
  maxLlmRetries: "use retry: { maxCalls }",
  tokenBudget: "use maxTotalTokens (input plus output of the whole run)",
  maxBudgetUsd: "use maxUsd",
  maxCost: "use maxUsd",
  allowedTools: "use permissions: { allow: [...] }",
  disallowedTools: "use permissions: { deny: [...] }",
  agents: "give each to tools: { name: subagent({ … }) }",
  preset: "spread one of looplet/presets: createAgent({ ...presets.sprout.agent, … })",
  traceSink: "use trace: traceRows(sink), of looplet/trace",
  tracers: "use trace, a list of tracers",
  tracer: "use trace",
  abortSignal: "use signal, an option of agent.run(prompt, { signal })",
};
