/**
 * Checks options against a table and throws a `LoopletError` that names the field and the fix.
 *
 * The room `options/` turns the options of users into the engine's configuration, and reports at once an option that
 * cannot work. It asks none of your functions about a run under way, and it performs nothing. `createAgent`,
 * `tool()`, the constructors of models and the methods of a run call it.
 */
import { LoopletError, type LoopletErrorCode } from "../api/errors.js";
import type { Choices, OptionKind, OptionTable } from "../option-table.js";

const MAX_32 = 2 ** 32 - 1;
const MAX_64 = Number.MAX_SAFE_INTEGER;

/** How many option names an error lists; a longer list does not help. */
const MAX_LISTED = 25;

/**
 * Checks the names, types and required fields of `options`, and returns them in an object that inherits nothing. Read
 * the options there: `options.name` would also find a field that other code has added to the prototype of every
 * object. `path` is the dotted path of the object, empty at the top. `elsewhere` says where an option that is known
 * elsewhere belongs; it may be a function, because the list takes work.
 */
export function checkOptions<T>(
  options: T,
  path: string,
  table: OptionTable,
  elsewhere: OptionPlaces | (() => OptionPlaces) = {},
): T {
  if (!isRecord(options)) {
    const field = path === "" ? "options" : path;
    const required = Object.keys(table).filter((name) => isMarked(table[name]!, "!"));
    const fields = required.length === 0 ? "" : ` with ${required.join(", ")}`;
    throw new LoopletError("config_wrong_type", field, `needs an object${fields}, got ${describe(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(table, name)) {
      const places = placesOf(elsewhere);
      throw new LoopletError("config_unknown_option", at(path, name), unknownOption(name, table, places));
    }
  }
  // The loop makes no list of the rows: tables are long, and every agent is checked.
  const own = joined() as { [name: string]: unknown };
  for (const name in table) {
    // Other code may have added fields to the prototype of every object.
    if (!Object.hasOwn(table, name)) continue;
    const kind = table[name]!;
    const value = fieldOf(options, name);
    if (value === undefined) {
      if (isMarked(kind, "!")) throw new LoopletError("config_missing", at(path, name), "is required");
      continue;
    }
    own[name] = value;
    if (typeof kind === "string") {
      if (value === null && isMarked(kind, "?")) continue;
      checkValue(value, at(path, name), kind.replace(/[!?]$/, "") as OptionKind);
    } else if (Array.isArray(kind)) own[name] = checkChoice(value, at(path, name), kind as Choices);
    else {
      const places = (): OptionPlaces => ({ ...placesOf(elsewhere), ...outside(table, name) });
      own[name] = checkOptions(value, at(path, name), kind as OptionTable, places);
    }
  }
  return own as T;
}

/** A field of an object or of its class, but not of every object. */
export function fieldOf(object: object, name: string): unknown {
  for (let holder = object; !Object.hasOwn(holder, name);) {
    holder = Object.getPrototypeOf(holder) as object;
    if (holder === null || Object.getPrototypeOf(holder) === null) return undefined;
  }
  return (object as { [name: string]: unknown })[name];
}

/** The fields of these objects in one that inherits nothing, so that a field that is missing reads as undefined. */
export function joined<A extends object = object, B extends object = object>(first?: A, second?: B): A & B {
  return Object.assign(Object.create(null) as A & B, first, second);
}

function isMarked(kind: OptionTable[string], mark: string): boolean {
  return typeof kind === "string" && kind.endsWith(mark);
}

/** Names of options that belong elsewhere, each with its place. */
export interface OptionPlaces {
  readonly [name: string]: string;
}

function placesOf(elsewhere: OptionPlaces | (() => OptionPlaces)): OptionPlaces {
  return typeof elsewhere === "function" ? elsewhere() : elsewhere;
}

/** Checks one value. */
export function checkValue(value: unknown, field: string, kind: OptionKind): void {
  const problem = PROBLEMS[kind](value);
  if (problem !== undefined) throw new LoopletError(problem[0], field, problem[1]);
}

type Problem = ["config_wrong_type" | "config_invalid_value", string] | undefined;

const PROBLEMS: { readonly [K in OptionKind]: (value: unknown) => Problem } = {
  count: (value) => integer(value, 1, MAX_32),
  count64: (value) => integer(value, 1, MAX_64),
  whole: (value) => integer(value, 0, MAX_32),
  whole64: (value) => integer(value, 0, MAX_64),
  boolean: (value) => ofType(value, "boolean", "true or false"),
  number: (value) =>
    ofType(value, "number", "a number") ??
    (Number.isFinite(value)
      ? undefined
      : ["config_invalid_value", `needs a finite number, got ${String(value)}`]),
  string: (value) => ofType(value, "string", "a string"),
  text: (value) =>
    ofType(value, "string", "a string") ??
    ((value as string).trim() === "" ? ["config_invalid_value", "must not be empty"] : undefined),
  // A database that takes halves of letters as one and the same would give the run of another id.
  id: (value) =>
    PROBLEMS.text(value) ??
    (/\p{Surrogate}/u.test(value as string)
      ? ["config_invalid_value", "needs whole letters, and has half of one (a lone surrogate)"]
      : undefined),
  texts: (value) =>
    Array.isArray(value) && value.every((text) => typeof text === "string")
      ? undefined
      : ["config_wrong_type", "needs an array of strings"],
  wholes: (value) =>
    Array.isArray(value)
      ? value.map((one) => integer(one, 0, MAX_64)).find((problem) => problem !== undefined)
      : ["config_wrong_type", "needs an array of non-negative integers"],
  function: (value) => ofType(value, "function", "a function"),
  object: (value) =>
    isObject(value) ? undefined : ["config_wrong_type", `needs an object, got ${describe(value)}`],
  any: () => undefined,
};

function integer(value: unknown, least: number, most: number): Problem {
  const what = least === 1 ? "a positive integer" : "a non-negative integer";
  if (typeof value !== "number") return ["config_wrong_type", `needs ${what}, got ${describe(value)}`];
  if (Number.isInteger(value) && value >= least && value <= most) return undefined;
  const fix = value === Infinity ? "; leave the option out, or give the largest number that makes sense" : "";
  return ["config_invalid_value", `needs ${what} up to ${most}, got ${value}${fix}`];
}

function ofType(value: unknown, type: string, what: string): Problem {
  return typeof value === type ? undefined : ["config_wrong_type", `needs ${what}, got ${describe(value)}`];
}

/** Checks that a value is one of several words, or an object that fits the table among them. Returns it, checked. */
export function checkChoice(value: unknown, field: string, choices: Choices): unknown {
  const table = choices.find((choice) => typeof choice === "object");
  if (table !== undefined && isObject(value)) return checkOptions(value, field, table);
  if (choices.includes(value as string)) return value;
  const named = choices.map((choice) =>
    typeof choice === "string" ? `"${choice}"` : `{ ${Object.keys(choice).join(", ")} }`,
  );
  const list = `${named.slice(0, -1).join(", ")} or ${named.at(-1)}`;
  throw new LoopletError("config_invalid_value", field, `needs ${list}, got ${describeWord(value)}`);
}

function unknownOption(name: string, table: OptionTable, elsewhere: OptionPlaces): string {
  if (Object.hasOwn(elsewhere, name)) return `no such option; ${elsewhere[name]}`;
  const names = Object.keys(table);
  const inGroups = groupsOf(table);
  if (inGroups.has(name)) return `no such option here; give it to ${inGroups.get(name)}`;
  const nearest = nearestName(name, [...names, ...inGroups.keys()]);
  if (nearest !== undefined) return `no such option; did you mean ${inGroups.get(nearest) ?? nearest}?`;
  if (names.length <= MAX_LISTED) return `no such option; there are ${names.join(", ")}`;
  const words = name.split(/_|(?=[A-Z])/).filter((word) => word.length > 3);
  const alike = [...names, ...inGroups.keys()].filter((known) =>
    words.some((word) => known.toLowerCase().includes(word.toLowerCase())),
  );
  return `no such option of the ${names.length}, which docs/guide.md and its types explain${alike.length === 0 ? "" : `; perhaps ${alike.map((name) => inGroups.get(name) ?? name).join(", ")}`}`;
}

/** The places of the options that do not stand in this group of the table. */
function outside(table: OptionTable, group: string): OptionPlaces {
  return placesIn(table, (place) =>
    place.includes(" ") ? `give it to ${place}` : `write ${place} beside ${group}`,
  );
}

/** The options of a table and of its groups, each with the words about its place. */
export function placesIn(table: OptionTable, words: (place: string) => string): OptionPlaces {
  const all = [...Object.keys(table).map((name) => [name, name] as const), ...groupsOf(table)];
  return Object.fromEntries(all.map(([name, place]) => [name, words(place)]));
}

/**
 * Checks an option that is one of these words or a function.
 *
 * @throws LoopletError `config_invalid_value`
 */
export function checkWords(value: unknown, field: string, words: readonly string[]): void {
  if (value === undefined || typeof value === "function" || words.includes(value as string)) return;
  const named = words.map((word) => JSON.stringify(word)).join(", ");
  throw new LoopletError(
    "config_invalid_value",
    field,
    `needs ${named} or a function, got ${describeWord(value)}`,
  );
}

/** The options in the groups of a table that are not on its first level, each as it is written: `limits: { maxUsd }`. */
function groupsOf(table: OptionTable): ReadonlyMap<string, string> {
  const groups = Object.entries(table).filter(([, kind]) => isObject(kind));
  const all = groups.flatMap(([group, inner]) =>
    Object.keys(inner).map((name) => [name, `${group}: { ${name} }`] as const),
  );
  return new Map(all.filter(([name]) => !Object.hasOwn(table, name)));
}

/** The candidate that shares at least three letters in five with the name, or undefined. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Infinity;
  for (const candidate of candidates) {
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits < least && edits <= 0.4 * Math.max(name.length, candidate.length)) {
      least = edits;
      best = candidate;
    }
  }
  return best;
}

/** Levenshtein's distance, in which two letters that have changed places are one edit. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitute = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? before[j - 2]! + 1 : Infinity;
      next.push(Math.min(substitute, swap, row[j]! + 1, next[j - 1]! + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}

/** Whether a value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a plain record of named values, and not a `Map`, a signal or a promise that was not awaited. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value) && /^(Object|Module)$/.test(kindOf(value));
}

/** `Object`, `Map`, `Promise`, … */
function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** The dotted path of `name` below `path`. */
export function at(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/**
 * Describes a value as `describe` does, but shows a string: for errors about a value that must be one of a few words.
 */
export function describeWord(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : describe(value);
}

/**
 * Describes a value that a function has returned wrongly. If it is a promise, its rejection is caught here, because
 * nothing else waits for it.
 */
export function describeReturned(value: unknown): string {
  if (!isThenable(value)) return describe(value);
  Promise.resolve(value).catch(() => {});
  return "a promise: the function must not be async";
}

/** Runs a check of options at `place`, and adds the place to its errors. */
export function withFieldPrefix<T>(place: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof LoopletError)) throw error;
    throw new LoopletError(error.code, at(place, error.field), error.problem);
  }
}

/** A short description of a value for an error. It never shows a string's text, which may be a secret. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  switch (typeof value) {
    case "undefined":
      return "nothing";
    case "object":
      return isRecord(value) ? "an object" : `an object (${kindOf(value)})`;
    case "string":
      return "a string";
    case "number":
    case "boolean":
    case "bigint":
      return `the ${typeof value} ${value}`;
    default:
      return `a ${typeof value}`;
  }
}

/**
 * A value as JSON.
 *
 * @throws LoopletError `code`
 */
export function jsonOf(
  value: unknown,
  field: string,
  code: LoopletErrorCode = "config_invalid_value",
): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw new LoopletError(code, field, "holds something that JSON cannot (a cycle or a bigint)");
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";
}
