// What the tests of stores share: the rows of a trace store, and the copies of modules that run in other hosts.
import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { here, installPacked } from "./install.mjs";

/** The installed package, with the modules of the tests beside it. */
export async function installWithModules() {
  const installed = await installPacked();
  writeFileSync(join(installed.folder, "trace-answers.mjs"), traceModule);
  for (const module of ["durable-run.mjs", "store-kills.mjs"])
    copyFileSync(join(here, module), join(installed.folder, module));
  return installed;
}

/** The cases of store-kills.mjs: four faults at each append. A slow store gets the entries in fewer appends. */
export const assertKills = (cases) => assert.ok(cases >= 40, `${cases}`);

/** What a place for the rows of traces answers after three jobs. */
const traceModule = `
export async function traceAnswers(make) {
  const job = (name, iterations, reason) => Array.from({ length: iterations }, (_, iter) => ({
    job_id: name,
    iter,
    stop_reason: iter + 1 === iterations ? reason : "tool_use",
    tool_calls: [{ name: "read", input_hash: "ab", ms: 3, ok: true }],
    input_tokens: 10, output_tokens: null, cache_read: 0, cache_write: null,
    ts: "2026-01-01T00:00:00.000Z",
  }));
  // In Postgres a job is a UUID.
  const id = (digit) => "00000000-0000-4000-8000-00000000000" + digit;
  const rows = [...job(id(1), 3, "end_turn"), ...job(id(2), 12, "max_iters"), ...job(id(3), 3, "end_turn"), ...job(id(4), 1, "end_turn")];
  const store = make();
  const before = [await store.maxItersPercent(), await store.iterationsToEndTurn()];
  for (const row of rows) await store.write(row);
  const again = make();
  const kept = JSON.stringify(await again.rows(id(3))) === JSON.stringify(job(id(3), 3, "end_turn"));
  const all = (await again.rows()).length;
  return JSON.stringify([before, kept, all, await again.maxItersPercent(), await again.iterationsToEndTurn()]);
}`;
export const traceAnswers = JSON.stringify([
  [0, []],
  true,
  19,
  25,
  [
    { iterations: 1, jobs: 1 },
    { iterations: 3, jobs: 2 },
  ],
]);
