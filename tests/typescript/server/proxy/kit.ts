/** A page, its proxy, and the vendor behind it. */
import { expect } from "vitest";
import { anthropic, type Fetch, type HttpModelOptions, type Model } from "looplet";
import { scripted, type ScriptedStep } from "looplet/practice";
import { proxy, type ProxyCall, type ProxyOptions, type ProxyUsage, type Quota } from "looplet/proxy";

export const KEY = "sk-secret-0123456789";

export interface Sent {
  url: string;
  headers: Headers;
  body: string;
}

/** A vendor that answers with these turns, and what it was sent. */
export function vendorOf(turns: readonly ScriptedStep[] | Fetch): { fetch: Fetch; sent: Sent[] } {
  const answer = typeof turns === "function" ? turns : scripted(turns);
  const sent: Sent[] = [];
  const fetch = (async (url: string, init: RequestInit) => {
    const body = await new Response(init.body as never).text();
    sent.push({ url, headers: new Headers(init.headers), body });
    return answer(url, { ...init, body } as never);
  }) as unknown as Fetch;
  return { fetch, sent };
}

export const claude = (options: HttpModelOptions = {}): Model =>
  anthropic("claude-a", { apiKey: KEY, ...options });

export function proxyOf(turns: readonly ScriptedStep[] | Fetch, options: Partial<ProxyOptions> = {}) {
  const { fetch, sent } = vendorOf(turns);
  const handler = proxy({ models: [claude()], authorize: () => "ada", fetch, ...options });
  return { handler, sent };
}

export type Handler = ReturnType<typeof proxy>;

/** The `fetch` of a page whose requests reach the proxy. */
export const pageFetch = (handler: Handler): Fetch =>
  ((url: string, init: RequestInit) => handler(new Request(url, init))) as unknown as Fetch;

export const body = (more: object = {}) => ({
  model: "claude-a",
  max_tokens: 100,
  stream: true,
  messages: [{ role: "user", content: "Hello" }],
  ...more,
});

export function requestOf(
  given: unknown = body(),
  { path = "/api/anthropic/v1/messages", ...init }: RequestInit & { path?: string } = {},
): Request {
  const text = typeof given === "string" ? given : JSON.stringify(given);
  return new Request(`https://page.test${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: text,
    ...init,
  });
}

/** A quota that notes what it is told. */
export function noting(): Quota & { begun: ProxyCall[]; ended: [ProxyCall, ProxyUsage][] } {
  const begun: ProxyCall[] = [];
  const ended: [ProxyCall, ProxyUsage][] = [];
  return {
    begun,
    ended,
    begin: (call) => void begun.push(call),
    end: (call, usage) => void ended.push([call, usage]),
  };
}

/** The status of a request, and its words. The vendor must not have heard of one that is refused. */
export async function statusOf(
  request: Request,
  options: Partial<ProxyOptions> = {},
): Promise<[number, string]> {
  const { handler, sent } = proxyOf([{ text: "Hi." }, { text: "Hi." }], options);
  const response = await handler(request);
  const text = await response.text();
  if (!response.ok) expect(sent).toEqual([]);
  return [response.status, text];
}
