// The contract of stores in hosts that only the long suite has: Postgres, Bun's SQLite, and Firefox.
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { firefox } from "playwright-core";
import { here, installPacked, run } from "../install.mjs";
import { open, writePage } from "../page.mjs";
import { startWorkerd } from "../workerd.mjs";

const { LOOPLET_BUN, LOOPLET_FIREFOX, LOOPLET_PGLITE } = process.env;
let installed;
before(async () => {
  installed = await installPacked();
  for (const module of ["durable-run.mjs", "store-kills.mjs"])
    copyFileSync(join(here, module), join(installed.folder, module));
});
after(() => installed?.remove());

/** A script that checks the stores that `make` makes, and prints how many rules and how many faults they withstand. */
const checker = (imports, make) => `${imports}
import * as looplet from "looplet";
import { checkStore } from "looplet/testing";
import { checkKills } from "./store-kills.mjs";
const { passed, skipped } = await checkStore(() => ${make("{}")});
console.log(passed.length, skipped.length, await checkKills(looplet, (now) => ${make("{ now }")}));
process.exit(0);`;

const whole = /^2\d 0 [4-9]\d$/;

test("Postgres keeps the contract, in WebAssembly", async () => {
  const { folder } = installed;
  mkdirSync(join(folder, "node_modules/@electric-sql"), { recursive: true });
  symlinkSync(
    join(LOOPLET_PGLITE, "@electric-sql/pglite"),
    join(folder, "node_modules/@electric-sql/pglite"),
  );
  const imports = `
    import { PGlite } from "@electric-sql/pglite";
    import { sqlStore } from "looplet/stores";
    const database = new PGlite();
    const functions = {
      run: async (statement, values) => (await database.query(statement, values)).affectedRows,
      all: async (query, values) => (await database.query(query, values)).rows,
      placeholder: (index) => "$" + index,
    };`;
  writeFileSync(
    join(folder, "postgres.mjs"),
    checker(imports, (clock) => `sqlStore(functions, ${clock})`),
  );
  assert.match((await run(process.execPath, ["postgres.mjs"], folder)).trim(), whole);
});

test("Postgres keeps the rows of traces, and answers a dashboard's questions", async () => {
  const { folder } = installed;
  const script = `
    import { PGlite } from "@electric-sql/pglite";
    import { sqlTraceStore } from "looplet/trace";
    const database = new PGlite();
    const functions = {
      run: async (statement, values) => (await database.query(statement, values)).affectedRows,
      all: async (query, values) => (await database.query(query, values)).rows,
      placeholder: (index) => "$" + index,
    };
    const store = sqlTraceStore(functions, { dialect: "postgres" });
    const job_id = "00000000-0000-4000-8000-000000000001";
    const tool_calls = [{ name: "read", input_hash: "ab", ms: 3, ok: true }];
    const counts = { input_tokens: 1, output_tokens: null, cache_read: 0, cache_write: null };
    const ts = "2026-01-01T00:00:00.000Z";
    for (const [iter, stop_reason] of ["tool_use", "end_turn"].entries())
      await store.write({ job_id, iter, stop_reason, tool_calls, ...counts, ts });
    const [, { tool_calls: [call], ...last }] = await store.rows(job_id);
    const answers = [await store.maxItersPercent(), await store.iterationsToEndTurn()];
    console.log(JSON.stringify([last.iter, last.ts === ts, call.input_hash, answers]));
    process.exit(0);`;
  writeFileSync(join(folder, "postgres-trace.mjs"), script);
  const told = (await run(process.execPath, ["postgres-trace.mjs"], folder)).trim();
  assert.equal(told, JSON.stringify([1, true, "ab", [0, [{ iterations: 2, jobs: 1 }]]]));
});

test("SQLite of Bun keeps the contract", async () => {
  const { folder } = installed;
  const imports = `
    import { Database } from "bun:sqlite";
    import { sqliteStore } from "looplet/stores";
    const database = new Database("bun.db");`;
  writeFileSync(
    join(folder, "bun-sqlite.mjs"),
    checker(imports, (clock) => `sqliteStore(database, ${clock})`),
  );
  assert.match((await run(LOOPLET_BUN, ["bun-sqlite.mjs"], folder)).trim(), whole);
});

test(
  "IndexedDB and OPFS keep the contract in Firefox",
  { skip: !LOOPLET_FIREFOX && "no Firefox" },
  async () => {
    const { folder } = installed;
    writePage(folder, "stores");
    const contents = `
      import * as looplet from "looplet";
      import { indexedDbStore, opfsStore } from "looplet/stores";
      import { checkKills } from "../store-kills.mjs";
      import { checkStore } from "looplet/testing";
      const told = [];
      for (const make of [indexedDbStore, opfsStore]) {
        const { passed, skipped } = await checkStore(() => make({ name: "checked", persist: false }));
        const cases = await checkKills(looplet, (now) => make({ name: "killed", persist: false, now }));
        told.push(passed.length >= 20 && skipped.length === 0 && cases >= 40);
      }
      document.title = "done: " + told;`;
    await esbuild.build({
      stdin: { contents, resolveDir: join(folder, "stores"), loader: "js" },
      bundle: true,
      format: "esm",
      outfile: join(folder, "stores/main.js"),
      logLevel: "error",
    });
    const launch = () => firefox.launch({ channel: "moz-firefox", executablePath: LOOPLET_FIREFOX });
    assert.match(await open(folder, "/stores/", { launch }), /^done: true,true/);
  },
);

const largeWorker = `
import { kvStore } from "looplet/stores";
export default {
  async fetch(_, { KV }) {
    const large = [{ seq: 1, json: JSON.stringify("ü".repeat(14_000_000)) }];
    const store = kvStore(KV);
    await store.append("large", large, 0);
    const isWhole = (await store.load("large"))[0].json === large[0].json;
    await store.delete("large");
    return Response.json([isWhole, (await KV.list()).keys.length]);
  },
};`;

test("KV keeps an append of more than the 25 MiB that a value of it may have", async () => {
  const { folder } = installed;
  writeFileSync(join(folder, "large.mjs"), largeWorker);
  const worker = await startWorkerd(folder, "large.mjs", undefined, { kvNamespaces: ["KV"] });
  try {
    assert.deepEqual(await (await worker.dispatchFetch("http://stores.test/")).json(), [true, 0]);
  } finally {
    await worker.dispose();
  }
});
