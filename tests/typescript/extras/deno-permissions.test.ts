/** What `looplet/stores/node` asks of Deno, which stops a program to ask its user for a permission. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createAgent, custom } from "looplet";
import type { Store } from "looplet";

const asked = vi.hoisted(() => [] as string[]);
vi.mock("node:os", async (original) => {
  const os = await original<typeof import("node:os")>();
  return { ...os, hostname: () => (asked.push("hostname"), os.hostname()) };
});
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const readlinkSync = (path: string) => (asked.push(`readlink ${path}`), fs.readlinkSync(path));
  const readFileSync = (...given: Parameters<typeof fs.readFileSync>) => {
    const path = String(given[0]);
    if (path.startsWith("/proc/")) asked.push(`read ${path}`);
    return fs.readFileSync(...given);
  };
  return { ...fs, readlinkSync, readFileSync };
});

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "looplet-"));
  asked.length = 0;
  vi.resetModules();
  vi.spyOn(process, "kill").mockImplementation(() => (asked.push("kill"), true));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** The store as a program of Deno has it whose user has granted these permissions. */
async function inDeno(granted: readonly string[]): Promise<Store> {
  const querySync = ({ name }: { name: string }) => ({
    state: granted.includes(name) ? "granted" : "prompt",
  });
  vi.stubGlobal("Deno", { permissions: { querySync } });
  const { fileStore } = await import("looplet/stores/node");
  return fileStore(folder);
}

async function use(store: Store): Promise<void> {
  const run = createAgent({ model: custom(() => "hi"), store }).run("?");
  expect(await run.result).toMatchObject({ outcome: "completed" });
  await run.saved();
  const held = await store.lease!("other", { holder: "a", ttlMs: 1000 });
  expect(held).toBeDefined();
  expect(await store.lease!("other", { holder: "b", ttlMs: 1000 })).toBeUndefined();
}

it("a store of files needs no permission but those to read and to write", async () => {
  await use(await inDeno([]));
  expect(asked).toEqual([]);
});

it("the name of the machine is read when a lease is taken, where that is granted", async () => {
  const store = await inDeno(["sys", "read", "run"]);
  expect(asked).toEqual([]);
  await use(store);
  const paths = ["readlink /proc/self/ns/pid", "read /proc/sys/kernel/random/boot_id"];
  expect(new Set(asked)).toEqual(new Set(["hostname", ...paths, "kill"]));
});

it("a facade reads the variable of the key only where it needs a key", async () => {
  const { query } = await import("looplet/agent-sdk");
  const env = new Proxy(process.env, {
    get: (values, name) => (asked.push(`env ${String(name)}`), Reflect.get(values, name)),
  });
  vi.stubGlobal(
    "process",
    new Proxy(process, { get: (it, name) => (name === "env" ? env : Reflect.get(it, name)) }),
  );
  const host = { model: () => custom(() => "hi") };
  for await (const message of query({ prompt: "?", options: { host } as never }))
    if (message.type === "result") expect(message).toMatchObject({ result: "hi" });
  expect(asked.filter((what) => /_KEY$/.test(what))).toEqual([]);
});
