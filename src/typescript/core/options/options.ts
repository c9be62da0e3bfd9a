/**
 * The tables that options are checked against. `src/typescript/core/generated/tables.ts` has the options that the
 * engine takes as they are; these tables add the others.
 */
import {
  AGENT_ANSWERS,
  AGENT_CONTEXT,
  AGENT_LIMITS,
  AGENT_OPTIONS,
  AGENT_TOOL_CALLS,
  COMPACTION_DATA,
  HOOK_DATA,
  HOOK_POINTS,
  HTTP_MODEL_DATA,
  MODEL_DATA,
  OUTPUT_DATA,
  PERMISSION_MODES,
  PERMISSION_RULES,
  PREPARED_DATA,
  RAISED_DATA,
  RUN_EVENTS,
  RUN_LIMITS,
  RUN_OPTIONS,
  RUN_RECOVERY,
  RUN_TOOL_CALLS,
  TOOL_DATA,
} from "../generated/tables.js";
import type { WireProtocol } from "../api/model.js";
import type { OptionTable } from "../option-table.js";

/** The options of this table that are set. */
export function given(options: object = {}, table: OptionTable): { [name: string]: unknown } {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && Object.hasOwn(table, name)),
  );
}

/** A part of the engine's configuration without its undefined fields; undefined if nothing is left. */
export function group(fields: object): object | undefined {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined);
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

/** The options that both an agent and a subagent have. */
const PROFILE_TABLE = {
  ...AGENT_OPTIONS,
  limits: { ...AGENT_LIMITS, maxUsd: "number", stopWhen: "any", repeat: "any", onRepeat: "function" },
  context: { ...AGENT_CONTEXT, compaction: "any", pruning: "any" },
  answers: AGENT_ANSWERS,
  toolCalls: AGENT_TOOL_CALLS,
  output: "any",
  fallbackModels: "any",
} satisfies OptionTable;

/** All options of `createAgent`. */
export function agentTable(): OptionTable {
  return {
    model: "any!",
    system: "string",
    tools: "any",
    maxOutputTokens: "count64",
    ...PROFILE_TABLE,
    ...RUN_OPTIONS,
    limits: { ...PROFILE_TABLE.limits, ...RUN_LIMITS, allowUnknownPrice: "boolean", onLimit: "any" },
    toolCalls: {
      ...AGENT_TOOL_CALLS,
      ...RUN_TOOL_CALLS,
      wordError: "function",
      onUnknownTool: "any",
      handlers: "object",
      aliases: "object",
      searchTools: "function",
      onElicitation: "function",
    },
    permissions: PERMISSION_TABLE,
    events: RUN_EVENTS,
    durable: {
      ...RUN_RECOVERY,
      flushMs: "whole",
      onSaveFailed: "any",
      reconcile: "function",
    },
    fetch: "function",
    clock: "object",
    random: "function",
    ids: "function",
    store: "any",
    steps: "object",
    record: "any",
    prepareIteration: "function",
    onIterationEnd: "function",
    hooks: "object",
    guardrails: "object",
    sharedInstructions: "any",
    ...FINISH_TABLE,
    trace: "any",
    inputs: "object",
  };
}

const FINISH_TABLE: OptionTable = {
  onCancel: ["result", "throw"],
  onRefusal: ["result", "throw"],
  onFailure: ["result", "throw"],
};

const PERMISSION_TABLE: OptionTable = {
  ...PERMISSION_RULES,
  mode: PERMISSION_MODES,
  canUseTool: "function",
  classifyTool: "function",
  allowDangerouslySkipPermissions: "boolean",
};

export const COMPACTION_TABLE: OptionTable = {
  ...COMPACTION_DATA,
  threshold: "number",
  summarize: "any",
};

export const OUTPUT_TABLE: OptionTable = { schema: "any!", ...OUTPUT_DATA, validate: "function" };

/** The hook events that no run waits for. */
export const HEARD_EVENTS = ["StopFailure", "SessionEnd"];
/** All events that have hooks. */
export const EVENTS: readonly string[] = [...HOOK_POINTS, ...HEARD_EVENTS];
export const HOOKS_TABLE: OptionTable = Object.fromEntries(EVENTS.map((event) => [event, "any"] as const));

/** The output of a hook. */
export const HOOK_OUTPUT_TABLE: OptionTable = {
  decision: "any",
  ...HOOK_DATA,
  additionalContext: "string",
  continue: "boolean",
  stopReason: "string",
  classifierContext: "string",
};

/** The answer of `prepareIteration`. */
export const PREPARED_TABLE: OptionTable = { model: "any", ...PREPARED_DATA, messages: "any" };

/** The answer of `limits.onLimit`. */
export const RAISED_TABLE: OptionTable = { ...RAISED_DATA, maxUsd: "number" };

/** The options of `run.addBudget`. */
export const ADDED_TABLE: OptionTable = { agentPath: "text", ...RAISED_TABLE };

/** The options of `agent.resume`. */
const LISTENER_TABLE: OptionTable = {
  id: "id",
  signal: "any",
  onText: "function",
  onThinking: "function",
  onPartialOutput: "function",
  onToolCall: "function",
  onToolResult: "function",
  onEvent: "function",
  onError: "function",
};

export const RESUME_TABLE: OptionTable = { ...LISTENER_TABLE, takeOver: "boolean", afterEvent: "whole" };

const { id: _, ...UNNAMED_TABLE } = LISTENER_TABLE;

export const OPEN_CHAT_TABLE: OptionTable = { ...UNNAMED_TABLE, takeOver: "boolean", afterEvent: "any" };

export const PENDING_TABLE: OptionTable = { ...UNNAMED_TABLE, filter: "function", stopped: "boolean" };

export const RUN_TABLE: OptionTable = {
  ...LISTENER_TABLE,
  messages: "any",
  subagents: "any",
  agent: "text",
  chatUsage: "any",
  inputs: "object",
};

/** The wire protocols that servers may speak. */
export const PROTOCOLS: readonly WireProtocol[] = [
  "openai_chat",
  "openai_responses",
  "anthropic",
  "gemini",
  "bedrock_converse",
];

export const TOOL_TABLE: OptionTable = {
  name: "text",
  description: "string",
  inputSchema: "any!",
  execute: "function",
  kind: "text",
  bindings: "object",
  annotations: "object",
  ...TOOL_DATA,
  resourceKey: "function",
  replay: "any",
  needsApproval: "any",
  leadsElsewhere: "function",
  vendor: "object",
};

const CALL_TABLE: OptionTable = {
  name: "text",
  description: "string!",
  needsApproval: "any",
  maxCalls: TOOL_DATA.maxCalls!,
};

const OWN_TABLE: OptionTable = {
  system: "string",
  model: "any",
  tools: "any",
  maxOutputTokens: "count64",
};

/** The options of a tool that calls an agent: those of the call, and those of the agent. */
export interface AgentToolTables {
  readonly call: OptionTable;
  readonly agent: OptionTable;
}

export const HANDOFF_TABLES: AgentToolTables = {
  call: {
    ...CALL_TABLE,
    handBack: "boolean",
    inputSchema: "any",
    onHandoff: "function",
    inputFilter: "function",
  },
  agent: OWN_TABLE,
};

/** All options of `subagent`. */
export function subagentTables(): AgentToolTables {
  return {
    call: { ...CALL_TABLE, persistent: "boolean", readOnly: "boolean" },
    agent: { ...OWN_TABLE, ...PROFILE_TABLE },
  };
}

export const CUSTOM_TABLE: OptionTable = {
  name: "text",
  ...MODEL_DATA,
  promptCaching: "any",
  price: "any",
};

export const HTTP_MODEL_TABLE: OptionTable = {
  ...CUSTOM_TABLE,
  ...HTTP_MODEL_DATA,
  apiKey: "any",
  authorize: "function",
  headers: "any",
  fetch: "function",
  dangerouslyAllowBrowser: "boolean",
};

export const BEDROCK_TABLE: OptionTable = { ...HTTP_MODEL_TABLE, region: "text!", credentials: "any" };

export const COMPATIBLE_TABLE: OptionTable = {
  ...HTTP_MODEL_TABLE,
  baseUrl: "text!",
  protocol: "any",
  quirks: "object",
};

const QUIRKS =
  "maxOutputTokens temperature topP topK frequencyPenalty presencePenalty seed effort budgetTokens thinking parallelToolCalls responseFormat metadata promptCaching cacheKey cacheTtl systemRole streamUsage requiredReasoning callIdChars prefill";

export const QUIRK_TABLE: OptionTable = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ QUIRKS.split(" ").map((name) => [name, "any"]),
);
