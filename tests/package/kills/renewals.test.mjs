// Ordinary runs of a minute on files: many at the same time in a few processes, whose leases are renewed, and which
// others open meanwhile. LOOPLET_KILLS asks for another number of runs: two fifths of it.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { installPacked, run } from "../install.mjs";
import { KILLS } from "./world.mjs";

const PROCESSES = 4;
/** Leases are renewed every 30 seconds. */
const SECONDS = 60;

let installed;
before(async () => {
  installed = await installPacked();
  copyFileSync(new URL("renewing-life.mjs", import.meta.url), join(installed.folder, "renewing-life.mjs"));
});
after(() => installed?.remove());

test("runs whose leases are renewed end as if they were alone, whoever opens them meanwhile", async () => {
  const count = Math.max(PROCESSES, Math.ceil((KILLS * 2) / 5));
  const folder = mkdtempSync(join(installed.folder, "journals-"));
  const of = (place) => Math.floor((place * count) / PROCESSES);
  const lives = Array.from({ length: PROCESSES }, (_, place) => {
    const numbers = [of(place), of(place + 1), count, SECONDS].map(String);
    const limitMs = 5 * SECONDS * 1000;
    return run(process.execPath, ["renewing-life.mjs", folder, ...numbers], installed.folder, limitMs);
  });
  const seen = {};
  for (const text of await Promise.all(lives))
    for (const [end, times] of Object.entries(JSON.parse(text))) seen[end] = (seen[end] ?? 0) + times;
  console.log(
    `kills: files ${count} runs of ${SECONDS} s in ${PROCESSES} processes: ${JSON.stringify(seen)}`,
  );
  const { "run: completed": completed, "second opener: failed run_held": refused, ...others } = seen;
  assert.deepEqual([completed, others], [count, {}]);
  assert.ok(refused > 0);
  const module = pathToFileURL(join(installed.folder, "node_modules/looplet/dist/stores/node.js"));
  const { fileStore } = await import(module.href);
  const store = fileStore(folder);
  assert.deepEqual([await store.pending(), (await store.ended(0)).length], [[], count]);
});
