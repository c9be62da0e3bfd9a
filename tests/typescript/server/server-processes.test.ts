/** Servers and tabs that come and go: two processes on one store, a deploy, a page that is loaded again. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { RunEvent, RunEventOf } from "looplet";
import { handler } from "looplet/server";
import { connectAgent } from "looplet/workers";
import { BASE, eventsIn, Server } from "../support/server-kit.js";
import { ends, Kit } from "../support/worker-kit.js";

const isQuestion = ({ type }: { type: string }): boolean => type === "question";

async function collect(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Lets the virtual time go on until a promise settles. */
async function steadily<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = (): unknown => (isSettled = true);
  promise.then(settle, settle);
  while (!isSettled) await vi.advanceTimersByTimeAsync(100);
  return promise;
}

// A process asks for the lease of a run some times before it leaves the run to another.
describe("two processes of a server", { timeout: 30_000 }, () => {
  it("show a run that one of them performs, and the other takes no orders for it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    ends.push(() => vi.useRealTimers());
    const kit = new Kit();
    const [one, two] = [new Server(kit), new Server(kit)];
    await one.post("/a/run", { prompt: "Pay.", requestId: "r1" });
    const { questionId } = (await eventsIn(await one.asked("/a/events"), isQuestion)).at(-1);
    expect(await two.post("/a/abort", {})).toMatchObject({ status: 409 });
    const shown = eventsIn(await two.asked("/a/events"));
    expect((await one.post("/a/answer", { questionId, answer: { behavior: "deny" } })).taken).toBe(true);
    const seqs = (await steadily(shown)).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    expect(await two.post("/a/run", { prompt: "Hi." })).toMatchObject({ taken: true });
    const told = await eventsIn(
      await two.asked("/a/events"),
      (event) => event.type === "finish" && event.seq !== seqs.length,
    );
    expect(told.length).toBeGreaterThan(seqs.length);
  });

  it("take a run from each other where they may, and the clients of both see it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    ends.push(() => vi.useRealTimers());
    const kit = new Kit();
    const [one, two] = [new Server(kit, { takeOver: true }), new Server(kit, { takeOver: true })];
    await one.post("/a/run", { prompt: "Pay.", requestId: "r1" });
    const { questionId, id } = (await eventsIn(await one.asked("/a/events"), isQuestion)).at(-1);
    const waiting = eventsIn(await one.asked(`/a/events?after=${id}`));
    const answered = two.post("/a/answer", { questionId, answer: { behavior: "deny" } });
    expect(await steadily(answered)).toMatchObject({ status: 200, taken: true });
    // The stream of the first process ends, and its client comes back behind what it has.
    const heard = await steadily(waiting);
    const after = heard.at(-1)?.id ?? id;
    const rest = await steadily(eventsIn(await one.asked(`/a/events?after=${after}`)));
    expect([...heard, ...rest].at(-1).outcome).toMatchObject({ outcome: "completed" });
    expect(kit.effects).toEqual([]);
  });

  it("hand a run over at a deploy, and its page hears of no end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    ends.push(() => vi.useRealTimers());
    const { kit } = new Server();
    const agents = [kit.agent(), kit.agent()];
    const handlers = agents.map((agent) =>
      handler<Request>(agent, { store: kit.store, authorize: () => "ada" }),
    );
    const reported = vi.spyOn(console, "error").mockImplementation(() => {});
    const fetch = (url: string, init: object): Promise<Response> =>
      handlers[0]!(new Request(url, init)) as never;
    const page = connectAgent("http://server.test", { fetch });
    ends.push(() => page.disconnect());
    const run = (await page.openChat("a")).run("Pay.");
    const events: RunEvent[] = [];
    const whole = (async () => {
      for await (const event of run.events({ detached: true })) events.push(event);
    })();
    await steadily(vi.waitFor(() => expect(events.some(isQuestion)).toBe(true)));
    await agents[0]!.close({ recoverable: true });
    handlers.shift();
    const { questionId } = events.find(isQuestion) as RunEventOf<"question">;
    run.answer(questionId, { behavior: "deny", message: "No." });
    expect((await steadily(run.result)).outcome).toBe("completed");
    await whole;
    reported.mockRestore();
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => ["run-start", "finish", "abort"].includes(type))).toEqual([
      "run-start",
      "run-start",
      "finish",
    ]);
  });

  it.each(["ada", "ada/eve", "é y"])("hand a run of %s over when its process is gone", async (user) => {
    const server = new Server(undefined, { authorize: () => user });
    server.restart();
    await server.post("/a/run", { prompt: "Pay." });
    await eventsIn(await server.asked("/a/events"), isQuestion);
    server.restart();
    expect((await server.kit.store.pending!()) as string[]).toEqual([`${encodeURIComponent(user)}/a`]);
    await server.wake();
    expect(await server.kit.store.pending!()).toEqual([]);
    expect((await server.post("/a/abort", {})).taken).toBe(true);
  });
});

describe("a page that is loaded again", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("goes on with the runs that its tab followed, each behind the last event that it had", async () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => void kept.set(key, text),
    };
    vi.stubGlobal("sessionStorage", storage);
    const server = new Server();
    const before = server.page();
    const chat = await before.openChat("a");
    const heard: RunEvent[] = [];
    const onEvent = (event: RunEvent): void => void heard.push(event);
    chat.run("Pay.", { onEvent }).result.catch(() => {});
    before.run("Pay.", { onEvent }).result.catch(() => {});
    await vi.waitFor(() => expect(heard.filter(isQuestion)).toHaveLength(2));
    await vi.waitFor(() => expect(heard.filter(({ type }) => type === "waiting")).toHaveLength(2));
    before.disconnect();

    const runs = await server.page().resumePending();
    expect(runs).toHaveLength(2);
    const rest = runs.map((run) => collect(run));
    for (const run of runs) run.abort("enough");
    for (const run of runs) expect(await run.result).toMatchObject({ abortReason: "enough" });
    for (const events of rest) {
      expect((await events).at(-1)!.type).toBe("finish");
      expect((await events).filter(({ type }) => type === "run-start" || type === "question")).toEqual([]);
    }
    expect(await server.page().resumePending()).toEqual([]);
  });

  it("forgets nothing of a chat whose log has begun anew", async () => {
    const server = new Server(undefined, { keepEvents: 1 });
    const chat = await server.page().openChat("a");
    for (let runs = 1; runs <= 3; runs += 1) {
      const run = chat.run("Hi.");
      const events = collect(run);
      expect((await run.result).messages).toHaveLength(2 * runs);
      expect((await events).at(-1)!.type).toBe("finish");
      expect(chat.messages).toHaveLength(2 * runs);
    }
  });
});

describe("objects of Cloudflare, found by their names", () => {
  it("are asked at the address of each chat, with the headers of the page", async () => {
    const asked: string[] = [];
    const fetch = async (url: string, init: any): Promise<Response> => {
      asked.push(`${init.method ?? "GET"} ${url} ${init.headers.authorization}`);
      return Response.json(
        { error: "no", code: "misuse_chat_busy", field: "run", problem: "a run goes on" },
        { status: 400 },
      );
    };
    const headers = async (): Promise<{ authorization: string }> => ({ authorization: "Bearer 1" });
    const agent = connectAgent(`${BASE}/`, { fetch, headers });
    ends.push(() => agent.disconnect());
    await expect(agent.openChat("a b")).rejects.toMatchObject({
      name: "LoopletError",
      code: "misuse_chat_busy",
      field: "run",
    });
    expect(asked).toEqual([`POST ${BASE}/a%20b/call Bearer 1`]);
  });
});

it("a call is tried again for a while, and a refusal is not", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let tries = 0;
    const fetch = async (): Promise<Response> => {
      tries += 1;
      throw new TypeError("no network");
    };
    const agent = connectAgent(BASE, { fetch });
    const opened = agent.openChat("a").catch((error: unknown) => String(error));
    for (let turns = 0; turns < 200; turns += 1) await vi.advanceTimersByTimeAsync(1000);
    expect([await opened, tries]).toEqual(["TypeError: no network", 8]);
    agent.disconnect();
  } finally {
    vi.useRealTimers();
  }
});
