// Runs and chats that survive: a Durable Object whose workerd is killed. `kills` kills it at random steps.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { expected, expectedChat, moments } from "./durable-run.mjs";
import { here, installPacked } from "./install.mjs";
import { restartWorkerd, startWorkerd, workerds } from "./workerd.mjs";

let installed;
before(async () => {
  installed = await installPacked();
  copyFileSync(join(here, "durable-run.mjs"), join(installed.folder, "durable-run.mjs"));
});
after(() => installed?.remove());

const worker = `
import * as looplet from "looplet";
import { durableObjectStore } from "looplet/stores";
import { converse, payingAgent, told } from "./durable-run.mjs";

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
    if (pathname === "/chat") return new Response(await converse(agent));
    const run = pathname === "/run" ? agent.run("Pay.", { id: "order" }) : agent.resume("order");
    return new Response(told(await run.result));
  }
}
export default {
  fetch: (request, { RUNNER }) => RUNNER.get(RUNNER.idFromName("one")).fetch(request),
};`;

const kinds = [
  { kind: "run", begin: "/run", goOn: "/resume", end: expected },
  { kind: "chat", begin: "/chat", goOn: "/chat", end: expectedChat },
];
for (const { kind, begin, goOn, end } of kinds)
  for (const moment of moments) {
    test(`a Durable Object goes on with its ${kind} when its process is killed at the moment "${moment}"`, async () => {
      const persist = mkdtempSync(join(tmpdir(), "looplet-object-"));
      const options = {
        durableObjects: { RUNNER: { className: "Runner", useSQLite: true } },
        durableObjectsPersist: persist,
      };
      writeFileSync(join(installed.folder, "object.mjs"), worker);
      const known = new Set(workerds());
      const first = await startWorkerd(installed.folder, "object.mjs", undefined, options);
      let second;
      try {
        await first.ready;
        const mine = workerds().filter((pid) => !known.has(pid));
        assert.equal(mine.length, 1);
        first.dispatchFetch(`http://object.test${begin}?hold=${moment}`).catch(() => {});
        const state = async () => (await first.dispatchFetch("http://object.test/state")).json();
        let now = await state();
        while (!now.isHeld) now = await state();
        assert.equal(now.effects.length, moment === "after" ? 1 : 0);
        process.kill(mine[0], "SIGKILL");
        second = await restartWorkerd(installed.folder, "object.mjs", undefined, options);
        const response = await second.dispatchFetch(`http://object.test${goOn}`);
        assert.equal(await response.text(), end);
        const { effects } = await (await second.dispatchFetch("http://object.test/state")).json();
        assert.deepEqual(effects, [{ id: "b" }]);
      } finally {
        await first.dispose().catch(() => {});
        await second?.dispose();
        rmSync(persist, { recursive: true, force: true });
      }
    });
  }
