// The contracts of stores and files where they work: Durable Object SQLite, D1, R2 and KV in workerd, Deno KV in
// Deno, SQLite and files in Node.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { examples } from "./docs-examples.mjs";
import { expected } from "./durable-run.mjs";
import { here, run } from "./install.mjs";
import { assertKills, installWithModules, traceAnswers } from "./store-kit.mjs";
import { restartWorkerd, startWorkerd, workerds } from "./workerd.mjs";

let installed;
before(async () => {
  installed = await installWithModules();
});
after(() => installed?.remove());

const worker = `
import * as looplet from "looplet";
import { durableObjectStore } from "looplet/stores";
import { checkKills } from "./store-kills.mjs";
import { checkStore } from "looplet/testing";

export class Keeper {
  constructor({ storage }) {
    this.storage = storage;
  }
  async fetch(request) {
    const store = durableObjectStore(this.storage);
    switch (new URL(request.url).pathname) {
      case "/check":
        return Response.json(await checkStore(() => durableObjectStore(this.storage)).catch(String));
      case "/kills":
        return Response.json(await checkKills(looplet, (now) => durableObjectStore(this.storage, { now })).catch(String));
      case "/hold":
        await store.lease("x", { holder: "first", ttlMs: 600_000 });
        return Response.json(await store.pending());
      default:
        return Response.json(await store.pending());
    }
  }
}
export default {
  fetch: (request, { KEEPER }) => KEEPER.get(KEEPER.idFromName("one")).fetch(request),
};`;

test("a Durable Object keeps the contract, and its next instance finds the leases run out", async () => {
  const persist = mkdtempSync(join(tmpdir(), "looplet-keeper-"));
  const options = {
    durableObjects: { KEEPER: { className: "Keeper", useSQLite: true } },
    durableObjectsPersist: persist,
  };
  writeFileSync(join(installed.folder, "keeper.mjs"), worker);
  const start = () => startWorkerd(installed.folder, "keeper.mjs", undefined, options);
  const ask = async (objects, path) => (await objects.dispatchFetch(`http://object.test${path}`)).json();
  let objects = await start();
  try {
    const { passed, skipped } = await ask(objects, "/check");
    assert.deepEqual(skipped, []);
    assert.ok(passed.includes("pending lists runs that nobody goes on with, and no others"));
    assertKills(await ask(objects, "/kills"));
    assert.ok(!(await ask(objects, "/hold")).includes("x"));
    await objects.dispose();
    objects = await start();
    assert.ok((await ask(objects, "/pending")).includes("x"));
  } finally {
    await objects.dispose();
    rmSync(persist, { recursive: true, force: true });
  }
});

const filesWorker = `
import { checkVfs } from "looplet/testing";
import { kvVfs, r2Vfs } from "looplet/vfs";
export default {
  async fetch(_, { BUCKET, KV }) {
    const checked = [r2Vfs(BUCKET), r2Vfs(BUCKET, "below/here"), kvVfs(KV), kvVfs(KV, "/below/")];
    const verdicts = [];
    for (const vfs of checked) verdicts.push(await checkVfs(vfs).catch(String));
    return Response.json(verdicts);
  },
};`;

test("files in R2 and in KV keep the contract in workerd", async () => {
  writeFileSync(join(installed.folder, "files.mjs"), filesWorker);
  const options = { r2Buckets: ["BUCKET"], kvNamespaces: ["KV"] };
  const worker = await startWorkerd(installed.folder, "files.mjs", undefined, options);
  try {
    const verdicts = await (await worker.dispatchFetch("http://files.test/")).json();
    assert.deepEqual(
      verdicts.map((verdict) => verdict.length),
      [6, 6, 6, 6],
      JSON.stringify(verdicts),
    );
  } finally {
    await worker.dispose();
  }
});

const cloudWorker = `
import * as looplet from "looplet";
import { checkKills } from "./store-kills.mjs";
import { d1Database, d1Store, kvStore } from "looplet/stores";
import { checkStore } from "looplet/testing";
import { sqlTraceStore } from "looplet/trace";
import { traceAnswers } from "./trace-answers.mjs";
export default {
  async fetch(_, { DB, KV }) {
    const d1 = await checkStore(() => d1Store(DB)).catch(String);
    const trace = await traceAnswers(() => sqlTraceStore(d1Database(DB))).catch(String);
    const kills = [(now) => d1Store(DB, { now }), () => kvStore(KV)].map((make) => checkKills(looplet, make).catch(String));
    return Response.json({ d1, trace, kills: await Promise.all(kills), kv: await checkStore(() => kvStore(KV)).catch(String) });
  },
};`;

const race = "of two appends at the same moment one is refused";

test("D1 keeps the contract in workerd, and KV all that it can promise", async () => {
  writeFileSync(join(installed.folder, "cloud.mjs"), cloudWorker);
  const options = { d1Databases: ["DB"], kvNamespaces: ["KV"] };
  const worker = await startWorkerd(installed.folder, "cloud.mjs", undefined, options);
  try {
    const told = await (await worker.dispatchFetch("http://stores.test/")).json();
    const { d1, kv, trace, kills: cases } = told;
    assert.equal(trace, traceAnswers);
    cases.forEach(assertKills);
    assert.deepEqual(d1.skipped, [], JSON.stringify(d1));
    assert.ok(kv.skipped.includes(race), JSON.stringify(kv));
    assert.ok(kv.passed.includes("a writer that has not seen another's append is refused"));
    assert.ok(
      kv.passed.includes("a writer of a journal that was deleted is refused, and the key begins anew"),
    );
  } finally {
    await worker.dispose();
  }
});

const printed = (file) => examples.find(({ name }) => name === `cron-and-d1/${file}`).code;

/** Starts a printed Worker whose model `answer` is, as `{ flare, sweep }`. Its D1 and KV are in `persist`. */
async function startPrinted(file, more, answer) {
  writeFileSync(join(installed.folder, file), printed(file));
  const { compatibility_date } = JSON.parse(printed("wrangler.jsonc"));
  const flare = await restartWorkerd(installed.folder, file, compatibility_date, {
    ...more,
    bindings: { ANTHROPIC_API_KEY: "key" },
    unsafeTriggerHandlers: true,
    outboundService: async (request) => answer(request.headers.get("x-api-key"), await request.json()),
  });
  const sweep = async (time) => {
    const address = `http://agent.test/cdn-cgi/handler/scheduled${time ? `?time=${time}` : ""}`;
    assert.equal(await (await flare.dispatchFetch(address)).text(), "ok");
  };
  return { flare, sweep };
}

/** The answer of a model to a request of `looplet`, as the practice provider makes it. */
async function practised(text) {
  const { scripted } = await import(
    pathToFileURL(join(installed.folder, "node_modules/looplet/dist/practice.js")).href
  );
  const answer = await scripted([{ text }], { delayMs: 0 })("https://api.anthropic.com/v1/messages", {
    method: "POST",
    body: JSON.stringify({ model: "claude-sonnet-4-6", messages: [] }),
  });
  return new Response(await answer.text(), { headers: Object.fromEntries(answer.headers) });
}

const DAY_MS = 24 * 60 * 60_000;

test("the Worker of the documentation finishes by cron a run whose process was killed", async () => {
  const persist = mkdtempSync(join(tmpdir(), "looplet-cron-"));
  const { d1_databases, kv_namespaces, triggers } = JSON.parse(printed("wrangler.jsonc"));
  assert.deepEqual(triggers, { crons: ["* * * * *"] });
  const options = {
    d1Databases: d1_databases.map(({ binding }) => binding),
    kvNamespaces: kv_namespaces.map(({ binding }) => binding),
    d1Persist: join(persist, "d1"),
    kvPersist: join(persist, "kv"),
  };
  const keys = [];
  let asked;
  const isAsked = new Promise((resolve) => (asked = resolve));
  const first = await startPrinted("worker.ts", options, (key) => {
    keys.push(key);
    asked();
    return new Promise(() => {});
  });
  let next;
  try {
    const begun = await first.flare.dispatchFetch("http://agent.test/order-1", {
      method: "POST",
      body: "Pay.",
    });
    assert.equal(begun.status, 202);
    await isAsked;
    for (const id of workerds()) process.kill(id, "SIGKILL");
    next = await startPrinted("worker.ts", options, (key) => {
      keys.push(key);
      return practised("Paid.");
    });
    const { flare, sweep } = next;
    const get = () => flare.dispatchFetch("http://agent.test/order-1");
    // The first process may still have the run, so nobody takes it.
    await sweep();
    assert.deepEqual([(await get()).status, keys.length], [202, 1]);
    const database = await flare.getD1Database("DB");
    await database.exec("UPDATE looplet_leases SET expires_ms = 0");
    await sweep();
    let answer = await get();
    for (; answer.status === 202; answer = await get())
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(await answer.text(), "Paid.");
    // What has ended is not begun again, by no sweep and by no second request.
    await sweep();
    await flare.dispatchFetch("http://agent.test/order-1", { method: "POST", body: "Pay." });
    assert.deepEqual(keys, ["key", "key"]);
  } finally {
    await next?.flare.dispose();
    await first.flare.dispose().catch(() => {});
    rmSync(persist, { recursive: true, force: true });
  }
});

test("the digest of the documentation asks its model once a day, with KV alone", async () => {
  let asked = 0;
  const { flare, sweep } = await startPrinted("digest.ts", { kvNamespaces: ["RUNS"] }, () => {
    asked++;
    return practised("Nothing happened.");
  });
  try {
    for (const time of [0, 20 * 60_000, DAY_MS, DAY_MS + 20 * 60_000])
      await sweep(Date.UTC(2026, 0, 5, 6) + time);
    assert.equal(asked, 2);
  } finally {
    await flare.dispose();
  }
});

test("SQLite keeps the contract in Node, also between processes", async () => {
  const { folder } = installed;
  const opened = `
    import { DatabaseSync } from "node:sqlite";
    import { sqliteStore } from "looplet/stores";
    const open = () => {
      const database = new DatabaseSync("runs.db", { timeout: 10_000 });
      database.exec("PRAGMA journal_mode = WAL");
      return sqliteStore(database);
    };`;
  const checker = `${opened}
    import * as looplet from "looplet";
    import { fileStore } from "looplet/stores/node";
    import { checkKills } from "./store-kills.mjs";
    import { checkStore } from "looplet/testing";
    import { sqliteDatabase } from "looplet/stores";
    import { sqlTraceStore } from "looplet/trace";
    import { traceAnswers } from "./trace-answers.mjs";
    const { passed, skipped } = await checkStore(open);
    const database = sqliteDatabase(new DatabaseSync(":memory:"));
    console.log(passed.length > 20, skipped.length, await traceAnswers(() => sqlTraceStore(database)));
    const runs = new DatabaseSync(":memory:");
    console.log(await checkKills(looplet, (now) => sqliteStore(runs, { now })));
    console.log(await checkKills(looplet, (now) => fileStore("killed", { now })));`;
  const writer = `${opened}
    const store = open();
    const mine = [];
    for (let round = 0; round < 40; round++) {
      const last = (await store.load("x")).length;
      const entry = { seq: last + 1, json: JSON.stringify({ by: process.pid }) };
      await store.append("x", [entry], last).then(
        () => mine.push(last + 1),
        (error) => {
          if (error.name !== "StoreConflict") throw error;
        },
      );
    }
    console.log(JSON.stringify(mine));`;
  writeFileSync(join(folder, "checker.mjs"), checker);
  writeFileSync(join(folder, "writer.mjs"), writer);
  const [checked, ...cases] = (await run(process.execPath, ["checker.mjs"], folder)).trim().split("\n");
  assert.equal(checked, `true 0 ${traceAnswers}`);
  assert.equal(cases.length, 2);
  cases.forEach(assertKills);
  const told = await Promise.all(
    Array.from({ length: 4 }, () => run(process.execPath, ["writer.mjs"], folder)),
  );
  const claimed = told.flatMap((text) => JSON.parse(text)).sort((one, other) => one - other);
  assert.deepEqual(
    claimed,
    claimed.map((_, at) => at + 1),
    "each entry has one writer",
  );
});

const denoPath = process.env.LOOPLET_DENO;

test("Deno KV keeps the contract in Deno", { skip: !denoPath && "no Deno" }, async () => {
  const checker = `
    import * as looplet from "looplet";
    import { checkKills } from "./store-kills.mjs";
    import { checkStore } from "looplet/testing";
    import { denoKvStore } from "looplet/stores";
    const kv = await Deno.openKv(":memory:");
    const { passed, skipped } = await checkStore(() => denoKvStore(kv));
    console.log(passed.length > 20, skipped.length);
    console.log(await checkKills(looplet, (now) => denoKvStore(kv, { now })));
    kv.close();`;
  writeFileSync(join(installed.folder, "deno-kv.mjs"), checker);
  const args = ["run", "--unstable-kv", "--allow-read", "--allow-env", "deno-kv.mjs"];
  const [checked, cases] = (await run(denoPath, args, installed.folder)).trim().split("\n");
  assert.equal(checked, "true 0");
  assertKills(cases);
});

const contender = `
import { fileStore } from "looplet/stores/node";
const [folder, rounds] = process.argv.slice(2);
const store = fileStore(folder);
const mine = [];
const entry = (seq) => ({ seq, json: JSON.stringify({ seq, by: process.pid }) });
for (let round = 0; round < Number(rounds); round++) {
  const last = (await store.load("plain")).length;
  await store.append("plain", [entry(last + 1)], last).then(
    () => mine.push("plain " + (last + 1)),
    (error) => {
      if (error.name !== "StoreConflict" && !error.message.includes("whole")) throw error;
    },
  );
  // A lease of no time, so that others may take the run in the middle of what this process does with it.
  const lease = await store.lease("leased", { holder: String(process.pid), ttlMs: round % 2 ? 0 : 600_000 });
  if (lease === undefined) continue;
  const after = (await store.load("leased")).length;
  await store.append("leased", [entry(after + 1)], after, lease.fence).then(
    () => mine.push("leased " + (after + 1)),
    (error) => {
      if (error.name !== "StoreConflict" && !error.message.includes("whole")) throw error;
    },
  );
  await lease.release(true);
}
console.log(JSON.stringify(mine));
`;

test("processes that fight for one file lose nothing, and each knows what it has written", async () => {
  const { folder } = installed;
  writeFileSync(join(folder, "contender.mjs"), contender);
  const journals = join(folder, "journals");
  mkdirSync(journals);
  const told = await Promise.all(
    Array.from({ length: 6 }, () => run("node", ["contender.mjs", journals, "40"], folder)),
  );
  const claimed = told.flatMap((text) => JSON.parse(text));
  const reader = `
    import { fileStore } from "looplet/stores/node";
    const store = fileStore(process.argv[2]);
    const kept = [];
    for (const key of ["plain", "leased"])
      for (const [index, { seq }] of (await store.load(key)).entries())
        kept.push(key + " " + (seq === index + 1 ? seq : "gap"));
    console.log(JSON.stringify(kept));`;
  writeFileSync(join(folder, "reader.mjs"), reader);
  const kept = JSON.parse(await run("node", ["reader.mjs", journals], folder));
  assert.ok(claimed.length > 40);
  assert.equal(new Set(claimed).size, claimed.length, "two processes claim one entry");
  // A process that loses its lease between its write and its look at it takes the write for lost.
  const unclaimed = kept.filter((entry) => !claimed.includes(entry));
  assert.deepEqual(
    claimed.filter((entry) => !kept.includes(entry)),
    [],
  );
  assert.ok(!kept.some((entry) => entry.includes("gap")));
  assert.ok(
    unclaimed.every((entry) => entry.startsWith("leased")),
    `${unclaimed}`,
  );
});

test("the lease of a process that was killed is free at once", async () => {
  const { folder } = installed;
  const holder = `
    import { fileStore } from "looplet/stores/node";
    await fileStore("held").lease("x", { holder: "first", ttlMs: 600_000 });
    console.log("held");
    setInterval(() => {}, 1000);`;
  const finder = `
    import { fileStore } from "looplet/stores/node";
    console.log(JSON.stringify(await fileStore("held").pending()));`;
  writeFileSync(join(folder, "holder.mjs"), holder);
  writeFileSync(join(folder, "finder.mjs"), finder);
  const child = spawn("node", ["holder.mjs"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  assert.equal((await run("node", ["finder.mjs"], folder)).trim(), "[]");
  child.kill("SIGKILL");
  await ended;
  assert.equal((await run("node", ["finder.mjs"], folder)).trim(), '["x"]');
});

test("a process picks up the run of one that was killed, and knows no id", async () => {
  const { folder } = installed;
  copyFileSync(join(here, "durable-run.mjs"), join(folder, "durable-run.mjs"));
  const common = `
    import * as looplet from "looplet";
    import { fileStore } from "looplet/stores/node";
    import { payingAgent, told } from "./durable-run.mjs";
    const effects = { has: () => false, add: () => {} };
    const store = fileStore("picked-up");`;
  const worker = `${common}
    const onHold = () => run.saved().then(() => console.log("held"));
    const run = payingAgent(looplet, { store, effects, hold: "before", onHold }).run("Pay.");
    setInterval(() => {}, 1000);`;
  const successor = `${common}
    const runs = await payingAgent(looplet, { store, effects }).resumePending();
    for (const run of runs) console.log(told(await run.result)), await run.saved();
    console.log(runs.length, (await store.pending()).length);`;
  writeFileSync(join(folder, "worker.mjs"), worker);
  writeFileSync(join(folder, "successor.mjs"), successor);
  const child = spawn("node", ["worker.mjs"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  assert.equal((await run("node", ["successor.mjs"], folder)).trim(), "0 0");
  child.kill("SIGKILL");
  await ended;
  assert.equal((await run("node", ["successor.mjs"], folder)).trim(), `${expected}\n1 0`);
  assert.equal((await run("node", ["successor.mjs"], folder)).trim(), "0 0");
});
