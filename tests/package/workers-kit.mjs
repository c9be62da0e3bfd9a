// Agents of `looplet/workers` in Chromium, for tests: in workers, in an extension and in tabs, with steps that the
// test lets go on.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";
import { installPacked } from "./install.mjs";
import { browse, writePage } from "./page.mjs";

const executablePath = process.env.LOOPLET_CHROMIUM;
export const inChromium = { skip: !executablePath && "no Chromium" };

/** An agent whose steps the test's server holds until the test lets them go on, and whose effects happen there. */
const agentModule = `
import { createAgent, custom, tool } from "looplet";
import { indexedDbStore } from "looplet/stores";
export const store = indexedDbStore();
const step = (name) => fetch(base + "/steps/" + name, { method: "POST" }).then((response) => response.text());
const base = globalThis.location.protocol.startsWith("http") ? "" : BASE;
export const agent = createAgent({
  store,
  model: custom(async function* ({ messages }) {
    const { content } = messages.at(-1);
    if (content[0].type === "text") return yield { type: "tool_call", id: "pay-" + messages.length, name: "pay", input: {} };
    yield "Paid: ";
    await step("answer");
    yield "done.";
  }),
  tools: {
    pay: tool({
      description: "Pays",
      inputSchema: { type: "object" },
      execute: (_, { toolCallId }) => step(toolCallId),
    }),
  },
  durable: {
    reconcile: async ({ toolCallId }) => ({ outcome: "done", output: await step("known-" + toolCallId) }),
  },
});
`;

const served = `
import { serveAgent } from "looplet/workers";
import { agent, store } from "./agent.js";
serveAgent(agent, { store });
`;

/** What every page does: it shows the events of the chat's run, and tells its state in its title. */
const page = `
const seen = [];
window.seen = seen;
window.told = (event) => (event.type === "text-delta" ? event.text : event.type);
async function show(run) {
  window.run = run;
  for await (const event of run.events({ detached: true })) {
    seen.push([event.seq, told(event)]);
    document.body.textContent = seen.map(([, text]) => text).join(" ");
  }
  const { outcome, text } = await run.result;
  document.title = "done: " + outcome + " " + text;
}
export async function start(agent, prompt) {
  window.agent = agent;
  const chat = await agent.openChat("chat");
  window.chat = chat;
  chat.onRun((run) => void show(run).catch((error) => (document.title = "done: " + error)));
  document.title = "ready";
}
`;

export const places = {
  dedicated: `new Worker(new URL("./dedicated.js", location.href), { type: "module" })`,
  shared: `new SharedWorker(new URL("./shared.js", location.href), { type: "module" })`,
  service: `(await navigator.serviceWorker.register("./service.js", { type: "module" }), navigator.serviceWorker)`,
};

let installed;

/** Installs the package and packs a page for each place. Returns the function that removes everything. */
export async function installPages() {
  installed = await installPacked();
  const { folder } = installed;
  mkdirSync(join(folder, "parts"));
  mkdirSync(join(folder, "extension"));
  writeFileSync(join(folder, "parts/agent.js"), agentModule);
  writeFileSync(join(folder, "parts/page.js"), page);
  for (const [place, endpoint] of Object.entries(places)) {
    writePage(folder, place);
    await pack(`${place}/${place}.js`, served);
    await pack(
      `${place}/main.js`,
      `import { connectAgent } from "looplet/workers"; import { start } from "./page.js";
       await start(connectAgent(${endpoint}, { heartbeatMs: 200 }));`,
    );
  }
  writePage(folder, "tabs");
  await pack(
    "tabs/main.js",
    `import { shareAgent } from "looplet/workers"; import { agent, store } from "./agent.js"; import { start } from "./page.js";
     await start(shareAgent(agent, { store, heartbeatMs: 200 }));`,
  );
  return () => installed.remove();
}

function pack(outfile, contents, define = { BASE: '""' }) {
  const { folder } = installed;
  const stdin = { contents, resolveDir: join(folder, "parts"), loader: "js" };
  const options = { bundle: true, format: "esm", define, logLevel: "error" };
  return esbuild.build({ stdin, ...options, outfile: join(folder, outfile) });
}

/** The steps that agents have asked for: how often, and the functions that let them go on. */
export class Steps {
  counts = {};
  #held = new Map();
  #waiting = [];

  /** Answers a request, when the test lets it. */
  hear = (request, response) => {
    const name = request.url.split("/").at(-1);
    const headers = { "content-type": "text/plain", "access-control-allow-origin": "*" };
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    const answer = () => response.writeHead(200, headers).end(name);
    if (name.startsWith("known-")) return answer();
    this.#held.set(name, [...(this.#held.get(name) ?? []), answer]);
    for (const look of this.#waiting) look();
  };

  /** Resolves when the step has been asked for `count` times. */
  reached(name, count = 1) {
    return new Promise((resolve) => {
      const look = () => (this.counts[name] ?? 0) >= count && resolve();
      this.#waiting.push(look);
      look();
    });
  }

  /** Answers all who wait for the step. */
  go(name) {
    for (const answer of this.#held.get(name)) answer();
    this.#held.delete(name);
  }
}

/** Opens the page at `path` and does what `use(page, steps, errors)` does. */
export function open(path, use) {
  const steps = new Steps();
  const options = { folder: installed.folder, path, others: { "/steps": steps.hear } };
  return browse(options, (page, errors) => use(page, steps, errors));
}

export const until = (page, title) =>
  page.waitForFunction((title) => document.title.startsWith(title), title, { timeout: 20_000 });
export const untilSeen = (page, text) =>
  page.waitForFunction((text) => document.body.textContent.includes(text), text, { timeout: 20_000 });
export const seenOf = (page) => page.evaluate(() => window.seen);
export const expected = "done: completed Paid: done.";

/** Begins a run in the page's chat, and lets it come to the middle of its last answer. */
export async function comeToAnswer(page, steps) {
  await page.evaluate(() => void chat.run("Pay."));
  await steps.reached("pay-1");
  steps.go("pay-1");
  await steps.reached("answer");
  await untilSeen(page, "Paid: ");
}

/** Lets the run come to its end, which the page has seen whole, and whose payment was made once. */
export async function comeToEnd(page, steps) {
  steps.go("answer");
  await until(page, "done: ");
  assert.equal(await page.title(), expected);
  await assertWhole(page);
  assert.equal(steps.counts["pay-1"], 1);
}

/** The page has seen exactly what the log of its run has. */
export async function assertWhole(page, seen) {
  const all = await page.evaluate(async () => {
    const events = [];
    for await (const event of agent.attach(run.id)) events.push([event.seq, told(event)]);
    return events;
  });
  assert.deepEqual(seen ?? (await seenOf(page)), all);
}

const manifest = {
  manifest_version: 3,
  name: "Payments",
  version: "1",
  background: { service_worker: "background.js", type: "module" },
  permissions: ["alarms"],
  host_permissions: ["http://127.0.0.1/*"],
  content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'" },
};

/** An alarm wakes the worker, whose script then goes on with its runs. */
const background = `
import { serveAgent } from "looplet/workers";
import { agent, store } from "./agent.js";
serveAgent(agent, { store, on: chrome.runtime });
chrome.alarms.onAlarm.addListener(() => {});
void chrome.alarms.create("wake", { periodInMinutes: 0.5 });
`;

/** Loads the extension into a browser of its own, opens its page, and does what `use(page, steps, kill)` does. */
export async function inExtension(use) {
  const steps = new Steps();
  const server = createServer(steps.hear);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const folder = join(installed.folder, "extension");
  const define = { BASE: JSON.stringify(`http://127.0.0.1:${server.address().port}`) };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  writePage(installed.folder, "extension");
  await pack("extension/background.js", background, define);
  await pack(
    "extension/main.js",
    `import { connectAgent } from "looplet/workers"; import { start } from "./page.js";
     await start(connectAgent(() => chrome.runtime.connect(), { heartbeatMs: 200 }));`,
    define,
  );
  const profile = mkdtempSync(join(tmpdir(), "looplet-profile-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    ignoreDefaultArgs: ["--disable-extensions"],
    args: [
      "--no-sandbox",
      "--disable-gpu",
      `--load-extension=${folder}`,
      "--disable-features=DisableLoadExtensionCommandLineSwitch",
    ],
  });
  try {
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
    const page = await context.newPage();
    await page.goto(new URL("/index.html", worker.url()).href);
    await until(page, "ready");
    const kill = async () => {
      const session = await context.browser().newBrowserCDPSession();
      const { targetInfos } = await session.send("Target.getTargets");
      for (const { type, targetId } of targetInfos)
        if (type === "service_worker") await session.send("Target.closeTarget", { targetId });
    };
    await use(page, steps, kill);
  } finally {
    await context.close();
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true });
  }
}
