/** The options of a client, read once and only from your object's own fields. */
import { headerPairs } from "../../core/kit/http.js";
import { fieldOf, isObject } from "../../core/kit/check.js";
import type { McpHeaders, McpOptions } from "./types.js";

const NAMES = [
  "url",
  "headers",
  "fetch",
  "client",
  "onElicitation",
  "trusted",
  "deferLoading",
  "maxResponseBytes",
  "timeoutMs",
  "onWarning",
  "signal",
] as const satisfies readonly (keyof McpOptions)[];

/**
 * A copy of the options. Other code may change the object later, or may have extended `Object.prototype`. Neither can
 * send the keys to another address or make a server trusted.
 *
 * @throws TypeError
 */
export function readOptions(given: McpOptions): McpOptions {
  const own = Object.create(null) as McpOptions & { headers?: unknown };
  if (isObject(given)) for (const name of NAMES) own[name] = fieldOf(given, name) as never;
  if (typeof own.url !== "string") throw new TypeError("connectMcp: url needs the address of a server");
  if (typeof own.headers === "object") own.headers = headersOf(own.headers);
  for (const name of ["maxResponseBytes", "timeoutMs"] as const) {
    const value = own[name];
    if (value !== undefined && !(Number.isInteger(value) && value > 0 && value < 2 ** 31))
      throw new TypeError(`connectMcp: ${name} needs a positive integer below 2 ** 31`);
  }
  return own;
}

/** The fields of a record or of a `Headers`. */
export function headersOf(headers: unknown): McpHeaders {
  return Object.fromEntries(headerPairs(headers));
}
