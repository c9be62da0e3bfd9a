/** Refuses unknown names: a turn with a misspelt field would otherwise answer with nothing. */
import { isObject } from "./json.js";

/** Every name of `T`; the compiler keeps the list complete. */
export type NamesOf<T> = { readonly [K in keyof Required<T>]: true };

/**
 * Checks that `value` is an object with only these names.
 *
 * @throws TypeError that says where, and which names are allowed
 */
export function checkNames(value: unknown, names: { readonly [name: string]: true }, where: string): void {
  if (!isObject(value)) {
    const got = value == null ? (value === null ? "null" : "nothing") : `a ${typeof value}`;
    throw new TypeError(`${where}: needs an object, got ${Array.isArray(value) ? "an array" : got}`);
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  throw new TypeError(`${where}: no field "${unknown}"; there are ${Object.keys(names).join(", ")}`);
}
