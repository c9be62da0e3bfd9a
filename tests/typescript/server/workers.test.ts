import { describe, expect, it, vi } from "vitest";
import { custom, LoopletError } from "looplet";
import type { RunEvent } from "looplet";
import { connectAgent, serveAgent, type RemoteAgent } from "looplet/workers";
import { AgentHost } from "../../../src/typescript/server/workers/host.js";
import type { Target, Told } from "../../../src/typescript/server/workers/protocol.js";
import { collect, question, task, told } from "../support/run-events.js";
import { ends, Kit, Place } from "../support/worker-kit.js";

function served(kit = new Kit(), options: object = {}): { kit: Kit; place: Place; agent: RemoteAgent } {
  const place = new Place();
  place.serve(kit.agent(), options);
  return { kit, place, agent: place.connect() };
}

describe("an agent behind a port", () => {
  it("tells what the agent itself would tell", async () => {
    const { kit, agent } = served();
    const near = kit.agent().run("Hi.");
    const nearEvents = collect(near);
    const heard: string[] = [];
    const far = agent.run("Hi.", {
      onText: (text) => void heard.push(text),
      onEvent: ({ type }) => void (type === "finish" && heard.push(type)),
    });
    const farEvents = collect(far);
    expect(told(await farEvents)).toEqual(told(await nearEvents));
    const { id: _, durationMs: __, ...result } = await far.result;
    expect(result).toMatchObject({ outcome: "completed", text: "one two three", iterations: 1 });
    expect([far.outcome, far.id]).toEqual(["completed", (await far.result).id]);
    expect(heard).toEqual(["one ", "two ", "three", "finish"]);
  });

  it("asks the page, and takes its answer", async () => {
    const { kit, agent } = served();
    const run = agent.run("Pay.");
    const id = await question(run.events({ detached: true }));
    expect(run.answer(id, { behavior: "allow" })).toBe(true);
    await kit.effect();
    kit.go();
    expect(await run.result).toMatchObject({ outcome: "completed" });
    expect(run.answer(id, { behavior: "allow" })).toBe(false);
  });

  it("refuses what no message carries, and goes on", async () => {
    const { agent } = served();
    const chat = await agent.openChat("a");
    expect(() => chat.hasTaken("r1")).toThrow(/ask it there/);
    await expect(chat.run("Hi.", { inputs: { now: () => 1 } as never }).result).rejects.toThrow(
      /could not be cloned/,
    );
    expect((await chat.run("Hi.").result).outcome).toBe("completed");
  });

  it("aborts, and ends loops that are left", async () => {
    const { agent } = served();
    const run = agent.run("Pay.");
    for await (const event of run) if (event.type === "question") break;
    expect(await run.result).toMatchObject({
      outcome: "cancelled",
      abortReason: "the loop over its events was left",
    });
    const controller = new AbortController();
    const other = agent.run("Pay.", { signal: controller.signal });
    await question(other.events({ detached: true }));
    controller.abort("no more");
    expect(await other.result).toMatchObject({ outcome: "cancelled", abortReason: "no more" });
  });

  it("begins a late loop with a snapshot, as a run of this page does", async () => {
    const { agent, kit } = served();
    const run = agent.run("Pay.");
    const id = await question(run.events({ detached: true }));
    // In its first task the run still has all events.
    await task();
    const late = collect(run.events());
    run.answer(id, { behavior: "allow" });
    await kit.effect();
    kit.go();
    const events = await late;
    expect(events[0]).toMatchObject({ type: "snapshot", text: "" });
    expect(told(events).slice(0, 2)).toEqual(["snapshot", "question"]);
    expect(told(events)).toEqual(
      expect.arrayContaining(["answered", "tool-result", "“one two three", "finish"]),
    );
  });

  it("gives a loop that begins after the end what a run of this page gives", async () => {
    const { kit, agent } = served();
    const [near, far] = [kit.agent().run("Hi."), agent.run("Hi.")];
    await Promise.all([near.result, far.result]);
    await task();
    const [nearEvents, farEvents] = [await collect(near), await collect(far)];
    expect(farEvents).toEqual(nearEvents);
    expect(told(farEvents)).toEqual(["snapshot", "finish"]);
    const refused = agent.run("Hi.", { agent: "nobody" });
    await expect(refused.result).rejects.toThrow(LoopletError);
    await task();
    expect(await collect(refused)).toEqual([]);
  });

  it("takes messages into the run, and withdraws those that are not taken yet", async () => {
    const { agent } = served();
    const run = agent.run("Pay.");
    const id = await question(run.events({ detached: true }));
    const queued = run.steer("And this.");
    const other = run.followUp("And that.");
    expect(queued.id).toBe(0);
    await run.saved();
    expect(queued.id).toBeGreaterThan(0);
    expect(other.withdraw()).toBe(true);
    run.answer(id, { behavior: "deny", message: "no" });
    const { messages, undelivered } = await run.result;
    expect(JSON.stringify(messages)).toContain("And this.");
    expect(JSON.stringify([messages, undelivered])).not.toContain("And that.");
    expect(() => run.steer("Late.")).toThrow(LoopletError);
  });

  it("passes mistakes on, of either side", async () => {
    const { agent } = served();
    expect(() => agent.run("")).toThrow(/must not be empty/);
    expect(() => agent.run("Hi.", { onTxt: () => {} } as object)).toThrow(/onTxt/);
    await expect(agent.run("Hi.", { agent: "nobody" }).result).rejects.toMatchObject({
      name: "LoopletError",
      code: "config_invalid_value",
      field: "agent",
    });
    expect(await agent.resume("unknown").result).toMatchObject({ outcome: "failed" });
    expect(() => agent.resume([{ seq: 1, json: "{}" }] as never)).toThrow(/run: needs a string/);
    const run = agent.run("Hi.");
    expect(() => run.setModel(custom(() => ""))).toThrow(/set it where the run is/);
    expect(() => run.export()).toThrow(/export it there/);
    expect(() => connectAgent({} as any)).toThrow(/needs the address of a server, a Worker/);
    expect(() => serveAgent(new Kit().agent())).toThrow(/call serveAgent in a worker/);
  });

  it("neither serves nor follows a window, to which frames of every origin can post", () => {
    let heard = 0;
    const listens = {
      addEventListener: () => (heard += 1),
      removeEventListener: () => {},
      postMessage: () => {},
    };
    const own: object = Object.assign({ document: {} }, listens);
    Object.assign(own, { window: own, self: own });
    // The window of another origin forbids to look at it.
    const foreign = new Proxy(listens, {
      get: (_, name) => {
        if (name === "postMessage") return () => {};
        throw new DOMException("Blocked a frame", "SecurityError");
      },
    });
    for (const on of [own, foreign] as any[]) {
      expect(() => serveAgent(new Kit().agent(), { on })).toThrow(/^on: is a window, .*every origin/);
      expect(() => connectAgent(on)).toThrow(/^endpoint: is a window, .*every origin/);
    }
    vi.stubGlobal("window", globalThis);
    expect(() => serveAgent(new Kit().agent())).toThrow(/is a window/);
    vi.unstubAllGlobals();
    expect(() => serveAgent(new Kit().agent(), { on: null as any })).toThrow(/^on: needs a MessagePort/);
    expect(heard).toBe(0);
  });

  it("rejects with the error of a run whose agent throws", async () => {
    const place = new Place();
    place.serve(new Kit().agent({ onCancel: "throw" }));
    const run = place.connect().run("Pay.");
    await question(run.events({ detached: true }));
    run.abort("no");
    const error: any = await run.result.catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "RunError", result: { outcome: "cancelled", abortReason: "no" } });
  });

  it("has chats, bounds and the end of the agent", async () => {
    const { agent } = served();
    const chat = agent.chat();
    expect((await chat.run("Hi.").result).messages).toHaveLength(2);
    expect((await chat.run("More.").result).messages).toHaveLength(4);
    expect(chat.messages).toHaveLength(4);
    expect(chat.usage).toMatchObject({ inputTokens: 2, outputTokens: 6 });
    expect((await chat.compact().result).outcome).toBe("completed");
    expect(await agent.bound("Hi.")).toHaveProperty("costUsd");
    await agent.close();
    await expect(agent.run("Hi.").result).rejects.toMatchObject({ code: "misuse_agent_closed" });
  });
});

it("an extension's page that is closed does not keep others from their events", async () => {
  const kit = new Kit();
  const opened: ((port: object) => void)[] = [];
  const runtime = { onConnect: { addListener: (listener: any) => void opened.push(listener) } };
  serveAgent(kit.agent(), { on: runtime });
  /** A page with a port whose two ends post to each other. A closed one throws, as those of Chromium do. */
  const connect = (): { agent: RemoteAgent; close: () => void } => {
    let isOpen = true;
    const end = (): any => {
      const listeners: ((message: unknown) => void)[] = [];
      const lost: (() => void)[] = [];
      return {
        hear: (message: unknown) => queueMicrotask(() => listeners.forEach((listener) => listener(message))),
        lose: () => lost.forEach((listener) => listener()),
        onMessage: { addListener: (listener: any) => void listeners.push(listener) },
        onDisconnect: { addListener: (listener: any) => void lost.push(listener) },
      };
    };
    const [page, host] = [end(), end()];
    page.postMessage = (message: unknown) => host.hear(message);
    host.postMessage = (message: unknown) => {
      if (!isOpen) throw new Error("Attempting to use a disconnected port object");
      page.hear(message);
    };
    opened[0]!(host);
    const agent = connectAgent(() => page, { heartbeatMs: 20 });
    ends.push(() => agent.disconnect());
    page.disconnect = () => {};
    return {
      agent,
      close: () => {
        isOpen = false;
        host.lose();
      },
    };
  };
  const [first, second] = [connect(), connect()];
  const run = first.agent.run("Pay.");
  const id = await question(run.events({ detached: true }));
  const same = second.agent.attach(run.id);
  await question(same.events({ detached: true }));
  first.close();
  same.answer(id, { behavior: "allow" });
  await kit.effect();
  kit.go();
  expect((await same.result).text).toBe("one two three");
});

it("a page that has said nothing for five minutes is told nothing any more", async () => {
  const kit = new Kit();
  const host = new AgentHost(kit.agent(), {}, true);
  const told: Record<string, Told[]> = { silent: [], other: [] };
  const ping = (from: string): Promise<void> =>
    host.hear({ looplet: "ping", from }, (message) => told[from]!.push(message));
  const call = (from: string, number: number, target: Target, method: string, ...args: unknown[]) =>
    host.hear({ looplet: "call", from, number, target, method, args }, (message) =>
      told[from]!.push(message),
    );
  const run = { run: "pay" };
  const asked = (): number | undefined => {
    for (const message of told["other"]!) {
      const event = "entry" in message && "event" in message.entry ? (message.entry.event as RunEvent) : null;
      if (event?.type === "question") return event.questionId;
    }
    return undefined;
  };
  for (const from of ["silent", "other"]) await ping(from);
  await call("silent", 1, {}, "run", "Pay.", { id: "pay" });
  for (const from of ["silent", "other"]) await call(from, 2, run, "follow", 2);
  while (asked() === undefined) await task();
  const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 301_000);
  await ping("other");
  now.mockRestore();
  const [silent, other] = [told["silent"]!.length, told["other"]!.length];
  await call("other", 3, run, "answer", asked(), { behavior: "deny", message: "No." });
  await host.idle();
  await task();
  expect(told["silent"]!.length).toBe(silent);
  expect(told["other"]!.length).toBeGreaterThan(other + 2);
});

describe("a chat that several pages have opened", () => {
  it("shows the runs of each page in all of them", async () => {
    const { place, agent } = served();
    const other = place.connect();
    const [mine, theirs] = [await agent.openChat("a"), await other.openChat("a")];
    const seen: string[] = [];
    theirs.onRun((run) => seen.push(run.id));
    const run = mine.run("Hi.");
    expect(() => mine.run("More.")).toThrow(/a run of this chat goes on/);
    expect(() => theirs.run("More.", { onTxt: () => {} } as object)).toThrow(/onTxt/);
    await run.result;
    while (theirs.messages.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(seen).toEqual([run.id]);
    expect(theirs.messages).toEqual(mine.messages);
    for (const { usage } of [mine, theirs]) expect(usage).toMatchObject({ inputTokens: 1, outputTokens: 3 });
    expect(() => mine.reset([{ role: "nobody" } as never])).toThrow(/messages\[0\]/);
    mine.reset([{ role: "user", content: [{ type: "nothing" }] } as never]);
    await expect(mine.saved()).rejects.toMatchObject({ name: "LoopletError" });
    mine.reset();
    await mine.saved();
    while (theirs.messages.length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await agent.readChat("a")).toMatchObject({ messages: [], isRunning: false });
  });

  it("can be answered by another page than the one that asked", async () => {
    const { kit, place, agent } = served();
    const mine = await agent.openChat("a");
    const run = mine.run("Pay.");
    await question(run.events({ detached: true }));
    const theirs = (await place.connect().openChat("a")).current!;
    const id = await question(theirs.events({ detached: true }));
    expect(theirs.answer(id, { behavior: "allow" })).toBe(true);
    await kit.effect();
    kit.go();
    expect([(await run.result).text, (await theirs.result).text]).toEqual(["one two three", "one two three"]);
  });
});
