/** What is known of a model, for code that does not ask the engine: the same table. */
import { MODELS } from "./model-rows.js";

/** What is known of a model. `null` is not known. */
export interface KnownModel {
  /** The most tokens of a request with its answer. */
  readonly window: number | null;
  /** The most tokens of an answer, thinking included. */
  readonly maxOutputTokens: number | null;
  /** Whether it thinks when a request does not say. */
  readonly thinks: boolean;
}

/** The row of a model that is asked at this vendor; undefined if the table has none. */
export function knownModel(vendor: string, model: string): KnownModel | undefined {
  const id = model.replaceAll(".", "-");
  const row = MODELS.find(
    ([name, vendors]) => (vendors.length === 0 || vendors.includes(vendor)) && isNamed(id, name),
  );
  if (row === undefined) return undefined;
  const [, , window, maxOutputTokens, thinks] = row;
  return { window, maxOutputTokens, thinks };
}

/** Whether an id without dots has this name, as `is_named` of `src/engine/policy/models.rs` decides it. */
function isNamed(id: string, name: string): boolean {
  const whole = name.endsWith("*") ? name.slice(0, -1) : `${name}(?![A-Za-z0-9])(?!-\\d\\d?(?![A-Za-z0-9]))`;
  return new RegExp(`(?<![A-Za-z0-9])${whole}`).test(id);
}
