/** `subagent()` and `handoff()`: tools that other agents of the run stand behind. */
import { addAgents, AGENT, type AgentList, type Caller, type TakeIn } from "./agent-list.js";
import { at, checkOptions, describe, isObject } from "./check.js";
import { LoopletError } from "./errors.js";
import type { ModelConfig } from "./models.js";
import { HANDOFF_TABLE, scalarTable, SUBAGENT_TABLE } from "./options.js";
import { stopConfig } from "./stopping.js";
import { knowTools, type KnownTool, type ToolSet } from "./tool.js";
import type { HandoffOptions, StopCondition, SubagentOptions, Tool } from "./types.js";

type Named<N> = Tool & (N extends string ? { readonly name: N } : unknown);

/** Trees are not made deeper than this, nor agents nested deeper. */
const MAX_DEPTH = 8;
const HAND_BACK = "hand_back";

/**
 * Makes a tool of an agent: the model gives it a prompt and gets its last text.
 *
 * @throws LoopletError `config_…`
 */
export function subagent<const N extends string | undefined = undefined>(
  options: SubagentOptions & { name?: N },
): Named<N> {
  checkOptions(options, nameOf(options, "subagent"), SUBAGENT_TABLE);
  const what = options.persistent === true ? "It remembers what it was asked before" : "It sees nothing else";
  const prompt = {
    type: "string",
    description: `What the agent shall do. ${what}: say all that it has to know.`,
  };
  const schema = {
    type: "object",
    properties: { prompt },
    required: ["prompt"],
    additionalProperties: false,
  };
  return agentTool(options, schema, (list, caller, known) => addSubagent(list, caller, known, options));
}

/**
 * Makes a tool by which an agent hands the conversation over to another one.
 *
 * @throws LoopletError `config_…`
 */
export function handoff<const N extends string | undefined = undefined>(
  options: HandoffOptions & { name?: N },
): Named<N> {
  checkOptions(options, nameOf(options, "handoff"), HANDOFF_TABLE);
  return agentTool(options, NO_INPUT, (list, caller, known) => addHandoff(list, caller, known, options));
}

const NO_INPUT = { type: "object", properties: {}, additionalProperties: false };

function nameOf(options: unknown, otherwise: string): string {
  const name: unknown = isObject(options) ? options["name"] : undefined;
  return typeof name === "string" ? name : otherwise;
}

function agentTool<N extends string | undefined>(
  options: SubagentOptions | HandoffOptions,
  inputSchema: object,
  takeIn: TakeIn,
): Named<N> {
  const { name, description, needsApproval, maxCalls, readOnly } = options as SubagentOptions;
  const tool: Tool = {
    ...(name === undefined ? {} : { name }),
    description,
    inputSchema,
    execute: () => {
      throw new Error("An agent answers this call.");
    },
    ...(needsApproval === undefined ? {} : { needsApproval }),
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(readOnly === undefined ? {} : { readOnly }),
  };
  Object.defineProperty(tool, AGENT, { value: takeIn });
  return Object.freeze(tool) as Named<N>;
}

function addSubagent(list: AgentList, caller: Caller, known: KnownTool, options: SubagentOptions): void {
  const field = at(caller.field, known.config.name);
  const depth = caller.depth + 1;
  const most = list.options.maxSubagentDepth ?? 1;
  if (depth > most) {
    throw new LoopletError(
      "config_invalid_value",
      field,
      depth > MAX_DEPTH
        ? `subagents nest at most ${MAX_DEPTH} levels deep`
        : `is a subagent on level ${depth}; set maxSubagentDepth: ${depth} in createAgent`,
    );
  }
  const { system, maxIterations, maxTotalTokens, maxToolRounds, maxToolCalls, maxUsd, timeouts } = options;
  const { root } = list;
  const { tools, model } = know(list, caller, field, options);
  if (timeouts !== undefined) checkOptions(timeouts, at(field, "timeouts"), scalarTable("timeouts"));
  if (maxUsd !== undefined && maxUsd <= 0) {
    throw new LoopletError("config_invalid_value", at(field, "maxUsd"), `must be more than 0, got ${maxUsd}`);
  }
  if (maxUsd !== undefined && model.price === undefined && list.options.allowUnknownPrice !== true) {
    throw new LoopletError(
      "config_missing",
      at(field, "maxUsd"),
      "needs to know what the model costs: give the model a price, or set allowUnknownPrice: true in createAgent",
    );
  }
  const maxCostNanoUsd = maxUsd === undefined ? undefined : Math.round(maxUsd * 1e9);
  addAgent(list, { ...caller, model, field: at(field, "tools"), depth }, known, options, tools, {
    ...root,
    ...(options.model === undefined ? {} : { fallbackModels: undefined }),
    system,
    limits: { maxIterations, maxTotalTokens, maxCostNanoUsd, maxToolRounds, maxToolCalls },
    timeouts: { ...(root["timeouts"] as object | undefined), totalMs: undefined, ...timeouts },
    askStop: undefined,
    askRepeat: undefined,
    output: undefined,
    stopWhen: undefined,
    ...stops(options, field, tools),
    toolExecution: options.toolExecution ?? root["toolExecution"],
    maxToolConcurrency: options.maxToolConcurrency ?? root["maxToolConcurrency"],
  });
  if (options.persistent === true) known.config.agent = { ...known.config.agent!, keep: true };
}

function addHandoff(list: AgentList, caller: Caller, known: KnownTool, options: HandoffOptions): void {
  const field = at(caller.field, known.config.name);
  const { system, handBack } = options;
  const { tools, model } = know(list, caller, field, options);
  if (handBack === true) {
    if (tools.has(HAND_BACK)) {
      throw new LoopletError(
        "config_duplicate_tool",
        at(field, "handBack"),
        `a tool is named "${HAND_BACK}"`,
      );
    }
    const back = { description: "Hands the conversation back to the agent before.", inputSchema: NO_INPUT };
    const [entry] = knowTools({ [HAND_BACK]: { ...back, execute: () => undefined } });
    entry![1].config.agent = { profile: caller.profile, handoff: true };
    (tools as Map<string, KnownTool>).set(...entry!);
  }
  const before = list.configs[caller.profile - 1] ?? list.root;
  addAgent(list, { ...caller, model, field: at(field, "tools") }, known, options, tools, {
    ...before,
    system,
  });
  known.config.agent = { ...known.config.agent!, handoff: true };
}

/** The tools and the model of an agent. */
function know(
  list: AgentList,
  caller: Caller,
  field: string,
  options: SubagentOptions | HandoffOptions,
): { tools: ToolSet; model: ModelConfig } {
  if (caller.level >= MAX_DEPTH) {
    throw new LoopletError("config_invalid_value", field, `agents nest at most ${MAX_DEPTH} levels deep`);
  }
  const tools = knowTools(options.tools, list.options.toolHandlers, at(field, "tools"));
  const { maxOutputTokens } = options;
  const model =
    options.model === undefined
      ? inherited(caller.model)
      : list.models.add(options.model, at(field, "model"), tools);
  return { tools, model: maxOutputTokens === undefined ? model : { ...model, maxOutputTokens } };
}

/** What a model is asked for its tools and its answer belongs to the agent that asks. */
function inherited({ toolChoice: _, responseFormat: __, ...model }: ModelConfig): ModelConfig {
  return model;
}

function addAgent(
  list: AgentList,
  caller: Caller,
  known: KnownTool,
  options: SubagentOptions | HandoffOptions,
  tools: ToolSet,
  config: object,
): void {
  const { model } = caller;
  const profile = list.sets.push(tools) - 1;
  list.configs.push({
    ...config,
    model,
    system: options.system === "" ? undefined : options.system,
    tools: [...tools.values()].map((tool) => tool.config),
    permissions: undefined,
    hooks: undefined,
  });
  const inheritModel = options.model === undefined && options.maxOutputTokens === undefined;
  known.config.agent = { profile, ...(inheritModel ? { inheritModel } : {}) };
  addAgents(list, { ...caller, profile, level: caller.level + 1 }, tools);
}

/** Conditions of its own: functions are asked for the run only. */
function stops({ stopWhen, repeat }: SubagentOptions, field: string, tools: ToolSet): object {
  const conditions = (stopWhen === undefined ? [] : [stopWhen].flat()) as StopCondition[];
  const wrong = conditions.find((condition) => !isObject(condition));
  if (wrong !== undefined) {
    throw new LoopletError(
      "config_wrong_type",
      at(field, "stopWhen"),
      `needs hasToolCall(name) or iterationCount(n), got ${describe(wrong)}`,
    );
  }
  return stopConfig({ stopWhen: conditions, ...(repeat === undefined ? {} : { repeat }) }, tools);
}
