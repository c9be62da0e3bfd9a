// A Durable Object whose process is killed at random moments, between its effects and during them. LOOPLET_SEED asks for
// other moments, LOOPLET_KILLS for another number of kills.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { seeded } from "../../../bench/random.mjs";
import { expected } from "../durable-run.mjs";
import { here, installPacked, restartWorkerd, workerds } from "../install.mjs";

const KILLS = Number(process.env.LOOPLET_KILLS || 30);
const SEED = Number(process.env.LOOPLET_SEED || 1);

let installed;
before(async () => {
  installed = await installPacked();
  copyFileSync(join(here, "durable-run.mjs"), join(installed.folder, "durable-run.mjs"));
  writeFileSync(join(installed.folder, "killed.mjs"), worker);
});
after(() => installed?.remove());

/** The object hangs at its step number `cut`: before and after each request, effect, look at an effect, and save. */
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
    if (pathname === "/state") {
      return Response.json({ heldAt: this.heldAt, effects: sql.exec("SELECT id FROM effects").toArray() });
    }
    const cut = Number(searchParams.get("cut"));
    let steps = 0;
    const step = async (name) => {
      if (steps++ !== cut) return;
      this.heldAt = name;
      await new Promise(() => {});
    };
    const around = (name, call) => async (...given) => {
      await step("before " + name);
      const result = await call(...given);
      await step("after " + name);
      return result;
    };
    const effects = {
      has: around("look", (id) => sql.exec("SELECT id FROM effects WHERE id = ?", id).toArray().length > 0),
      add: around("effect", async (id) => {
        sql.exec("INSERT INTO effects VALUES (?)", id);
        await step("in effect");
        await this.storage.sync();
      }),
    };
    const kept = durableObjectStore(this.storage);
    const store = { load: (key) => kept.load(key), append: around("save", (...given) => kept.append(...given)) };
    const custom = (answer) => looplet.custom(around("request", answer));
    const agent = payingAgent({ ...looplet, custom }, { store, effects });
    const isBegun = (await store.load("order"))?.length > 0;
    const run = isBegun ? agent.resume("order") : agent.run("Pay.", { id: "order" });
    const result = told(await run.result);
    await run.saved();
    return Response.json({ result, steps });
  }
}
export default {
  fetch: (request, { RUNNER }) => RUNNER.get(RUNNER.idFromName("one")).fetch(request),
};`;

/** One process, which is killed if it hangs at the step `cut`: its end, or the name of that step. */
async function live(persist, cut) {
  const known = new Set(workerds());
  const object = await restartWorkerd(installed.folder, "killed.mjs", undefined, {
    durableObjects: { RUNNER: { className: "Runner", useSQLite: true } },
    durableObjectsPersist: persist,
  });
  try {
    await object.ready;
    const mine = workerds().filter((pid) => !known.has(pid));
    assert.equal(mine.length, 1);
    const state = async () => (await object.dispatchFetch("http://object.test/state")).json();
    let end;
    const response = object.dispatchFetch(`http://object.test/run?cut=${cut}`);
    response.then(async (response) => (end = await response.json())).catch(() => {});
    for (;;) {
      const { heldAt, effects } = await state();
      if (end !== undefined) return { ...end, effects };
      if (heldAt === undefined) continue;
      process.kill(mine[0], "SIGKILL");
      return { heldAt };
    }
  } finally {
    await object.dispose().catch(() => {});
  }
}

test(`a Durable Object goes on when its process is killed at ${KILLS} random steps`, async (context) => {
  context.diagnostic(`LOOPLET_SEED=${SEED}`);
  const random = seeded(SEED);
  const inFolder = async (use) => {
    const persist = mkdtempSync(join(tmpdir(), "looplet-kills-"));
    try {
      return await use(persist);
    } finally {
      rmSync(persist, { recursive: true, force: true });
    }
  };
  const { steps } = await inFolder((persist) => live(persist, -1));
  assert.ok(steps > 15, String(steps));
  const seen = new Set();
  for (let kills = 0; kills < KILLS;) {
    await inFolder(async (persist) => {
      const where = [];
      // A third kill in a row without progress would stop the run.
      let end = {};
      for (const cut of [random.between(0, steps - 1), random.between(0, steps / 2), -1]) {
        if (end.result !== undefined) break;
        end = await live(persist, cut);
        if (end.heldAt === undefined) continue;
        where.push(`${cut} (${end.heldAt})`);
        seen.add(end.heldAt);
        kills += 1;
      }
      const message = `LOOPLET_SEED=${SEED}, killed at ${where.join(" and ")}`;
      assert.equal(end.result, expected, message);
      assert.deepEqual(end.effects, [{ id: "b" }], message);
    });
  }
  context.diagnostic(`killed ${[...seen].sort().join(", ")}`);
  assert.ok(seen.size > Math.min(5, KILLS / 3));
});
