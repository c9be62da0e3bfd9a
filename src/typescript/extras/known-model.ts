/** Facts about models, for code that does not use the engine: the same table. */
import { MODELS } from "./model-rows.js";

/** What is known of a model. `null` is not known. */
export interface KnownModel {
  /** The maximum number of tokens of a request with its answer. */
  readonly window: number | null;
  /** The maximum number of tokens of an answer, including thinking. */
  readonly maxOutputTokens: number | null;
  /** Whether it thinks if a request does not specify it. */
  readonly thinks: boolean;
}

/** The row of a model at this vendor, or undefined. */
export function knownModel(vendor: string, model: string): KnownModel | undefined {
  const id = model.replaceAll(".", "-");
  const row = MODELS.find(
    ([name, vendors]) => (vendors.length === 0 || vendors.includes(vendor)) && isNamed(id, name),
  );
  if (row === undefined) return undefined;
  const [, , window, maxOutputTokens, thinks] = row;
  return { window, maxOutputTokens, thinks };
}

/** Whether an id without dots has this name, by the same rule as `is_named` of `src/engine/policy/models.rs`. */
function isNamed(id: string, name: string): boolean {
  const whole = name.endsWith("*") ? name.slice(0, -1) : `${name}(?![A-Za-z0-9])(?!-\\d\\d?(?![A-Za-z0-9]))`;
  return new RegExp(`(?<![A-Za-z0-9])${whole}`).test(id);
}
