/** `connectAgent` with an address: the agent of a server, over a network that fails. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { custom, type RunEvent } from "looplet";
import { connectAgent } from "looplet/workers";
import { BASE, Server } from "../support/server-kit.js";
import { Kit } from "../support/worker-kit.js";

async function collect(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

async function question(events: AsyncIterable<RunEvent>): Promise<number> {
  for await (const event of events) if (event.type === "question") return event.questionId;
  throw new Error("no question");
}

const types = (events: readonly RunEvent[]): string[] => events.map(({ type }) => type);

describe("an agent behind an address", () => {
  it("tells what the agent itself would tell", async () => {
    const server = new Server();
    const near = await collect(server.kit.agent({ store: undefined }).run("Hi."));
    const run = server.page().run("Hi.");
    expect(types(await collect(run))).toEqual(types(near));
    expect(await run.result).toMatchObject({ id: run.id, outcome: "completed", text: "one two three" });
    expect(run.outcome).toBe("completed");
  });

  it("has chats, whose runs follow each other, and which other pages see", async () => {
    const server = new Server();
    const [one, two] = await Promise.all([server.page().openChat("a"), server.page().openChat("a")]);
    const seen = new Promise<RunEvent[]>((resolve) =>
      two.onRun((run) => resolve(collect(run.events({ detached: true })))),
    );
    const run = one.run("Hi.");
    const own = collect(run);
    expect((await run.result).messages).toHaveLength(2);
    expect(await seen).toEqual(await own);
    expect(types(await own).at(-1)).toBe("finish");
    expect((await one.run("Hi.").result).messages).toHaveLength(4);
    await vi.waitFor(() => expect(two.messages).toHaveLength(4));
    expect((await server.get("")).sessions.map(({ id }: any) => id)).toEqual(["a"]);
    one.reset();
    await one.saved();
    await vi.waitFor(() => expect(two.messages).toEqual([]));
  });

  it("asks the page, and takes its answer, also that of another page and after a reload", async () => {
    const server = new Server();
    const chat = await server.page().openChat("a");
    const run = chat.run("Pay.");
    const asked = await question(run.events({ detached: true }));
    const later = await server.page().openChat("a");
    const again = await question(later.current!.events({ detached: true }));
    expect(again).toBe(asked);
    expect(later.current!.answer(asked, { behavior: "allow" })).toBe(true);
    await server.kit.effect();
    server.kit.go();
    expect(await run.result).toMatchObject({ outcome: "completed" });
    await vi.waitFor(() => expect(later.messages).toHaveLength(4));
    expect(server.kit.effects).toHaveLength(1);
    expect(run.answer(asked, { behavior: "allow" })).toBe(false);
  });

  it("steers, aborts, and says what belongs to the server", async () => {
    const server = new Server();
    const agent = server.page();
    const run = agent.run("Pay.");
    run.steer("More.");
    run.abort("enough");
    expect(await run.result).toMatchObject({ outcome: "cancelled", abortReason: "enough" });
    expect(() => run.steer("More.")).toThrow(/has ended/);
    for (const call of [agent.pending(), agent.bound("Hi."), agent.close()])
      await expect(call).rejects.toThrow(/belongs to the server/);
    const chat = agent.chat();
    await chat.run("Hi.").result;
    await expect(chat.run("Hi.").result).rejects.toThrow(/accepts no messages from pages/);
    expect(await agent.readChat("none")).toBeUndefined();
  });

  it("goes on with the runs of a server that was started again, and each event comes once", async () => {
    const server = new Server();
    server.restart();
    const run = server.page().run("Pay.");
    const events = collect(run.events());
    const asked = await question(run.events({ detached: true }));
    server.restart();
    run.answer(asked, { behavior: "allow" });
    await server.kit.effect();
    server.kit.go();
    expect(await run.result).toMatchObject({ outcome: "completed" });
    const seqs = (await events).map(({ seq }) => seq);
    expect(new Set(seqs).size).toBe(seqs.length);
    expect(types(await events).at(-1)).toBe("finish");
  });

  it("attaches to a run of a chat behind a cursor, and to none that is not there", async () => {
    const server = new Server();
    const agent = server.page();
    const chat = await agent.openChat("a");
    const heard: [cursor: string, seq: number][] = [];
    const onEvent = ({ seq }: RunEvent): void => void heard.push([run.cursor!, seq]);
    const run: typeof chat.current & object = chat.run("Hi.", { onEvent });
    const { id } = await run.result;
    for (const [at, [after]] of heard.entries()) {
      const attached = agent.attach(id, { chat: "a", after });
      const rest = await collect(attached);
      expect(rest.map(({ seq }) => seq)).toEqual(heard.slice(at + 1).map(([, seq]) => seq));
      expect(await attached.result).toMatchObject({ id, outcome: "completed" });
    }
    expect(await collect(agent.attach(id, { chat: "a" }))).toHaveLength(heard.length);
    await expect(server.page().attach(id).result).rejects.toThrow(/There is no run/);
    const other = server.page("eve");
    await expect(other.attach(id, { chat: "a" }).result).rejects.toThrow(/There is no run/);
    const stranger = (await other.openChat("a")).messages;
    expect(stranger).toEqual([]);
  });

  it("hears of a chat that was deleted, and of the one that begins in its place", async () => {
    const server = new Server();
    const [one, two] = [await server.page().openChat("a"), await server.page().openChat("a")];
    await one.run("Hi.").result;
    await vi.waitFor(() => expect(two.messages).toHaveLength(2));
    expect((await server.asked("/a", { method: "DELETE" })).status).toBe(200);
    await vi.waitFor(() => expect([one.messages, two.messages]).toEqual([[], []]));
    expect((await one.run("Hi.").result).messages).toHaveLength(2);
    await vi.waitFor(() => expect(two.messages).toHaveLength(2));
  });

  it("tells why a server refuses it", async () => {
    const server = new Server(undefined, {
      authorize: ({ headers }) => (headers.get("user") === "ada" ? "ada" : undefined),
    });
    const agent = server.page("eve");
    await expect(agent.run("Hi.").result).rejects.toThrow("Sign in first.");
    await expect(agent.openChat("a")).rejects.toThrow("Sign in first.");
    await expect(server.page().run("Hi.", { id: "a/b" }).result).rejects.toThrow(/The id of a session needs/);
    expect(() => connectAgent(`${BASE}?user=ada`)).toThrow(/address: needs to end with its path/);
    expect(() => connectAgent(BASE, { headers: "ada" as never })).toThrow(/headers: needs an object/);
    const gone = server.page();
    const run = gone.run("Pay.");
    gone.disconnect();
    await expect(run.result).rejects.toThrow(/has disconnected/);
    await expect(gone.openChat("a")).rejects.toThrow(/has disconnected/);
  });
});

const said = (events: readonly RunEvent[]): string =>
  events.flatMap((event) => (event.type === "text-delta" ? [event.text] : [])).join("");

/** Lets the virtual time go on until a promise settles. */
async function steadily<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = (): unknown => (isSettled = true);
  promise.then(settle, settle);
  while (!isSettled) await vi.advanceTimersByTimeAsync(100);
  return promise;
}

/** Numbers between 0 and 1, the same ones each time. */
function seeded(seed: number): () => number {
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
}

/** A body that breaks off behind so many bytes. */
function cutAfter(
  body: ReadableStream<Uint8Array>,
  bytes: number,
  onCut: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = bytes;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        controller.enqueue(value.slice(0, left));
        left -= value.byteLength;
        if (left > 0) return;
        onCut();
        controller.error(new TypeError("the connection is lost"));
        await reader.cancel();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** A server whose model asks for a payment and then says many words, behind a network that breaks 200 times. */
function shaky(seed: number): { server: Server; breaks: () => number; text: string } {
  const words = Array.from({ length: 600 }, (_, at) => `word${at} 🦊 `);
  const model = custom(async function* ({ messages }) {
    const isAnswered = messages.at(-1)!.content[0]!.type === "tool_result";
    if (!isAnswered) return yield { type: "tool_call", id: "c1", name: "pay", input: {} };
    for (const word of words) yield word;
  });
  const kit = new Kit();
  const agent = kit.agent.bind(kit);
  kit.agent = (options) => agent({ ...options, model });
  const server = new Server(kit);
  const random = seeded(seed);
  let breaks = 0;
  server.between = async (request, handle) => {
    const fate = breaks < 200 ? random() : 1;
    const breaksOff = (message: string): TypeError => ((breaks += 1), new TypeError(message));
    if (fate < 0.1) throw breaksOff("there is no network");
    const response = await handle(request);
    if (fate < 0.2) throw breaksOff("the response is lost");
    if (fate < 0.25) return ((breaks += 1), new Response("busy", { status: 503 }));
    if (response.headers.get("content-type") !== "text/event-stream" || fate === 1) return response;
    return new Response(
      cutAfter(response.body!, Math.floor(random() * 1500), () => (breaks += 1)),
      response,
    );
  };
  return { server, breaks: () => breaks, text: words.join("") };
}

describe("a network that breaks at any byte", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it.each([1, 2, 3])("loses no event and repeats none, and no call is made twice (%i)", async (seed) => {
    const { server, breaks, text } = shaky(seed);
    const page = server.page();
    const chat = await steadily(page.openChat("a"));
    const other = await steadily(server.page().openChat("a"));
    const told = new Promise<RunEvent[]>((resolve) =>
      other.onRun((run) => resolve(collect(run.events({ detached: true })))),
    );
    const heard: RunEvent[] = [];
    const run = chat.run("Hi.", { onEvent: (event) => void heard.push(event) });
    const asked = await steadily(question(run.events({ detached: true })));
    run.answer(asked, { behavior: "allow" });
    void server.kit.effect().then(() => server.kit.go());
    const result = await steadily(run.result);
    expect([result.text, said(heard), said(await steadily(told))]).toEqual([text, text, text]);
    for (const events of [heard, await told]) {
      const seqs = events.map(({ seq }) => seq);
      expect(seqs).toEqual([...new Set(seqs)].sort((one, two) => one - two));
      expect(types(events)).toEqual(expect.arrayContaining(["run-start", "question", "answered", "finish"]));
    }
    expect(server.kit.effects).toEqual(["c1"]);
    await steadily(vi.waitFor(() => expect(other.messages).toEqual(result.messages)));
    expect(breaks()).toBe(200);
  });
});
