/** Removes secrets from recorded inputs and outputs, by the names of their fields. */
import { soundsSecret } from "../../core/kit/check.js";

/**
 * A copy in which `[REDACTED]` replaces the value of every field with a name that sounds like a secret. `textOf` maps
 * each text. By default texts are unchanged.
 */
export function redacted(value: unknown, textOf: (text: string) => string = (text) => text): unknown {
  if (typeof value === "string") return textOf(value);
  if (Array.isArray(value)) return value.map((item) => redacted(item, textOf));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    soundsSecret(name) ? "[REDACTED]" : redacted(inner, textOf),
  ]);
  return Object.fromEntries(entries) as unknown;
}
