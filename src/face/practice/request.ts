/**
 * Reads what was given to `fetch` into one plain record. Accepts a string, a `URL` or a `Request`, and any body that
 * `fetch` accepts. Relative URLs are fine: only the path is looked at.
 */
import type { Protocol, ReceivedRequest } from "./types.js";

/** Reads method, headers and body. Rejects when the body cannot be read. */
export async function readRequest(input: RequestInfo | URL, init?: RequestInit): Promise<ReceivedRequest> {
  const request = typeof input === "object" && "headers" in input ? input : undefined;
  const url = request ? request.url : String(input);
  const headers: Record<string, string> = {};
  new Headers(init?.headers ?? request?.headers).forEach((value, name) => (headers[name] = value));
  const given = init?.body;
  const bodyText =
    typeof given === "string"
      ? given
      : given != null
        ? await new Response(given).text()
        : request
          ? await request.clone().text()
          : "";
  const body = parseJson(bodyText);
  return {
    url,
    method: (init?.method ?? request?.method ?? "GET").toUpperCase(),
    headers,
    bodyText,
    body,
    protocol: protocolOf(url),
    isStreaming: body?.stream === true,
  };
}

/** The signal that governs a call: `init.signal`, else that of the `Request`. */
export function signalOf(input: RequestInfo | URL, init?: RequestInit): AbortSignal | undefined {
  if (init?.signal) return init.signal;
  return typeof input === "object" && "signal" in input ? (input.signal ?? undefined) : undefined;
}

function protocolOf(url: string): Protocol | undefined {
  const path = (url.split(/[?#]/, 1)[0] ?? "").replace(/\/+$/, "");
  if (path.endsWith("/v1/messages")) return "anthropic-messages";
  if (path.endsWith("/chat/completions")) return "openai-chat";
  return undefined;
}

function parseJson(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
