// A Durable Object whose workerd is killed, between its effects and during them. LOOPLET_SEED asks for other moments,
// LOOPLET_KILLS for another number of deaths: a tenth of it.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { installPacked } from "../install.mjs";
import { restartWorkerd, workerds } from "../workerd.mjs";
import { KILLS, World, killAtRandom, serve } from "./world.mjs";

const worker = `
import * as looplet from "looplet";
import { durableObjectStore } from "looplet/stores";
import { checkTranscript } from "looplet/transcript";
import { live } from "./killed-run.mjs";

export class Runner {
  constructor({ storage }) {
    this.storage = storage;
  }
  async fetch(request) {
    const url = await request.text();
    await live({ ...looplet, checkTranscript }, { url, store: durableObjectStore(this.storage) });
    return new Response();
  }
}
export default {
  fetch: (request, { RUNNER }) => RUNNER.get(RUNNER.idFromName("one")).fetch(request),
};`;

let installed, server, current;
before(async () => {
  installed = await installPacked();
  copyFileSync(new URL("killed-run.mjs", import.meta.url), join(installed.folder, "killed-run.mjs"));
  writeFileSync(join(installed.folder, "killed.mjs"), worker);
  server = await serve(() => current.hear);
});
after(() => {
  server?.close();
  installed?.remove();
});

test("a run in a Durable Object survives the deaths of its workerd", (context) =>
  killAtRandom(context, "workerd", Math.ceil(KILLS / 10), async (use) => {
    const durableObjectsPersist = mkdtempSync(join(installed.folder, "world-"));
    current = new World();
    await use(current, async ({ path, fail }) => {
      const known = new Set(workerds());
      const object = await restartWorkerd(installed.folder, "killed.mjs", undefined, {
        durableObjects: { RUNNER: { className: "Runner", useSQLite: true } },
        durableObjectsPersist,
      });
      const mine = workerds().filter((pid) => !known.has(pid));
      assert.equal(mine.length, 1);
      object
        .dispatchFetch("http://object.test/", { method: "POST", body: server.url + path })
        .then((response) => response.ok || response.text().then((text) => fail(new Error(text))), fail);
      return async () => {
        process.kill(mine[0], "SIGKILL");
        await object.dispose().catch(() => {});
      };
    });
    rmSync(durableObjectsPersist, { recursive: true, force: true });
  }));
