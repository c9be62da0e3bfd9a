/** The options about tool calls: checked, and in the form that the engine takes. */
import { LoopletError } from "../api/errors.js";
import type { Inputs, ToolCallOptions } from "../api/index.js";
import { ON_UNKNOWN_TOOL, RUN_TOOL_CALLS } from "../generated/tables.js";
import { at, checkValue, checkWords, isObject, joined, jsonOf, nearestName } from "./check.js";
import { given } from "./options.js";

/**
 * The engine's part of the options, as JSON.
 *
 * @throws LoopletError `config_…`
 */
export function toolRunConfig(options: ToolCallOptions = joined()): object {
  const { wordError, onUnknownTool, handlers, aliases } = options;
  for (const [kind, handler] of Object.entries(handlers ?? {}))
    checkValue(handler, at("toolCalls.handlers", kind), "function");
  for (const [alias, name] of Object.entries(aliases ?? {}))
    checkValue(name, at("toolCalls.aliases", alias), "text");
  checkWords(onUnknownTool, "toolCalls.onUnknownTool", ON_UNKNOWN_TOOL);
  return {
    ...given(options, RUN_TOOL_CALLS),
    wordErrors: wordError === undefined ? undefined : true,
    onUnknownTool: typeof onUnknownTool === "function" ? "host" : onUnknownTool,
    aliases: aliases && Object.entries(aliases),
  };
}

/** The agent's values with the run's values over them. */
export function mergedInputs(agent: Inputs | undefined, run: Inputs | undefined): Inputs {
  return { ...agent, ...run };
}

/**
 * `inputs` as JSON; undefined if there are none.
 *
 * @throws LoopletError for a value that JSON cannot hold
 */
export function inputsJson(inputs: Inputs): string | undefined {
  const json = jsonOf(inputs, "inputs");
  return json === "{}" ? undefined : json;
}

/**
 * The bound fields, and the schema without them, which the model sees.
 *
 * @throws LoopletError `config_…`
 */
export function bindingConfig(
  bindings: { readonly [field: string]: string } | undefined,
  schema: { [keyword: string]: unknown },
  path: string,
): object {
  const fields = Object.keys(bindings ?? {});
  if (bindings === undefined || fields.length === 0) return {};
  const properties = (isObject(schema["properties"]) ? schema["properties"] : {}) as Inputs;
  for (const field of fields) {
    checkValue(bindings[field], at(path, field), "text");
    if (!Object.hasOwn(properties, field)) {
      const nearest = nearestName(field, Object.keys(properties));
      throw new LoopletError(
        "config_invalid_value",
        at(path, field),
        `the schema has no such property${nearest === undefined ? "" : `; did you mean ${nearest}?`}`,
      );
    }
  }
  const shown = Object.entries(properties).filter(([field]) => !fields.includes(field));
  const required = schema["required"] as string[] | undefined;
  return {
    inputSchema: {
      ...schema,
      properties: Object.fromEntries(shown),
      ...(required === undefined ? {} : { required: required.filter((field) => !fields.includes(field)) }),
    },
    fullSchema: schema,
    bindings: fields.map((field) => ({ field, input: bindings[field] })),
  };
}
