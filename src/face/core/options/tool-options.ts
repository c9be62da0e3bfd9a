/** The options about tool calls: checked, and in the form that the engine takes. */
import { LoopletError } from "../api/errors.js";
import type { Inputs, ToolRunOptions } from "../api/index.js";
import { ON_UNKNOWN_TOOL } from "../generated/tables.js";
import { at, checkValue, checkChoice, isObject, jsonOf, nearestName } from "./check.js";

/**
 * The engine's part of the options, as JSON.
 *
 * @throws LoopletError `config_…`
 */
export function toolRunConfig(options: ToolRunOptions): object {
  const { wordToolError, onUnknownTool, toolHandlers, toolAliases } = options;
  for (const [kind, handler] of Object.entries(toolHandlers ?? {}))
    checkValue(handler, at("toolHandlers", kind), "function");
  for (const [alias, name] of Object.entries(toolAliases ?? {}))
    checkValue(name, at("toolAliases", alias), "text");
  if (onUnknownTool !== undefined && typeof onUnknownTool !== "function")
    checkChoice(onUnknownTool, "onUnknownTool", ON_UNKNOWN_TOOL);
  return {
    wordErrors: wordToolError === undefined ? undefined : true,
    onUnknownTool: typeof onUnknownTool === "function" ? "host" : onUnknownTool,
    toolAliases: toolAliases && Object.entries(toolAliases),
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
