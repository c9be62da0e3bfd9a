/** The size of a request before it is answered, and what to count if there is no answer. */
import type { Model } from "../../core/api/index.js";
import type { NanoPrice } from "./upstream.js";
import { knownModel } from "../../extras/known-model.js";
import { folded, foldedBody } from "./fields.js";
import type { Body, Protocol } from "./protocols.js";
import { costUsd, LETTERS_A_TOKEN, type Counts, type ProxyUsage } from "./usage.js";

export interface SentSize {
  /** An estimate of what the model reads. */
  readonly inputTokens: number;
  /** The most tokens that the vendor may write; undefined if the request has no bound. */
  readonly maxTokens: number | undefined;
  /** The most tokens of reasoning that no event may show; 0 for a model that does not reason, or without a bound. */
  readonly hiddenTokens: number;
}

/**
 * Models that reason without a field for it, and do not show their reasoning. For Claude the model table has this.
 */
const REASONING_MODELS =
  /(?:^|[/.])(?:o\d|gpt-(?:[5-9]|\d\d)|gemini-(?:2\.5|[3-9]|\d\d)|grok-(?:[3-9]|\d\d))/i;
const reasons = (vendor: string, model: string): boolean =>
  REASONING_MODELS.test(model) || knownModel(vendor, model)?.thinks === true;

export interface SentModel extends Model {
  readonly maxOutputTokens?: number | null;
}

/** The size of a request with this body. `bound` is the model's output limit, used if the request has none. */
export function sizeOf(
  protocol: Protocol,
  { vendor, model, maxOutputTokens: bound }: SentModel,
  body: Body,
  bytes: Uint8Array,
): SentSize {
  const { body: fields } = foldedBody(body);
  const bounds = protocol.maxTokens(fields).filter((count) => isCount(count, Infinity)) as number[];
  const maxTokens = bounds.length > 0 ? Math.max(...bounds) : (bound ?? undefined);
  const asked = protocol.reasoning(fields).map(budgetOf);
  const reasoning = asked.length > 0 ? Math.max(...asked) : reasons(vendor, model) ? Infinity : 0;
  // Without an output limit it is unknown how much the vendor wrote.
  const hiddenTokens = reasoning === Infinity ? (maxTokens ?? 0) : reasoning;
  return { inputTokens: tokensOf(bytes), maxTokens, hiddenTokens };
}

/** An estimate of the tokens in a text: a quarter of its letters, but each letter outside of ASCII is one. */
function tokensOf(utf8: Uint8Array): number {
  let letters = 0;
  for (const byte of utf8) letters += byte < 0x80 ? 1 : byte < 0xc0 ? 0 : LETTERS_A_TOKEN;
  return Math.ceil(letters / LETTERS_A_TOKEN);
}

const OFF = ["none", "off", "disabled"];

/** The tokens of reasoning that a field allows; Infinity where it names no number. */
function budgetOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return isOff(value) ? 0 : Infinity;
  const budgets = Object.entries(value).flatMap(([name, field]): number[] => {
    const own = folded(name);
    if (own.includes("effort") || own.includes("level")) return [isOff(field) ? 0 : Infinity];
    // A negative budget leaves the decision to the model.
    if (own.includes("budget") || own === "maxtokens")
      return [typeof field === "number" && field >= 0 ? field : Infinity];
    return (own === "type" || own === "enabled") && isOff(field) ? [0] : [];
  });
  return budgets.length > 0 ? Math.max(...budgets) : Infinity;
}

function isOff(value: unknown): boolean {
  return value === false || OFF.includes(value as string);
}

/** The maximum usage of a call: its input, and all output that its limit allows. */
export function mostOf({ inputTokens, maxTokens = 0 }: SentSize, price: NanoPrice | undefined): ProxyUsage {
  const counts: Counts = {
    input: inputTokens,
    output: maxTokens,
    cacheRead: 0,
    cacheWrite: 0,
    cacheWriteHour: 0,
  };
  const cost = price === undefined ? null : costUsd(counts, price);
  return { inputTokens, outputTokens: maxTokens, costUsd: cost, isReported: false };
}

export function isCount(value: unknown, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;
}
