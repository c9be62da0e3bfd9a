/**
 * Signs requests for AWS (Signature Version 4) with WebCrypto, for `authorize`. It follows
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html (2026-11-21). The
 * signature has the platform's time and not the run's clock, because authorizing happens outside the engine.
 *
 * The signer of `aws4fetch` 1.0.20 would add 1.1 kB of brotli (2.35 kB in place of 1.23), most of it to guess
 * services and regions from hosts. It also signs custom headers, which a proxy may change.
 */
import { LoopletError } from "../api/errors.js";
import type { Authorize } from "../api/index.js";
import type { AwsCredentials, AwsSigV4Options } from "../api/model.js";
import { checkOptions, describe, fieldOf, isObject } from "../options/check.js";
import type { OptionTable } from "../option-table.js";

const TABLE: OptionTable = { region: "text!", service: "text", credentials: "any!" };

/**
 * Makes an `authorize` that signs each request with AWS credentials.
 *
 * @throws LoopletError `config_…`
 */
export function awsSigV4(options: AwsSigV4Options): Authorize {
  const { region, service = "bedrock", credentials } = checkOptions(options, "model.authorize", TABLE);
  if (typeof credentials !== "function") checkCredentials(credentials);
  return async ({ method, url, headers, body }) => {
    const known = typeof credentials === "function" ? await credentials() : credentials;
    checkCredentials(known);
    return sign(known, { region, service, method, url: new URL(url), headers, body });
  };
}

/** Reports a problem with the credentials without showing a secret. */
function checkCredentials(credentials: unknown): asserts credentials is AwsCredentials {
  const fields = isObject(credentials) ? credentials : {};
  for (const name of ["accessKeyId", "secretAccessKey"]) {
    const value = fieldOf(fields, name);
    if (typeof value === "string" && /^\S+$/.test(value)) continue;
    throw new LoopletError(
      value === undefined ? "config_missing" : "config_invalid_value",
      `model.credentials.${name}`,
      typeof value === "string"
        ? "must not be empty or contain blanks; was it pasted whole?"
        : `needs a string, got ${describe(value)}`,
    );
  }
}

interface Signed {
  readonly region: string;
  readonly service: string;
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

async function sign(credentials: AwsCredentials, request: Signed): Promise<[string, string][]> {
  const { accessKeyId, secretAccessKey } = credentials;
  const sessionToken = fieldOf(credentials, "sessionToken") as AwsCredentials["sessionToken"];
  const { region, service, method, url } = request;
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const ours: [string, string][] = [["x-amz-date", time]];
  if (sessionToken !== undefined) ours.push(["x-amz-security-token", sessionToken]);
  const isOurs = (name: string): boolean => name === "authorization" || ours.some(([own]) => own === name);
  const headers = request.headers
    .map(([name, value]): [string, string] => [name.toLowerCase(), value])
    .filter(([name]) => !isOurs(name))
    .concat(ours);
  // Headers that a proxy or a browser may change are not signed.
  const signed = headers.filter(([name]) => name === "content-type" || name.startsWith("x-amz-"));
  signed.push(["host", url.host]);
  signed.sort(([a], [b]) => order(a, b));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    // The URL's path is escaped once, and the signature needs it escaped twice.
    url.pathname.replace(/\/+/g, "/").split("/").map(escape).join("/"),
    query(url),
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/\s+/g, " ")}`),
    "",
    names,
    await sha256(request.body),
  ].join("\n");
  const scope = [day, region, service, "aws4_request"].join("/");
  const text = ["AWS4-HMAC-SHA256", time, scope, await sha256(encode(canonical))].join("\n");
  let key: BufferSource = encode(`AWS4${secretAccessKey}`);
  for (const part of scope.split("/")) key = await hmac(key, part);
  const signature = hex(await hmac(key, text));
  headers.push([
    "authorization",
    `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  ]);
  return headers;
}

function query(url: URL): string {
  return [...url.searchParams]
    .map(([name, value]): [string, string] => [escape(name), escape(value)])
    .sort(([a, x], [b, y]) => order(a, b) || order(x, y))
    .map((pair) => pair.join("="))
    .join("&");
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Escapes all characters but the unreserved ones of RFC 3986. */
function escape(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return hex(await subtle().digest("SHA-256", bytes));
}

async function hmac(key: BufferSource, text: string): Promise<ArrayBuffer> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await subtle().importKey("raw", key, algorithm, false, ["sign"]);
  return subtle().sign("HMAC", imported, encode(text));
}

function subtle(): SubtleCrypto {
  const found = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  if (found === undefined) throw new Error("crypto.subtle is missing: a page has it only over https");
  return found;
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
