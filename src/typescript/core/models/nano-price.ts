/** The price of a model as the engine reads it. */
import { LoopletError } from "../api/errors.js";
import type { Price, PriceFactors } from "../api/index.js";
import { at, checkOptions, joined } from "../options/check.js";
import type { OptionTable } from "../option-table.js";
import type { ModelConfig } from "./models.js";

/** Converts US dollars per million tokens to whole nano-USD per token: a factor of 1,000. */
export function nanoPrice(given: Price): NonNullable<ModelConfig["price"]> {
  const price = checkOptions(given, "model.price", PRICE_TABLE);
  const longPrompt =
    price.longPrompt && checkOptions(price.longPrompt, "model.price.longPrompt", LONG_PROMPT_TABLE);
  const factors = price.factors && checkOptions(price.factors, "model.price.factors", FACTORS_TABLE);
  const percent = (name: keyof PriceFactors): number | undefined => {
    const factor = factors?.[name];
    if (factor === undefined) return undefined;
    if (factor < 0)
      throw new LoopletError("config_invalid_value", at("model.price.factors", name), "must not be negative");
    return Math.round(factor * 100);
  };
  const nano = (name: Exclude<keyof Price, "longPrompt" | "factors">): number | undefined => {
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
    ...joined({
      batchPercent: percent("batch"),
      flexPercent: percent("flex"),
      priorityPercent: percent("priority"),
      fastPercent: percent("fast"),
      usPercent: percent("us"),
    }),
  };
}

export const PRICE_TABLE: OptionTable = {
  inputUsdPerMillion: "number!",
  outputUsdPerMillion: "number!",
  cacheReadUsdPerMillion: "number",
  cacheWriteUsdPerMillion: "number",
  cacheWriteHourUsdPerMillion: "number",
  longPrompt: "object",
  factors: "object",
};

export const FACTORS_TABLE: OptionTable = {
  batch: "number",
  flex: "number",
  priority: "number",
  fast: "number",
  us: "number",
};

export const LONG_PROMPT_TABLE: OptionTable = {
  aboveTokens: "count!",
  inputFactor: "number!",
  outputFactor: "number!",
};
