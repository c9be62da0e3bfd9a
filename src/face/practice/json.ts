/** Small readings of JSON values that came from outside. */

/** `text` parsed, when it is a JSON object; an empty text is an empty object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** `text` parsed, or `undefined`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True for an object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, any> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON with sorted keys: equal values give equal texts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}
