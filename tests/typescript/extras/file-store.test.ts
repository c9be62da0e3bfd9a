import { readdirSync } from "node:fs";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { JournalEntry } from "../../../src/typescript/core/api/run.js";
import { between, seededRandom } from "../../../src/typescript/lab/practice/random.js";
import { keyOfName, nameOfKey } from "../../../src/typescript/extras/stores/file/names.js";
import { fileStore } from "../../../src/typescript/extras/stores/node.js";

async function madeFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "looplet-files-"));
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 9 }));
  return path;
}

const entry = (seq: number, text = "fact"): JournalEntry => ({ seq, json: JSON.stringify({ text }) });
const DAMAGED = "damaged";

describe("a file with lines that are not looplet's", () => {
  it.each([
    "null",
    "5",
    "{}",
    "[]",
    "[null]",
    '[{"seq":"1"}]',
    '{"fence":1}',
    "\0\0\0",
    "x y z",
    '"',
    '[{"seq":3,"text":"fact"}]',
  ])("tells of the line %j, and goes on behind it", async (line) => {
    const folder = await madeFolder();
    await fileStore(folder).append("a", [entry(1), entry(2)], 0);
    await appendFile(join(folder, "a.jsonl"), `${line}\n`);
    const store = fileStore(folder);
    expect(await store.load("a")).toEqual([entry(1), entry(2), { seq: 2, json: DAMAGED }]);
    expect(await store.pending()).toEqual([]);
    const lease = (await store.lease("a", { holder: "h", ttlMs: 0 }))!;
    await store.append("a", [entry(3)], 2, lease.fence);
    expect(await fileStore(folder).load("a")).toEqual([entry(1), entry(2), entry(3)]);
    expect(await fileStore(folder).pending()).toEqual(["a"]);
  });

  it("gives what stands behind a line that is missing, with its numbers", async () => {
    const folder = await madeFolder();
    const store = fileStore(folder);
    for (const seq of [1, 2, 3, 4]) await store.append("a", [entry(seq)], seq - 1);
    const file = join(folder, "a.jsonl");
    const lines = (await readFile(file, "utf8")).split("\n");
    for (const [kept, numbers] of [
      [
        [0, 2, 3],
        [1, 3, 4],
      ],
      [
        [0, 2, 1, 3],
        [1, 3, 4],
      ],
      [
        [0, 1, 1, 2, 3],
        [1, 2, 3, 4],
      ],
    ] as const) {
      await writeFile(file, kept.map((at) => `${lines[at]}\n`).join(""));
      const other = fileStore(folder);
      expect((await other.load("a"))!.map(({ seq }) => seq)).toEqual(numbers);
      await expect(other.append("a", [entry(4)], 3)).rejects.toThrow("ends with entry 4");
    }
  });

  it("reads the lines of the time before there were checksums", async () => {
    const folder = await madeFolder();
    const lines = ['[{"seq":1,"fact":"a"}]', '{"fence":1,"after":0,"nonce":"n"}'];
    lines.push('{"fence":1,"entries":[{"seq":2,"fact":"b"},{"seq":3,"fact":"c"}]}');
    await writeFile(join(folder, "a.jsonl"), `${lines.join("\n")}\n`);
    const store = fileStore(folder);
    expect((await store.load("a"))!.map(({ json }) => json)).toEqual([
      '{"seq":1,"fact":"a"}',
      '{"seq":2,"fact":"b"}',
      '{"seq":3,"fact":"c"}',
    ]);
    await store.append("a", [entry(4)], 3, 1);
    expect(await store.load("a")).toHaveLength(4);
  });
});

describe("a lease file that cannot be read", () => {
  it.each(["", "null", "5", "{}", "[]", "\0", '{"fence":"1","expiresMs":"soon","pid":{}}'])(
    "as %j keeps no run from being found and taken up",
    async (text) => {
      const folder = await madeFolder();
      const store = fileStore(folder);
      for (const key of ["a", "b"]) {
        const lease = (await store.lease(key, { holder: "h", ttlMs: 600_000 }))!;
        await store.append(key, [entry(1)], 0, lease.fence);
        if (key === "b") await lease.release(true);
      }
      const names = await readdir(folder);
      const file = join(
        folder,
        names.find((name) => name.startsWith("a.") && name.endsWith(".lease"))!,
      );
      await writeFile(file, text);
      const other = fileStore(folder);
      expect([...(await other.pending())].sort()).toEqual(["a", "b"]);
      const lease = await other.lease("a", { holder: "other", ttlMs: 600_000 });
      expect(lease!.fence).toBe(2);
      await expect(store.append("a", [entry(2)], 1, 1)).rejects.toThrow("another process");
    },
  );

  it("and its line in the journal that cannot be read hide the run from nobody", async () => {
    const folder = await madeFolder();
    const store = fileStore(folder);
    const lease = (await store.lease("a", { holder: "h", ttlMs: 0 }))!;
    const file = join(folder, "a.jsonl");
    const line = await readFile(file, "utf8");
    await writeFile(file, line.replace("@", "?"));
    expect(await fileStore(folder).pending()).toEqual(["a"]);
    // The holder may be at work, so its fence is not given again.
    const later = (await fileStore(folder).lease("a", { holder: "other", ttlMs: 0 }))!;
    expect(later.fence).toBeGreaterThan(lease.fence);
  });

  it("beside other strange files keeps no run from being found", async () => {
    const folder = await madeFolder();
    const store = fileStore(folder);
    await (await store.lease("a", { holder: "h", ttlMs: 0 }))!.release(true);
    await mkdir(join(folder, "dir.abc.lease"));
    await mkdir(join(folder, "dir.jsonl"));
    for (const name of ["%.abc.lease", "%E0%A4.abc.lease", "A.abc.lease", ".lease", "..lease", "dir.n.lease"])
      await writeFile(join(folder, name), "{}");
    await symlink("/nowhere", join(folder, "link.abc.lease"));
    expect(await fileStore(folder).pending()).toEqual(["a"]);
  });
});

describe("keys as names of files", () => {
  const keys = [
    ...[
      "A",
      "a",
      "Ä",
      "ä",
      "a\u0308",
      "\u212a",
      "k",
      "ﬁ",
      "fi",
      "con",
      "CON",
      "con.x",
      "nul",
      "com1",
      "lpt9",
    ],
    ...[
      "../x",
      "..",
      ".",
      "/",
      "\\",
      "a/../../b",
      "%2F",
      "%2f",
      "%",
      "*",
      "a b",
      "a.",
      "a ",
      "\0",
      "\n",
      "~",
      "",
    ],
    ...["\ud800", "\udc00", "%uD800", "🦊", "x.abc.lease", "x.jsonl", "__proto__"],
    ...["長い鍵".repeat(40), `${"長い鍵".repeat(40)}!`, "a".repeat(5000), "A".repeat(300), "a".repeat(300)],
  ];

  it("are others on each file system, stay in the folder, and lead back to the key", async () => {
    const names = keys.map((key) => nameOfKey(key));
    expect(new Set(names.map((name) => name.toLowerCase().normalize("NFKC"))).size).toBe(keys.length);
    for (const [at, name] of names.entries()) {
      expect(name).toMatch(/^(?:[a-z0-9_.-]|%[0-9A-F]{2}|%u[0-9A-F]{4})*$/);
      expect(keyOfName(name)).toBe(keys[at]);
      expect([".", ".."]).not.toContain(name);
    }
    for (const name of ["%", "A", "%2f", "%41%", "a b", "~"]) expect(keyOfName(name)).toBeUndefined();
  });

  it("keep each journal apart, and are found when their leases run out", async () => {
    const folder = await madeFolder();
    const store = fileStore(folder);
    for (const key of keys) {
      const lease = (await store.lease(key, { holder: "h", ttlMs: 0 }))!;
      await store.append(key, [entry(1, key)], 0, lease.fence);
    }
    for (const key of keys) expect(await fileStore(folder).load(key)).toEqual([entry(1, key)]);
    expect([...(await fileStore(folder).pending())].sort()).toEqual([...keys].sort());
    expect(await readdir(join(folder, ".."))).not.toContain("x.jsonl");
  });
});

describe("a line that another process has not ended yet", () => {
  /** A file with an entry, and the halves of the line with the next one. */
  async function halves(
    ttlMs: number | undefined,
  ): Promise<{ folder: string; file: string; parts: string[] }> {
    const folder = await madeFolder();
    const store = fileStore(folder);
    const lease = ttlMs === undefined ? undefined : await store.lease("a", { holder: "h", ttlMs });
    await store.append("a", [entry(1)], 0, lease?.fence);
    const file = join(folder, "a.jsonl");
    const { length } = await readFile(file);
    await store.append("a", [entry(2, "é".repeat(1000))], 1, lease?.fence);
    const all = await readFile(file);
    const next = all.subarray(length).toString("latin1");
    await writeFile(file, all.subarray(0, length));
    return { folder, file, parts: [next.slice(0, 500), next.slice(500)] };
  }
  const seqs = (entries: readonly JournalEntry[] | undefined): unknown[] =>
    entries!.map(({ seq, json }) => (json === DAMAGED ? DAMAGED : seq));

  it("is no damage while that process has the lease, and is read when it is whole", async () => {
    const { folder, file, parts } = await halves(90_000);
    const reader = fileStore(folder);
    for (const part of parts) {
      await appendFile(file, part, "latin1");
      const isWhole = part === parts[1];
      expect(seqs(await fileStore(folder).load("a"))).toEqual(isWhole ? [1, 2] : [1]);
      expect(seqs(await reader.load("a"))).toEqual(isWhole ? [1, 2] : [1]);
    }
  });

  it("is waited for a moment where no process has a lease", async () => {
    const { folder, file, parts } = await halves(undefined);
    await appendFile(file, parts[0]!, "latin1");
    const loading = fileStore(folder).load("a");
    setImmediate(() => void appendFile(file, parts[1]!, "latin1"));
    expect(seqs(await loading)).toEqual([1, 2]);
  });

  it("is damage when its process is gone", async () => {
    const { folder, file, parts } = await halves(0);
    await appendFile(file, parts[0]!, "latin1");
    expect(seqs(await fileStore(folder).load("a"))).toEqual([1, DAMAGED]);
  });
});

it("a file with any damage is read, and what is read was written", async () => {
  const folder = await madeFolder();
  const store = fileStore(folder);
  const written = Array.from({ length: 12 }, (_, at) => entry(at + 1, `fact ${at} ü`));
  let last = 0;
  for (const count of [1, 3, 2, 1, 4, 1]) {
    const lease = (await store.lease("a", { holder: "h", ttlMs: 0 }))!;
    await store.append("a", written.slice(last, last + count), last, lease.fence);
    last += count;
  }
  const file = join(folder, "a.jsonl");
  const whole = await readFile(file);
  const random = seededRandom("any damage");
  for (let round = 0; round < 300; round++) {
    const bytes = Buffer.from(whole);
    for (let times = between(random, 1, 4); times > 0; times--) {
      const [from, length] = [between(random, 0, bytes.length - 1), between(random, 0, 80)];
      const to = Math.min(from + length, bytes.length);
      if (random() < 0.3) bytes.fill(0, from, to);
      else if (random() < 0.5) bytes[from]! ^= 1 << between(random, 0, 7);
      else bytes.copyWithin(between(random, 0, bytes.length - 1), from, to);
    }
    await writeFile(file, random() < 0.2 ? bytes.subarray(0, between(random, 0, bytes.length)) : bytes);
    const other = fileStore(folder);
    await other.pending();
    // A process takes the lease before it reads: its line ends one that is torn.
    const lease = (await other.lease("a", { holder: "h", ttlMs: 0 }))!;
    const loaded = await other.load("a");
    let before = 0;
    for (const { seq, json } of loaded!) {
      if (json === DAMAGED) expect(seq).toBe(before);
      else expect([seq > before, json]).toEqual([true, written[seq - 1]!.json]);
      before = seq;
    }
    await other.append("a", [entry(before + 1)], before, lease.fence);
    expect((await fileStore(folder).load("a"))!.at(-1)).toEqual(entry(before + 1));
  }
}, 30_000);

// /dev/full takes nothing, as a disk that is full.
it.skipIf(process.platform !== "linux")("a full disk is an error of the append, and of a lease", async () => {
  const folder = await madeFolder();
  await symlink("/dev/full", join(folder, "a.jsonl"));
  const store = fileStore(folder);
  await expect(store.append("a", [entry(1)], 0)).rejects.toThrow("ENOSPC");
  await expect(store.lease("a", { holder: "h", ttlMs: 0 })).rejects.toThrow("ENOSPC");
});

it.skipIf(process.platform !== "linux")("many journals at the same time have few files open", async () => {
  const store = fileStore(await madeFolder());
  const openFiles = (): number => readdirSync("/proc/self/fd").length;
  const before = openFiles();
  let [most, isOver] = [0, false];
  const count = (): void => {
    most = Math.max(most, openFiles() - before);
    if (!isOver) setImmediate(count);
  };
  count();
  await Promise.all(Array.from({ length: 500 }, (_, at) => store.append(`run ${at}`, [entry(1)], 0)));
  isOver = true;
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(100);
});

describe("the lease of a process that is gone", () => {
  const GONE = 2 ** 22 + 1;
  const opened = async (change: (place: string) => string) => {
    const folder = await madeFolder();
    await fileStore(folder).lease("a", { holder: "h", ttlMs: 60_000 });
    const file = join(
      folder,
      (await readdir(folder)).find((name) => name.endsWith(".lease"))!,
    );
    const lease = JSON.parse(await readFile(file, "utf8"));
    await writeFile(file, JSON.stringify({ ...lease, pid: GONE, place: change(lease.place) }));
    return fileStore(folder);
  };

  it("is free for other processes of its machine", async () => {
    const store = await opened((place) => place);
    expect(await store.pending()).toEqual(["a"]);
    expect(await store.lease("a", { holder: "b", ttlMs: 0 })).toBeDefined();
  });

  // A copy of a virtual machine has the host name of the other one.
  it.skipIf(process.platform !== "linux")("may be at work on another machine of the same name", async () => {
    const store = await opened((place) => `${place.slice(0, -12)}000000000000`);
    expect(await store.pending()).toEqual([]);
    expect(await store.lease("a", { holder: "b", ttlMs: 0 })).toBeUndefined();
  });
});

it("of many writers at once that know the same entry one is taken", async () => {
  const folder = await madeFolder();
  const stores = Array.from({ length: 8 }, () => fileStore(folder));
  for (let last = 0; last < 5; last++) {
    const appended = stores.map((store, at) => store.append("a", [entry(last + 1, `${at}`)], last));
    const settled = await Promise.allSettled(appended);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  }
  expect(await fileStore(folder).load("a")).toHaveLength(5);
});
