/** Keeps secrets out of what a trace records of inputs and outputs, by the names of their fields. */

const SECRET = /secret|password|api_?key|token|auth|credential|cookie/i;

/** A copy in which the value of every field with a name like a secret's is `[REDACTED]`. */
export function redacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redacted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    SECRET.test(name) ? "[REDACTED]" : redacted(inner),
  ]);
  return Object.fromEntries(entries) as unknown;
}
