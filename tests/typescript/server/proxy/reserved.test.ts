import { describe, expect, it } from "vitest";
import { anthropic, bedrock, gemini, openai, openaiChat, type Fetch, type Model } from "looplet";
import { memoryQuota, proxy, storeQuota, type ProxyUsage, type Quota, type QuotaLimits } from "looplet/proxy";
import { memoryStore } from "looplet/stores";
import { body, claude, KEY, noting, proxyOf, requestOf } from "./kit.js";

/** A vendor that does not answer until it is let. */
function slow(): { fetch: Fetch; sent: () => number; answer: () => void } {
  const waiting: (() => void)[] = [];
  let count = 0;
  const fetch = (async () => {
    count += 1;
    await new Promise<void>((resolve) => waiting.push(resolve));
    const usage = { input_tokens: 5, output_tokens: 5 };
    return Response.json({ type: "message", usage, stop_reason: "end_turn" });
  }) as unknown as Fetch;
  return { fetch, sent: () => count, answer: () => waiting.splice(0).forEach((resolve) => resolve()) };
}

const turns = async (): Promise<void> => {
  for (let at = 0; at < 20; at += 1) await new Promise((resolve) => setTimeout(resolve, 0));
};

describe.each([
  ["in memory", (limits: QuotaLimits): Quota => memoryQuota(limits)],
  ["in a store", (limits: QuotaLimits): Quota => storeQuota({ store: memoryStore(), ...limits })],
])("a quota %s", (_, quotaOf) => {
  it("starts calls at the same time only if all of them fit, and gives back what they have not used", async () => {
    const vendor = slow();
    const quota = quotaOf({ maxTokens: 1000, maxParallel: 100 });
    const handler = proxy({ models: [claude()], authorize: () => "ada", fetch: vendor.fetch, quota });
    const ask = () => handler(requestOf(body({ max_tokens: 400, stream: false })));
    const all = Array.from({ length: 20 }, ask);
    const refused = await Promise.all(all.slice(2));
    expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 18 }, () => 429));
    expect(refused[0]!.headers.get("retry-after")).toBe("1");
    expect(await refused[0]!.text()).toContain("Your calls under way can use up your quota.");
    expect(vendor.sent()).toBe(2);
    vendor.answer();
    for (const response of await Promise.all(all.slice(0, 2))) await response.text();
    const again = ask();
    await turns();
    vendor.answer();
    expect((await again).status).toBe(200);
  });

  it("counts dollars that calls under way can cost", async () => {
    const vendor = slow();
    const price = { inputUsdPerMillion: 0, outputUsdPerMillion: 1_000_000 };
    const quota = quotaOf({ maxUsd: 1000, maxParallel: 100 });
    const models = [claude({ price })];
    const handler = proxy({ models, authorize: () => "ada", fetch: vendor.fetch, quota });
    const ask = () => handler(requestOf(body({ max_tokens: 400, stream: false })));
    const all = Array.from({ length: 5 }, ask);
    expect((await Promise.all(all.slice(2))).map(({ status }) => status)).toEqual([429, 429, 429]);
    vendor.answer();
    for (const response of await Promise.all(all.slice(0, 2))) await response.text();
  });

  it("lets one call run alone, though its bound is more than what is left", async () => {
    const quota = quotaOf({ maxTokens: 1000 });
    const most = { inputTokens: 10, outputTokens: 60_000, costUsd: null, isReported: false };
    const call = { owner: "ada", vendor: "anthropic", model: "m", most };
    expect(await quota.begin(call)).toBeUndefined();
    expect(await quota.begin({ ...call, most: { ...most, outputTokens: 1 } })).toMatchObject({
      retryAfterMs: 1000,
    });
    await quota.end(call, { ...most, outputTokens: 20 });
    expect(await quota.begin({ ...call })).toBeUndefined();
  });
});

it("counts a call whose process has ended with the most that it could use", async () => {
  let nowMs = 0;
  const quota = storeQuota({ store: memoryStore(), maxTokens: 1000, maxCallMs: 500, now: () => nowMs });
  const most = { inputTokens: 10, outputTokens: 2000, costUsd: null, isReported: false };
  const call = { owner: "ada", vendor: "anthropic", model: "m", most };
  expect(await quota.begin(call)).toBeUndefined();
  nowMs = 500;
  expect(await quota.begin({ ...call })).toEqual({ message: "Your quota is used up." });
  // It has not ended after all, and says what it has used.
  await quota.end(call, { ...most, outputTokens: 20 });
  expect(await quota.begin({ ...call })).toBeUndefined();
});

describe("reasoning that no event shows", () => {
  const event = (json: object): string => `data: ${JSON.stringify(json)}\n\n`;
  const CHAT = (delta: object) => event({ choices: [{ index: 0, delta }] });
  const TEXT: { readonly [vendor: string]: string } = {
    responses: event({ type: "response.output_text.delta", delta: "Hello" }),
    chat: CHAT({ content: "Hello" }),
    anthropic: event({ type: "content_block_delta", delta: { type: "text_delta", text: "Hello" } }),
    google: event({ candidates: [{ content: { parts: [{ text: "Hello" }] } }] }),
  };
  const PATHS: { readonly [vendor: string]: (model: string) => string } = {
    responses: () => "openai/responses",
    chat: () => "openai/chat/completions",
    anthropic: () => "anthropic/v1/messages",
    google: (model) => `google/v1beta/models/${model}:streamGenerateContent?alt=sse`,
  };
  const MODELS: { readonly [vendor: string]: (name: string, options: object) => Model } = {
    responses: openai,
    chat: openaiChat,
    anthropic,
    google: gemini,
  };
  /** What is counted for an answer that a page leaves behind these events, or that ends without a report. */
  const left = async (
    [vendor, model, more]: readonly [string, string, object],
    events: readonly string[] = [TEXT[vendor]!],
    isLeft = true,
  ): Promise<number> => {
    const bytes = new TextEncoder().encode(events.join(""));
    const stream = () =>
      new ReadableStream({
        start: (controller) => {
          if (bytes.length > 0) controller.enqueue(bytes);
          if (!isLeft) controller.close();
        },
      });
    const quota = noting();
    const fetch = (async () =>
      new Response(stream(), { headers: { "content-type": "text/event-stream" } })) as unknown as Fetch;
    const { handler } = proxyOf(fetch, { models: [MODELS[vendor]!(model, { apiKey: KEY })], quota });
    const bounds = vendor === "responses" ? { max_output_tokens: 4000 } : { max_tokens: 4000 };
    const asked =
      vendor === "google"
        ? { contents: [], generationConfig: { maxOutputTokens: 4000, ...more } }
        : { model, stream: true, ...bounds, ...more };
    const response = await handler(requestOf(asked, { path: `/api/${PATHS[vendor]!(model)}` }));
    expect(response.status).toBe(200);
    if (!isLeft) await response.text();
    else {
      const reader = response.body!.getReader();
      if (bytes.length > 0) await reader.read();
      await reader.cancel();
    }
    return quota.ended[0]![1].outputTokens;
  };

  const REASONING = [
    ["responses", "gpt-4.1", { reasoning: { effort: "high" } }],
    ["responses", "gpt-4.1", { Reasoning: { Effort: "low" } }],
    ["responses", "o4-mini", {}],
    ["responses", "openai/gpt-5.1", {}],
    ["responses", "gpt-5.1", { thinking: { type: "disabled" } }],
    ["chat", "gpt-4.1", { reasoning_effort: "minimal" }],
    ["chat", "m", { reasoning: { enabled: true } }],
    ["chat", "openai/gpt-oss-120b", { reasoning_format: "hidden" }],
    ["chat", "openai/gpt-oss-120b", { include_reasoning: false }],
    ["google", "gemini-2.5-pro", {}],
    ["google", "g", { thinkingConfig: { thinkingLevel: "high" } }],
    ["google", "g", { thinking_config: { thinking_budget: -1 } }],
    ["anthropic", "claude-a", { thinking: { type: "adaptive" } }],
    ["anthropic", "claude-opus-5-5", {}],
  ] as const;
  it.each(REASONING)("is counted up to the bound: %s, %s, %j", async (...given) => {
    expect(await left(given)).toBe(4000);
    expect(await left(given, undefined, false)).toBe(4000);
  });

  it.each([
    ["anthropic", "claude-a", { thinking: { type: "enabled", budget_tokens: 1500 } }],
    ["google", "gemini-2.5-pro", { thinkingConfig: { thinkingBudget: 1500 } }],
    ["chat", "m", { reasoning: { max_tokens: 1500 } }],
  ] as const)("is counted up to its own budget: %s, %s, %j", async (...given) => {
    expect(await left(given)).toBe(1502);
  });

  it.each([
    ["responses", "gpt-4.1", {}],
    ["responses", "gpt-5.1", { reasoning: { effort: "none" } }],
    ["chat", "m", { reasoning: { enabled: false } }],
    ["chat", "m", { reasoning_format: "parsed", include_reasoning: true }],
    ["google", "gemini-2.5-flash", { thinkingConfig: { thinkingBudget: 0 } }],
    ["anthropic", "claude-a", { thinking: { type: "disabled" } }],
    ["anthropic", "claude-sonnet-4-6", {}],
  ] as const)("is not counted where the request turns it off: %s, %s, %j", async (...given) => {
    expect(await left(given)).toBe(2);
  });

  it("counts up to the bound for an answer without any text, unless the vendor says that it failed", async () => {
    for (const vendor of ["responses", "chat", "anthropic", "google"]) {
      expect([vendor, await left([vendor, "m", {}], [])]).toEqual([vendor, 4000]);
      expect([vendor, await left([vendor, "m", {}], [event({ type: "ping" })])]).toEqual([vendor, 4000]);
      const failure = event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
      expect([vendor, await left([vendor, "m", {}], [failure], false)]).toEqual([vendor, 1]);
    }
  });

  it("counts a stream that is left before its first byte", async () => {
    const signal = new AbortController();
    const quota = noting();
    const fetch = ((_: string, init: RequestInit) =>
      new Promise((_resolve, reject) =>
        init.signal!.addEventListener("abort", () => reject(init.signal!.reason)),
      )) as unknown as Fetch;
    const { handler } = proxyOf(fetch, { quota });
    const response = handler(requestOf(body({ max_tokens: 700 }), { signal: signal.signal }));
    await turns();
    signal.abort();
    expect((await response).status).toBe(502);
    expect(quota.ended[0]![1]).toMatchObject({ outputTokens: 700, isReported: false });
  });

  it("is counted in the fields of a model of Bedrock", async () => {
    const quota = noting();
    const fetch = (async () => new Response(new ReadableStream())) as unknown as Fetch;
    const models = [bedrock("b", { region: "eu-central-1", apiKey: KEY })];
    const { handler } = proxyOf(fetch, { models, quota });
    const asked = {
      messages: [],
      inferenceConfig: { maxTokens: 900 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 800 } },
    };
    const response = await handler(requestOf(asked, { path: "/api/bedrock/model/b/converse-stream" }));
    await response.body!.cancel();
    expect(quota.ended[0]![1].outputTokens).toBe(900);
  });
});

it("estimates a letter outside of ASCII as a token of the input", async () => {
  const quota = noting();
  const { handler } = proxyOf([{ status: 200, text: "Hi." }], { quota });
  const messages = [{ role: "user", content: "語".repeat(1000) }];
  await (await handler(requestOf(body({ messages })))).body!.cancel();
  const most = quota.begun[0]!.most as ProxyUsage;
  expect(most).toMatchObject({ outputTokens: 100, costUsd: null, isReported: false });
  expect(most.inputTokens).toBeGreaterThanOrEqual(1000);
  expect(most.inputTokens).toBeLessThan(1100);
});

it("asks a Worker to stay from the beginning of a call until its usage is written", async () => {
  const vendor = slow();
  const quota = noting();
  const handler = proxy({ models: [claude()], authorize: () => "ada", fetch: vendor.fetch, quota });
  const work: Promise<unknown>[] = [];
  const answer = handler(requestOf(body({ stream: false })), { waitUntil: (one) => void work.push(one) });
  await turns();
  expect(work).toHaveLength(1);
  vendor.answer();
  await (await answer).text();
  await work[0];
  expect(quota.ended).toHaveLength(1);
});

it.each([
  ["one line", "text/event-stream", 1],
  ["one frame", "application/vnd.amazon.eventstream", 0],
])(
  "looks at an answer of %s in time in proportion to its length",
  { timeout: 20_000 },
  async (_, type, isText) => {
    // 15 MiB in chunks of 512 bytes: 30,000 looks at all that has come would take minutes.
    const bytes = new Uint8Array(15 * 1024 * 1024).fill(97);
    if (isText === 0) new DataView(bytes.buffer).setUint32(0, bytes.length);
    if (isText === 0) new DataView(bytes.buffer).setUint32(4, 0);
    let at = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, (at += 512)));
      },
    });
    const quota = noting();
    const fetch = (async () =>
      new Response(stream, { headers: { "content-type": type } })) as unknown as Fetch;
    const { handler } = proxyOf(fetch, { quota });
    const response = await handler(requestOf(body()));
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) void chunk;
    expect(quota.ended).toHaveLength(1);
  },
);
