/** Adds the key to a request just before it is sent: the only place where a secret meets a header. */
import type { AuthorizedHeaders } from "../api/index.js";
import { keyProblem, type ModelParts } from "../models/models.js";
import { isObject, isThenable } from "../options/check.js";
import type { AuthorizeRequest } from "./driver.js";
import { describeError } from "./exchange.js";

type HeaderPairs = [string, string][];

/** Returns the headers to send. An error that it throws never contains the key. */
export function authorizeRequest(
  model: ModelParts,
  request: Omit<AuthorizeRequest, "model">,
): HeaderPairs | Promise<HeaderPairs> {
  const { authorize, apiKey, auth = request.auth } = model;
  if (authorize !== undefined) {
    const { method, url, headers, body } = request;
    return then(authorize({ method, url, headers, body }), pairs);
  }
  if (apiKey === undefined || auth.header === "") return request.headers;
  const key = typeof apiKey === "function" ? fetched(apiKey) : apiKey;
  return then(key, (known) => withKey(model, { ...request, auth }, known));
}

/** Calls the function that fetches the key, and names the key in its errors. */
function fetched(apiKey: () => string | PromiseLike<string>): string | Promise<string> {
  const refuse = (error: unknown): never => {
    throw new Error(`apiKey has failed: ${describeError(error)}`);
  };
  try {
    const key = apiKey();
    return isThenable(key) ? Promise.resolve(key).catch(refuse) : key;
  } catch (error) {
    return refuse(error);
  }
}

function withKey(model: ModelParts, request: Omit<AuthorizeRequest, "model">, key: unknown): HeaderPairs {
  const problem = typeof key === "string" ? keyProblem(key) : "is no string";
  if (problem !== undefined) throw new Error(`the key from apiKey ${problem}`);
  const headers = request.headers.filter(([name]) => name.toLowerCase() !== request.auth.header);
  headers.push([request.auth.header, request.auth.prefix + (key as string)]);
  if (model.dangerouslyAllowBrowser && model.config.vendor === "anthropic") {
    headers.push(["anthropic-dangerous-direct-browser-access", "true"]);
  }
  return headers;
}

function pairs(headers: AuthorizedHeaders): HeaderPairs {
  if (!isObject(headers) && !Array.isArray(headers)) throw new Error("authorize returned no headers");
  const entries =
    Symbol.iterator in headers
      ? Array.from(headers as Iterable<readonly [string, string]>)
      : Object.entries(headers as Record<string, string>);
  return entries.map(([name, value]) => [name, value]);
}

/** Continues at once with a value and later with a promise, so that a key that is a string costs no task. */
function then<T, R>(value: T | PromiseLike<T>, next: (value: T) => R): R | Promise<R> {
  return isThenable(value) ? Promise.resolve(value as PromiseLike<T>).then(next) : next(value as T);
}
