/** The models that a run may use: checked, priced and numbered, so that each request gets the right key. */
import { fetchOnce } from "../fetch-once.js";
import { at, describe, joined } from "../options/check.js";
import { LoopletError } from "../api/errors.js";
import { nanoPrice } from "./nano-price.js";
import { modelParts, type ModelConfig, type ModelParts, isBrowser } from "./models.js";
import type { AgentOptions, Fetch } from "../api/index.js";

type NanoPrice = NonNullable<ModelConfig["price"]>;
/** The tools of an agent, as far as they concern its models. */
type GivenTools = ReadonlyMap<
  string,
  { readonly config: { readonly vendor?: { readonly entry?: unknown } | null | undefined } }
>;
type Settings = Pick<AgentOptions, "fetch" | "steps" | "limits">;

export class ModelList {
  readonly #settings: Settings;
  readonly #all: ModelParts[];

  constructor(settings: Settings, all: readonly ModelParts[] = []) {
    this.#settings = settings;
    this.#all = [...all];
  }

  /** A copy for one run, which may add models. */
  copy(): ModelList {
    return new ModelList(this.#settings, this.#all);
  }

  /**
   * Checks a model and adds it. `field` is its path in the options; `tools` has the names that its tool choice may
   * use.
   *
   * @throws LoopletError `config_…`
   */
  add(model: unknown, field: string, tools: GivenTools): ModelConfig {
    const given = modelParts(model);
    if (given === undefined) {
      throw new LoopletError(
        "config_wrong_type",
        field,
        `needs anthropic(…), openaiChat(…), compatible(…) or custom(…), got ${describe(model)}`,
      );
    }
    const { fetch, limits } = this.#settings;
    const { maxUsd, allowUnknownPrice } = joined(limits);
    checkAccess(given, field, fetch);
    const slot = this.#all.length;
    const config = joined(priced(given, tools), slot === 0 ? {} : { slot });
    const chosen = (config.toolChoice as { tool?: string } | undefined)?.tool;
    if (chosen !== undefined && !tools.has(chosen)) {
      throw new LoopletError("config_invalid_value", at(field, "toolChoice"), `there is no tool "${chosen}"`);
    }
    if (maxUsd !== undefined && allowUnknownPrice !== true)
      checkPrices(config, tools, field, "limits.maxUsd");
    this.#all.push(joined(given, { config }));
    return config;
  }

  /** The model of a request. */
  at(slot: number): ModelParts {
    return this.#all[slot] as ModelParts;
  }

  /** The function that sends a model's requests. */
  fetch(slot: number): Fetch {
    const own = this.at(slot).fetch ?? this.#settings.fetch;
    const send: Fetch = (url, init) => fetchOnce(own, url, init);
    return this.#settings.steps?.fetch(send) ?? send;
  }

  /** The source of the first model's price, if it has one. With several models the less certain source counts. */
  priceBasis(): "option" | "table" | undefined {
    const isFromTable = ({ config, prices }: ModelParts): boolean =>
      config.price !== undefined && prices !== undefined;
    if (this.at(0).config.price === undefined) return undefined;
    return this.#all.some(isFromTable) ? "table" : "option";
  }
}

/** The model's configuration, with the prices that the table knows. */
function priced({ config, prices }: ModelParts, tools: GivenTools): ModelConfig {
  if (prices === undefined) return config;
  const others = askedInside(config, tools).flatMap((name) => {
    const price = prices(config.vendor, name);
    return price === undefined ? [] : [[name, nanoPrice(price)] as [string, NanoPrice]];
  });
  const price = prices(config.vendor, config.model);
  return {
    ...config,
    ...(price === undefined ? {} : { price: nanoPrice(price) }),
    ...(others.length === 0 ? {} : { otherPrices: others }),
  };
}

/** The models that the vendor may ask within a request: advisors among the tools and in `body`, and fallbacks. */
function askedInside({ model, body }: ModelConfig, own: GivenTools): string[] {
  const { tools, fallbacks } = (body ?? {}) as Record<string, unknown>;
  const ofVendor: unknown[] = [...own.values()].map(({ config }) => config.vendor?.entry);
  const entries: unknown[] = [ofVendor, tools, fallbacks].filter(Array.isArray).flat();
  const names = entries.map((entry) => (entry as { model?: unknown } | null)?.model);
  return [...new Set(names)].filter((name): name is string => typeof name === "string" && name !== model);
}

/**
 * Checks that the price of each model is known that a request may cost. `field` is the model's path, `limit` that of
 * the limit.
 *
 * @throws LoopletError `config_missing`
 */
export function checkPrices(config: ModelConfig, tools: GivenTools, field: string, limit: string): void {
  const known = config.otherPrices?.map(([name]) => name) ?? [];
  const inside = askedInside(config, tools).find((name) => !known.includes(name));
  const asked = field === "model" ? "the model" : field;
  const unknown = config.price === undefined ? asked : inside && `${inside} in its body`;
  if (unknown === undefined) return;
  throw new LoopletError(
    "config_missing",
    limit,
    `needs to know what ${unknown} costs: give the model a price (prices of looplet/prices knows the main ones), or set limits.allowUnknownPrice: true if its vendor reports costs`,
  );
}

/**
 * Checks that there is a key and that it may be in this place. Your own `fetch`, a proxy or `authorize` make a key
 * unnecessary.
 */
function checkAccess(model: ModelParts, field: string, ownFetch: Fetch | undefined): void {
  const { apiKey, authorize, isDirect, dangerouslyAllowBrowser } = model;
  if (!isDirect || authorize !== undefined || (model.fetch ?? ownFetch) !== undefined) return;
  if (apiKey === undefined) {
    throw new LoopletError(
      "config_missing_key",
      at(field, "apiKey"),
      "is required; or give authorize, the baseUrl of your proxy, or a fetch of your own",
    );
  }
  if (!dangerouslyAllowBrowser && isBrowser()) {
    throw new LoopletError(
      "config_browser_key",
      at(field, "apiKey"),
      "everybody who opens this page can read the key; set baseUrl to a proxy of yours that adds it, or dangerouslyAllowBrowser: true",
    );
  }
}
