// Runs and chats that survive in Chromium: the page is reloaded, its tab is closed, its renderer crashes, its service
// worker ends.
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { expected, expectedChat, moments } from "./durable-run.mjs";
import { here, installPacked } from "./install.mjs";
import { browse, writePage } from "./page.mjs";

const executablePath = process.env.LOOPLET_CHROMIUM;
const inChromium = { skip: !executablePath && "no Chromium" };

/** Begins or resumes a run, or a chat. The effects happen on the server, which no kill reaches. */
const agentOf = `
import * as looplet from "looplet";
import { indexedDbStore } from "looplet/stores";
import { converse, payingAgent, told } from "../durable-run.mjs";
const effects = {
  has: async (id) => (await (await fetch("/effects/of/" + id)).json()) > 0,
  add: (id) => fetch("/effects/of/" + id, { method: "POST" }),
};
/** Begins or goes on, and gives the text that tells the end. */
export function begin(hold, kind, onHold) {
  // A run that has saved nothing yet cannot go on.
  const held = () => (kind === "chat" ? chat.current : run).saved().then(onHold);
  const agent = payingAgent(looplet, { store: indexedDbStore(), effects, hold, onHold: held });
  let chat;
  if (kind === "chat") return converse(agent, (opened) => (chat = opened));
  const run = hold === "" ? agent.resume("order") : agent.run("Pay.", { id: "order" });
  return run.result.then(told);
}
`;

const inPage = `${agentOf}
const { hold, kind } = Object.fromEntries(new URLSearchParams(location.search));
document.title = "done: " + (await begin(hold, kind, () => (document.title = "held")));
`;

/** The worker tells who it is, since a worker that is asked again may be another one. */
const inWorker = `${agentOf}
const born = String(Math.random());
self.onmessage = (event) => {
  const tell = (title) => event.source.postMessage({ born, title });
  event.waitUntil(begin(...event.data, () => tell("held")).then((text) => tell("done: " + text)));
};
self.onactivate = (event) => event.waitUntil(self.clients.claim());
`;

const inPageOfWorker = `
const { serviceWorker } = navigator;
serviceWorker.onmessage = ({ data }) => Object.assign(document, data);
await serviceWorker.register("worker.js");
const { active } = await serviceWorker.ready;
window.ask = (...how) => active.postMessage(how);
document.title = "ready";
`;

let installed;
before(async () => {
  if (!executablePath) return;
  installed = await installPacked();
  const { folder } = installed;
  copyFileSync(join(here, "durable-run.mjs"), join(folder, "durable-run.mjs"));
  writePage(folder, "killed");
  writePage(folder, "worker");
  await pack("killed/main.js", inPage);
  await pack("worker/main.js", inPageOfWorker);
  await pack("worker/worker.js", inWorker, "iife");
});
after(() => installed?.remove());

function pack(outfile, contents, format = "esm") {
  const { folder } = installed;
  const stdin = { contents, resolveDir: join(folder, "killed"), loader: "js" };
  return esbuild.build({ stdin, bundle: true, format, outfile: join(folder, outfile), logLevel: "error" });
}

/**
 * Opens the page once for each moment of a run or a chat, in a browser context of its own. The server counts the
 * effects in `counts`, which `use(page, moment, counts)` gets.
 */
async function eachMoment(path, kind, use) {
  let counts = {};
  const effects = (request, response) => {
    const id = request.url.split("/").at(-1);
    if (request.method === "POST") counts[id] = (counts[id] ?? 0) + 1;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(counts[id] ?? 0));
  };
  const options = { folder: installed.folder, path: "/main.mjs", others: { "/effects": effects } };
  await browse(options, async (empty) => {
    for (const moment of moments) {
      counts = {};
      const context = await empty.context().browser().newContext();
      const page = await context.newPage();
      await page.goto(new URL(`${path}?kind=${kind}&hold=${moment}`, empty.url()).href);
      await use(page, moment, counts);
      await context.close();
    }
  });
}

const until = (page, title) =>
  page.waitForFunction((title) => document.title.startsWith(title), title, { timeout: 20_000 });

/** What becomes of a page. Each gives the page in which the person comes back. */
const fates = {
  "is reloaded": async (page) => page,
  "is closed with its tab": async (page) => {
    await page.close();
    return page.context().newPage();
  },
  "loses its renderer": async (page) => {
    const crashed = page.waitForEvent("crash");
    const session = await page.context().newCDPSession(page);
    session.send("Page.crash").catch(() => {});
    await crashed;
    return page.context().newPage();
  },
};

for (const [kind, end] of Object.entries({ run: expected, chat: expectedChat })) {
  for (const [fate, meet] of Object.entries(fates)) {
    test(`a page that ${fate} in the middle of a ${kind} goes on with it`, inChromium, () =>
      eachMoment("/killed/", kind, async (page, moment, counts) => {
        await until(page, "held");
        assert.deepEqual(counts, moment === "after" ? { b: 1 } : {});
        const again = new URL(`?kind=${kind}&hold=`, page.url()).href;
        const next = await meet(page);
        await next.goto(again);
        await until(next, "done: ");
        assert.equal(await next.title(), `done: ${end}`, moment);
        assert.deepEqual(counts, { b: 1 }, moment);
      }),
    );
  }

  test(`a service worker that is ended in the middle of a ${kind} goes on with it`, inChromium, () =>
    eachMoment("/worker/", kind, async (page, moment, counts) => {
      await until(page, "ready");
      await page.evaluate((how) => ask(...how), [moment, kind]);
      await until(page, "held");
      const before = await page.evaluate(() => document.born);
      const session = await page.context().newCDPSession(page);
      await session.send("ServiceWorker.enable");
      await session.send("ServiceWorker.stopAllWorkers");
      await page.evaluate((how) => ask(...how), ["", kind]);
      await until(page, "done: ");
      assert.equal(await page.title(), `done: ${end}`, moment);
      assert.notEqual(await page.evaluate(() => document.born), before);
      assert.deepEqual(counts, { b: 1 }, moment);
    }),
  );
}
