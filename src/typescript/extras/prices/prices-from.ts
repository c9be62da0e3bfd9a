/**
 * Prices from public lists, so that you need not wait for a release of looplet.
 *
 * - models.dev: `https://models.dev/api.json`, its schema as of 2026-07-02 (github.com/anomalyco/models.dev)
 * - litellm: `model_prices_and_context_window.json` of github.com/BerriAI/litellm
 * - OpenRouter: `https://openrouter.ai/api/v1/models`
 */
import type { Price, PriceTable } from "../../core/api/index.js";
import { isObject } from "../../core/kit/check.js";
import { isModel } from "./model-name.js";

type Fields = { readonly [name: string]: unknown };

/** The names that a source has for vendors of looplet; another vendor has its own name there. */
const MODELS_DEV: { readonly [vendor: string]: string } = {
  bedrock: "amazon-bedrock",
  vertex: "google-vertex",
  moonshot: "moonshotai",
  together: "togetherai",
  fireworks: "fireworks-ai",
};
const LITELLM: { readonly [vendor: string]: string } = {
  google: "gemini",
  vertex: "vertex_ai",
  together: "together_ai",
  fireworks: "fireworks_ai",
};

/**
 * The prices in a file of models.dev, litellm or OpenRouter, for the option `price` of a model. A model that is not
 * in the file, or has no numeric price there, has no price. To use looplet's table then: `(vendor, model) =>
 * fromFile(vendor, model) ?? prices(vendor, model)`.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { pricesFrom } from "looplet/prices";
 *
 * const response = await fetch("https://models.dev/api.json");
 * const price = pricesFrom(await response.json());
 * const agent = createAgent({ model: anthropic("claude-opus-5-5", { apiKey: "key", price }) });
 * ```
 *
 * @throws {TypeError} The JSON has none of the three shapes.
 */
export function pricesFrom(json: unknown): PriceTable {
  if (isObject(json)) {
    if (Array.isArray(json["data"])) return fromOpenRouter(json["data"]);
    const rows = Object.values(json).filter(isObject);
    if (rows.some(({ models }) => isObject(models))) return fromModelsDev(json);
    if (rows.some((row) => "input_cost_per_token" in row)) return fromLitellm(json);
  }
  throw new TypeError(
    "pricesFrom: the JSON is not a file of models.dev (api.json), litellm (model_prices_and_context_window.json) or OpenRouter (/api/v1/models)",
  );
}

function fromModelsDev(json: Fields): PriceTable {
  return (vendor, model) => {
    const provider = json[MODELS_DEV[vendor] ?? vendor];
    const models = isObject(provider) && isObject(provider["models"]) ? provider["models"] : {};
    const row = rowOf(models, model);
    const cost = isObject(row) ? row["cost"] : undefined;
    if (!isObject(cost)) return undefined;
    const tiers: unknown[] = Array.isArray(cost["tiers"]) ? cost["tiers"] : [];
    const tier = tiers
      .filter(isObject)
      .find((one) => isObject(one["tier"]) && one["tier"]["type"] === "context");
    const above = tier === undefined ? 200_000 : (tier["tier"] as Fields)["size"];
    const dear = tier ?? cost["context_over_200k"];
    const dearer = isObject(dear) ? { above, input: dear["input"], output: dear["output"] } : undefined;
    return priceOf(1, {
      input: cost["input"],
      output: cost["output"],
      read: cost["cache_read"],
      write: cost["cache_write"],
      dearer,
    });
  };
}

function fromLitellm(json: Fields): PriceTable {
  return (vendor, model) => {
    const name = LITELLM[vendor] ?? vendor;
    const bare = rowOf(json, model);
    const isIts = isObject(bare) && `${bare["litellm_provider"]}`.startsWith(name);
    const row = rowOf(json, `${name}/${model}`) ?? (isIts ? bare : undefined);
    if (!isObject(row)) return undefined;
    // The threshold is in the name: `input_cost_per_token_above_200k_tokens`.
    const field = Object.keys(row).find((key) => /^input_cost_per_token_above_\d+k_tokens$/.test(key));
    const above = field === undefined ? undefined : Number(/\d+/.exec(field)![0]) * 1000;
    const dearer =
      field === undefined
        ? undefined
        : { above, input: row[field], output: row[field.replace("input_", "output_")] };
    return priceOf(1e6, {
      input: row["input_cost_per_token"],
      output: row["output_cost_per_token"],
      read: row["cache_read_input_token_cost"],
      write: row["cache_creation_input_token_cost"],
      writeHour: row["cache_creation_input_token_cost_above_1hr"],
      dearer,
    });
  };
}

function fromOpenRouter(data: readonly unknown[]): PriceTable {
  const rows = new Map(data.filter(isObject).map((row) => [`${row["id"]}`, row["pricing"]]));
  return (vendor, model) => {
    // OpenRouter names models by their makers: `anthropic/claude-opus-5`.
    const pricing = rows.get(vendor === "openrouter" ? model : `${vendor}/${model}`);
    if (!isObject(pricing)) return undefined;
    return priceOf(1e6, {
      input: pricing["prompt"],
      output: pricing["completion"],
      read: pricing["input_cache_read"],
      write: pricing["input_cache_write"],
    });
  };
}

/** The row of a model, also for a name that ends with a date. */
function rowOf(rows: Fields, model: string): unknown {
  if (Object.hasOwn(rows, model)) return rows[model];
  const known = Object.keys(rows).find((name) => isModel(model, name));
  return known === undefined ? undefined : rows[known];
}

interface Found {
  readonly input: unknown;
  readonly output: unknown;
  readonly read?: unknown;
  readonly write?: unknown;
  readonly writeHour?: unknown;
  readonly dearer?:
    { readonly above: unknown; readonly input: unknown; readonly output: unknown } | undefined;
}

/** The price of numbers that are US dollars for a million tokens when they are multiplied. */
function priceOf(factor: number, found: Found): Price | undefined {
  const usd = (value: unknown): number | undefined => {
    const number = typeof value === "string" && value !== "" ? Number(value) : value;
    if (typeof number !== "number" || !Number.isFinite(number) || number < 0) return undefined;
    return Math.round(number * factor * 1e6) / 1e6;
  };
  const [input, output] = [usd(found.input), usd(found.output)];
  if (input === undefined || output === undefined) return undefined;
  const [read, write, writeHour] = [usd(found.read), usd(found.write), usd(found.writeHour)];
  const [above, long, longOut] = [found.dearer?.above, usd(found.dearer?.input), usd(found.dearer?.output)];
  const hundredth = (value: number): number => Math.round(value * 100) / 100;
  return {
    inputUsdPerMillion: input,
    outputUsdPerMillion: output,
    ...(read === undefined ? {} : { cacheReadUsdPerMillion: read }),
    ...(write === undefined ? {} : { cacheWriteUsdPerMillion: write }),
    ...(writeHour === undefined ? {} : { cacheWriteHourUsdPerMillion: writeHour }),
    ...(typeof above === "number" && long !== undefined && input > 0
      ? {
          longPrompt: {
            aboveTokens: above,
            inputFactor: hundredth(long / input),
            outputFactor: longOut === undefined || output === 0 ? 1 : hundredth(longOut / output),
          },
        }
      : {}),
  };
}
