/** The differences between the two generations of MCP: the handshake, and what is sent with every request. */
import { isObject } from "../../core/kit/check.js";
import type { Fields, RpcMessage } from "./wire.js";
import type { McpTool } from "./types.js";

/** The generation without sessions. */
export const MODERN = "2026-07-28";

/** The last generation that starts with `initialize`. */
export const LEGACY = "2025-11-25";

const META = "io.modelcontextprotocol/";

/** The extension that lets a server answer with a task. */
export const TASKS = `${META}tasks`;

/** What the server learns about this program, in every request of the modern generation. */
export interface Identity {
  readonly client: { readonly name: string; readonly version: string };
  readonly capabilities: Fields;
}

/** A request of the modern generation with its headers. `tool` is the one that is called. */
export function modern(
  message: RpcMessage,
  { client, capabilities }: Identity,
  tool?: McpTool,
): { message: RpcMessage; headers: Record<string, string> } {
  const { method = "", params = {} } = message;
  const meta = {
    ...(isObject(params["_meta"]) ? params["_meta"] : {}),
    [`${META}protocolVersion`]: MODERN,
    [`${META}clientInfo`]: client,
    [`${META}clientCapabilities`]: { ...capabilities, extensions: { [TASKS]: {} } },
  };
  const name = params["name"] ?? params["taskId"];
  return {
    message: { ...message, params: { ...params, _meta: meta } },
    headers: {
      "mcp-protocol-version": MODERN,
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": headerValue(name) } : {}),
      ...(tool === undefined ? {} : paramHeaders(tool.inputSchema, params["arguments"])),
    },
  };
}

/** The input fields that the tool's schema also wants as headers (`x-mcp-header`). */
function paramHeaders(schema: unknown, input: unknown): Record<string, string> {
  const properties = isObject(schema) ? schema["properties"] : undefined;
  if (!isObject(properties) || !isObject(input)) return {};
  const headers: Record<string, string> = {};
  for (const [field, child] of Object.entries(properties)) {
    if (!isObject(child)) continue;
    const value = input[field];
    const header = child["x-mcp-header"];
    const isPlain = ["string", "number", "boolean"].includes(typeof value);
    // Another name would be refused by `fetch`, and the tool could not be called at all.
    if (typeof header === "string" && /^[\w-]{1,64}$/.test(header) && isPlain)
      headers[`mcp-param-${header}`] = headerValue(String(value));
    Object.assign(headers, paramHeaders(child, value));
  }
  return headers;
}

/** A header cannot have every text; others go as base64. */
function headerValue(text: string): string {
  const isPlain = /^[\t -~]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  if (isPlain) return text;
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte));
  return `=?base64?${btoa(bytes.join(""))}?=`;
}
