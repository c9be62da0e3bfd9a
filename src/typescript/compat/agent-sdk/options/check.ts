/** The check of the options of a query. */
import { nearestName } from "../../../core/kit/check.js";

/** @throws TypeError that names the field */
export function wrong(field: string, problem: string, cause?: unknown): never {
  throw new TypeError(`query: ${field} ${problem}`, cause === undefined ? {} : { cause });
}

/** Names with the types of their values, as `typeof` names them; also `array`, `texts`, and `any` for several types. */
export interface Fields {
  readonly [name: string]: string;
}

/**
 * Checks the names and the types of an object's fields. Fields of `ignored` may have any value.
 *
 * @throws TypeError that names the field and the nearest known name
 */
export function checkFields(
  given: object,
  place: string,
  { fields, ignored, what }: { fields: Fields; ignored: readonly string[]; what: string },
): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) wrong(place, "needs an object");
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || ignored.includes(name)) continue;
    if (!Object.hasOwn(fields, name)) {
      const nearest = nearestName(name, [...Object.keys(fields), ...ignored]);
      const hint = nearest === undefined ? "" : `. Did you mean "${nearest}"?`;
      wrong(`${place}.${name}`, `is not ${what}${hint}`);
    }
    const type = fields[name]!;
    if (!isOf(type, value)) wrong(`${place}.${name}`, `needs ${an(type)}`);
  }
}

function isOf(type: string, value: unknown): boolean {
  if (type === "any") return true;
  if (type === "texts") return Array.isArray(value) && value.every((text) => typeof text === "string");
  return value !== null && (Array.isArray(value) ? "array" : typeof value) === type;
}

function an(type: string): string {
  if (type === "texts") return "an array of strings";
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}
