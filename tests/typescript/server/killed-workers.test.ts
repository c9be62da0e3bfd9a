import { describe, expect, it } from "vitest";
import { custom } from "looplet";
import type { RunEvent, Store } from "looplet";
import { AgentHost } from "../../../src/typescript/server/workers/host.js";
import type { Target, Told } from "../../../src/typescript/server/workers/protocol.js";
import { collect, question, task, told } from "../support/run-events.js";
import { Kit, Place } from "../support/worker-kit.js";

describe("a run whose worker is killed", () => {
  /** Kills the worker at a question, and lets the next one go on. */
  async function killedAtQuestion(isKept: boolean) {
    const kit = new Kit();
    const place = new Place();
    const serve = (): void => {
      place.kill();
      kit.live();
      place.serve(kit.agent(), isKept ? { store: kit.store } : {});
    };
    serve();
    const agent = place.connect();
    const chat = await agent.openChat("a");
    const run = chat.run("Pay.");
    const whole = collect(run);
    const id = await question(run.events({ detached: true }));
    await run.saved();
    serve();
    return { kit, place, agent, chat, run, whole, id };
  }

  it("goes on in the next worker, and the page gets each event once", async () => {
    const { kit, chat, run, whole, id } = await killedAtQuestion(true);
    run.answer(id, { behavior: "allow" });
    await kit.effect();
    kit.go();
    expect((await run.result).text).toBe("one two three");
    expect(chat.messages).toHaveLength(4);
    const events = await whole;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(told(events).filter((type) => ["run-start", "finish"].includes(type))).toEqual([
      "run-start",
      "run-start",
      "finish",
    ]);
    expect(kit.effects).toHaveLength(1);
  });

  it.each(["a run", "a chat"])(
    "numbers the events of %s on behind those that pages have heard",
    async (what) => {
      const kit = new Kit();
      const place = new Place();
      const serve = (words: readonly string[]): void => {
        place.kill();
        kit.live();
        const model = custom(async function* () {
          yield* words;
          if (words.length < 3) await new Promise(() => {});
        });
        place.serve(kit.agent({ model }), { store: kit.store });
      };
      serve(["one ", "two "]);
      const agent = place.connect();
      const run = what === "a run" ? agent.run("Count.") : (await agent.openChat("a")).run("Count.");
      const events: RunEvent[] = [];
      const whole = (async () => {
        for await (const event of run.events({ detached: true })) events.push(event);
      })();
      // The journal counts no text that streams.
      while (!events.some((event) => event.type === "text-delta" && event.text.endsWith("two ")))
        await new Promise((resolve) => setTimeout(resolve, 1));
      await run.saved();
      const heard = events.at(-1)!.seq;
      serve(["one ", "two ", "three"]);
      expect((await run.result).text).toBe("one two three");
      await whole;
      const again = events.findIndex(({ type }, at) => at > 0 && type === "run-start");
      expect(events[again]!.seq).toBe(heard + 1);
      expect(events.map(({ seq }) => seq)).toEqual([...new Set(events.map(({ seq }) => seq))]);
    },
  );

  it("goes on from what the next worker tells if its log was in memory", async () => {
    const { kit, run, whole, id } = await killedAtQuestion(false);
    run.answer(id, { behavior: "allow" });
    await kit.effect();
    kit.go();
    expect((await run.result).text).toBe("one two three");
    expect(told(await whole).slice(-1)).toEqual(["finish"]);
    expect(kit.effects).toHaveLength(1);
  });

  it("can be attached to behind a cursor, by a page that begins anew", async () => {
    const { kit, place, run, id } = await killedAtQuestion(true);
    const { cursor } = run;
    const again = place.connect().attach(run.id, { after: cursor });
    const missed = collect(again);
    run.answer(id, { behavior: "allow" });
    await kit.effect();
    kit.go();
    const rest = await missed;
    expect(rest[0]).toMatchObject({ type: "run-start", seq: 11 });
    expect(await again.result).toEqual(await run.result);
    // Somebody else gets everything, when all is over.
    const all = await collect(place.connect().attach(run.id));
    expect(all.slice(-rest.length)).toEqual(rest);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
  });

  it("ends for its page, if it had ended and its log does not say so", async () => {
    const kit = new Kit();
    const place = new Place();
    kit.live();
    const { append } = kit.store;
    const store: Store = {
      ...kit.store,
      // The worker is killed while it writes the end.
      append: (key, entries, ...rest) =>
        entries.some(({ json }) => json.includes('"end":'))
          ? new Promise(() => {})
          : append(key, entries, ...rest),
    };
    place.serve(kit.agent(), { store });
    const agent = place.connect();
    const { id, result } = (await agent.openChat("a")).run("Hi.");
    const ended = expect(result).resolves.toMatchObject({ outcome: "completed" });
    while ((await agent.readChat("a"))?.isRunning !== false) await task();
    place.kill();
    kit.live();
    place.serve(kit.agent(), { store: kit.store });
    const again = place.connect();
    const attached = await again.attach(id, { chat: "a" }).result;
    expect(attached).toMatchObject({ outcome: "completed" });
    await ended;
    expect((await again.readChat("a"))!.messages).toHaveLength(2);
  });

  it("leaves its earlier runs to pages that come back, each event once", async () => {
    const kit = new Kit();
    const place = new Place();
    const serve = (): void => {
      place.kill();
      kit.live();
      place.serve(kit.agent(), { store: kit.store, keepRuns: 3 });
    };
    serve();
    const chat = await place.connect().openChat("a");
    const runs: { id: string; cursor: string | undefined; events: RunEvent[] }[] = [];
    for (let count = 0; count < 8; count += 1) {
      const run = chat.run("Hi.");
      const events: RunEvent[] = [];
      let cursor: string | undefined;
      for await (const event of run) {
        events.push(event);
        if (events.length === 3) cursor = run.cursor;
      }
      await run.result;
      runs.push({ id: run.id, cursor, events });
    }
    serve();
    const agent = place.connect();
    for (const { id, cursor, events } of runs.slice(-3)) {
      const whole = agent.attach(id);
      expect(await collect(whole)).toEqual(events);
      const { outcome, text, messages } = await whole.result;
      // The messages are those that the chat has by now.
      expect([outcome, text, messages.length]).toEqual(["completed", "one two three", 16]);
      expect(await collect(agent.attach(id, { after: cursor }))).toEqual(events.slice(3));
    }
    expect(kit.effects).toEqual([]);
  });

  it("goes on at another host, to which a host that is stopped hands it over", async () => {
    const kit = new Kit();
    const first = kit.agent();
    const told: Told[] = [];
    const host = new AgentHost(first, { store: kit.store }, true);
    const call = (number: number, target: Target, method: string, ...args: unknown[]): Promise<void> =>
      host.hear({ looplet: "call", from: "page", number, target, method, args }, (message) =>
        told.push(message),
      );
    await call(1, {}, "run", "Pay.", { id: "pay" });
    await call(2, { run: "pay" }, "follow", 2);
    const isAsked = (message: Told): boolean => JSON.stringify(message).includes('"question"');
    while (!told.some(isAsked)) await task();
    host.stop();
    await first.close({ recoverable: true });
    const place = new Place();
    place.serve(kit.agent(), { store: kit.store });
    const run = place.connect().attach("pay");
    const id = await question(run.events({ detached: true }));
    run.answer(id, { behavior: "deny", message: "No." });
    expect((await run.result).outcome).toBe("completed");
  });

  it("stays the worker's that performs it, when a page opens its chat in another one", async () => {
    const kit = new Kit();
    const [one, two] = [new Place(), new Place()];
    for (const place of [one, two]) place.serve(kit.agent(), { store: kit.store });
    const run = (await one.connect().openChat("a")).run("Pay.");
    const whole = collect(run);
    const id = await question(run.events({ detached: true }));
    await run.saved();
    const { current } = await two.connect().openChat("a");
    expect(current!.id).toBe(run.id);
    const held = collect(current!);
    expect(await current!.result).toMatchObject({ outcome: "failed", error: { code: "run_held" } });
    expect(told(await held)).toEqual(["error", "finish"]);
    run.answer(id, { behavior: "deny", message: "No." });
    expect((await run.result).outcome).toBe("completed");
    expect(told(await whole).at(-1)).toBe("finish");
  });

  it("goes on without any page", async () => {
    const kit = new Kit();
    const place = new Place();
    const serve = (): void => {
      place.kill();
      kit.live();
      place.serve(kit.agent({ permissions: { canUseTool: async () => ({ behavior: "allow" }) } }), {
        store: kit.store,
      });
    };
    serve();
    const page = place.connect();
    const run = page.run("Pay.", { id: "pay" });
    await kit.effect();
    await run.saved();
    page.disconnect();
    serve();
    await kit.effect();
    kit.go();
    expect((await place.connect().attach("pay").result).text).toBe("one two three");
  });

  it("takes an answer that comes before the next worker has asked again", async () => {
    const kit = new Kit();
    const place = new Place();
    const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    const serve = (): void => {
      place.kill();
      kit.live();
      const { lease } = kit.store;
      const slow: Store = {
        ...kit.store,
        lease: async (key, options) => {
          await wait(30);
          return lease!(key, options);
        },
      };
      place.serve(kit.agent({ store: slow }), { store: kit.store });
    };
    serve();
    const run = place.connect().run("Pay.");
    const id = await question(run.events({ detached: true }));
    await run.saved();
    serve();
    expect(run.answer(id, { behavior: "allow" })).toBe(true);
    await kit.effect();
    kit.go();
    expect((await run.result).text).toBe("one two three");
  });

  it("keeps its worker awake until the store has the end", async () => {
    const kit = new Kit();
    const { append } = kit.store;
    let go = (): void => {};
    const isEnd = (json: string): boolean => json.includes('"end":');
    const store: Store = {
      ...kit.store,
      append: async (key, entries, ...rest) => {
        if (entries.some(({ json }) => isEnd(json))) await new Promise<void>((resolve) => (go = resolve));
        return append(key, entries, ...rest);
      },
    };
    const host = new AgentHost(kit.agent(), { store }, true);
    const call = { looplet: "call", from: "page", number: 1, target: {}, method: "run" };
    await host.hear({ ...call, args: ["Hi.", { id: "hi" }] }, () => {});
    const isKept = async (): Promise<boolean> =>
      ((await kit.store.load("looplet.events hi")) ?? []).some(({ json }) => isEnd(json));
    const idle = host.idle().then(isKept);
    const letGo = setInterval(() => go(), 5);
    expect(await idle).toBe(true);
    clearInterval(letGo);
  });
});
