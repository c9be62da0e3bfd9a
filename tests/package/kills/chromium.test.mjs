// Pages in Chromium whose tab is closed or whose renderer crashes, with a store in IndexedDB. LOOPLET_SEED asks for
// other moments, LOOPLET_KILLS for another number of deaths: a tenth of it.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { installPacked } from "../install.mjs";
import { browse, writePage } from "../page.mjs";
import { KILLS, LEASE_IS_OUT_MS, World, freezeAtRandom, killAtRandom } from "./world.mjs";

const executablePath = process.env.LOOPLET_CHROMIUM;

// What `localStorage` has of the time lets leases run out, for a page that stood still and for its successor.
const script = `
import * as looplet from "looplet";
import { indexedDbStore } from "looplet/stores";
import { checkTranscript } from "looplet/transcript";
import { live } from "../killed-run.mjs";
const now = () => Date.now() + Number(localStorage.passed ?? 0);
const clock = { now, setTimer: (...given) => setTimeout(...given), clearTimer: (timer) => clearTimeout(timer) };
const store = indexedDbStore({ persist: false, now });
await live({ ...looplet, checkTranscript }, { url: location.search.slice(1), store, clock });
`;

let installed;
before(async () => {
  if (!executablePath) return;
  installed = await installPacked();
  const { folder } = installed;
  copyFileSync(new URL("killed-run.mjs", import.meta.url), join(folder, "killed-run.mjs"));
  writePage(folder, "killed");
  await esbuild.build({
    stdin: { contents: script, resolveDir: join(folder, "killed"), loader: "js" },
    bundle: true,
    format: "esm",
    outfile: join(folder, "killed/main.js"),
    logLevel: "error",
  });
});
after(() => installed?.remove());

const deaths = [
  (page) => page.close(),
  async (page) => {
    const crashed = page.waitForEvent("crash");
    const session = await page.context().newCDPSession(page);
    session.send("Page.crash").catch(() => {});
    await crashed;
    await page.close();
  },
];

/** Tests with pages that have a profile of their own in each world. */
const inChromium = (name, count, tests) =>
  test(name, { skip: !executablePath && "no Chromium" }, (context) => {
    let current;
    const hear = (request, response) => current.hear(request, response);
    const options = { folder: installed.folder, path: "/main.mjs", others: { "/life": hear } };
    return browse(options, (empty) =>
      tests(context, "Chromium", count, async (use) => {
        current = new World();
        const profile = await empty.context().browser().newContext();
        const beside = await profile.newPage();
        await beside.goto(empty.url());
        const begin = async ({ path, fail }) => {
          const page = await profile.newPage();
          page.on("pageerror", fail);
          await page.goto(new URL(`/killed/?${path}`, empty.url()).href);
          const kill = () => deaths[current.lives.length % deaths.length](page);
          return Object.assign(kill, stillness(await profile.newCDPSession(page), beside));
        };
        const pass = () =>
          beside.evaluate((ms) => localStorage.setItem("passed", String(ms)), LEASE_IS_OUT_MS);
        await use(current, begin, pass);
        await profile.close();
      }),
    );
  });

/**
 * The debugger stops a page before its next statement, in whatever task, but not in the middle of a transaction: it
 * would stop the page's successor too. A browser freezes no such page.
 */
const stillness = (session, beside) => ({
  async standStill() {
    await session.send("Debugger.enable");
    for (;;) {
      await session.send("Debugger.pause");
      if (await beside.evaluate(canWrite)) return;
      await session.send("Debugger.resume").catch(() => {});
    }
  },
  wake: () => session.send("Debugger.disable"),
});

/** Runs in a page. Returns false if another page keeps the database locked. */
async function canWrite() {
  const all = await indexedDB.databases();
  if (!all.some(({ name }) => name === "looplet")) return true;
  const happens = (target, type) => new Promise((resolve) => target.addEventListener(type, resolve));
  const opening = indexedDB.open("looplet");
  await happens(opening, "success");
  const database = opening.result;
  const transaction = database.transaction([...database.objectStoreNames], "readwrite");
  const isDone = await Promise.race([
    happens(transaction, "complete").then(() => true),
    new Promise((resolve) => setTimeout(resolve, 500, false)),
  ]);
  database.close();
  return isDone;
}

inChromium("a run in a page survives the deaths of its tabs", Math.ceil(KILLS / 10), killAtRandom);
inChromium(
  "a page that stood still makes no call that its successor has made",
  Math.ceil(KILLS / 5),
  freezeAtRandom,
);
