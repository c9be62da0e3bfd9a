// Agents of every protocol and option on the packed package in Chromium, with the engine's file served beside it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { chromiumArgs } from "../../scripts/lib/browser.mjs";
import { installPacked, run } from "./install.mjs";
import { losses } from "./trap.mjs";
import { startWorkerd } from "./workerd.mjs";

const node = process.env.LOOPLET_NODE || process.execPath;
const browserPath = process.env.LOOPLET_CHROMIUM;
const options = { skip: !browserPath && "no Chromium" };
const dist = "/node_modules/looplet/dist";
const csp =
  "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'";
let installed;
let browser;
let server;

before(async () => {
  if (!browserPath) return;
  installed = await installPacked();
  mkdirSync(join(installed.folder, "agents"));
  for (const name of ["agents", "trap"])
    copyFileSync(new URL(`${name}.mjs`, import.meta.url), join(installed.folder, `agents/${name}.mjs`));
  writeFileSync(join(installed.folder, "agents/worker.js"), workerScript);
  const imports = { looplet: `${dist}/default.js`, "looplet/practice": `${dist}/practice.js` };
  writeFileSync(
    join(installed.folder, "agents/index.html"),
    `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${JSON.stringify({ imports })}</script>` +
      '<script type="module" src="./page.js"></script>',
  );
  writeFileSync(join(installed.folder, "agents/page.js"), script);
  server = await serve(installed.folder);
  browser = await chromium.launch({ executablePath: browserPath, args: chromiumArgs });
});
after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
  installed?.remove();
});

for (const protocol of [
  "anthropic",
  "openai_chat",
  "openai_responses",
  "gemini",
  "bedrock_converse",
  "ndjson",
])
  test(`an agent that speaks ${protocol} calls its tool and answers`, options, async () => {
    const { call } = await page();
    assert.equal(await call("converse", protocol), "completed: added 7");
  });

for (const option of [
  "hooks",
  "guardrails",
  "canUseTool",
  "permissions",
  "stopWhen",
  "prepareIteration",
  "wordError",
  "needsApproval",
  "resourceKey",
])
  test(`an agent with ${option} is asked and goes on`, options, async () => {
    const { call } = await page();
    assert.equal(await call("ask", option), "completed: added 7");
  });

test("an agent with structured output asks for it again", options, async () => {
  const { call } = await page();
  assert.equal(await call("structured"), '{"sum":7}');
});

test("an agent without any such option fails, is steered, stops and is aborted", options, async () => {
  const { call } = await page();
  const [failed, answered, compacted, stopped, aborted, offline] = await call("plain");
  assert.match(failed, /^completed: /);
  assert.equal(answered, false);
  assert.match(compacted, /^completed: /);
  assert.equal(stopped, "iterations");
  assert.equal(aborted, "cancelled");
  assert.match(offline, /^failed: .*offline/);
});

test("a fallback model of another protocol answers", options, async () => {
  const { call } = await page();
  assert.equal(await call("fallBack", "anthropic", "gemini"), "completed: added 7 by fallback");
});

test("a subagent with a model of another protocol answers", options, async () => {
  const { call } = await page();
  assert.equal(await call("delegate", "ndjson", "gemini"), "completed: the other says added 7");
});

for (const way of ["setModel", "prepareIteration"])
  test(`a model of another protocol that ${way} brings into a run answers`, options, async () => {
    const { call } = await page();
    assert.equal(await call(way, "ndjson", "gemini"), "completed: added 7");
  });

test("a page loads the engine with the JavaScript, and nothing when a run begins", options, async () => {
  const { call, asked } = await page();
  const before = asked.length;
  assert.equal(await call("converse", "gemini"), "completed: added 7");
  assert.deepEqual(asked.slice(before), []);
});

for (const loss of Object.keys(losses)) {
  test(`in a page, a ${loss} ends every run of the instance, and the next run works`, options, async () => {
    const { call } = await page();
    assert.equal(await call("loseInstance", loss), "lost and found");
  });

  test(`in a worker, a ${loss} ends every run of the instance, and the next run works`, options, async () => {
    const { call } = await page();
    assert.equal(await call("loseInWorker", loss), "lost and found");
  });

  test(`in Node, a ${loss} ends every run of the instance, and the next run works`, options, async () => {
    const script = `import * as looplet from "looplet"; import { lose, verdict } from "./agents/trap.mjs";
      console.log(verdict(await lose(looplet, ${JSON.stringify(loss)})));`;
    writeFileSync(join(installed.folder, "lost.mjs"), script);
    assert.equal((await run(node, ["lost.mjs"], installed.folder)).trim(), "lost and found");
  });

  test(`in workerd, a ${loss} ends every run of the instance, and the next run works`, options, async () => {
    writeFileSync(
      join(installed.folder, "lost-worker.mjs"),
      `import { lose, verdict } from "./agents/trap.mjs"; import * as looplet from "looplet";
      export default { fetch: async () => new Response(verdict(await lose(looplet, ${JSON.stringify(loss)}))) };`,
    );
    const flare = await startWorkerd(installed.folder, "lost-worker.mjs");
    try {
      const response = await flare.dispatchFetch("http://worker.test/");
      assert.equal(await response.text(), "lost and found");
    } finally {
      await flare.dispose();
    }
  });
}

test("looplet/external compiles the .wasm while it arrives", options, async () => {
  const { call, asked } = await page();
  // The page has streamed the file for `looplet` too.
  asked.length = 0;
  assert.equal(
    await call("external", `${dist}/external.js`, `${dist}/looplet.wasm`),
    "completed: external; streamed",
  );
  assert.equal(asked.filter((path) => path.endsWith("/looplet.wasm")).length, 1);
});

/** What of a page is asked in its name. */
const script = `
import * as agents from "./agents.mjs";
import * as looplet from "looplet";
import { lose, verdict } from "./trap.mjs";
Object.assign(window, agents, {
  loseInstance: async (loss) => verdict(await lose(looplet, loss)),
  loseInWorker: (loss) => new Promise((resolve) => {
    const worker = new Worker("./worker.js", { type: "module" });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve(message);
    worker.postMessage(loss);
  }),
  external: async (module, wasm) => {
    const { createAgent, custom, init } = await import(module);
    let way = "not streamed";
    const { compileStreaming } = WebAssembly;
    WebAssembly.compileStreaming = (...given) => ((way = "streamed"), compileStreaming(...given));
    await init(wasm);
    const { outcome, text } = await createAgent({ model: custom(() => "external") }).run("go").result;
    return outcome + ": " + text + "; " + way;
  },
});
document.title = "ready";`;

/** A module worker has no import map. */
const workerScript = `
import * as looplet from "${dist}/default.js";
import { lose, verdict } from "./trap.mjs";
onmessage = async ({ data }) => postMessage(verdict(await lose(looplet, data)));`;

/** `call` calls a function of the page; `asked` are the paths that it has asked for. */
async function page(path = "/agents/") {
  const at = await browser.newPage();
  const asked = [];
  at.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await at.goto(`http://127.0.0.1:${server.address().port}${path}`);
  await at.waitForFunction(() => document.title === "ready", null, { timeout: 20_000 });
  return {
    call: (name, ...args) => at.evaluate(([name, args]) => window[name](...args), [name, args]),
    asked,
  };
}

async function serve(folder) {
  const types = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
  };
  const at = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://page.test");
    const file = join(folder, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    if (!existsSync(file)) return response.writeHead(404).end();
    response
      .writeHead(200, { "content-type": types[extname(file)] ?? "", "content-security-policy": csp })
      .end(readFileSync(file));
  });
  await new Promise((resolve) => at.listen(0, "127.0.0.1", resolve));
  return at;
}
