/**
 * `tool()`, and the tools of an agent: checked, named, with the JSON Schema that the model sees.
 *
 * The room `tools/` owns the way of a call through JavaScript: the input is parsed and validated, `execute` is
 * called, and its result becomes JSON. It never decides whether or when a call runs. `createAgent` hands the tools
 * in, and a run hands it the engine's calls.
 *
 * Wrong tools throw a `LoopletError` in `createAgent`. A tool that throws, rejects or returns a value that JSON
 * cannot hold gives the engine a fault for the model; the run continues.
 */
import type { NotOfTool } from "../peer-names.js";
import { LoopletError } from "../api/errors.js";
import type {
  HandoffOptions,
  InputSchema,
  SearchTools,
  StandardSchemaV1,
  Tool,
  ToolHandler,
  ToolOptions,
  ToolCallOptions,
  Tools,
} from "../api/index.js";
import type { ToolConfig } from "../generated/input.js";
import { TOOL_DATA } from "../generated/tables.js";
import {
  at,
  checkChoice,
  checkOptions,
  checkValue,
  describe,
  fieldOf,
  isObject,
  isRecord,
} from "../options/check.js";
import { KNOWN_ELSEWHERE } from "../options/elsewhere.js";
import { internalsOf } from "./agent-internals.js";
import { given, TOOL_TABLE } from "../options/options.js";
import { checkNeedsApproval } from "../options/permissions.js";
import { bindingConfig } from "../options/tool-options.js";
import { inputJsonSchema, isStandardSchema } from "./tool-schema.js";
import { loaders } from "./deferred/loaders.js";
import { vendorConfig } from "./vendor-tool.js";

/**
 * Defines a tool; the schema types the argument of `execute`. The definition is returned unchanged.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent, tool } from "looplet";
 *
 * const weather = tool({
 *   description: "Current weather of a city",
 *   inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *   readOnly: true,
 *   execute: ({ city }) => `Rain in ${city}`,
 * });
 * const model = anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY });
 * const agent = createAgent({ model, tools: { weather } });
 * const { toolCalls } = await agent.run("What is the weather in Paris?").result;
 * console.log(toolCalls[0]?.output); // prints "Rain in Paris"
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function tool<
  const S extends InputSchema,
  R = unknown,
  const N extends string | undefined = undefined,
>(
  options: ToolOptions<S, R> & { name?: N } & NotOfTool,
): ToolOptions<S, R> & (N extends string ? { name: N } : unknown) {
  const name: unknown = isObject(options) ? fieldOf(options, "name") : undefined;
  checkTool(options, typeof name === "string" ? name : "tool");
  return options as ToolOptions<S, R> & (N extends string ? { name: N } : unknown);
}

/** A tool of an agent, checked and named. */
export interface KnownTool {
  readonly config: ToolConfig & { name: string };
  readonly options: Tool;
  /** The tool as your code has defined it. */
  readonly defined: Tool;
  /** The Standard Schema that checks the input before the call, if the engine does not. */
  readonly standard: StandardSchemaV1 | undefined;
  /** Chooses the messages that the agent behind a handoff begins with. */
  inputFilter?: HandoffOptions["inputFilter"];
}

/** An agent's tools by name, in the order in which they were given. */
export type ToolSet = ReadonlyMap<string, KnownTool>;

/**
 * Checks and names an agent's tools.
 *
 * @throws LoopletError `config_…`, with `field` below `tools`
 */
export function knowTools(
  tools: Tools | undefined,
  { handlers = {}, searchTools }: Pick<ToolCallOptions, "handlers" | "searchTools"> = {},
  place = "tools",
): ToolSet {
  const known = new Map<string, KnownTool>();
  if (tools === undefined) return known;
  if (!isRecord(tools) && !Array.isArray(tools)) {
    throw new LoopletError(
      "config_wrong_type",
      place,
      `needs a record or an array of tools, got ${describe(tools)}`,
    );
  }
  for (const [name, field, options] of named(tools, place)) {
    if (known.has(name)) {
      throw new LoopletError("config_duplicate_tool", field, `two tools are named "${name}"; rename one`);
    }
    const tool = know(name, field, options);
    known.set(name, tool);
    if (tool.config.vendor?.hosted !== true && handlerOf(tool.options, handlers) === undefined) {
      throw new LoopletError(
        "config_missing",
        at(field, "execute"),
        `No handler registered for tool: ${name} (kind: ${tool.options.kind}); give it execute, or toolCalls.handlers a function of this kind or "*"`,
      );
    }
  }
  addLoaders(known, searchTools, place);
  return known;
}

/** Adds the tools by which a model reaches those with `deferLoading`, if there are any. */
function addLoaders(known: Map<string, KnownTool>, own: SearchTools | undefined, place: string): void {
  const deferred = [...known].filter(([, { config }]) => config.deferLoading === true);
  if (deferred.length === 0) return;
  const tools = new Map(deferred.map(([name, { options }]) => [name, options]));
  for (const [name, loader, options] of loaders(tools, own)) {
    const field = at(place, name);
    if (known.has(name)) {
      const problem = `a tool is named "${name}", as the one that loads tools with deferLoading; rename it`;
      throw new LoopletError("config_duplicate_tool", field, problem);
    }
    const tool = know(name, field, options);
    known.set(name, { ...tool, config: { ...tool.config, loader } });
  }
}

/** The function that runs a tool's calls: its own `execute`, or else the handler of its kind. */
export function handlerOf(
  { execute, kind }: Tool,
  handlers: NonNullable<ToolCallOptions["handlers"]>,
): ToolHandler | undefined {
  if (execute !== undefined || kind === undefined) return execute as ToolHandler | undefined;
  return Object.hasOwn(handlers, kind) ? handlers[kind] : handlers["*"];
}

function* named(tools: Tools, place: string): Generator<[name: string, field: string, options: Tool]> {
  if (!Array.isArray(tools)) {
    for (const [name, options] of Object.entries(tools))
      if (options !== undefined) yield [name, at(place, name), options as Tool];
    return;
  }
  for (const [index, options] of (tools as Tool[]).entries()) {
    const field = `${place}[${index}]`;
    const name = isObject(options) ? fieldOf(options, "name") : undefined;
    if (isObject(options) && name === undefined && internalsOf(options) === undefined) {
      throw new LoopletError("config_missing", at(field, "name"), "is required for a tool in an array");
    }
    yield [String(name), typeof name === "string" ? at(place, name) : field, options];
  }
}

const NAMES = [/^[a-zA-Z0-9_-]{1,128}$/, "1 to 128 letters, digits, _ and -"] as const;

/** The names of tools of a page, and what they are. Brackets and stars would make the name a rule of permissions. */
export const PAGE_NAMES = [
  /^(?=.*\S)[^\p{C}()*]{1,256}$/u,
  "1 to 256 characters, none of them a bracket, a star or a control character",
] as const;

/** The tools that a page has named. A vendor that refuses such a name gets another one in its place. */
const ofPages = new WeakSet<object>();

/** Takes the tool as one that a page has named. */
export function markAsNamedByPage<T extends object>(tool: T): T {
  ofPages.add(tool);
  return tool;
}

function know(name: string, field: string, defined: Tool): KnownTool {
  if (internalsOf(defined) !== undefined) {
    const problem =
      "is an agent; make it a tool with subagent(agent, { description }) or handoff(agent, { description })";
    throw new LoopletError("config_wrong_type", field, problem);
  }
  const options = checkTool(defined, field);
  const [names, words] = ofPages.has(defined) ? PAGE_NAMES : NAMES;
  if (!names.test(name)) throw new LoopletError("config_invalid_value", field, `a tool's name is ${words}`);
  const standard = isStandardSchema(options.inputSchema) ? options.inputSchema : undefined;
  const validate = options.validate !== false;
  const inputSchema = inputJsonSchema(options.inputSchema, at(field, "inputSchema"));
  return {
    options,
    defined,
    standard: validate ? standard : undefined,
    config: {
      name,
      description: options.description,
      inputSchema,
      ...bindingConfig(options.bindings, inputSchema, at(field, "bindings")),
      readOnly: readOnlyHintOf(options),
      ...given(options, TOOL_DATA),
      validate: validate && standard === undefined,
      prepare:
        (validate && standard !== undefined) ||
        options.resourceKey !== undefined ||
        options.leadsElsewhere !== undefined ||
        typeof options.needsApproval === "function",
      needsApproval: options.needsApproval === true || undefined,
      mayNeedApproval: typeof options.needsApproval === "function" || undefined,
      replay: options.replay,
      vendor: vendorConfig(options, name, field),
    },
  };
}

function checkTool(given: Tool, field: string): Tool {
  const options = checkOptions(given, field, TOOL_TABLE, KNOWN_ELSEWHERE);
  const { inputSchema, replay, needsApproval, execute, kind, vendor } = options;
  const readOnlyHint: unknown = readOnlyHintOf(options);
  if (readOnlyHint !== undefined) checkValue(readOnlyHint, at(field, "annotations.readOnlyHint"), "boolean");
  if (execute === undefined && kind === undefined && vendor === undefined)
    throw new LoopletError("config_missing", at(field, "execute"), "is required");
  checkNeedsApproval(needsApproval, at(field, "needsApproval"));
  if (replay !== undefined) checkChoice(replay, at(field, "replay"), ["safe", "once"]);
  inputJsonSchema(inputSchema, at(field, "inputSchema"));
  return options;
}

function readOnlyHintOf({ annotations }: Tool): boolean | undefined {
  return annotations && (fieldOf(annotations, "readOnlyHint") as boolean | undefined);
}
