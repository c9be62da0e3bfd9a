import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  deleteSession,
  forkSession,
  getSessionMessages,
  listSessions,
  sessionStoreOf,
  type Options,
  type SessionEntry,
} from "looplet/agent-sdk";
import { memoryStore } from "looplet/stores";
import { fileStore } from "looplet/stores/node";
import { all, resultOf, scene } from "./kit.js";
import "looplet";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "looplet-sessions-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const entry = (uuid: string, text = uuid): SessionEntry => ({
  type: "user",
  uuid,
  timestamp: "2026-01-01T00:00:00.000Z",
  messages: [{ role: "user", content: [{ type: "text", text }] }],
});

const stores = [
  ["memory", () => memoryStore()],
  ["files", () => fileStore(folder)],
] as const;

describe.each(stores)("sessions in a store of %s", (_, makeStore) => {
  it("S001-44, S001-45: go on in another process, and are listed, forked and deleted there", async () => {
    const store = makeStore();
    // Another process has nothing but what the store has.
    const process = () => ({ sessionStore: sessionStoreOf(store), dir: "/work" });
    const ask = async (prompt: string, more: Partial<Options> = {}) => {
      const { sessionStore } = process();
      const { options, fetch } = scene([{ text: "Hello." }], { sessionStore, cwd: "/work", ...more });
      return { id: resultOf(await all(prompt, options)).session_id, fetch };
    };
    const { id } = await ask("I am Ada.");
    const resumed = await ask("Who am I?", { resume: id });
    expect(resumed.id).toBe(id);
    expect(resumed.fetch.requests[0]!.bodyText).toContain("I am Ada.");

    const copy = await forkSession(id, process());
    expect((await listSessions(process())).map(({ sessionId }) => sessionId)).toEqual(
      expect.arrayContaining([id, copy.sessionId]),
    );
    expect(await getSessionMessages(id, process())).toHaveLength(4);
    await deleteSession(id, process());
    expect((await listSessions(process())).map(({ sessionId }) => sessionId)).toEqual([copy.sessionId]);
    expect(await getSessionMessages(copy.sessionId, process())).toHaveLength(4);
  });

  it("take an entry once, by its uuid", async () => {
    const store = makeStore();
    const key = { projectKey: "/", sessionId: "one" };
    const first = sessionStoreOf(store);
    await first.append(key, [entry("a"), entry("b")]);
    await first.append(key, [entry("b"), entry("c")]);
    await sessionStoreOf(store).append(key, [entry("c")]);
    expect((await first.load(key))!.map(({ uuid }) => uuid)).toEqual(["a", "b", "c"]);
  });

  it("lose nothing when two processes write to one: the later write goes behind the other", async () => {
    const store = makeStore();
    const key = { projectKey: "/", sessionId: "two" };
    const [one, other] = [sessionStoreOf(store), sessionStoreOf(store)];
    await one.append(key, [entry("a")]);
    await other.append(key, [entry("b")]);
    await one.append(key, [entry("b"), entry("c")]);
    expect((await other.load(key))!.map(({ uuid }) => uuid)).toEqual(["a", "b", "c"]);
  });

  it("go on when the store has lost an entry", async () => {
    const store = makeStore();
    const key = { projectKey: "/", sessionId: "lossy" };
    await sessionStoreOf(store).append(key, [entry("a"), entry("b")]);
    const lossy = sessionStoreOf({
      append: (...args) => store.append(...args),
      load: async (journal) =>
        ((await store.load(journal)) ?? []).filter(({ json }) => !json.includes('"uuid":"a"')),
    });
    await lossy.append(key, [entry("c")]);
    expect((await lossy.load(key))!.map(({ uuid }) => uuid)).toEqual(["b", "c"]);
  });

  it("are all listed when two processes begin one each at the same moment", async () => {
    const store = makeStore();
    const ids = ["one", "two"];
    const begun = ids.map((sessionId) =>
      sessionStoreOf(store).append({ projectKey: "/all", sessionId }, [entry(sessionId)]),
    );
    await Promise.all(begun);
    const listed = (await sessionStoreOf(store).listSessions!("/all")).map(({ sessionId }) => sessionId);
    expect(listed.sort()).toEqual(ids);
  });

  it("a session that is not there has no entries", async () => {
    const sessionStore = sessionStoreOf(makeStore());
    expect(await sessionStore.load({ projectKey: "/", sessionId: "gone" })).toBeNull();
    expect(await sessionStore.listSessions!("/")).toEqual([]);
  });
});
