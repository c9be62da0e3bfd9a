// Objects of your code that do not behave: each lets the run settle.
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  anthropic,
  bedrock,
  compatible,
  createAgent,
  custom,
  gemini,
  openai,
  subagent,
  tool,
} from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";

const never = (): Promise<never> => new Promise(() => {});
const none = { type: "object", properties: {} } as const;
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

afterEach(() => vi.restoreAllMocks());

describe("a field that other code adds to every object", () => {
  afterEach(() => {
    delete (Object.prototype as { extra?: unknown }).extra;
  });

  it("breaks neither a constructor nor a run", async () => {
    Object.defineProperty(Object.prototype, "extra", {
      value: () => "extra",
      enumerable: true,
      writable: true,
      configurable: true,
    });
    const key = { apiKey: "key-of-a-test" };
    anthropic("m", key);
    openai("m", key);
    gemini("m", key);
    bedrock("m", { region: "eu-central-1", apiKey: "key-of-a-test" });
    compatible("m", { baseUrl: "https://api.test" });
    const execute = vi.fn(() => ({ found: 1 }));
    const search = tool({ description: "Searches", inputSchema: none, execute });
    const fetch = scripted([{ toolCalls: [{ name: "search", input: {} }] }, { text: "Done." }]);
    const agent = createAgent({
      model: anthropic("m", { ...key, fetch }),
      tools: { search, pal: subagent({ description: "Helps", model: custom(() => "") }) },
      retry: { maxRetries: 0 },
    });
    const result = await agent.run("Go").result;
    // The matchers of the test runner read such a field, too.
    delete (Object.prototype as { extra?: unknown }).extra;
    expect(result).toMatchObject({ outcome: "completed", text: "Done." });
    expect(result.toolCalls).toMatchObject([{ output: { found: 1 } }]);
  });
});

describe("a signal", () => {
  it.each<[string, object]>([
    ["has no removeEventListener", { aborted: false, addEventListener: () => {} }],
    [
      "cannot be left",
      {
        aborted: false,
        addEventListener: () => {},
        removeEventListener: () => {
          throw new Error("stuck");
        },
      },
    ],
  ])("that %s lets the run end", async (_name, signal) => {
    const agent = createAgent({ model: custom(() => "hi") });
    expect(await agent.run("Go", { signal: signal as AbortSignal }).result).toMatchObject({ text: "hi" });
  });

  it.each<[string, () => unknown]>([
    [
      "a message that throws",
      () =>
        Object.defineProperty(new Error("x"), "message", {
          get() {
            throw new Error("y");
          },
        }),
    ],
    ["a message that is no text", () => Object.assign(new Error("x"), { message: 7 })],
    ["a revoked proxy", revoked],
  ])("whose reason is %s cancels the run", async (_name, reason) => {
    const controller = new AbortController();
    const run = createAgent({ model: custom(never) }).run("Go", { signal: controller.signal });
    controller.abort(reason());
    expect(await run.result).toMatchObject({ outcome: "cancelled", abortReason: expect.any(String) });
  });
});

describe("a clock", () => {
  const clock = (over: object) => ({
    now: () => 1_700_000_000_000,
    setTimer: (callback: () => void, delayMs: number): unknown => setTimeout(callback, delayMs),
    clearTimer: (timer: unknown) => clearTimeout(timer as never),
    ...over,
  });

  it("that stands still lets a run end", async () => {
    const agent = createAgent({ model: custom(() => "hi"), clock: clock({}) });
    expect(await agent.run("Go").result).toMatchObject({ text: "hi" });
  });

  it("that stands still lets a run wait for its second attempt", async () => {
    const fetch = scripted([{ status: 529 }, { text: "hi" }]);
    const model = anthropic("m", { apiKey: "key-of-a-test", fetch });
    const agent = createAgent({ model, retry: { delaysMs: [5] }, clock: clock({}) });
    expect(await agent.run("Go").result).toMatchObject({ outcome: "completed", text: "hi" });
  });

  it("that stands still, with timers that call back at once, ends a wait at its limit", async () => {
    const stopped = clock({ setTimer: (callback: () => void) => callback() });
    expect(await createAgent({ model: custom(() => "hi"), clock: stopped }).run("Go").result).toMatchObject({
      outcome: "completed",
    });
    const run = createAgent({ model: custom(never), retry: { maxRetries: 0 }, clock: stopped }).run("Go");
    expect(await run.result).toMatchObject({ outcome: "failed", error: { code: "timeout" } });
  });

  it.each<[string, () => unknown]>([
    [
      "goes back",
      (
        (ms) => () =>
          (ms -= 60_000)
      )(1_700_000_000_000),
    ],
    ["tells no time", () => Number.NaN],
    ["tells nothing", () => undefined],
    ["tells a text", () => "now"],
    ["tells an endless time", () => Infinity],
    ["tells a time before 1970", () => -1],
  ])("that %s lets a run end, wait for its second attempt, and be aborted", async (_, now) => {
    const wrong = clock({ now });
    const fetch = scripted([{ status: 529 }, { text: "hi" }]);
    const model = anthropic("m", { apiKey: "key-of-a-test", fetch });
    const tried = createAgent({ model, retry: { delaysMs: [5] }, clock: wrong }).run("Go");
    expect(await tried.result).toMatchObject({ outcome: "completed", text: "hi" });
    const run = createAgent({ model: custom(never), clock: wrong }).run("Go");
    await new Promise((resolve) => setTimeout(resolve, 5));
    run.abort("enough");
    expect(await run.result).toMatchObject({ outcome: "cancelled" });
  });

  it("that goes on, with timers that call back at once, lets the run end and be aborted", async () => {
    // Each look moves it: a timer that fires in the same millisecond would tell the time itself.
    let ms = 1_700_000_000_000;
    const now = () => ++ms;
    const early = clock({ now, setTimer: (callback: () => void) => callback() });
    const agent = createAgent({ model: custom(() => "hi"), clock: early });
    expect(await agent.run("Go").result).toMatchObject({ outcome: "completed" });
    const run = createAgent({ model: custom(never), clock: early }).run("Go");
    await new Promise((resolve) => setTimeout(resolve, 20));
    run.abort("enough");
    expect(await run.result).toMatchObject({ outcome: "cancelled" });
  });
});

describe("a revoked proxy", () => {
  it("as the error of a tool is told to the model", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const fetch = scripted([{ toolCalls: [{ name: "search", input: {} }] }, { text: "Done." }]);
    const execute = () => {
      throw revoked();
    };
    const search = tool({ description: "Searches", inputSchema: none, execute });
    const agent = createAgent({
      model: anthropic("m", { apiKey: "key-of-a-test", fetch }),
      tools: { search },
    });
    expect(await agent.run("Go").result).toMatchObject({ outcome: "completed", text: "Done." });
  });

  it.each<[string, (fail: () => never) => object]>([
    ["fetch", (fail) => ({ fetch: fail })],
    ["fetch, later", (fail) => ({ fetch: async () => fail() })],
    ["apiKey", (fail) => ({ apiKey: fail })],
    ["authorize", (fail) => ({ apiKey: undefined, authorize: fail })],
  ])("as the error of %s fails the run", async (_name, given) => {
    const fail = (): never => {
      throw revoked();
    };
    const model = anthropic("m", { apiKey: "key-of-a-test", ...given(fail) } as never);
    const agent = createAgent({ model, retry: { maxRetries: 0 } });
    expect(await agent.run("Go").result).toMatchObject({ outcome: "failed" });
  });

  it("as the error of a custom model or a listener lets the run end", async () => {
    const fail = (): never => {
      throw revoked();
    };
    const agent = createAgent({ model: custom(fail), retry: { maxRetries: 0 } });
    expect(await agent.run("Go").result).toMatchObject({ outcome: "failed" });
    const heard = createAgent({ model: custom(() => "hi") });
    const onError = vi.fn();
    expect(await heard.run("Go", { onText: fail, onError }).result).toMatchObject({ text: "hi" });
    expect(onError).toHaveBeenCalledOnce();
  });
});
