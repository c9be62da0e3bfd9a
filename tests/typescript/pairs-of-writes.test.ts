/**
 * All pairs of writes: a process that dies between two of them leaves one side without the other, and the next
 * process completes it or can do it again. Each row of the table has an action and its writes. An action that writes
 * more fails its row, and a source file that writes without a row fails the last test.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createAgent, custom, tool, type Agent, type Store } from "looplet";
import { sessionStoreOf } from "looplet/agent-sdk";
import { receipts, type Receipt } from "looplet/receipts";
import { handler, type Handler } from "looplet/server";
import { sessionsOf } from "looplet/sessions";
import { dropEnded, memoryStore } from "looplet/stores";
import { conversation, type Conversation } from "looplet/ui";
import { connectAgent } from "looplet/workers";
import { dyingStore, type DyingStore } from "./support/dying-store.js";
import { eventsIn } from "./support/server-kit.js";

/** An action of a process, and what the next process does and finds. */
interface Row {
  /** The writes of the action, each once. */
  readonly writes: readonly string[];
  /** What was done before. */
  readonly before?: (store: Required<Store>) => Promise<unknown>;
  /** The action. It does not settle in a process that dies. */
  readonly act: (dying: DyingStore) => Promise<unknown>;
  /** Throws unless the next process completes the action, or can do it again. `where` names the pair. */
  readonly next: (store: Required<Store>, where: string) => Promise<unknown>;
}

const talking = (store: Store): Agent =>
  createAgent({ store, model: custom(({ messages }) => `Answer to ${textOf(messages.at(-1))}`) });

const textOf = (message: unknown): string => /"text":"([^"]*)"/.exec(JSON.stringify(message))?.[1] ?? "";

async function talked(store: Store, id = "c"): Promise<void> {
  const chat = await sessionsOf(store).open(talking(store), id);
  await chat.run("One.").result;
  await chat.saved();
}

/** A server of chats, and the ways to ask it. */
function serving(store: Store, agent = talking(store), keepEvents = 1000) {
  const options = { store, base: "/api", authorize: () => "ada", keepEvents };
  const handle: Handler<Request> = handler(agent, options);
  const asked = (path: string, init: { method?: string; body?: object } = {}): Promise<Response> =>
    handle(
      new Request(`http://x.test/api${path}`, {
        ...init,
        ...(init.body && {
          body: JSON.stringify(init.body),
          headers: { "content-type": "application/json" },
        }),
      } as RequestInit),
    ) as Promise<Response>;
  const listed = async (): Promise<string[]> =>
    ((await (await asked("")).json()) as { sessions: { id: string }[] }).sessions.map(({ id }) => id);
  const page = () =>
    connectAgent("http://x.test/api", {
      fetch: ((url: string, init: RequestInit) => handle(new Request(url, init))) as never,
      maxAttempts: 1,
    });
  /** Sends the prompt, as a page does until it has an answer, and reads the events to the end of the run. */
  const send = (requestId: string): Promise<Response> =>
    asked("/c/run", { method: "POST", body: { prompt: "Pay.", requestId } });
  const converse = async (): Promise<any[]> => {
    await send("r1");
    return eventsIn(await asked("/c/events"), ({ type }) => type === "finish");
  };
  return { agent, handle, asked, listed, page, send, converse };
}

/** A conversation of a page, which draws at once. */
async function screenOf(store: Store): Promise<Conversation> {
  const chat = conversation(talking(store), { id: "c", store, frame: (update) => update() });
  chat.subscribe(() => {});
  await quiet(chat);
  return chat;
}

const quiet = (chat: Conversation): Promise<void> =>
  expect.poll(() => chat.getSnapshot().status, { interval: 1 }).toBe("ready");

const shownBy = (chat: Conversation): string[] =>
  chat.getSnapshot().messages.flatMap(({ parts }) => parts.map(textOf));

async function edited(chat: Conversation, text: string): Promise<void> {
  expect(await chat.edit(chat.getSnapshot().messages[0]!.id, text)).toBe(true);
  await quiet(chat);
}

/** The next page shows each version of the first message, and no other. */
async function reachesBoth(store: Store, where: string): Promise<void> {
  const chat = await screenOf(store);
  if (chat.getSnapshot().messages.length === 0) {
    // A message that was stored and not sent is in the queue, and goes out with the next one.
    await chat.send(chat.getSnapshot().queue.length > 0 ? "" : "Two.");
    await quiet(chat);
  }
  const seen = new Set<string>();
  const { count = 1 } = chat.getSnapshot().messages[0]!.branch ?? {};
  for (let number = 1; number <= count; number++) {
    expect(await chat.select(chat.getSnapshot().messages[0]!.id, number), where).toBe(true);
    seen.add(shownBy(chat).join(" "));
  }
  expect(count, where).toBe(seen.size);
  expect([...seen], where).toContain("One. Answer to One.");
  if (count === 2) expect([...seen], where).toContain("Two. Answer to Two.");
}

/** A run with a payment that must happen once. The outside knows what it has done. */
function paying({ store, alive }: Pick<DyingStore, "store" | "alive">, paid: string[]): Agent {
  return createAgent({
    store,
    durable: {
      reconcile: () => (paid.length > 0 ? { outcome: "done", output: "paid" } : { outcome: "run" }),
    },
    model: custom(async ({ messages }) => {
      await alive(() => {});
      if (JSON.stringify(messages).includes('"tool_result"')) return "Paid.";
      return [{ type: "tool_call", id: "t", name: "pay", input: {} }];
    }),
    tools: {
      pay: tool({
        description: "Pays",
        inputSchema: { type: "object" },
        replay: "once",
        execute: () => alive(() => (paid.push("paid"), "paid")),
      }),
    },
  });
}

const ROWS: { readonly [action: string]: () => Row } = {
  "a run of a server"() {
    const paid: string[] = [];
    return {
      writes: [
        "lease ada/looplet.events c",
        "release ada/looplet.events c",
        "lease ada/c",
        "append ada/looplet sessions",
        "append ada/c",
        "append ada/looplet.events c",
        "release ada/c",
      ],
      act: (dying) => serving(dying.store, paying(dying, paid)).converse(),
      async next(store, where) {
        const process = dyingStore(store);
        const server = serving(process.store, paying(process, paid));
        await server.handle.wake();
        const events = await server.converse();
        expect(events.at(-1), where).toMatchObject({ type: "finish", outcome: { outcome: "completed" } });
        expect(await server.listed(), where).toEqual(["c"]);
        expect(paid, where).toEqual(["paid"]);
        // A page that is loaded later has the same end.
        const shown = await eventsIn(await server.asked("/c/events"), ({ type }) => type === "finish");
        expect(shown.at(-1), where).toMatchObject({ outcome: { outcome: "completed" } });
        await expect.poll(() => store.pending(), { message: where }).toEqual([]);
        const third = dyingStore(store);
        await serving(third.store, paying(third, paid)).handle.wake();
        expect(third.writes, where).toEqual([]);
      },
    };
  },

  "a run with receipts"() {
    const paid: string[] = [];
    const told: Receipt[] = [];
    const with_ = (dying: DyingStore): DyingStore => ({
      ...dying,
      store: receipts(dying.store, {
        onReceipt: (receipt) => dying.alive(() => told.push(receipt), "the receipt"),
      }) as Required<Store>,
    });
    return {
      writes: ["lease r", "append r", "the receipt", "release r"],
      async act(dying) {
        const run = paying(with_(dying), paid).run("Pay.", { id: "r" });
        await run.result;
        await run.saved();
      },
      async next(store, where) {
        const saved = ((await store.load("r")) ?? []).length;
        const before = told.length;
        const run = paying(with_(dyingStore(store)), paid).run("Pay.", { id: "r" });
        expect(await run.result, where).toMatchObject({ outcome: "completed" });
        await run.saved();
        expect(paid, where).toEqual(["paid"]);
        const entries = (await store.load("r")) ?? [];
        // Each receipt is one of the journal as it is, and the next process vouches for what it has written.
        for (const { entries: count, head } of told) {
          const then = { ...store, load: () => entries.slice(0, count) };
          expect((await receipts(then).receipt("r"))?.head, where).toBe(head);
        }
        if (entries.length > saved) {
          expect(told.at(-1), where).toMatchObject({ entries: entries.length });
          for (const { unseen = 0 } of told.slice(before)) expect(unseen, where).toBe(saved);
        }
      },
    };
  },

  "a chat that is taken off a list": () => ({
    writes: ["delete c", "delete c.branches", "delete c.queue", "append looplet.sessions"],
    before: talked,
    act: ({ store }) => sessionsOf(store).delete("c"),
    async next(store, where) {
      const sessions = sessionsOf(store);
      for (const { id } of await sessions.list()) await sessions.delete(id);
      expect(await sessions.list(), where).toEqual([]);
      for (const key of ["c", "c.branches", "c.queue"]) expect(await store.load(key), where).toBeUndefined();
    },
  }),

  "a chat that a page deletes": () => ({
    writes: [
      "lease ada/looplet.events c",
      "release ada/looplet.events c",
      "delete ada/c",
      "delete ada/looplet.events c",
      "delete ada/looplet.left c",
      "delete ada/c.branches",
      "delete ada/c.queue",
      "append ada/looplet sessions",
    ],
    before: (store) => serving(store).converse(),
    act: ({ store }) => serving(store).asked("/c", { method: "DELETE" }),
    async next(store, where) {
      const server = serving(store);
      if ((await server.listed()).length > 0)
        expect((await server.asked("/c", { method: "DELETE" })).status, where).toBe(200);
      expect(await server.listed(), where).toEqual([]);
      for (const key of ["ada/c", "ada/looplet.events c", "ada/looplet.left c"])
        expect(await store.load(key), where).toBeUndefined();
    },
  }),

  "a page that goes back in its chat": () => ({
    writes: [
      "lease ada/looplet.events c",
      "release ada/looplet.events c",
      "append ada/looplet.left c",
      "lease ada/c",
      "append ada/c",
      "append ada/looplet.events c",
      "release ada/c",
    ],
    before: (store) => serving(store).converse(),
    async act({ store }) {
      const chat = await serving(store).page().openChat("c");
      chat.reset();
      await chat.saved();
    },
    async next(store, where) {
      // The page goes back again, and returns to the transcript that it has left.
      const chat = await serving(store).page().openChat("c");
      const [whole] = (await talking(store).readChat("ada/c", { transcripts: true }))?.transcripts ?? [];
      chat.reset();
      await chat.saved();
      chat.reset(whole!.messages);
      await chat.saved();
      expect((await serving(store).page().openChat("c")).messages, where).toEqual(whole!.messages);
    },
  }),

  "a message that a page edits": () => ({
    writes: [
      "append c.queue",
      "append c.branches",
      "lease c",
      "append c",
      "release c",
      "append looplet.sessions",
      "delete c.queue",
    ],
    before: talked,
    act: async ({ store }) => edited(await screenOf(store), "Two."),
    next: reachesBoth,
  }),

  "another version that a page shows": () => ({
    writes: ["append c.branches", "lease c", "append c", "release c"],
    async before(store) {
      await talked(store);
      await edited(await screenOf(store), "Two.");
    },
    async act({ store }) {
      const chat = await screenOf(store);
      await chat.select(chat.getSnapshot().messages[0]!.id, 1);
    },
    next: reachesBoth,
  }),

  "a copy of a chat": () => ({
    writes: ["append looplet.sessions", "lease d", "append d", "release d"],
    before: talked,
    act: ({ store }) => sessionsOf(store).fork(talking(store), "c", { as: "d" }),
    async next(store, where) {
      const sessions = sessionsOf(store);
      const isThere = ((await store.load("d")) ?? []).length > 0;
      if (!isThere) await sessions.fork(talking(store), "c", { as: "d" });
      expect(await sessions.get("d"), where).toMatchObject({ forkedFrom: "c" });
      expect((await talking(store).readChat("d"))?.messages.length, where).toBe(2);
    },
  }),

  "a chat from another store": () => ({
    writes: ["lease d", "append d", "release d", "append looplet.sessions"],
    before: talked,
    act: async ({ store }) => moved(store),
    async next(store, where) {
      await moved(store);
      expect((await sessionsOf(store).list()).map(({ id }) => id).sort(), where).toEqual(["c", "d"]);
    },
  }),

  "a log of events that begins again": () => ({
    writes: [
      "lease ada/looplet.events c",
      "release ada/looplet.events c",
      "delete ada/looplet.events c",
      "append ada/looplet.events c",
      "append ada/looplet sessions",
      "lease ada/c",
      "append ada/c",
      "release ada/c",
    ],
    before: (store) => serving(store).converse(),
    act: ({ store }) => conversedAgain(store),
    async next(store, where) {
      expect(await conversedAgain(store), where).toMatchObject({ outcome: "completed" });
      expect((await serving(store).page().openChat("c")).messages.length, where).toBe(4);
    },
  }),

  "an old journal that is dropped": () => ({
    writes: ["lease c", "delete c"],
    before: talked,
    act: ({ store }) => dropEnded(store, 0),
    async next(store, where) {
      expect(await store.pending(), where).toEqual([]);
      await dropEnded(store, 0);
      expect(await store.load("c"), where).toBeUndefined();
    },
  }),

  "a session of the Agent SDK and its end": () => ({
    writes: [
      "append sessions p",
      "append session p s",
      "append subagents p s",
      "append session p s a",
      "delete session p s",
      "delete session p s a",
      "delete subagents p s",
    ],
    async act({ store }) {
      await sdkSession(store);
      await sessionStoreOf(store).delete!({ projectKey: "p", sessionId: "s" });
    },
    async next(store, where) {
      const own = sessionStoreOf(store);
      const key = { projectKey: "p", sessionId: "s" };
      await sdkSession(store);
      expect((await own.load(key))?.length, where).toBe(1);
      expect((await own.listSessions!("p")).length, where).toBe(1);
      await own.delete!(key);
      expect(await own.listSessions!("p"), where).toEqual([]);
      expect(await own.load({ ...key, subpath: "a" }), where).toBeNull();
    },
  }),
};

/** Sends a second prompt to a server that has one event of a chat at most, and follows its run. */
async function conversedAgain(store: Required<Store>): Promise<unknown> {
  const server = serving(store, talking(store), 1);
  await server.handle.wake();
  await server.send("r2");
  return server.page().attach("r2", { chat: "c" }).result;
}

async function moved(store: Required<Store>): Promise<void> {
  const sessions = sessionsOf(store);
  await sessions.import(talking(store), "d", (await sessions.export("c"))!);
}

async function sdkSession(store: Store): Promise<void> {
  const entry = { type: "user", uuid: "u", timestamp: "2026-01-01T00:00:00Z", messages: [] } as const;
  const key = { projectKey: "p", sessionId: "s" };
  await sessionStoreOf(store).append(key, [entry]);
  await sessionStoreOf(store).append({ ...key, subpath: "a" }, [entry]);
}

describe("a death between any two writes of", () => {
  it.each(Object.entries(ROWS))("%s", { timeout: 120_000 }, async (_, row) => {
    const seen = new Set<string>();
    let isOver = false;
    for (let lives = 0; !isOver; lives++) {
      let nowMs = 0;
      const store = memoryStore({ now: () => nowMs });
      const { before, act, next } = row();
      await before?.(store);
      const dying = dyingStore(store, lives);
      const end = await Promise.race([act(dying).then(() => undefined), dying.death]);
      // The last writes may come after the action.
      const late = new Promise<undefined>((resolve) => setTimeout(resolve, 100));
      const last = end ?? (await Promise.race([dying.death, late]));
      isOver = last === undefined;
      for (const write of dying.writes) seen.add(write);
      nowMs += 200_000;
      await next(store, isOver ? "after the last write" : `after write ${lives}, "${last}"`);
    }
    expect(seen).toEqual(new Set(row().writes));
  });
});

/**
 * The files that write to a store. Each names the rows of its pairs, or where they are tested or why it has none.
 */
const WRITERS: { readonly [file: string]: readonly (keyof typeof ROWS)[] | string } = {
  "compat/agent-sdk/sessions/copies.ts": "appends that can be done again, by their uuid",
  "compat/agent-sdk/sessions/kept-sessions.ts": ["a session of the Agent SDK and its end"],
  "compat/agent-sdk/sessions/marks.ts": "one append",
  "compat/agent-sdk/sessions/mirror.ts": "appends that can be done again, by their uuid",
  "compat/agent-sdk/sessions/sessions.ts": "one append",
  "core/chat/open-chat.ts": ["another version that a page shows"],
  "core/run/journal.ts": ["a run of a server"],
  "core/run/saving/append-log.ts": ["a run of a server"],
  "core/run/saving/timed-store.ts": "passes writes on",
  "extras/sessions/index.ts": ["a chat that is taken off a list", "a copy of a chat"],
  "extras/sessions/transfer.ts": ["a chat from another store"],
  "extras/stores/logs/shared-log.ts": ["a run of a server"],
  "extras/stores/upkeep/drop-ended.ts": ["an old journal that is dropped"],
  "lab/receipts/store.ts": ["a run with receipts"],
  "server/cloudflare/object-log.ts": "one transaction of an object",
  "server/proxy/store-quota.ts": "a call without an end counts in full after maxCallMs: proxy/",
  "server/server/chat-session.ts": ["a page that goes back in its chat", "a chat that a page deletes"],
  "server/server/handler.ts": ["a run of a server", "a chat that a page deletes"],
  "server/server/left-transcripts.ts": ["a page that goes back in its chat"],
  "server/server/owned.ts": "passes writes on",
  "server/workers/hosting/run-list.ts": "killed-workers.test.ts kills hosts at each event",
  "server/workers/hosting/store-log.ts": ["a run of a server", "a log of events that begins again"],
  "ui/ui/stored/branches.ts": ["a message that a page edits", "another version that a page shows"],
  "ui/ui/stored/message-queue.ts": "ui/queue.test.ts reloads the page at each state of a message",
};

/** What writes to a store, or makes what does. */
const WRITE =
  /new (SharedLog|AppendLog|StoreLog|RowLogs|ChatJournal)\(|[sS]tore!?\??\.(append|delete)(\?\.)?\(/;

it("each file that writes to a store is in the table", () => {
  const root = new URL("../../src/typescript/", import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    // Stores themselves, and the tests of stores.
    .filter((file) => !/^(lab\/testing\/|extras\/stores\/[^/]*\.ts$|extras\/stores\/file\/)/.test(file))
    .filter((file) => WRITE.test(readFileSync(new URL(file, root), "utf8")));
  expect(files.sort()).toEqual(Object.keys(WRITERS));
  for (const rows of Object.values(WRITERS))
    if (typeof rows !== "string") for (const row of rows) expect(Object.keys(ROWS)).toContain(row);
});
