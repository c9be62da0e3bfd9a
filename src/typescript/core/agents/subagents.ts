/** `subagent()` and `handoff()`: tools that call another agent of the run. */
import { LoopletError } from "../api/errors.js";
import type {
  HandoffCallOptions,
  HandoffOptions,
  InputOf,
  InputSchema,
  ProfileOptions,
  PromptSchema,
  SubagentCallOptions,
  SubagentOptions,
  SubagentTool,
  Tool,
  TypedAgent,
} from "../api/index.js";
import type { Config } from "../generated/input.js";
import { checkPrices } from "../models/model-list.js";
import type { ModelConfig } from "../models/models.js";
import {
  at,
  checkOptions,
  fieldOf,
  isObject,
  joined,
  placesIn,
  type OptionPlaces,
} from "../options/check.js";
import { KNOWN_ELSEWHERE } from "../options/elsewhere.js";
import { checkWindow } from "../options/context.js";
import { internalsOf } from "../tools/agent-internals.js";
import type { OptionTable } from "../option-table.js";
import {
  agentTable,
  group,
  HANDOFF_TABLES,
  subagentTables,
  type AgentToolTables,
} from "../options/options.js";
import { knowTools, type KnownTool, type ToolSet } from "../tools/tool.js";
import { addAgents, AGENT, type AgentList, type Caller, type TakeIn } from "./agent-list.js";
import { fallbackConfig, profileConfig } from "./profile.js";

type Named<N, T extends Tool = Tool> = T & (N extends string ? { readonly name: N } : unknown);

/** The greatest depth of a tree of subagents, and of nested agents. */
const MAX_DEPTH = 8;
const HAND_BACK = "hand_back";

/**
 * Makes a tool of an agent: the model gives it a prompt and gets the agent's last text. The agent is described here,
 * or made by `createAgent`.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent, subagent } from "looplet";
 *
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const translator = subagent({
 *   description: "Translates a text into French",
 *   model,
 *   system: "You translate what you get into French.",
 * });
 * const agent = createAgent({ model, tools: { translator } });
 * console.log((await agent.run("Translate 'good morning'.").result).text);
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function subagent<Output, const N extends string | undefined = undefined>(
  agent: TypedAgent<any, Output>,
  options: SubagentCallOptions & { name?: N },
): Named<N, SubagentTool<[Output] extends [undefined] ? string : Output>>;
export function subagent<const S extends InputSchema = never, const N extends string | undefined = undefined>(
  options: SubagentOptions<S> & { name?: N },
): Named<N, SubagentTool<[S] extends [never] ? string : InputOf<S>>>;
export function subagent(first: object, call?: SubagentCallOptions): Tool {
  const options = agentOptions<SubagentOptions>("subagent", first, call, subagentTables());
  const what = options.persistent === true ? "It remembers what it was asked before" : "It sees nothing else";
  const schema: PromptSchema = {
    type: "object",
    properties: {
      prompt: {
        type: "string",
        description: `What the agent shall do. ${what}: say all that it has to know.`,
      },
    },
    required: ["prompt"],
    additionalProperties: false,
  };
  return agentTool(options, schema, (list, caller, known) => addSubagent(list, caller, known, options));
}

/**
 * Makes a tool by which an agent hands the conversation over to another agent, which is described here or made by
 * `createAgent`.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent, handoff } from "looplet";
 *
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const billing = createAgent({ model, system: "You answer questions about bills." });
 * const agent = createAgent({
 *   model,
 *   system: "You find out what the user needs.",
 *   tools: { billing: handoff(billing, { description: "For questions about bills" }) },
 * });
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function handoff<const S extends InputSchema, const N extends string | undefined = undefined>(
  agent: TypedAgent<any, any>,
  options: HandoffCallOptions<S> & { name?: N },
): Named<N>;
export function handoff<const S extends InputSchema, const N extends string | undefined = undefined>(
  options: HandoffOptions<S> & { name?: N },
): Named<N>;
export function handoff(first: object, call?: HandoffCallOptions): Tool {
  const options = agentOptions<HandoffOptions>("handoff", first, call, HANDOFF_TABLES);
  const { inputSchema, onHandoff } = options;
  const more: Partial<Tool> = {
    // Without a schema the model has nothing to say, and arguments that it gives all the same do no harm.
    ...(inputSchema === undefined ? { validate: false } : {}),
    ...(onHandoff === undefined ? {} : { execute: onHandoff }),
  };
  const takeIn: TakeIn = (list, caller, known) => addHandoff(list, caller, known, options);
  return agentTool(options, inputSchema ?? NO_INPUT, takeIn, more);
}

/** The checked options of the tool: given as one object, or those of an agent and of its call. */
function agentOptions<O extends object>(
  what: "subagent" | "handoff",
  first: object,
  call: object | undefined,
  tables: AgentToolTables,
): O {
  const made = internalsOf(first)?.options;
  if (made === undefined) {
    const whole = `give the agent itself as the first argument: ${what}(agent, { description })`;
    const runs = "it is the run's; give it to createAgent for the agent that has the tool";
    const places = (): OptionPlaces => ({
      ...KNOWN_ELSEWHERE,
      ...placesIn(agentTable(), () => runs),
      run: whole,
      chat: whole,
      agent: whole,
    });
    return checkOptions(first, nameOf(first, what), { ...tables.call, ...tables.agent }, places) as O;
  }
  const path = nameOf(call, what);
  const own = checkOptions(call ?? {}, path, { ...tables.call, description: "text" });
  if ((own as { description?: unknown }).description === undefined) {
    const problem = `is required, because it tells the calling model when to ask this agent: ${what}(agent, { description })`;
    throw new LoopletError("config_missing", at(path, "description"), problem);
  }
  for (const option of missingIn(made, tables.agent)) {
    const problem = `is an option of this agent that ${what} cannot take over, because it is the run's, or that of the agent before it; give it to createAgent for the agent that has the tool`;
    throw new LoopletError("config_unknown_option", at(path, option), problem);
  }
  return joined(made, own) as unknown as O;
}

/** The options that the table does not have, those in groups as `limits.maxSubagentDepth`. */
function missingIn(options: object, table: OptionTable): string[] {
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) => {
    if (!Object.hasOwn(table, name)) return [name];
    const inner = table[name];
    if (!isObject(inner) || !isObject(value)) return [];
    return missingIn(value, inner as OptionTable).map((one) => `${name}.${one}`);
  });
}

const NO_INPUT = { type: "object", properties: {}, additionalProperties: false };

function nameOf(options: unknown, otherwise: string): string {
  const name: unknown = isObject(options) ? fieldOf(options, "name") : undefined;
  return typeof name === "string" ? name : otherwise;
}

function agentTool<N extends string | undefined>(
  options: SubagentOptions | HandoffOptions,
  inputSchema: object,
  takeIn: TakeIn,
  more: Partial<Tool> = {},
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
    ...more,
    // A copy with another name or description is a tool of the same agent.
    ...{ [AGENT]: takeIn },
  };
  return Object.freeze(tool) as Named<N>;
}

function addSubagent(list: AgentList, caller: Caller, known: KnownTool, options: SubagentOptions): void {
  const field = at(caller.field, known.config.name);
  const depth = caller.depth + 1;
  const most = list.options.limits?.maxSubagentDepth ?? 1;
  if (depth > most) {
    throw new LoopletError(
      "config_invalid_value",
      field,
      depth > MAX_DEPTH
        ? `subagents nest at most ${MAX_DEPTH} levels deep`
        : `is a subagent on level ${depth}; set limits: { maxSubagentDepth: ${depth} } in createAgent`,
    );
  }
  const { root } = list;
  const { tools, model } = know(list, caller, field, options);
  const { timeouts, retry, context, answers, toolCalls, ...own } = profileConfig(options, field, tools);
  checkWindow(options.context?.window ?? list.options.context?.window, model, field);
  const { maxOutputTokens } = options;
  const fallbacks = fallbackConfig(options, field, list.models, tools)?.map((config) =>
    maxOutputTokens === undefined ? config : joined(config, { maxOutputTokens }),
  );
  if (options.limits?.maxUsd !== undefined && list.options.limits?.allowUnknownPrice !== true)
    for (const asked of [model, ...(fallbacks ?? [])])
      checkPrices(asked, tools, "model", at(field, "limits.maxUsd"));
  const isRuns = options.model === undefined && options.fallbackModels === undefined;
  const noMore = isRuns ? {} : { fallbackModels: undefined };
  const nothing = { output: undefined, stopWhen: undefined, askStop: undefined, askRepeat: undefined };
  const below = { ...caller, model, speaker: undefined, field: at(field, "tools"), depth };
  addAgent(list, below, known, options, tools, options, {
    ...root,
    ...noMore,
    ...nothing,
    ...group({ ...own, fallbackModels: fallbacks }),
    timeouts: { ...root.timeouts, totalMs: undefined, ...timeouts },
    retry: { ...root.retry, ...retry },
    context: { ...root.context, ...context },
    answers: { ...root.answers, ...answers },
    toolCalls: { ...root.toolCalls, ...toolCalls },
  });
  if (options.persistent === true) known.config.agent = { ...known.config.agent!, keep: true };
}

function addHandoff(list: AgentList, caller: Caller, known: KnownTool, options: HandoffOptions): void {
  const field = at(caller.field, known.config.name);
  const { handBack } = options;
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
    const [entry] = knowTools({ [HAND_BACK]: { ...back, validate: false, execute: () => undefined } });
    entry![1].config.agent = { profile: caller.profile, handoff: true };
    (tools as Map<string, KnownTool>).set(...entry!);
  }
  const before = list.configs[caller.profile - 1] ?? list.root;
  addAgent(
    list,
    {
      ...caller,
      model,
      speaker: caller.speaker && `${caller.speaker}/${known.config.name}`,
      field: at(field, "tools"),
    },
    known,
    options,
    tools,
    list.profiles[caller.profile]!,
    before,
  );
  const callsHost = options.onHandoff !== undefined;
  const { inputFilter, inputSchema } = options;
  const filters = inputFilter !== undefined;
  // Arguments that the model gives without being asked for them are ignored here too.
  if (filters)
    known.inputFilter =
      inputSchema === undefined ? (handoff) => inputFilter({ ...handoff, input: {} }) : inputFilter;
  known.config.agent = { ...known.config.agent!, handoff: true, callsHost, filters };
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
  const tools = knowTools(options.tools, list.options.toolCalls, at(field, "tools"));
  const { maxOutputTokens } = options;
  const model =
    options.model === undefined
      ? inherited(caller.model)
      : list.models.add(options.model, at(field, "model"), tools);
  return { tools, model: maxOutputTokens === undefined ? model : joined(model, { maxOutputTokens }) };
}

/** The model without `toolChoice` and `responseFormat`, which belong to the agent that set them. */
function inherited({ toolChoice: _, responseFormat: __, ...model }: ModelConfig): ModelConfig {
  return joined(model);
}

function addAgent(
  list: AgentList,
  caller: Caller,
  known: KnownTool,
  options: SubagentOptions | HandoffOptions,
  tools: ToolSet,
  profileOptions: ProfileOptions,
  config: Config,
): void {
  const { model } = caller;
  const profile = list.sets.push(tools) - 1;
  list.profiles.push(profileOptions);
  list.speakers.push(caller.speaker);
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
