/** The version of a server's tool. It changes with the tool's definition, and with the address of the server. */
import type { McpTool } from "./types.js";

/** Hexadecimal digits of a version. A server must not find a second definition with the same one. */
const DIGITS = 32;

/** The version of a tool, as a digest. Undefined in a page without https, where the platform has no digests. */
export async function versionOf(
  { name, description, inputSchema, annotations }: McpTool,
  address: string,
): Promise<string | undefined> {
  const subtle = (globalThis.crypto as Partial<Crypto> | undefined)?.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return undefined;
  const said = JSON.stringify([address, name, description, inputSchema, annotations]);
  const digest = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(said)));
  const digits = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0"));
  return digits.join("").slice(0, DIGITS);
}
