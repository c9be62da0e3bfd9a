/** JSON that a page sends: bounds that hold before anything reads it recursively. */

/** The deepest JSON of a page. The engine reads 128 levels, and what a host puts around a value needs some. */
export const MAX_DEPTH = 100;

/** Says that a value is too deep. */
export const TOO_DEEP = `is nested more than ${MAX_DEPTH} levels deep`;

/** Whether a value is nested deeper than `MAX_DEPTH`. Its time is in proportion to the size, without recursion. */
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

/** Whether a text has no half of a letter, which neither UTF-8 nor the engine can hold. */
export function isWhole(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** The longest id that a page chooses, in characters. Each event in a log has the id of its run. */
const MAX_ID = 512;

/** Says what an id of a page needs. */
export const PAGE_ID = `a text of 1 to ${MAX_ID} whole letters`;

/** Whether a page may use this as the id of a run, a request or a message, or as its own name. */
export function isPageId(id: unknown): boolean {
  return typeof id === "string" && id.trim() !== "" && id.length <= MAX_ID && isWhole(id);
}
