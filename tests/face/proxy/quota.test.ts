import { describe, expect, it } from "vitest";
import { prices } from "looplet/prices";
import { anthropic } from "looplet";
import { memoryQuota, type ProxyOptions, type ProxyUsage } from "looplet/proxy";
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
