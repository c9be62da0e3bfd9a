/** Refuses names that nobody reads: a turn whose field is misspelt would otherwise answer with nothing. */

/** Every name of `T`; the compiler keeps the list complete. */
export type NamesOf<T> = { readonly [K in keyof Required<T>]: true };

/**
 * Checks that `value` is an object with none but these names.
 *
 * @throws TypeError that says where, and which names there are
 */
export function checkNames(value: unknown, names: { readonly [name: string]: true }, where: string): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const got = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
    throw new TypeError(`${where}: needs an object, got ${value === undefined ? "nothing" : got}`);
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(names, name))
      throw new TypeError(`${where}: no field "${name}"; there are ${Object.keys(names).join(", ")}`);
  }
}
