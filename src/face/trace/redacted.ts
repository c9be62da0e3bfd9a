/** Removes secrets from recorded inputs and outputs, by the names of their fields. */
import { soundsSecret } from "../options/secret-name.js";

/** A copy in which `[REDACTED]` replaces the value of every field whose name sounds like a secret. */
export function redacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    soundsSecret(name) ? "[REDACTED]" : redacted(inner),
  ]);
  return Object.fromEntries(entries) as unknown;
}
