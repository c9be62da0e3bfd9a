/** A folder of `fileStore` that changes under a service: its rights, its deletion, the clock of its machine. */
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAgent, custom, type JournalEntry } from "looplet";
import { handler } from "looplet/server";
import { fileStore } from "looplet/stores/node";

async function madeFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "looplet-files-"));
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 9 }));
  return path;
}

const entry = (seq: number): JournalEntry => ({ seq, json: JSON.stringify({ seq }) });

const isPosix = process.platform !== "win32";
const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe.skipIf(!isPosix)("the files of a store", () => {
  it("can be read by the user of the process only, whatever its umask says", async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const top = await madeFolder();
    const folder = join(top, "data", "chats");
    const store = fileStore(folder);
    const lease = (await store.lease("a", { holder: "h", ttlMs: 60_000 }))!;
    await store.append("a", [entry(1)], 0, lease.fence);
    await store.append("b", [entry(1)], 0);
    const modes = async () => {
      const names = await readdir(folder);
      return Promise.all(
        names.map(async (name) => [name.replace(/^.*\./, ""), await modeOf(join(folder, name))]),
      );
    };
    expect((await modes()).sort()).toEqual([
      ["jsonl", "600"],
      ["jsonl", "600"],
      ["lease", "600"],
    ]);
    await lease.renew(60_000);
    await lease.release(false);
    expect((await modes()).sort()).toEqual([
      ["ended", "600"],
      ["jsonl", "600"],
      ["jsonl", "600"],
    ]);
    expect([await modeOf(folder), await modeOf(join(top, "data"))]).toEqual(["700", "700"]);
  });

  it("keep the rights that you have given to the folder and to a journal", async () => {
    const folder = await madeFolder();
    await chmod(folder, 0o750);
    const store = fileStore(folder);
    await store.append("a", [entry(1)], 0);
    await chmod(join(folder, "a.jsonl"), 0o640);
    await store.append("a", [entry(2)], 1);
    expect([await modeOf(folder), await modeOf(join(folder, "a.jsonl"))]).toEqual(["750", "640"]);
  });
});

/** Makes `folder` and its files read-only for the process, and writable again. Root could write them all the same. */
async function locks(folder: string) {
  const own = process as unknown as { seteuid(id: number): void; geteuid(): number };
  const isRoot = own.geteuid() === 0;
  const set = async (folderMode: number, mode: number): Promise<void> => {
    if (isRoot) own.seteuid(0);
    for (const name of await readdir(folder)) await chmod(join(folder, name), mode);
    await chmod(folder, folderMode);
    if (isRoot) own.seteuid(65_534);
  };
  onTestFinished(async () => {
    if (isRoot) own.seteuid(0);
    await chmod(folder, 0o700);
  });
  await set(0o777, 0o666);
  return { lock: () => set(0o555, 0o444), unlock: () => set(0o777, 0o666) };
}

/** An agent that calls a tool twice. `within` runs in each call. */
function working(folder: string, within: (call: number) => unknown = () => {}) {
  let calls = 0;
  const model = custom(({ messages }) => {
    const answered = messages.filter(({ role }) => role === "assistant").length % 3;
    return answered < 2 ? [{ type: "tool_call", id: `c${answered}`, name: "act", input: {} }] : "Done.";
  });
  const act = {
    description: "Acts",
    inputSchema: { type: "object" },
    async execute() {
      await within((calls += 1));
      return "acted";
    },
  } as const;
  const store = fileStore(folder);
  return { agent: createAgent({ store, model, tools: { act }, durable: { flushMs: 0 } }), store };
}

describe.skipIf(!isPosix)("a folder that becomes read-only", () => {
  it("before a run fails it with an error that names the file, and the same id runs when it is writable", async () => {
    const folder = await madeFolder();
    const { lock, unlock } = await locks(folder);
    await lock();
    const { agent } = working(folder);
    const { outcome, error } = await agent.run("Act.", { id: "x" }).result;
    expect([outcome, error!.code, error!.retryable]).toEqual(["failed", "store_failed", true]);
    expect(error!.message).toMatch(/^The store could not open the journal of the run "x": EACCES: .*x\./);
    await unlock();
    const run = agent.run("Act.", { id: "x" });
    expect(await run.result).toMatchObject({ outcome: "completed", text: "Done." });
    await run.saved();
  });

  it("within a run loses nothing that was received, and the journal is whole when it is writable", async () => {
    const folder = await madeFolder();
    const { lock, unlock } = await locks(folder);
    const errors: string[] = [];
    const { agent, store } = working(folder, (call) => call === 1 && lock());
    const run = agent.run("Act.", { id: "x", onError: (error) => errors.push(String(error)) });
    const { outcome, messages } = await run.result;
    // The second call is not made, because its start cannot be saved; the model hears of it.
    expect(outcome).toBe("completed");
    await expect(run.saved()).rejects.toThrow("EACCES");
    expect(errors.join()).toContain("EACCES");
    await unlock();
    await run.saved();
    expect((await store.load("x"))!.map(({ seq }) => seq)).toEqual(
      (await store.load("x"))!.map((_, at) => at + 1),
    );
    expect((await working(folder).agent.resume("x").result).messages).toEqual(messages);
  });

  it("under a server is status 500 without details, and the chat goes on when it is writable", async () => {
    const folder = await madeFolder();
    const { lock, unlock } = await locks(folder);
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => logged.mockRestore());
    const { agent, store } = working(folder);
    const handle = handler(agent, { store, authorize: () => "ada" });
    const ask = async (prompt: string) => {
      const headers = { "content-type": "application/json", accept: "text/event-stream" };
      const body = JSON.stringify({ prompt });
      const response = await handle(new Request("http://s.test/c/run", { method: "POST", headers, body }));
      return { status: response.status, text: await response.text() };
    };
    expect((await ask("Act.")).text).toContain('"outcome":"completed"');
    // The run gives its lease back after its end.
    await vi.waitFor(async () => expect((await readdir(folder)).join()).not.toContain(".lease"));
    await lock();
    const refused = await ask("Again.");
    expect(`${refused.status} ${refused.text}`).not.toContain(folder);
    expect(refused).toMatchObject({ status: 500 });
    expect(logged.mock.calls.flat().map(String).join()).toContain("EACCES");
    await unlock();
    expect((await ask("And now.")).text).toContain('"outcome":"completed"');
    const state = await (await handle(new Request("http://s.test/c"))).json();
    expect(JSON.stringify(state.messages)).toContain("And now.");
    expect(JSON.stringify(state.messages)).toContain("Act.");
  });
});

it("a folder that is deleted under a server fails the run that is under way, and later runs begin anew", async () => {
  const folder = await madeFolder();
  const { agent, store } = working(
    folder,
    (call) => call === 1 && rm(folder, { recursive: true, maxRetries: 9 }),
  );
  const handle = handler(agent, { store, authorize: () => "ada" });
  const ask = async (prompt: string): Promise<string> => {
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const body = JSON.stringify({ prompt });
    return (await handle(new Request("http://s.test/c/run", { method: "POST", headers, body }))).text();
  };
  const first = await ask("Act.");
  expect(first).toContain('"code":"journal_gone"');
  expect(await ask("Again.")).toContain('"outcome":"completed"');
  const { messages } = await (await handle(new Request("http://s.test/c"))).json();
  expect(JSON.stringify(messages)).toContain("Again.");
  const list = await (await handle(new Request("http://s.test/"))).json();
  expect(list.sessions).toMatchObject([{ id: "c" }]);
});

describe("a clock that is set while a lease is held", () => {
  const HOUR_MS = 3_600_000;
  const set = (byMs: number): void => void vi.setSystemTime(Date.now() + byMs);
  const held = async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = await madeFolder();
    const lease = (await fileStore(folder).lease("a", { holder: "h", ttlMs: 90_000 }))!;
    return { folder, lease, other: fileStore(folder) };
  };

  it.each([HOUR_MS, -HOUR_MS, 91_000, -200_000])(
    "by %i ms gives the run to no other process",
    async (byMs) => {
      const { lease, other } = await held();
      set(byMs);
      expect(await other.pending()).toEqual([]);
      expect(await other.lease("a", { holder: "b", ttlMs: 90_000 })).toBeUndefined();
      expect(await lease.renew(90_000)).toBe(true);
      set(-byMs);
      expect(await other.pending()).toEqual([]);
      await other.append("a", [entry(1)], 0, lease.fence);
    },
  );

  it("ends no lease late", async () => {
    const { folder, other } = await held();
    const file = join(
      folder,
      (await readdir(folder)).find((name) => name.endsWith(".lease"))!,
    );
    const record = JSON.parse(await readFile(file, "utf8"));
    // The same, written two minutes ago by both clocks.
    const ago = Object.fromEntries(
      ["expiresMs", "atMs", "upMs"].map((name) => [name, record[name] - 120_000]),
    );
    await writeFile(file, JSON.stringify({ ...record, ...ago }));
    expect(await other.pending()).toEqual(["a"]);
    for (const byMs of [HOUR_MS, -2 * HOUR_MS]) {
      set(byMs);
      expect(await other.pending(), `${byMs}`).toEqual(["a"]);
    }
  });

  it("on another host counts by the clocks of both, which may differ by the length of the lease", async () => {
    const { folder, other } = await held();
    const file = join(
      folder,
      (await readdir(folder)).find((name) => name.endsWith(".lease"))!,
    );
    const record = JSON.parse(await readFile(file, "utf8"));
    await writeFile(file, JSON.stringify({ ...record, place: "other pid:[1] boot", pid: 1 }));
    for (const [byMs, isHeld] of [
      [-60_000, true],
      [0, true],
      [60_000, true],
      [91_000, false],
      [-200_000, false],
    ] as const) {
      set(byMs);
      expect([byMs, await other.pending()]).toEqual([byMs, isHeld ? [] : ["a"]]);
      set(-byMs);
    }
  });
});
