// looplet/vite in a page of Vite's own dev server, in Chromium: files change on the disk while a run goes on.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { build, createServer } from "vite";
import { chromiumArgs } from "../../scripts/lib/browser.mjs";
import { examples, root as repository } from "./docs-examples.mjs";
import { mount, refunds } from "./docs-hot-reload.mjs";
import { installPacked } from "./install.mjs";

const browserPath = process.env.LOOPLET_CHROMIUM;
const skip = !browserPath && "no Chromium";

let installed;
let browser;
let hotReload;
before(async () => {
  installed = await installPacked();
  ({ hotReload } = await import(
    pathToFileURL(join(installed.folder, "node_modules/looplet/dist/vite.js")).href
  ));
  if (browserPath) browser = await chromium.launch({ executablePath: browserPath, args: chromiumArgs });
});
after(async () => {
  await browser?.close();
  installed?.remove();
});

const tools = `
import { tool } from "looplet";
const inputSchema = { type: "object", properties: {} };
const does = (name: string, more: object) =>
  tool({ description: name, inputSchema, execute: () => (globalThis.log.push(name + " of one"), name), ...more });
export const tools = { look: does("look", {}), pay: does("pay", { needsApproval: true }), slow: does("slow", {
  execute: () => new Promise((resolve) => {
    globalThis.log.push("slow of one");
    globalThis.finish = () => resolve("slow");
  }),
}) };
`;

/** The model makes the calls of the prompt, one after the other. */
const agent = `
import { createAgent, custom } from "looplet";
import { tools } from "./tools";
export const agent = createAgent({
  system: "prompt one",
  model: custom(({ messages, system }) => {
    globalThis.log.push("asked with " + system);
    const names = messages[0].content[0].text.split(", ");
    const name = names[messages.filter(({ role }) => role === "assistant").length];
    return name === undefined ? "Done." : [{ type: "tool_call", id: name, name, input: {} }];
  }),
  tools,
  limits: { maxIterations: 9 },
});
`;

const main = `
import { agent } from "./agent";
globalThis.log = [];
globalThis.events = [];
globalThis.begin = (prompt) => {
  globalThis.run = agent.run(prompt);
  void (async () => {
    for await (const event of globalThis.run) globalThis.events.push(event);
    globalThis.result = await globalThis.run.result;
  })();
};
document.title = "ready";
`;

const page =
  '<!doctype html><meta charset="utf-8"><main></main><script type="module" src="/main.ts"></script>';

/** Writes the files of an app, and returns its folder. */
function app(name, files = { "main.ts": main, "agent.ts": agent, "tools.ts": tools }) {
  const root = join(installed.folder, name);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "index.html"), page);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), text);
  return root;
}

/** Opens an app in Vite's dev server. `edit` changes a file on the disk. */
async function inDev(name, visit, files, config = { configFile: false, plugins: [hotReload()] }) {
  const root = app(name, files);
  const server = await createServer({
    ...config,
    root,
    logLevel: "silent",
    server: { host: "127.0.0.1", port: 0 },
  });
  const page = await browser.newPage();
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  try {
    await server.listen();
    await page.goto(server.resolvedUrls.local[0]);
    await page.waitForFunction(() => document.title === "ready");
    await page.evaluate(() => (document.title = "mine"));
    const edit = async (file, from, to) => {
      const path = join(root, file);
      const text = readFileSync(path, "utf8");
      assert.ok(text.includes(from), `${file} has no ${from}`);
      // Vite's watcher passes over a change that comes right behind another one.
      let isSeen = false;
      server.watcher.once("change", () => (isSeen = true));
      while (!isSeen) {
        writeFileSync(path, text.replaceAll(from, to));
        await setTimeout(200);
      }
    };
    const says = async (words) => {
      while (!said.some((text) => words.test(text))) await page.waitForEvent("console");
    };
    await visit({ page, edit, says, said });
    assert.equal(await page.title(), "mine", "the page was loaded again");
  } finally {
    await page.close();
    await server.close();
  }
}

/** Waits until the run has told of this as often. */
const told = (page, type, times = 1) =>
  page.waitForFunction(
    ([type, times]) =>
      globalThis.events.filter((event) => (event.code ?? event.type) === type).length >= times,
    [type, times],
  );
const log = (page) => page.evaluate(() => globalThis.log);

async function allow(page) {
  const isOpen = await page.evaluate(() => {
    const { questionId } = globalThis.events.findLast(({ type }) => type === "question");
    return globalThis.run.answer(questionId, { behavior: "allow" });
  });
  assert.ok(isOpen, "the question is not open any more");
  await page.waitForFunction(() => globalThis.result !== undefined);
}

test("a run that waits for a person goes on with a tool and a prompt that were changed", { skip }, () =>
  inDev("waits", async ({ page, edit, said }) => {
    await page.evaluate(() => globalThis.begin("look, pay"));
    await told(page, "waiting");
    await edit("tools.ts", "of one", "of two");
    await told(page, "hot_reload");
    await edit("agent.ts", "prompt one", "prompt two");
    await told(page, "hot_reload", 2);
    await allow(page);
    assert.deepEqual(await log(page), [
      "asked with prompt one",
      "look of one",
      "asked with prompt one",
      "pay of two",
      "asked with prompt two",
    ]);
    const [outcome, text] = await page.evaluate(() => [globalThis.result.outcome, globalThis.result.text]);
    assert.deepEqual([outcome, text], ["completed", "Done."]);
    const numbers = await page.evaluate(() => globalThis.events.map(({ seq }) => seq));
    assert.ok(numbers.every((seq, at) => at === 0 || seq > numbers[at - 1]));
    assert.ok(
      said.some((text) => text.includes('[looplet] "agent" has new code; runs that continue with it: 1')),
    );
  }),
);

test("a call that is under way is not made again", { skip }, () =>
  inDev("works", async ({ page, edit }) => {
    await page.evaluate(() => globalThis.begin("slow, look"));
    await page.waitForFunction(() => globalThis.finish !== undefined);
    await edit("tools.ts", "of one", "of two");
    await told(page, "hot_reload");
    await page.evaluate(() => globalThis.finish());
    await page.waitForFunction(() => globalThis.result !== undefined);
    const expected = ["asked with prompt one", "slow of one", "asked with prompt one", "look of two"];
    assert.deepEqual(await log(page), [...expected, "asked with prompt one"]);
    assert.deepEqual(await page.evaluate(() => globalThis.result.toolCalls.map(({ output }) => output)), [
      "slow",
      "look",
    ]);
  }),
);

test("broken modules leave the old code at work, and the one that mends them is taken", { skip }, () =>
  inDev("broken", async ({ page, edit, says, said }) => {
    await page.evaluate(() => globalThis.begin("look, pay"));
    await told(page, "waiting");
    await edit("agent.ts", "createAgent({", "createAgent({{");
    await says(/agent\.ts could not be loaded.*the previous code/);
    said.length = 0;
    await edit("agent.ts", "createAgent({{", "createAgent({");
    await told(page, "hot_reload");
    await edit("agent.ts", "maxIterations: 9", "maxIterations: -9");
    await says(/agent\.ts could not be loaded.*the previous code/);
    assert.ok(
      said.some((text) => text.includes("limits.maxIterations")),
      said.join("\n"),
    );
    assert.equal(await page.evaluate(() => globalThis.result), undefined);
    said.length = 0;
    await edit("agent.ts", "maxIterations: -9", "maxIterations: 8");
    await says(/has new code; runs that continue with it: 1/);
    await edit("agent.ts", "prompt one", "prompt three");
    await told(page, "hot_reload", 3);
    await allow(page);
    assert.deepEqual((await log(page)).slice(-2), ["pay of one", "asked with prompt three"]);
  }),
);

/** Answers the requests of a page in the vendor's place. */
const vendor = {
  name: "vendor",
  configureServer({ middlewares }) {
    middlewares.use((request, response, next) =>
      request.url.startsWith("/api/anthropic/") ? void refunds(request, response) : next(),
    );
  },
};

test("the guide's page shows the changed text of its tool", { skip }, () => {
  symlinkSync(join(repository, "node_modules/vite"), join(installed.folder, "node_modules/vite"));
  const own = examples.filter(({ name }) => name.startsWith("hot-reload/"));
  const files = Object.fromEntries(own.map(({ name, code }) => [name.replace(/^.*\//, ""), code]));
  const configFile = join(installed.folder, "guide/vite.config.ts");
  return inDev(
    "guide",
    async ({ page, edit, says }) => {
      await page.waitForSelector("button");
      await edit("agent.ts", "was refunded", "is refunded now");
      await says(/The code of the agent has changed/);
      await page.click("button");
      await page.waitForFunction(() =>
        document.body.innerText.includes("Order 7 is refunded now. All done."),
      );
    },
    { ...files, "main.ts": `${mount} document.title = "ready";` },
    { configFile, plugins: [vendor] },
  );
});

test("a build has nothing of it", async () => {
  const built = async (plugins) => {
    const { output } = await build({
      root: app("built"),
      configFile: false,
      logLevel: "silent",
      plugins,
      build: { write: false },
    });
    return output.map(({ fileName, code, source }) => [fileName, code ?? String(source)]);
  };
  const hot = await built([hotReload()]);
  assert.deepEqual(hot, await built([]));
  for (const [, text] of hot) assert.doesNotMatch(text, /hotAgent|hot_reload|import\.meta\.hot/);
});
