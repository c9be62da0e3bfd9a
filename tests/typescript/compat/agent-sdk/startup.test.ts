import { describe, expect, it } from "vitest";
import {
  InMemorySessionStore,
  archiveSession,
  filterEscalatingDefaultMode,
  foldSessionSummary,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  importSessionToStore,
  listSessions,
  matchDeniedModels,
  prewarm,
  resolveSettings,
  startup,
  unarchiveSession,
  type Options,
  type Query,
} from "looplet/agent-sdk";
import { memoryVfs } from "looplet/vfs";
import { all, kinds, resultOf, scene } from "./kit.js";

const drained = async (asked: Query) => {
  const messages = [];
  for await (const message of asked) messages.push(message);
  return messages;
};

describe("startup", () => {
  it("makes a query whose prompt comes later, once", async () => {
    const { options, fetch } = scene([{ text: "Hi." }]);
    const warm = await startup({ options });
    expect(fetch.requests).toEqual([]);
    expect(kinds(await drained(warm.query("Go"))).at(-1)).toBe("result/success");
    expect(() => warm.query("Go")).toThrow(/startup: query\(\) can be called once/);
  });

  it("rejects for a wrong option, and makes no query after close()", async () => {
    await expect(startup({ options: { modle: "x" } as Options })).rejects.toThrow(/modle/);
    const warm = await startup({ options: scene([]).options });
    warm.close();
    expect(() => warm.query("Go")).toThrow(/startup: query\(\) comes after close\(\)/);
  });
});

describe("prewarm", () => {
  it("makes a query of its options and those of the session", async () => {
    let now = 1000;
    const clock = { now: () => now, setTimer: () => 0, clearTimer: () => {} };
    const { options, fetch } = scene([{ text: "Hi." }], { systemPrompt: "Be brief.", host: { clock } });
    const spare = await prewarm({ options });
    now += 250;
    const asked = spare.claim({
      prompt: "Go",
      options: { cwd: "/app", appendSystemPrompt: "Use tabs.", permissionMode: "dontAsk" },
    });
    const messages = await drained(asked);
    expect(messages[0]).toMatchObject({ cwd: "/app", permissionMode: "dontAsk" });
    const { session_id: sessionId } = messages[0]!;
    expect(await spare.claimed).toEqual({ cwd: "/app", sessionId, parkedMs: 250, sdkMcpSettled: true });
    await spare.exited;
    expect(fetch.requests[0]!.bodyText).toMatch(/Be brief\..*Use tabs\./);
    expect(() => spare.claim({ prompt: "Go", options: { cwd: "/" } })).toThrow(/can be called once/);
  });

  it("rejects claimed if it is closed before", async () => {
    const spare = await prewarm({ options: scene([]).options });
    spare.close();
    await expect(spare.claimed).rejects.toThrow(/prewarm: it is closed/);
    await spare.exited;
  });
});

describe("sessions", () => {
  async function session(more: Partial<Options> = {}) {
    const { options } = scene([{ text: "Hi." }, { text: "Again." }], more);
    return { options, id: resultOf(await all("Go", options)).session_id };
  }

  it("archiveSession marks one until the next prompt, and unarchiveSession takes the mark away", async () => {
    const cwd = "/archived";
    const { options, id } = await session({ cwd });
    const place = { dir: cwd };
    await archiveSession(id, place);
    expect((await listSessions(place))[0]).toMatchObject({ sessionId: id, archived: true });
    await unarchiveSession(id, place);
    expect((await getSessionInfo(id, place))!.archived).toBeUndefined();
    await archiveSession(id, place);
    await all("Again", { ...options, resume: id });
    expect((await getSessionInfo(id, place))!.archived).toBeUndefined();
    await expect(archiveSession("none", place)).rejects.toThrow(TypeError);
  });

  it("forkSession gives the copy a title", async () => {
    const { id } = await session();
    const { sessionId } = await forkSession(id, { title: "Branch" });
    expect(await getSessionInfo(sessionId)).toMatchObject({ customTitle: "Branch", firstPrompt: "Go" });
  });

  it("importSessionToStore copies one of the process into a store", async () => {
    const { id } = await session();
    const sessionStore = new InMemorySessionStore();
    await importSessionToStore(id, sessionStore, { batchSize: 1 });
    expect(await getSessionMessages(id, { sessionStore })).toEqual(await getSessionMessages(id));
    await expect(importSessionToStore("none", sessionStore)).rejects.toThrow(TypeError);
    await expect(importSessionToStore(id, sessionStore, { batchSize: 0 })).rejects.toThrow(/batchSize/);
  });

  it("foldSessionSummary says what entries are about", async () => {
    const sessionStore = new InMemorySessionStore();
    const { id: sessionId } = await session({ sessionStore });
    const key = { projectKey: "/", sessionId };
    const entries = (await sessionStore.load(key))!;
    const [first, ...rest] = entries;
    const folded = foldSessionSummary(undefined, key, [first!], { mtime: 7 });
    expect(folded).toMatchObject({ sessionId, mtime: 7, data: { cwd: "/", firstPrompt: "Go" } });
    expect(foldSessionSummary(folded, key, rest)).toEqual(
      foldSessionSummary(undefined, key, entries, { mtime: 7 }),
    );
  });
});

describe("resolveSettings", () => {
  const vfs = memoryVfs({
    "/home/.claude/settings.json": '{"permissions":{"allow":["Read"]},"model":"opus"}',
    "/app/.claude/settings.json":
      '{"permissions":{"allow":["Bash"],"defaultMode":"acceptEdits"},"__proto__":{"x":1}}',
    "/app/.claude/settings.local.json": '{"model":"haiku"}',
  });

  it("merges the files, and says where each setting is from", async () => {
    const resolved = await resolveSettings({ cwd: "/app", host: { vfs, home: "/home" } });
    const { effective, provenance, sources } = resolved;
    expect(effective).toEqual({
      permissions: { allow: ["Read", "Bash"], defaultMode: "acceptEdits" },
      model: "haiku",
    });
    expect((effective as any).x).toBeUndefined();
    expect(provenance["model"]).toEqual({ source: "local", path: "/app/.claude/settings.local.json" });
    expect(sources.map(({ source }) => source)).toEqual(["user", "project", "local"]);
    expect(filterEscalatingDefaultMode(resolved).permissions).toEqual({ allow: ["Read", "Bash"] });
  });

  it("lets managed settings win, which may choose any mode", async () => {
    const managedSettings = { permissions: { defaultMode: "acceptEdits" as const } };
    const resolved = await resolveSettings({ cwd: "/app", host: { vfs }, managedSettings });
    expect(resolved.provenance.permissions).toEqual({ source: "managed", policyOrigin: "parent" });
    expect(filterEscalatingDefaultMode(resolved)).toEqual(resolved.effective);
  });

  it("says what is missing, and which file is broken", async () => {
    await expect(resolveSettings({ settingSources: ["user"] })).rejects.toThrow(/host\.vfs/);
    const broken = memoryVfs({ "/.claude/settings.json": "{" });
    await expect(resolveSettings({ host: { vfs: broken } })).rejects.toThrow(
      /\/\.claude\/settings\.json is not JSON/,
    );
    expect((await resolveSettings()).effective).toEqual({});
  });
});

it("matchDeniedModels compares names, and throws for nothing", async () => {
  expect(await matchDeniedModels(["claude-opus-5", "claude-haiku-5"], ["claude-opus*"])).toEqual({
    denied: [true, false],
    warnings: [],
  });
  expect((await matchDeniedModels([7 as never], "x" as never)).denied).toEqual([false]);
});
