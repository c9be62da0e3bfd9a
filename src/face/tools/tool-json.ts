/** JSON of whatever a tool hands over: what `JSON.stringify` would flatten to `{}` or refuse keeps its meaning. */
import { message } from "../options/thrown.js";

/**
 * A value as JSON text; `undefined` for what has none (a function, a symbol). A `Map` becomes an object, or a list of
 * entries if its keys are not all texts; a `Set` and any other iterable a list; an `Error` its name and message; a
 * bigint a number, or a text beyond 2^53; bytes `{ base64 }`, other typed arrays lists of numbers; a `RegExp` its text.
 *
 * @throws what `JSON.stringify` throws for a cycle, or a `toJSON` of the value's own; for what only time or nobody can
 * look into: a promise, a stream, a `WeakMap`
 */
export function jsonOf(value: unknown): string | undefined {
  return isPlain(value) ? JSON.stringify(value) : JSON.stringify(value, reshape);
}

/** Whether `JSON.stringify` knows what to do with all of it: looking costs a tenth of a replacer. */
function isPlain(value: unknown, depth = 0): boolean {
  if (typeof value === "bigint") return false;
  if (typeof value !== "object" || value === null) return true;
  // Too deep to look, perhaps a cycle.
  if (depth > 100) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const name in value) if (!isPlain((value as Record<string, unknown>)[name], depth + 1)) return false;
  return true;
}

/** `this` holds the value before its `toJSON`: that of a `Buffer` lists its bytes. */
function reshape(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  const own = (this as Record<string, unknown>)[key];
  const bytes = bytesOf(own);
  if (bytes !== undefined) return { base64: base64Of(bytes) };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>);
  if (value instanceof Error) return { name: value.name, message: inWords(value) };
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (kind === "Promise" || kind.startsWith("Weak") || Symbol.asyncIterator in value) {
    const where = key === "" ? "" : ` in "${key}"`;
    throw new TypeError(`a ${kind}${where}, of which {} would be left: await or read it before`);
  }
  if (value instanceof RegExp) return String(value);
  if (value instanceof Map && [...value.keys()].every((name) => typeof name === "string"))
    return Object.fromEntries(value);
  const isBare = Symbol.iterator in value && Object.keys(value).length === 0;
  return isBare ? Array.from(value as Iterable<unknown>) : value;
}

/** The bytes of a buffer or of a view of bytes. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!(value instanceof Uint8Array || value instanceof Uint8ClampedArray || value instanceof DataView))
    return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

export function base64Of(bytes: Uint8Array): string {
  const pieces: string[] = [];
  // As many arguments as every host takes.
  for (let at = 0; at < bytes.length; at += 8_192)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)));
  return btoa(pieces.join(""));
}

/** What was thrown in words, with its causes: the message of a failed `fetch` says nothing without them. */
export function inWords(thrown: unknown, depth = 3): string {
  const text = message(thrown);
  if (!(thrown instanceof Error) || depth === 0) return text;
  const inner: unknown = thrown.cause ?? (thrown as Partial<AggregateError>).errors?.[0];
  const why = inner === undefined || inner === null ? "" : inWords(inner, depth - 1);
  if (why === "") return text;
  const said = thrown.message === "" ? thrown.name : text;
  return said.includes(why) ? said : `${said} (${why})`;
}
