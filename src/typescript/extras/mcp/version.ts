/** The version of a server's tool. It changes with the tool's definition, and with the address of the server. */
import { sha256Of } from "../sha256.js";
import type { McpTool } from "./types.js";

/** Hexadecimal digits of a version. A server must not find a second definition with the same one. */
const DIGITS = 32;

/** The version of a tool, as a digest. */
export async function versionOf(
  { name, description, inputSchema, annotations }: McpTool,
  address: string,
): Promise<string> {
  const said = JSON.stringify([address, name, description, inputSchema, annotations]);
  const digest = await sha256Of(new TextEncoder().encode(said));
  const digits = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0"));
  return digits.join("").slice(0, DIGITS);
}
