import { describe, expect, it } from "vitest";
import { prices } from "looplet/prices";
import { anthropic, openaiChat, type Fetch } from "looplet";
import { memoryQuota, storeQuota, type ProxyOptions, type ProxyUsage } from "looplet/proxy";
import { memoryStore } from "looplet/stores";
import { claude, KEY, noting, proxyOf, requestOf } from "./kit.js";

const used = (tokens: number, costUsd: number | null = null): ProxyUsage => ({
  inputTokens: tokens,
  outputTokens: 0,
  costUsd,
  isReported: true,
});
const call = (owner = "ada") => ({ owner, vendor: "anthropic", model: "m" });

describe("a quota in memory", () => {
  it("refuses a user who has used it up, and no other, until the period is over", async () => {
    let nowMs = 0;
    const quota = memoryQuota({ maxTokens: 100, periodMs: 1000, now: () => nowMs });
    expect(quota.begin(call())).toBeUndefined();
    quota.end(call(), used(99));
    expect(quota.begin(call())).toBeUndefined();
    quota.end(call(), used(50));
    expect(quota.begin(call())).toEqual({ message: "Your quota is used up." });
    expect(quota.begin(call("eve"))).toBeUndefined();
    nowMs = 1000;
    expect(quota.begin(call())).toBeUndefined();
  });

  it("counts dollars, and lets so many calls be under way", () => {
    const quota = memoryQuota({ maxUsd: 1, maxParallel: 2 });
    expect(quota.needsPrice).toBe(true);
    expect([quota.begin(call()), quota.begin(call())]).toEqual([undefined, undefined]);
    expect(quota.begin(call())).toEqual({ message: "2 calls at once are the most.", retryAfterMs: 1000 });
    quota.end(call(), used(1, 0.4));
    expect(quota.begin(call())).toBeUndefined();
    quota.end(call(), used(1, 0.7));
    quota.end(call(), used(1, null));
    expect(quota.begin(call())).toEqual({ message: "Your quota is used up." });
  });

  it("names what is wrong with it", () => {
    expect(() => memoryQuota({ maxUsd: 0 })).toThrow("maxUsd: must be more than 0");
    expect(() => memoryQuota({ maxTokens: -1 })).toThrow("maxTokens");
    expect(() => proxyOf([], { quota: memoryQuota({ maxUsd: 1 }) })).toThrow(
      "models[0].price: is needed by the quota",
    );
    const models = [claude(), anthropic("claude-sonnet-4-6", { apiKey: KEY, price: prices })];
    expect(() => proxyOf([], { models, quota: memoryQuota({ maxUsd: 1 }) })).toThrow("models[0].price");
    expect(() => proxyOf([], { models: models.slice(1), quota: memoryQuota({ maxUsd: 1 }) })).not.toThrow();
  });
});

describe("a quota in a store", () => {
  const limits = { maxUsd: 1, maxParallel: 3, periodMs: 1000 };

  it("reads each entry once, however many calls a period has", async () => {
    const inner = memoryStore();
    let read = 0;
    const load: typeof inner.load = async (key, after) => {
      const entries = await inner.load(key, after);
      read += entries?.length ?? 0;
      return entries;
    };
    const quota = storeQuota({
      store: { ...inner, append: inner.append, load },
      maxTokens: 1e9,
      now: () => 0,
    });
    for (let at = 0; at < 200; at += 1) {
      const one = call();
      expect(await quota.begin(one)).toBeUndefined();
      await quota.end(one, used(5));
    }
    expect(read).toBeLessThanOrEqual(400);
  });

  it("counts for all processes at once, however their calls fall together", async () => {
    const store = memoryStore();
    const processes = [1, 2, 3].map(() => storeQuota({ store, ...limits, now: () => 0 }));
    const calls = Array.from({ length: 9 }, (_, at) => [processes[at % 3]!, call()] as const);
    const told = await Promise.all(calls.map(([quota, one]) => quota.begin(one)));
    const begun = calls.filter((_, at) => told[at] === undefined);
    expect(begun).toHaveLength(3);
    expect(told.find((refusal) => refusal)).toEqual({
      message: "3 calls at once are the most.",
      retryAfterMs: 1000,
    });
    await Promise.all(begun.map(([quota, one]) => quota.end(one, used(1, 0.4))));
    for (const quota of processes)
      expect(await quota.begin(call())).toEqual({ message: "Your quota is used up." });
    expect(await processes[0]!.begin(call("eve"))).toBeUndefined();
  });

  it("begins anew with a period, in which a call of the one before may end", async () => {
    let nowMs = 999;
    const store = memoryStore();
    const quota = storeQuota({ store, ...limits, now: () => nowMs });
    const late = call();
    expect(await quota.begin(late)).toBeUndefined();
    nowMs = 1000;
    await quota.end(late, used(1, 5));
    expect(await quota.begin(call())).toBeUndefined();
  });

  it("forgets a call whose process has ended, and writes nothing for one that it refuses", async () => {
    let nowMs = 0;
    const store = memoryStore();
    let writes = 0;
    const counting = {
      ...store,
      append: (...given: Parameters<typeof store.append>) => ((writes += 1), store.append(...given)),
    };
    const quota = storeQuota({
      store: counting as typeof store,
      ...limits,
      maxParallel: 1,
      maxCallMs: 500,
      now: () => nowMs,
    });
    expect(await quota.begin(call())).toBeUndefined();
    expect(await quota.begin(call())).toMatchObject({ retryAfterMs: 1000 });
    expect(writes).toBe(1);
    nowMs = 500;
    expect(await quota.begin(call())).toBeUndefined();
  });

  it("names what is wrong with it", () => {
    expect(() => storeQuota({ ...limits } as never)).toThrow("store");
    expect(() => storeQuota({ store: memoryStore(), maxUsd: 0 })).toThrow("maxUsd: must be more than 0");
  });
});

describe("a call", () => {
  it("over the quota is answered with 429 and the time to wait", async () => {
    const refused = async (quota: ProxyOptions["quota"]) => {
      const { handler, sent } = proxyOf([{ text: "Hi." }], { quota });
      const response = await handler(requestOf());
      expect(sent).toEqual([]);
      return [response.status, response.headers.get("retry-after"), await response.json()];
    };
    const full = (more: object) => ({ ...noting(), begin: () => ({ message: "Enough.", ...more }) });
    const error = (type: string) => ({ error: { type, code: type, message: "Enough." } });
    expect(await refused(full({}))).toEqual([429, null, error("insufficient_quota")]);
    expect(await refused(full({ retryAfterMs: 1500 }))).toEqual([429, "2", error("rate_limit_error")]);
  });

  it("is ended once, also when it fails, and a quota that fails keeps no answer back", async () => {
    const quota = noting();
    const { handler } = proxyOf([{ status: 500 }, { text: "Hi." }], { quota });
    await (await handler(requestOf())).text();
    const response = await handler(requestOf());
    await response.text();
    expect(quota.begun).toHaveLength(2);
    expect(quota.ended.map(([, { outputTokens }]) => outputTokens > 0)).toEqual([false, true]);

    const heard: unknown[] = [];
    const host = globalThis as { reportError?: unknown };
    const { reportError } = host;
    host.reportError = (error: unknown) => heard.push(error);
    const broken = { ...noting(), end: () => Promise.reject(new Error("no database")) };
    const text = await (await proxyOf([{ text: "Hi." }], { quota: broken }).handler(requestOf())).text();
    host.reportError = reportError;
    expect(text).toContain("message_stop");
    expect(heard).toHaveLength(1);
  });
});

describe("what was sent is counted", () => {
  const chat = (options: Partial<ProxyOptions>) => {
    const quota = noting();
    const models = [openaiChat("m", { apiKey: KEY, maxOutputTokens: 9000 })];
    return { quota, handler: proxyOf([], { models, quota, ...options }).handler };
  };
  const asked = (more: object, init: RequestInit = {}) =>
    requestOf(
      { model: "m", max_completion_tokens: 5000, messages: [], ...more },
      { path: "/api/openai/chat/completions", ...init },
    );
  const answering = (text: string, type = "text/event-stream") =>
    (async () => new Response(text, { headers: { "content-type": type } })) as unknown as Fetch;
  const event = (content: string, usage: unknown) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], usage })}\n\n`;

  it("though each event has a field for a report that is empty", async () => {
    for (const usage of [null, {}, [], { prompt_tokens: null }, { total_tokens: 5 }]) {
      const { quota, handler } = chat({ fetch: answering(event("word ".repeat(400), usage).repeat(2)) });
      const reader = (await handler(asked({ stream: true }))).body!.getReader();
      await reader.read();
      await reader.cancel();
      expect([usage, quota.ended[0]![1].outputTokens]).toEqual([usage, 1000]);
    }
  });

  it("though the text has quotes and letters outside of ASCII in it", async () => {
    const { quota, handler } = chat({
      fetch: answering(event(`"${"a".repeat(400)}"${"語".repeat(100)}`, undefined)),
    });
    await (await handler(asked({ stream: true }))).text();
    expect(quota.ended[0]![1].outputTokens).toBeGreaterThanOrEqual(200);
  });

  it("though nobody reads the answer, or it is no answer of the protocol", async () => {
    const { quota, handler } = chat({ fetch: answering('{"choices":[]}', "application/json") });
    await (await handler(asked({}))).body!.cancel();
    const left = new AbortController();
    const waiting = chat({
      fetch: (async (_: string, { signal }: RequestInit) =>
        new Promise((_resolve, reject) =>
          signal!.addEventListener("abort", () => reject(signal!.reason)),
        )) as never,
    });
    const response = waiting.handler(asked({}, { signal: left.signal }));
    await new Promise((resolve) => setTimeout(resolve, 0));
    left.abort();
    expect((await response).status).toBe(502);
    const html = chat({ fetch: answering("<p>".repeat(400), "text/html") });
    await (await html.handler(asked({ stream: true }))).text();
    const reset = Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNRESET" } });
    const lost = chat({ fetch: (async () => Promise.reject(reset)) as never });
    await lost.handler(asked({}));
    const ends = [quota, waiting.quota, html.quota, lost.quota].map(({ ended }) => ended[0]![1]);
    expect(ends.map(({ isReported }) => isReported)).toEqual([false, false, false, false]);
    expect(ends.map(({ outputTokens }) => outputTokens)).toEqual([5000, 5000, 5000, 5000]);
    expect(ends.every(({ inputTokens }) => inputTokens > 0)).toBe(true);
  });

  it("though a gateway gave the request up, and not if the vendor refused it", async () => {
    for (const [status, outputTokens] of [
      [408, 5000],
      [504, 5000],
      [524, 5000],
      [400, 0],
      [429, 0],
      [500, 0],
      [529, 0],
    ] as const) {
      const { quota, handler } = chat({ fetch: (async () => new Response("late", { status })) as never });
      await (await handler(asked({}))).text();
      expect([status, quota.ended[0]![1].outputTokens]).toEqual([status, outputTokens]);
    }
  });

  it("though the page neither reads nor cancels before it leaves", async () => {
    const left = new AbortController();
    const { quota, handler } = chat({ fetch: answering(event("word ".repeat(400), null).repeat(9)) });
    await handler(asked({ stream: true }, { signal: left.signal }));
    left.abort();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(quota.ended).toHaveLength(1);
  });
});
