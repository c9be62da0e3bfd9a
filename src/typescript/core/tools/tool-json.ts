/** Writes a tool's value as JSON. Values that `JSON.stringify` would flatten to `{}` or refuse keep their meaning. */
import { isErrorObject, message } from "../options/thrown.js";

/**
 * A value as JSON text; `undefined` for a value that has none (a function, a symbol).
 * - A `Map` becomes an object, or a list of entries if some key is not a string.
 * - A `Set` and any other iterable become a list; an `Error` its name and message; a `RegExp` its text.
 * - A bigint becomes a number, or a string beyond 2^53.
 * - Bytes become `{ base64 }`, other typed arrays lists of numbers.
 *
 * @throws the error of `JSON.stringify` for a cycle, or of the value's own `toJSON`; an error for a value that cannot
 * be read now or ever: a promise, a stream, a `WeakMap`
 */
export function jsonOf(value: unknown): string | undefined {
  return isPlain(value) ? JSON.stringify(value) : JSON.stringify(value, reshape);
}

/** True if `JSON.stringify` can write all of the value. This look costs a tenth of a replacer. */
function isPlain(value: unknown, depth = 0): boolean {
  if (typeof value === "bigint") return false;
  if (typeof value !== "object" || value === null) return true;
  // The value is too deep to look at, and may have a cycle.
  if (depth > 100) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const name in value) if (!isPlain((value as Record<string, unknown>)[name], depth + 1)) return false;
  return true;
}

/** Reshapes one value. `this` holds the value before its `toJSON`, because a `Buffer`'s `toJSON` lists its bytes. */
function reshape(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  const own = (this as Record<string, unknown>)[key];
  const bytes = bytesOf(own);
  if (bytes !== undefined) return { base64: base64Of(bytes) };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>);
  if (isErrorObject(value)) return { name: value.name, message: inWords(value) };
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

/** The bytes of a buffer, or of a view of bytes. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!(value instanceof Uint8Array || value instanceof Uint8ClampedArray || value instanceof DataView))
    return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

export function base64Of(bytes: Uint8Array): string {
  const pieces: string[] = [];
  // The greatest number of arguments that is safe on every platform.
  for (let at = 0; at < bytes.length; at += 8_192)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)));
  return btoa(pieces.join(""));
}

/** A thrown value in words, with its causes: without them the message of a failed `fetch` says nothing. */
export function inWords(thrown: unknown, depth = 3): string {
  const text = message(thrown);
  if (!isErrorObject(thrown) || depth === 0) return text;
  const inner: unknown = thrown.cause ?? (thrown as Partial<AggregateError>).errors?.[0];
  const why = inner === undefined || inner === null ? "" : inWords(inner, depth - 1);
  if (why === "") return text;
  const said = thrown.message === "" ? thrown.name : text;
  return said.includes(why) ? said : `${said} (${why})`;
}
