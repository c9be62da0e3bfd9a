/** Checks the options of a model and writes them as the engine reads them. */
import { LoopletError } from "../api/errors.js";
import type { ModelOptions, Price, PromptCaching, ResponseFormat } from "../api/index.js";
import type { ModelConfig } from "../models/models.js";
import { at, checkOptions, describe, describeWord, isObject } from "./check.js";
import { CACHING_TABLE, FORMAT_TABLE, LONG_PROMPT_TABLE, PRICE_TABLE } from "./options.js";

/** The part of a model's configuration that its options set. */
export function askedWith(options: ModelOptions): Omit<ModelConfig, "vendor" | "model"> {
  const { stream, maxOutputTokens, temperature, topP, topK, seed, stopSequences } = options;
  const { frequencyPenalty, presencePenalty, thinking, effort, toolChoice, parallelToolCalls } = options;
  const { responseFormat, promptCaching, metadata, body, price } = options;
  if (price !== undefined && typeof price !== "function" && !isObject(price)) {
    throw new LoopletError(
      "config_wrong_type",
      "model.price",
      `needs a price or a price table, got ${describe(price)}`,
    );
  }
  if (effort !== undefined && !EFFORTS.includes(effort)) {
    throw new LoopletError(
      "config_invalid_value",
      "model.effort",
      `needs one of "${EFFORTS.join('", "')}", got ${describeWord(effort)}`,
    );
  }
  checkToolChoice(toolChoice);
  const asked = {
    stream,
    maxOutputTokens,
    temperature,
    topP,
    topK,
    frequencyPenalty,
    presencePenalty,
    seed,
    stopSequences,
    thinking: plainJson(thinking, "model.thinking"),
    effort,
    toolChoice,
    parallelToolCalls,
    responseFormat: format(responseFormat),
    promptCaching: caching(promptCaching),
    metadata: plainJson(metadata, "model.metadata"),
    body: plainJson(body, "model.body"),
    price: price === undefined || typeof price === "function" ? undefined : nanoPrice(price),
  };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

const EFFORTS: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** @throws LoopletError `config_invalid_value` */
export function checkToolChoice(choice: unknown): void {
  if (choice === undefined || choice === "auto" || choice === "none" || choice === "required") return;
  if (isObject(choice) && typeof choice["tool"] === "string" && Object.keys(choice).length === 1) return;
  throw new LoopletError(
    "config_invalid_value",
    "model.toolChoice",
    `needs "auto", "none", "required" or { tool: name }, got ${describeWord(choice)}`,
  );
}

function format(given: ResponseFormat | undefined): ModelConfig["responseFormat"] {
  if (given === undefined) return undefined;
  checkOptions(given, "model.responseFormat", FORMAT_TABLE);
  const { name, strict } = given;
  if (name !== undefined && !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw new LoopletError(
      "config_invalid_value",
      "model.responseFormat.name",
      "needs up to 64 letters, digits, _ and -",
    );
  }
  return {
    ...(name === undefined ? {} : { name }),
    schema: plainJson(given.schema, "model.responseFormat.schema"),
    ...(strict === undefined ? {} : { strict }),
  };
}

function caching(given: PromptCaching | undefined): ModelConfig["promptCaching"] {
  if (given === undefined) return undefined;
  if (typeof given === "boolean") return { enabled: given };
  if (!isObject(given)) {
    throw new LoopletError(
      "config_wrong_type",
      "model.promptCaching",
      `needs true, false or { ttl, key }, got ${describe(given)}`,
    );
  }
  checkOptions(given, "model.promptCaching", CACHING_TABLE);
  return { enabled: true, ...given };
}

function plainJson(value: unknown, field: string): unknown {
  if (value === undefined) return undefined;
  try {
    return JSON.parse(JSON.stringify(value)) as unknown;
  } catch {
    throw new LoopletError("config_invalid_value", field, "needs a value that JSON can hold");
  }
}

/** Converts US dollars per million tokens to whole nano-USD per token: a factor of 1,000. */
export function nanoPrice(price: Price): NonNullable<ModelConfig["price"]> {
  checkOptions(price, "model.price", PRICE_TABLE);
  const { longPrompt } = price;
  if (longPrompt !== undefined) checkOptions(longPrompt, "model.price.longPrompt", LONG_PROMPT_TABLE);
  const nano = (name: Exclude<keyof Price, "longPrompt">): number | undefined => {
    const usd = price[name];
    if (usd === undefined) return undefined;
    if (usd < 0)
      throw new LoopletError("config_invalid_value", at("model.price", name), "must not be negative");
    return Math.round(usd * 1000);
  };
  const cacheReadNanoUsd = nano("cacheReadUsdPerMillion");
  const cacheWriteNanoUsd = nano("cacheWriteUsdPerMillion");
  const cacheWriteHourNanoUsd = nano("cacheWriteHourUsdPerMillion");
  return {
    inputNanoUsd: nano("inputUsdPerMillion") ?? 0,
    outputNanoUsd: nano("outputUsdPerMillion") ?? 0,
    ...(cacheReadNanoUsd === undefined ? {} : { cacheReadNanoUsd }),
    ...(cacheWriteNanoUsd === undefined ? {} : { cacheWriteNanoUsd }),
    ...(cacheWriteHourNanoUsd === undefined ? {} : { cacheWriteHourNanoUsd }),
    ...(longPrompt === undefined
      ? {}
      : {
          longAboveTokens: longPrompt.aboveTokens,
          longInputPercent: Math.round(longPrompt.inputFactor * 100),
          longOutputPercent: Math.round(longPrompt.outputFactor * 100),
        }),
  };
}
