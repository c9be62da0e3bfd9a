/**
 * Reads what was given to `fetch` into one plain record. Accepts a string, a `URL` or a `Request`, and any body that
 * `fetch` accepts. Relative URLs are fine: only the path is looked at.
 */
import { parseJson } from "./json.js";
import type { Protocol, ReceivedRequest } from "./types.js";
import { anthropic } from "./wire/anthropic.js";
import type { WireFormat } from "./wire/format.js";
import { openaiChat } from "./wire/openai-chat.js";

const formats: Record<Protocol, WireFormat> = { "anthropic-messages": anthropic, "openai-chat": openaiChat };

/** The format of a protocol; that of OpenAI Chat for a request of none. */
export const formatOf = (protocol: Protocol | undefined) => formats[protocol ?? "openai-chat"];

/** Reads method, headers and body. Rejects when the body cannot be read. */
export async function readRequest(input: RequestInfo | URL, init?: RequestInit): Promise<ReceivedRequest> {
  const request = requestOf(input);
  const url = request?.url ?? String(input);
  const headers: Record<string, string> = {};
  new Headers(init?.headers ?? request?.headers).forEach((value, name) => (headers[name] = value));
  const given = init?.body;
  const source = given == null ? request?.clone() : new Response(given);
  const bodyText = typeof given === "string" ? given : ((await source?.text()) ?? "");
  const body = parseJson(bodyText);
  return {
    url,
    method: (init?.method ?? request?.method ?? "GET").toUpperCase(),
    headers,
    bodyText,
    body,
    protocol: Object.values(formats).find(({ path }) => path.test(pathOf(url)))?.protocol,
    isStreaming: body?.stream === true,
  };
}

/** The signal that governs a call: `init.signal`, else that of the `Request`. */
export function signalOf(input: RequestInfo | URL, init?: RequestInit): AbortSignal | undefined {
  return init?.signal ?? requestOf(input)?.signal ?? undefined;
}

const pathOf = (url: string) => (url.split(/[?#]/, 1)[0] ?? "").replace(/\/+$/, "");

function requestOf(input: RequestInfo | URL): Request | undefined {
  return typeof input === "object" && "headers" in input ? input : undefined;
}
