/** A run of a server or a worker that is stopped while nobody answers. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { custom, type RunEvent } from "looplet";
import { conversation } from "looplet/ui";
import { Server } from "../support/server-kit.js";
import { Kit, Place } from "../support/worker-kit.js";

/** A model that says a word and then waits for ever. */
function slow(): Kit {
  const kit = new Kit();
  const agent = kit.agent.bind(kit);
  const model = custom(async function* ({ signal }) {
    yield "one ";
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  });
  kit.agent = (options) => agent({ ...options, model });
  return kit;
}

/** A server, and the switch of its network: `down` breaks requests off, `silent` lets them hang. */
function network(kit = slow()) {
  const server = new Server(kit);
  const net = { server, state: "up" as "up" | "down" | "silent", asked: [] as string[] };
  const cuts = new Set<() => void>();
  const hang = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  server.between = async (request, handle) => {
    if (request.method === "POST") net.asked.push(((await request.clone().json()) as any).method);
    if (net.state === "silent") return hang(request.signal);
    if (net.state === "down") throw new TypeError("Failed to fetch");
    const response = await handle(request);
    const reader = response.body!.getReader();
    const body = new ReadableStream({
      start: (controller) => {
        cuts.add(() => controller.error(new TypeError("network error")));
        void (async () => {
          for (;;) {
            const { done, value } = await reader.read();
            if (net.state !== "up") return;
            if (done) return controller.close();
            controller.enqueue(value);
          }
        })().catch(() => {});
      },
    });
    return new Response(body, response);
  };
  const lose = (state: "down" | "silent"): void => {
    net.state = state;
    if (state === "down")
      for (const cut of cuts)
        try {
          cut();
        } catch {
          // It was closed.
        }
    cuts.clear();
  };
  return Object.assign(net, { lose });
}

async function begun(run: { events(options: object): AsyncIterable<RunEvent> }): Promise<void> {
  for await (const event of run.events({ detached: true })) if (event.type === "text-delta") return;
}

describe("a stop that nobody answers", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  /** Lets the virtual time go on, at most so many milliseconds, until a promise settles. */
  async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
    let isSettled = false;
    const settle = (): unknown => (isSettled = true);
    promise.then(settle, settle);
    for (let at = 0; at <= ms && !isSettled; at += 50) {
      await vi.advanceTimersByTimeAsync(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(isSettled).toBe(true);
    return promise;
  }

  /** Lets the virtual time go on until a promise settles: the first run waits for the WebAssembly. */
  const steadily = <T>(promise: Promise<T>): Promise<T> => within(promise, Infinity);

  it.each(["down", "silent"] as const)(
    "ends the run of a page whose network is %s with what has arrived",
    async (state) => {
      const net = network();
      const chat = await steadily(net.server.page().openChat("a"));
      const events: RunEvent[] = [];
      const run = chat.run("Go.", { onEvent: (event) => void events.push(event) });
      await steadily(begun(run));
      net.lose(state);
      run.abort("enough");
      const result = await within(run.result, 1500);
      expect(result).toMatchObject({ outcome: "cancelled", abortReason: "enough", text: "one ", id: run.id });
      expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
      expect(events.slice(-2).map(({ type }) => type)).toEqual(["abort", "finish"]);
      expect(run.outcome).toBe("cancelled");
      expect(chat.current).toBeUndefined();
      expect(chat.messages).toEqual(result.messages);
    },
  );

  it("gives the stop to the server when it is reached again, however long that takes", async () => {
    const net = network();
    const chat = await steadily(net.server.page().openChat("a"));
    const run = chat.run("Go.");
    await steadily(begun(run));
    net.lose("down");
    run.abort();
    await within(run.result, 1500);
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    net.state = "up";
    const ended = vi.waitFor(async () => {
      const { status } = await net.server.get(`/a/events?run=${run.id}&after=`).catch(() => ({ status: 0 }));
      const state = await net.server.post("/a/call", { method: "openChat", args: [] });
      expect([status, state.value.run]).toEqual([expect.any(Number), null]);
    }, 5000);
    await within(ended, 60_000);
    // The next run of the chat begins behind it.
    const next = chat.run("Again.");
    await within(begun(next), 60_000);
    next.abort();
    await within(next.result, 5000);
    expect(chat.messages.filter(({ role }) => role === "user")).toHaveLength(2);
  });

  it("gives the stop to the server after a reload, if the page before could not", async () => {
    const kept = new Map<string, string>();
    vi.stubGlobal("sessionStorage", {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
    });
    try {
      const net = network();
      const page = net.server.page();
      const run = (await steadily(page.openChat("a"))).run("Go.");
      await steadily(begun(run));
      net.lose("down");
      run.abort("enough");
      await within(run.result, 1500);
      // A page that is left sends nothing more.
      page.disconnect();
      net.state = "up";
      const { current } = await within(net.server.page().openChat("a"), 60_000);
      expect(current?.id ?? run.id).toBe(run.id);
      if (current !== undefined)
        expect(await within(current.result, 60_000)).toMatchObject({ abortReason: "enough" });
      const state = await net.server.post("/a/call", { method: "openChat", args: [] });
      expect(state.value.run).toBeNull();
      const asked = net.asked.length;
      net.server.page();
      await vi.advanceTimersByTimeAsync(1000);
      expect(net.asked.slice(asked)).toEqual([]);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("frees a conversation whose stop button is pressed without a network", async () => {
    const net = network();
    const screen = conversation(net.server.page(), { id: "a" });
    screen.subscribe(() => {});
    const is = (status: string, ms = Infinity): Promise<void> => {
      const reached = new Promise<void>((resolve) => {
        const look = (): void => void (screen.getSnapshot().status === status && resolve());
        screen.subscribe(look);
        look();
      });
      return within(reached, ms);
    };
    await is("ready");
    void screen.send("Go.");
    await is("streaming");
    net.lose("down");
    screen.stop();
    await is("ready", 1500);
    const [asked, said] = screen.getSnapshot().messages;
    expect([asked?.parts, said?.parts]).toMatchObject([[{ text: "Go." }], [{ text: "one " }]]);
  });

  it("keeps the calls that were done, and closes those that were not", async () => {
    const kit = new Kit();
    const net = network(kit);
    const chat = await steadily(net.server.page().openChat("a"));
    const run = chat.run("Pay.");
    for await (const event of run.events({ detached: true })) if (event.type === "question") break;
    net.lose("down");
    run.abort();
    const { messages, toolCalls } = await within(run.result, 1500);
    expect(toolCalls).toMatchObject([{ toolName: "pay", isError: true, output: { code: "not_run" } }]);
    expect(messages.flatMap(({ content }) => content.map(({ type }) => type))).toEqual([
      "text",
      "tool_call",
      "tool_result",
    ]);
  });

  it("ends the run of a worker that was killed", async () => {
    const place = new Place();
    place.serve(slow().agent());
    const run = place.connect(60_000).run("Go.");
    await steadily(begun(run));
    place.kill();
    run.abort("enough");
    expect(await within(run.result, 1500)).toMatchObject({ outcome: "cancelled", text: "one " });
  });
});
