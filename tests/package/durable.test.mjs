// Runs that survive: a Durable Object whose workerd is killed, and a page that is reloaded in the middle of a run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";
import { expected, moments } from "./durable-run.mjs";
import { here, installPacked, startWorkerd } from "./install.mjs";
import { browse, writePage } from "./page.mjs";

const browserPath = process.env.LOOPLET_CHROMIUM;

let installed;
before(async () => {
  installed = await installPacked();
  copyFileSync(join(here, "durable-run.mjs"), join(installed.folder, "durable-run.mjs"));
});
after(() => installed?.remove());

const worker = `
import * as looplet from "looplet";
import { durableObjectStore } from "looplet/stores";
import { payingAgent, told } from "./durable-run.mjs";

export class Runner {
  constructor({ storage }) {
    this.storage = storage;
    storage.sql.exec("CREATE TABLE IF NOT EXISTS effects (id TEXT)");
  }
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const { sql } = this.storage;
    const effects = {
      has: (id) => sql.exec("SELECT id FROM effects WHERE id = ?", id).toArray().length > 0,
      add: async (id) => {
        sql.exec("INSERT INTO effects VALUES (?)", id);
        await this.storage.sync();
      },
    };
    if (pathname === "/state") {
      return Response.json({ isHeld: this.isHeld === true, effects: sql.exec("SELECT id FROM effects").toArray() });
    }
    const store = durableObjectStore(this.storage);
    const onHold = () => (this.isHeld = true);
    const agent = payingAgent(looplet, { store, effects, hold: searchParams.get("hold"), onHold });
    const run = pathname === "/run" ? agent.run("Pay.", { id: "order" }) : agent.resume("order");
    return new Response(told(await run.result));
  }
}
export default {
  fetch: (request, { RUNNER }) => RUNNER.get(RUNNER.idFromName("one")).fetch(request),
};`;

/** The workerd processes that this process has started. */
function workerds() {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,comm="], { encoding: "utf8" });
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return rows.filter(([, parent, name]) => Number(parent) === process.pid && name.includes("workerd"));
}

for (const moment of moments) {
  test(`a Durable Object goes on when its process is killed at the moment "${moment}"`, async () => {
    const persist = mkdtempSync(join(tmpdir(), "looplet-object-"));
    const options = {
      durableObjects: { RUNNER: { className: "Runner", useSQLite: true } },
      durableObjectsPersist: persist,
    };
    writeFileSync(join(installed.folder, "object.mjs"), worker);
    const known = new Set(workerds().map(([pid]) => pid));
    const first = await startWorkerd(installed.folder, "object.mjs", undefined, options);
    let second;
    try {
      await first.ready;
      const mine = workerds().filter(([pid]) => !known.has(pid));
      assert.equal(mine.length, 1);
      first.dispatchFetch(`http://object.test/run?hold=${moment}`).catch(() => {});
      const state = async () => (await first.dispatchFetch("http://object.test/state")).json();
      let now = await state();
      while (!now.isHeld) now = await state();
      assert.equal(now.effects.length, moment === "after" ? 1 : 0);
      process.kill(Number(mine[0][0]), "SIGKILL");
      second = await startWorkerd(installed.folder, "object.mjs", undefined, options);
      const response = await second.dispatchFetch("http://object.test/resume");
      assert.equal(await response.text(), expected);
      const { effects } = await (await second.dispatchFetch("http://object.test/state")).json();
      assert.deepEqual(effects, [{ id: "b" }]);
    } finally {
      await first.dispose().catch(() => {});
      await second?.dispose();
      rmSync(persist, { recursive: true, force: true });
    }
  });
}

const script = `
import * as looplet from "looplet";
import { indexedDbStore } from "looplet/stores";
import { payingAgent, told } from "../durable-run.mjs";
const hold = new URLSearchParams(location.search).get("hold");
const effects = {
  has: (id) => localStorage.getItem(id) !== null,
  add: (id) => localStorage.setItem(id, Number(localStorage.getItem(id)) + 1),
};
// The page is left when the store has what came before. A run that has saved nothing yet cannot go on.
const onHold = () => run.saved().then(() => (document.title = "held"));
const agent = payingAgent(looplet, { store: indexedDbStore(), effects, hold, onHold });
const run = hold === "" ? agent.resume("order") : agent.run("Pay.", { id: "order" });
document.title = "done: " + told(await run.result) + " payments: " + localStorage.getItem("b");
`;

const inPage = { skip: !browserPath && "no Chromium" };

test("a page that is reloaded in the middle of a run goes on with it", inPage, async () => {
  const { folder } = installed;
  writePage(folder, "durable");
  await esbuild.build({
    stdin: { contents: script, resolveDir: join(folder, "durable"), loader: "js" },
    bundle: true,
    format: "esm",
    outfile: join(folder, "durable/main.js"),
    logLevel: "error",
  });
  const launch = () =>
    chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
  for (const moment of moments) {
    const path = `/durable/?hold=${moment}`;
    await browse({ folder, path, launch }, async (page, errors) => {
      const until = (isThere) =>
        page.waitForFunction(isThere).catch((error) => assert.fail(`${moment}: ${error} ${errors}`));
      await until(() => document.title === "held");
      const resumed = new URL(page.url());
      resumed.search = "?hold=";
      await page.goto(String(resumed));
      await until(() => document.title.startsWith("done: "));
      assert.equal(await page.title(), `done: ${expected} payments: 1`, moment);
    });
  }
});
