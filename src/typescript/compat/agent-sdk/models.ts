/** The models of a query by the names that the Claude Agent SDK knows, with their windows. */
import type { HttpModelOptions, Model } from "../../core/api/index.js";
import { modelOf } from "../host.js";
import { knownModel, type KnownModel } from "../../extras/known-model.js";
import { prices } from "../../extras/prices.js";
import { joined } from "../../core/kit/check.js";
import { presets } from "../presets/index.js";
import type { PlainOptions } from "./options/options.js";
import type { Options } from "./types.js";

/**
 * The short names and the newest model of each family (2026-11-22).
 * <https://code.claude.com/docs/en/model-config#model-aliases>
 */
const ALIASES: { readonly [alias: string]: string } = {
  default: "claude-sonnet-5-5",
  sonnet: "claude-sonnet-5-5",
  opus: "claude-opus-5-5",
  haiku: "claude-haiku-5-5",
  fable: "claude-fable-5-1",
};

/** The alias that the options leave out. */
const DEFAULT = "default";

const MILLION = 1_000_000;

/** Tokens that a model of Anthropic can read, if looplet's table does not have it. */
const USUAL = 200_000;

/** A model's own name, and whether its name asks for a window of a million tokens. */
export function nameOf(name: string): { readonly name: string; readonly isLarge: boolean } {
  const isLarge = name.endsWith("[1m]");
  const plain = isLarge ? name.slice(0, -"[1m]".length) : name;
  return { name: Object.hasOwn(ALIASES, plain) ? ALIASES[plain]! : plain, isLarge };
}

/** Tokens that a model can read; undefined if that is not known. */
export function windowOf(model: string | Model): number | undefined {
  const { name, isLarge } = nameOf(typeof model === "string" ? model : model.model);
  if (isLarge) return MILLION;
  return known(model)?.window ?? (name.startsWith("claude-") ? USUAL : undefined);
}

/** Tokens that a model can write in one answer; undefined if that is not known. */
export function outputOf(model: string): number | undefined {
  return known(model)?.maxOutputTokens ?? undefined;
}

function known(model: string | Model): KnownModel | undefined {
  return typeof model === "string"
    ? knownModel("anthropic", nameOf(model).name)
    : knownModel(model.vendor, model.model);
}

/** The model that a query begins with. */
export function chosen({ model, host }: PlainOptions): string | Model {
  return model ?? host?.defaultModel ?? DEFAULT;
}

/** The short names, with the models that they refer to. */
export function supportedModels(): {
  value: string;
  resolvedModel: string;
  displayName: string;
  description: string;
}[] {
  return Object.entries(ALIASES).map(([value, resolvedModel]) => ({
    value,
    resolvedModel,
    displayName: resolvedModel,
    description: `${(windowOf(resolvedModel) ?? USUAL) / 1000}k tokens`,
  }));
}

/** The model of a name or of an alias, as the options want it. */
export function namedModel(
  model: string | Model,
  options: PlainOptions,
  effort: Options["effort"] = options.effort,
): Model {
  const { host = {} } = options;
  if (typeof model !== "string") return model;
  // The variable of the options comes before the one of the process, which `modelOf` reads.
  const apiKey = host.apiKey ?? (options.env?.["ANTHROPIC_API_KEY"] || undefined);
  return modelOf(nameOf(model).name, joined(host, { apiKey }), modelOptions(options, effort));
}

function modelOptions(
  { maxThinkingTokens, betas = [] }: PlainOptions,
  effort: Options["effort"],
): HttpModelOptions {
  return {
    ...presets.claudeAgentSdk.model,
    ...(effort === undefined ? {} : { effort }),
    ...(maxThinkingTokens ? { thinking: { budgetTokens: maxThinkingTokens } } : {}),
    ...(betas.length > 0 ? { headers: { "anthropic-beta": betas.join(",") } } : {}),
    price: prices,
  };
}
