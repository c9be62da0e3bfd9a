/** Limits for JSON from pages. They are checked before anything reads it recursively. */

/** The deepest JSON of a page. The engine reads 128 levels, and what a host puts around a value needs some. */
export const MAX_DEPTH = 100;

/** The error text for a value that is too deep. */
export const TOO_DEEP = `is nested more than ${MAX_DEPTH} levels deep`;

/** Whether a value is nested deeper than `MAX_DEPTH`. Takes linear time, without recursion. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    const next: unknown[] = [];
    for (const one of level)
      if (typeof one === "object" && one !== null)
        for (const inner of Object.values(one))
          if (typeof inner === "object" && inner !== null) next.push(inner);
    level = next;
  }
  return false;
}

/** Whether a text has no lone surrogate, which neither UTF-8 nor the engine can represent. */
export function isWhole(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** The longest id that a page chooses, in characters. Each event in a log has the id of its run. */
const MAX_ID = 512;

/** The error text for an invalid id of a page. */
export const PAGE_ID = `a text of 1 to ${MAX_ID} whole letters`;

/** Whether a page may use this as the id of a run, a request or a message, or as its own name. */
export function isPageId(id: unknown): boolean {
  return typeof id === "string" && id.trim() !== "" && id.length <= MAX_ID && isWhole(id);
}
