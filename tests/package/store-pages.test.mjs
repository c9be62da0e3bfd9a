// The contracts of stores and files in Chromium: IndexedDB and OPFS, between tabs too.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { browse, writePage } from "./page.mjs";
import { assertKills, installWithModules, traceAnswers } from "./store-kit.mjs";

const browserPath = process.env.LOOPLET_CHROMIUM;
const inPage = { skip: !browserPath && "no Chromium" };

let installed;
before(async () => {
  installed = await installWithModules();
});
after(() => installed?.remove());

const script = `
import * as looplet from "looplet";
import { indexedDbStore, opfsStore } from "looplet/stores";
import { checkKills } from "../store-kills.mjs";
import { checkStore, checkVfs } from "looplet/testing";
import { indexedDbTraceStore } from "looplet/trace";
import { opfsVfs } from "looplet/vfs";
import { traceAnswers } from "../trace-answers.mjs";
globalThis.checkFiles = async () => checkVfs(opfsVfs()).catch(String);
globalThis.check = () => checkStore(() => indexedDbStore({ name: "checked" })).catch(String);
globalThis.checkOpfs = () => checkStore(() => opfsStore({ name: "checked" })).catch(String);
globalThis.killIndexedDb = () => checkKills(looplet, (now) => indexedDbStore({ name: "killed", now })).catch(String);
globalThis.killOpfs = () => checkKills(looplet, (now) => opfsStore({ name: "killed", now })).catch(String);
globalThis.checkTrace = () => traceAnswers(() => indexedDbTraceStore()).catch(String);
globalThis.indexedDbStore = indexedDbStore;
globalThis.takeOpfs = async (holder, key = "x") => (await opfsStore().lease(key, { holder, ttlMs: 600_000 }))?.fence;
globalThis.pendingOpfs = () => opfsStore().pending();
globalThis.store = indexedDbStore();
globalThis.take = async (holder, key = "x") => (await store.lease(key, { holder, ttlMs: 600_000 }))?.fence;
document.title = "ready";
`;

async function storePage() {
  const { folder } = installed;
  writePage(folder, "stores");
  await esbuild.build({
    stdin: { contents: script, resolveDir: join(folder, "stores"), loader: "js" },
    bundle: true,
    format: "esm",
    outfile: join(folder, "stores/main.js"),
    logLevel: "error",
  });
  return { folder, path: "/stores/" };
}

const ready = (page) => page.waitForFunction(() => document.title === "ready");

test("IndexedDB keeps the contract in Chromium", inPage, async () => {
  await browse(await storePage(), async (page, errors) => {
    await ready(page);
    const verdict = await page.evaluate(() => globalThis.check());
    assert.deepEqual(verdict.skipped, [], `${JSON.stringify(verdict)} ${errors}`);
    assert.ok(verdict.passed.includes("of many processes that ask at the same moment one gets the lease"));
    assert.equal(await page.evaluate(() => globalThis.checkTrace()), traceAnswers);
    assertKills(await page.evaluate(() => globalThis.killIndexedDb()));
  });
});

test(
  "journals in OPFS keep the contract in Chromium, and a tab's lease ends with the tab",
  inPage,
  async () => {
    await browse(await storePage(), async (page, errors) => {
      await ready(page);
      const verdict = await page.evaluate(() => globalThis.checkOpfs());
      assert.deepEqual(verdict.skipped, [], `${JSON.stringify(verdict)} ${errors}`);
      assertKills(await page.evaluate(() => globalThis.killOpfs()));
      const context = await page.context().browser().newContext();
      const [first, second] = [await context.newPage(), await context.newPage()];
      for (const tab of [first, second]) {
        await tab.goto(page.url());
        await ready(tab);
      }
      assert.equal(await first.evaluate(() => globalThis.takeOpfs("first")), 1);
      assert.equal(await second.evaluate(() => globalThis.takeOpfs("second")), undefined);
      assert.deepEqual(await second.evaluate(() => globalThis.pendingOpfs()), []);
      await first.close();
      // A browser may let go of a tab's locks shortly after the tab is closed.
      await second.waitForFunction(async () => (await globalThis.pendingOpfs()).join() === "x");
      assert.equal(await second.evaluate(() => globalThis.takeOpfs("second")), 2);
    });
  },
);

test("files of OPFS keep the contract in Chromium", inPage, async () => {
  await browse(await storePage(), async (page, errors) => {
    await ready(page);
    const verdict = await page.evaluate(() => globalThis.checkFiles());
    assert.equal(verdict.length, 6, `${JSON.stringify(verdict)} ${errors}`);
  });
});

test("a tab's lease ends with the tab, at once", inPage, async () => {
  await browse(await storePage(), async (page) => {
    // Two tabs of one browser, which share what they store.
    const context = await page.context().browser().newContext();
    const [first, second] = [await context.newPage(), await context.newPage()];
    for (const tab of [first, second]) {
      await tab.goto(page.url());
      await ready(tab);
    }
    assert.equal(await first.evaluate(() => globalThis.take("first")), 1);
    await second.evaluate(() => globalThis.store.append("x", [{ seq: 1, json: "{}" }], 0, 1));
    assert.deepEqual(await second.evaluate(() => globalThis.store.pending()), []);
    assert.equal(await second.evaluate(() => globalThis.take("second")), undefined);
    // A page that is reloaded goes on with its own run.
    await first.reload();
    await ready(first);
    assert.equal(await first.evaluate(() => globalThis.take("first again")), 2);
    assert.equal(await second.evaluate(() => globalThis.take("second")), undefined);
    await first.close();
    assert.equal(await second.evaluate(() => globalThis.take("second")), 3);
    const late = () => globalThis.store.append("x", [{ seq: 2, json: "{}" }], 1, 2).catch(({ name }) => name);
    assert.equal(await second.evaluate(late), "StoreConflict");
  });
});

test("a tab takes more leases while another tab asks whether it is there", inPage, async () => {
  await browse(await storePage(), async (page) => {
    const context = await page.context().browser().newContext();
    const [first, second] = [await context.newPage(), await context.newPage()];
    for (const tab of [first, second]) {
      await tab.goto(page.url());
      await ready(tab);
    }
    for (const take of ["take", "takeOpfs"]) {
      assert.equal(await first.evaluate((take) => globalThis[take]("first"), take), 1);
      const asked = second.evaluate((take) => globalThis[take]("second"), take);
      await first.evaluate((take) => {
        globalThis.taken = 0;
        for (let n = 0; n < 20; n++)
          setTimeout(() => globalThis[take]("first", `y${n}`).then(() => globalThis.taken++), n * 30);
      }, take);
      assert.equal(await asked, undefined);
      await first.waitForFunction(() => globalThis.taken === 20);
    }
    await context.close();
  });
});

test("the browser is asked once to keep what a page has stored", inPage, async () => {
  await browse(await storePage(), async (page) => {
    await ready(page);
    const told = await page.evaluate(async () => {
      let asked = 0;
      let answer = true;
      navigator.storage.persist = async () => (asked++, answer);
      navigator.storage.persisted = async () => false;
      const write = (store, key) => store.append(key, [{ seq: 1, json: "{}" }], 0);
      const store = globalThis.indexedDbStore();
      const before = asked;
      await write(store, "a");
      await write(store, "b");
      const answers = [await store.persisted];
      answer = false;
      answers.push(await store.persisted, await globalThis.indexedDbStore().persisted);
      const silent = globalThis.indexedDbStore({ persist: false });
      await write(silent, "c");
      answers.push(await silent.persisted);
      navigator.storage.persisted = async () => true;
      answers.push(await globalThis.indexedDbStore({ persist: false }).persisted);
      navigator.storage.persisted = async () => Promise.reject(new Error("not here"));
      answers.push(await globalThis.indexedDbStore().persisted);
      return { before, asked, answers };
    });
    const answers = [true, true, false, false, true, false];
    assert.deepEqual(told, { before: 0, asked: 2, answers });
  });
});

test(
  "a database of before there were leases is taken over, also from a page that has it open",
  inPage,
  async () => {
    await browse(await storePage(), async (page) => {
      await ready(page);
      const entries = await page.evaluate(async () => {
        const old = indexedDB.open("looplet", 1);
        old.onupgradeneeded = () => old.result.createObjectStore("entries", { keyPath: ["key", "seq"] });
        const database = await new Promise((resolve) => (old.onsuccess = () => resolve(old.result)));
        const transaction = database.transaction("entries", "readwrite");
        transaction.objectStore("entries").put({ key: "old", seq: 1, json: "{}" });
        await new Promise((resolve) => (transaction.oncomplete = resolve));
        database.onversionchange = () => database.close();
        await globalThis.take("first");
        return globalThis.store.load("old");
      });
      assert.deepEqual(entries, [{ seq: 1, json: "{}" }]);
    });
  },
);
