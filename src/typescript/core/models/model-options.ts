/** Checks the options of a model and writes them as the engine reads them. */
import { LoopletError } from "../api/errors.js";
import type { ModelOptions } from "../api/index.js";
import type { HttpModelData } from "../generated/model.js";
import { MODEL_DATA, PROMPT_CACHING } from "../generated/tables.js";
import type { ModelConfig } from "./models.js";
import { at, checkOptions, describe, isObject, joined } from "../options/check.js";
import { given } from "../options/options.js";
import { nanoPrice } from "./nano-price.js";

/** The part of a model's configuration that its options set. */
export function configFromOptions(
  options: ModelOptions & HttpModelData,
): Omit<ModelConfig, "vendor" | "model"> {
  const { stream, serverState, promptCaching, price, responseFormat } = joined(options);
  if (price !== undefined && typeof price !== "function" && !isObject(price)) {
    throw new LoopletError(
      "config_wrong_type",
      "model.price",
      `needs a price or a price table, got ${describe(price)}`,
    );
  }
  checkSchemaName(responseFormat?.name, "model.responseFormat.name");
  const asked: { [name: string]: unknown } = {
    ...given(options, MODEL_DATA),
    stream,
    serverState,
    promptCaching: caching(promptCaching),
    price: price === undefined || typeof price === "function" ? undefined : nanoPrice(price),
  };
  // Your objects are copied, so that changing them later changes no model.
  for (const [name, value] of Object.entries(asked)) {
    if (value === undefined) delete asked[name];
    else asked[name] = plainJson(value, at("model", name));
  }
  return asked;
}

/** @throws LoopletError `config_invalid_value` */
export function checkSchemaName(name: string | undefined, field: string): void {
  if (name !== undefined && !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    throw new LoopletError("config_invalid_value", field, "needs up to 64 letters, digits, _ and -");
}

/** The engine's form: whether to cache, with the fields of an object. */
function caching(given: ModelOptions["promptCaching"]): object | undefined {
  if (given === undefined) return undefined;
  if (typeof given === "boolean") return { enabled: given };
  if (!isObject(given)) {
    throw new LoopletError(
      "config_wrong_type",
      "model.promptCaching",
      `needs true, false or { ttl, key }, got ${describe(given)}`,
    );
  }
  return { enabled: true, ...checkOptions(given, "model.promptCaching", PROMPT_CACHING) };
}

function plainJson(value: unknown, field: string): unknown {
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    throw new LoopletError("config_invalid_value", field, "needs a value that JSON can hold");
  }
}
