/** Readings of JSON values that came from outside. */

/** `text` parsed, or `undefined`. */
export function parseJson(text: string): any {
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

/** `value` if it is an array, else an empty one. */
export function listOf(value: unknown): any[] {
  return Array.isArray(value) ? value : [];
}
