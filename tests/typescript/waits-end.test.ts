import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createAgent, custom, type Store } from "looplet";
import { agUiResponse } from "looplet/ag-ui";
import { toUIMessageStreamResponse } from "looplet/ai-sdk";
import { handler } from "looplet/server";
import { sessionsOf } from "looplet/sessions";
import { memoryStore } from "looplet/stores";
import { connectAgent } from "looplet/workers";
import { settled } from "./support/virtual-clock.js";

// An unoptimised engine takes seconds to compile.
beforeAll(async () => void (await createAgent({ model: custom(() => "Hi.") }).run("Hello").result), 60_000);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Resolves as the promise does. Timers fire as soon as nothing else is at work. */
async function inVirtualTime<T>(promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => void (isOver = true);
  promise.then(over, over);
  for (await settled(); !isOver; await settled()) await vi.advanceTimersToNextTimerAsync();
  return promise;
}

const never = (): Promise<never> => new Promise(() => {});

describe("the log of a session whose process has crashed before `finish` was in it", () => {
  it("gets the end of the run from the journal, for every client that asks", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
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
    await inVirtualTime(death);
    page.disconnect();

    const taking = {
      ...kept,
      lease: (...[key, options]: Parameters<typeof kept.lease>) =>
        kept.lease(key, { ...options, takeOver: true }),
    };
    const second = served(taking);
    await inVirtualTime(second.wake());
    const next = connectAgent("http://x.test/api", {
      fetch: ((url: string, init: RequestInit) => second(new Request(`${url}`, init) as never)) as never,
    });
    await inVirtualTime(next.openChat("c"));
    const result = await inVirtualTime(next.attach(id, { chat: "c" }).result);
    expect(result).toMatchObject({ outcome: "completed", text: "The answer." });
    next.disconnect();
  });
});

describe("the log of a session whose process has crashed before the journal had the run", () => {
  const served = (store: Store): ReturnType<typeof handler> =>
    handler(createAgent({ model: custom(() => "The answer."), store }), {
      store,
      base: "/api",
      authorize: () => "ada",
      takeOver: true,
    });
  const pageOf = (server: ReturnType<typeof handler>): ReturnType<typeof connectAgent> =>
    connectAgent("http://x.test/api", {
      fetch: ((url: string, init: RequestInit) => server(new Request(`${url}`, init) as never)) as never,
    });
  const lost = (id: string): object => ({
    id,
    outcome: "failed",
    error: { code: "store_failed", message: expect.stringMatching(/ended before the store had the end/) },
  });
  /** Ends the process when the log has the last run's beginning, and keeps its journal from having anything. */
  const crashed = async (before: number): Promise<{ taking: Store; id: string }> => {
    const kept = memoryStore();
    let died = (): void => {};
    const death = new Promise<void>((resolve) => (died = resolve));
    let isLast = false;
    let isDead = false;
    const dying = {
      ...kept,
      append: async (...args: Parameters<typeof kept.append>) => {
        const isLog = args[0].includes("looplet.events");
        if (isDead || (isLast && !isLog && args[0].endsWith("/c"))) return never();
        await kept.append(...args);
        if (isLast && isLog && args[1].some(({ json }) => json.includes('"type":"run-start"'))) {
          isDead = true;
          died();
          return never();
        }
      },
    };
    const page = pageOf(served(dying));
    const chat = await page.openChat("c");
    for (let run = 0; run < before; run++) await chat.run(`Prompt ${run}`).result;
    isLast = true;
    const run = chat.run("The last prompt");
    run.result.catch(() => {});
    await death;
    page.disconnect();
    const taking: Store = {
      ...kept,
      lease: (key, options) => kept.lease(key, { ...options, takeOver: true }),
    };
    return { taking, id: run.id };
  };

  it.each([0, 1, 2])(
    "gets no earlier run's end for it, after %i runs",
    async (before) => {
      const { taking, id } = await crashed(before);
      const server = served(taking);
      await server.wake();
      const page = pageOf(server);
      const chat = await page.openChat("c");
      expect(chat.messages).toHaveLength(2 * before);
      expect(await page.attach(id, { chat: "c" }).result).toMatchObject(lost(id));
      // The chat goes on, and the log with it.
      expect(await chat.run("The last prompt").result).toMatchObject({ outcome: "completed" });
      expect(chat.messages).toHaveLength(2 * before + 2);
      page.disconnect();
    },
    20_000,
  );

  it("ends the run for a page that follows the chat", async () => {
    const { taking, id } = await crashed(1);
    const server = served(taking);
    const page = pageOf(server);
    const result = page.attach(id, { chat: "c" }).result;
    expect(await result).toMatchObject(lost(id));
    page.disconnect();
  }, 20_000);
});

it("leaves a run alone whose process is about to save it", async () => {
  const kept = memoryStore();
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => (go = resolve));
  let reached = (): void => {};
  const isThere = new Promise<void>((resolve) => (reached = resolve));
  const slow: Store = {
    ...kept,
    append: async (...args) => {
      if (!args[0].includes("looplet.events") && args[0].endsWith("/c")) await gate;
      await kept.append(...args);
      if (args[0].includes("looplet.events")) reached();
    },
  };
  const [first, second] = [slow, kept].map((store) =>
    handler(createAgent({ model: custom(() => "The answer."), store }), {
      store,
      base: "/api",
      authorize: () => "ada",
    }),
  );
  const pageOf = (server: typeof first): ReturnType<typeof connectAgent> =>
    connectAgent("http://x.test/api", {
      fetch: ((url: string, init: RequestInit) => server!(new Request(`${url}`, init) as never)) as never,
    });
  const page = pageOf(first);
  const run = (await page.openChat("c")).run("Hello");
  await isThere;
  const other = pageOf(second);
  await other.openChat("c");
  go();
  expect(await run.result).toMatchObject({ outcome: "completed", text: "The answer." });
  page.disconnect();
  other.disconnect();
}, 20_000);

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
