import { afterEach, describe, expect, it, vi } from "vitest";
import { openrouter } from "looplet/vendors";
import { createAgent, tool, type Fetch } from "looplet";
import { raw, scripted } from "looplet/practice";
import { body, KEY, noting, proxyOf, requestOf } from "./kit.js";

afterEach(() => vi.useRealTimers());

const answering = (make: (signal: AbortSignal) => Response | Promise<Response>): Fetch =>
  (async (_: string, { signal }: RequestInit) => make(signal!)) as unknown as Fetch;

/** A body with these bytes that never ends, and whether it was cancelled. */
function endless(text: string) {
  const seen = { cancelled: false };
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    cancel: () => void (seen.cancelled = true),
  });
  return { stream, seen };
}

describe("a vendor's answer", () => {
  it.each([204, 205])("with status %i is passed on without a body, and counted", async (status) => {
    const quota = noting();
    const { handler } = proxyOf(
      answering(() => new Response(null, { status, headers: { "x-request-id": "r" } })),
      { quota },
    );
    const response = await handler(requestOf());
    expect([response.status, response.body, response.headers.get("x-request-id")]).toEqual([
      status,
      null,
      "r",
    ]);
    expect(quota.ended.map(([, usage]) => usage)).toEqual([
      expect.objectContaining({ outputTokens: 100, isReported: false }),
    ]);
  });

  // A `fetch` of the host's gives what the vendor has sent; `Response` refuses these numbers.
  it.each([0, 101, 304, 600, 999])("with status %i is status 502", async (status) => {
    vi.stubGlobal("reportError", () => {});
    const quota = noting();
    const odd = { status, ok: false, headers: new Headers(), body: null } as unknown as Response;
    const response = await proxyOf(
      answering(() => odd),
      { quota },
    ).handler(requestOf());
    vi.unstubAllGlobals();
    expect(response.status).toBe(502);
    expect(quota.ended).toHaveLength(1);
  });

  it.each([400, 500, 529])("with status %i whose body never ends is cut after 10 s", async (status) => {
    vi.useFakeTimers();
    const quota = noting();
    const { stream, seen } = endless(`{"error":"busy ${KEY}`);
    const answer = proxyOf(
      answering(() => new Response(stream, { status })),
      { quota },
    ).handler(requestOf());
    await vi.advanceTimersByTimeAsync(9_999);
    expect(seen.cancelled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const response = await answer;
    const text = await response.text();
    expect([response.status, seen.cancelled, quota.ended.length]).toEqual([status, true, 1]);
    expect(text).toContain("busy");
    expect(text).not.toContain(KEY);
  });

  it("whose error never ends is left when the page leaves", async () => {
    const quota = noting();
    const { stream, seen } = endless("busy");
    const left = new AbortController();
    const { handler } = proxyOf(
      answering(() => new Response(stream, { status: 500 })),
      { quota },
    );
    const answer = handler(requestOf(body(), { signal: left.signal }));
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(quota.ended).toEqual([]);
    left.abort();
    await (await answer).text();
    expect([seen.cancelled, quota.ended.length]).toEqual([true, 1]);
  });

  it("whose error breaks off is passed on as far as it came", async () => {
    const broken = (): ReadableStream => {
      let at = 0;
      return new ReadableStream({
        pull(controller) {
          if (at++ > 0) throw new Error("socket");
          controller.enqueue(new TextEncoder().encode("busy"));
        },
      });
    };
    const quota = noting();
    const { handler } = proxyOf(
      answering(() => new Response(broken(), { status: 504 })),
      { quota },
    );
    const response = await handler(requestOf());
    expect([response.status, await response.text()]).toEqual([504, "busy"]);
    // A gateway has given up, and the model may have worked until then.
    expect(quota.ended[0]![1]).toMatchObject({ outputTokens: 100 });
  });

  it("that comes after the page has left is cancelled, also by a fetch that does not look at the signal", async () => {
    const quota = noting();
    const { stream, seen } = endless("late");
    let answer = (_: Response): void => {};
    const { handler } = proxyOf(
      answering(() => new Promise((resolve) => (answer = resolve))),
      { quota },
    );
    const left = new AbortController();
    const response = handler(requestOf(body(), { signal: left.signal }));
    await new Promise((resolve) => setTimeout(resolve, 0));
    left.abort();
    expect((await response).status).toBe(502);
    expect(quota.ended).toHaveLength(1);
    expect(quota.ended[0]![1]).toMatchObject({ outputTokens: 100 });
    answer(new Response(stream));
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(seen.cancelled).toBe(true);
  });
});

describe("a request that is no POST", () => {
  it.each(["GET", "HEAD", "PUT", "DELETE", "PATCH"])(
    "gets 405 for %s, with the methods there are",
    async (method) => {
      const { handler, sent } = proxyOf([]);
      const response = await handler(new Request("https://page.test/api/anthropic/v1/messages", { method }));
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
      expect(sent).toEqual([]);
    },
  );

  it("as OPTIONS reaches no vendor, and tells another origin nothing", async () => {
    const { handler, sent } = proxyOf([]);
    const options = async (headers: Record<string, string>): Promise<Response> =>
      handler(new Request("https://page.test/api/anthropic/v1/messages", { method: "OPTIONS", headers }));
    expect((await options({})).status).toBe(204);
    const foreign = await options({ origin: "https://evil.test" });
    expect([foreign.status, foreign.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    expect(sent).toEqual([]);
  });
});

describe("a call with a key of the user's own at OpenRouter", () => {
  const usage = (more: object) => ({ prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, ...more });
  const byok = usage({ cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 0.00417 } });
  const answer = (given: object, choice: object = { delta: { content: "Hi." }, finish_reason: "stop" }) =>
    raw(
      `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n` +
        `data: ${JSON.stringify({ choices: [], usage: given })}\n\ndata: [DONE]\n\n`,
    );

  it("costs what the vendor of the key charges, for `maxUsd` too", async () => {
    const call = { index: 0, id: "c", function: { name: "look", arguments: "{}" } };
    const calling = answer(byok, { delta: { tool_calls: [call] }, finish_reason: "tool_calls" });
    const agent = createAgent({
      model: openrouter("anthropic/claude-sonnet-4", { apiKey: KEY, fetch: scripted([calling, calling]) }),
      tools: {
        look: tool({ description: "Looks.", inputSchema: { type: "object" }, execute: () => "Seen." }),
      },
      limits: { maxUsd: 0.004, allowUnknownPrice: true },
    });
    const result = await agent.run("Hello").result;
    expect([result.outcome, result.stoppedBy, result.costUsd]).toEqual(["stopped", "usd", 0.00417]);
    const whole = usage({ cost: 0.01, is_byok: false, cost_details: { upstream_inference_cost: 0.02 } });
    const plain = openrouter("m", { apiKey: KEY, fetch: scripted([answer(whole)]) });
    expect((await createAgent({ model: plain }).run("Hello").result).costUsd).toBe(0.01);
  });

  it.each([
    [byok, 0.00417],
    [usage({ cost: 0.95, cost_details: { upstream_inference_cost: 19 } }), 19.95],
    [usage({ cost: 0.01, is_byok: false, cost_details: { upstream_inference_cost: 0.02 } }), 0.01],
    [usage({ cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: null } }), 0.01],
  ])("counts so for the quota of a proxy: %j", async (given, costUsd) => {
    const quota = noting();
    const models = [openrouter("m", { apiKey: KEY, maxOutputTokens: 100 })];
    const { handler } = proxyOf([answer(given)], { quota, models });
    const asked = { model: "m", max_completion_tokens: 50, stream: true, messages: [] };
    await (await handler(requestOf(asked, { path: "/api/openrouter/chat/completions" }))).text();
    expect(quota.ended[0]![1]).toMatchObject({ costUsd, isReported: true });
  });
});
