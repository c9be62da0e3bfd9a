import { afterEach, describe, expect, it, vi } from "vitest";
import { createAgent, custom } from "looplet";
import { agUiResponse } from "looplet/ag-ui";
import { toUIMessageStreamResponse } from "looplet/ai-sdk";
import { handler } from "looplet/server";
import { sessionsOf } from "looplet/sessions";
import { memoryStore } from "looplet/stores";
import { connectAgent } from "looplet/workers";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const never = (): Promise<never> => new Promise(() => {});

describe("the log of a session whose process has crashed before `finish` was in it", () => {
  it("gets the end of the run from the journal, for every client that asks", async () => {
    const kept = memoryStore();
    let died = (): void => {};
    const death = new Promise<void>((resolve) => (died = resolve));
    let isDead = false;
    const dying = {
      ...kept,
      append: (...args: Parameters<typeof kept.append>) => {
        if (args[1].some(({ json }) => json.includes('"type":"finish"'))) {
          isDead = true;
          died();
        }
        return isDead ? never() : kept.append(...args);
      },
      lease: (...args: Parameters<typeof kept.lease>) => kept.lease(...args),
    };
    const served = (store: typeof kept): ReturnType<typeof handler> =>
      handler(createAgent({ model: custom(() => "The answer."), store }), {
        store,
        base: "/api",
        authorize: () => "ada",
        takeOver: true,
      });
    const first = served(dying as typeof kept);
    const page = connectAgent("http://x.test/api", {
      fetch: ((url: string, init: RequestInit) => first(new Request(`${url}`, init) as never)) as never,
    });
    const { id } = (await page.openChat("c")).run("Hello");
    await death;
    page.disconnect();

    const taking = {
      ...kept,
      lease: (...[key, options]: Parameters<typeof kept.lease>) =>
        kept.lease(key, { ...options, takeOver: true }),
    };
    const second = served(taking);
    await second.wake();
    const next = connectAgent("http://x.test/api", {
      fetch: ((url: string, init: RequestInit) => second(new Request(`${url}`, init) as never)) as never,
    });
    await next.openChat("c");
    const result = await next.attach(id, { chat: "c" }).result;
    expect(result).toMatchObject({ outcome: "completed", text: "The answer." });
    next.disconnect();
  }, 20_000);
});

describe("a worker whose script cannot be loaded", () => {
  it.each(["error", "messageerror"])("fails the runs of the page at `%s`", async (type) => {
    const worker = Object.assign(new EventTarget(), { postMessage: () => {} });
    const agent = connectAgent(worker as never);
    const run = agent.run("Hello");
    worker.dispatchEvent(new Event(type));
    await expect(run.result).rejects.toThrow(/The worker of the agent could not start/);
    await expect(agent.run("Again").result).rejects.toThrow(/could not start/);
    agent.disconnect();
  });

  it("fails the runs over a SharedWorker, whose own `error` tells it", async () => {
    const port = Object.assign(new EventTarget(), { postMessage: () => {} });
    const worker = Object.assign(new EventTarget(), { port });
    const agent = connectAgent(worker as never);
    const run = agent.run("Hello");
    worker.dispatchEvent(new Event("error"));
    await expect(run.result).rejects.toThrow(/could not start/);
    agent.disconnect();
  });
});

describe("a response whose run is silent", () => {
  const waiting = (): ReturnType<ReturnType<typeof createAgent>["run"]> =>
    createAgent({ model: custom(never) }).run("Hello");
  const input = { threadId: "t", runId: "r", messages: [], tools: [], context: [], state: {} };

  it.each([
    ["AI SDK", () => toUIMessageStreamResponse(waiting())],
    ["AG-UI", () => agUiResponse(waiting(), input as never)],
  ])("sends a comment every 15 seconds: %s", async (_, respond) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const reader = (respond() as unknown as Response).body!.getReader();
    const texts: string[] = [];
    const reading = (async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        texts.push(new TextDecoder().decode(value));
      }
    })();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(texts.filter((text) => text.startsWith(":")).length).toBeGreaterThanOrEqual(3);
    void reader.cancel();
    await reading;
  });
});

it("opens and forks chats in a page without crypto.randomUUID, as over plain http", async () => {
  vi.spyOn(crypto, "randomUUID").mockImplementation(() => {
    throw new TypeError("crypto.randomUUID is not a function");
  });
  const store = memoryStore();
  const agent = createAgent({ model: custom(() => "Hi."), store });
  const chat = await sessionsOf(store).open(agent);
  expect(await chat.run("Hello").result).toMatchObject({ outcome: "completed" });
  const fork = await sessionsOf(store).fork(agent, (await sessionsOf(store).list())[0]!.id);
  expect(await fork.run("Again").result).toMatchObject({ outcome: "completed" });
});
