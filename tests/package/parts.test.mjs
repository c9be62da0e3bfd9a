// The engine of the packed package in Chromium: an agent loads the parts that it uses, and no other.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";
import { installPacked } from "./install.mjs";

const browserPath = process.env.LOOPLET_CHROMIUM;
const options = { skip: !browserPath && "no Chromium" };
const csp = "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; connect-src 'none'";
let installed;
let browser;
let server;
/** Parts whose files are not served. */
const missing = new Set();

before(async () => {
  if (!browserPath) return;
  installed = await installPacked();
  mkdirSync(join(installed.folder, "parts"));
  copyFileSync(new URL("agents.mjs", import.meta.url), join(installed.folder, "parts/agents.mjs"));
  const dist = "/node_modules/looplet/dist";
  const imports = { looplet: `${dist}/default.js`, "looplet/practice": `${dist}/practice.js` };
  writeFileSync(
    join(installed.folder, "parts/index.html"),
    `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${JSON.stringify({ imports })}</script>` +
      '<script type="module">import * as agents from "./agents.mjs"; Object.assign(window, agents); document.title = "ready";</script>',
  );
  server = await serve(installed.folder);
  browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
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
  test(`an agent that speaks ${protocol} loads that part and no other`, options, async () => {
    const { call, parts } = await page();
    assert.deepEqual(parts(), []);
    assert.equal(await call("converse", protocol), "completed: added 7");
    assert.deepEqual(parts(), [protocol]);
  });

for (const option of [
  "hooks",
  "guardrails",
  "canUseTool",
  "permissions",
  "stopWhen",
  "prepareIteration",
  "toolErrorFormat",
  "needsApproval",
  "resourceKey",
])
  test(`an agent with ${option} loads the part with questions`, options, async () => {
    const { call, parts } = await page();
    assert.equal(await call("ask", option), "completed: added 7");
    assert.deepEqual(parts(), ["ndjson", "questions"]);
  });

test("an agent with structured output loads the part that asks for it again", options, async () => {
  const { call, parts } = await page();
  assert.equal(await call("structured"), '{"sum":7}');
  assert.deepEqual(parts(), ["ndjson", "questions"]);
});

test("an agent without any such option never needs it", options, async () => {
  const { call, parts } = await page();
  const [failed, answered, compacted, stopped, aborted, offline] = await call("plain");
  assert.match(failed, /^completed: /);
  assert.equal(answered, false);
  assert.match(compacted, /^completed: /);
  assert.equal(stopped, "iterations");
  assert.equal(aborted, "cancelled");
  assert.match(offline, /^failed: .*offline/);
  assert.deepEqual(parts(), ["ndjson"]);
});

test("a fallback model brings its part, before anything has failed", options, async () => {
  const { call, parts } = await page();
  assert.equal(await call("fallBack", "anthropic", "gemini"), "completed: added 7 by fallback");
  assert.deepEqual(parts(), ["anthropic", "gemini"]);
});

test("a subagent's model brings its part", options, async () => {
  const { call, parts } = await page();
  assert.equal(await call("delegate", "ndjson", "gemini"), "completed: the other says added 7");
  assert.deepEqual(parts(), ["gemini", "ndjson", "questions"]);
});

for (const way of ["setModel", "prepareIteration"])
  test(`a model that ${way} brings into a run loads its part first`, options, async () => {
    const { call, parts } = await page();
    assert.equal(await call(way, "ndjson", "gemini"), "completed: added 7");
    assert.deepEqual(
      parts().filter((part) => part !== "questions"),
      ["gemini", "ndjson"],
    );
  });

test(
  "a part that cannot be fetched fails the run with advice, and the next run tries again",
  options,
  async () => {
    missing.add("gemini");
    const { call, parts } = await page();
    const said = await call("converse", "gemini");
    missing.clear();
    assert.match(
      said,
      /^failed: config_wasm .*part "gemini" cannot be loaded: .* Serve every file of the build/,
    );
    assert.equal(await call("converse", "gemini"), "completed: added 7");
    assert.deepEqual(parts(), ["gemini"]);
  },
);

test(
  "a run that misses a part says so, and the next finds every part in a fresh instance",
  options,
  async () => {
    const { call, parts } = await page();
    assert.match(
      await call("trap", "gemini"),
      /^failed: bug (looplet: )?a part of the engine was not loaded .*, then completed: added 7$/,
    );
    assert.deepEqual(parts(), [
      "anthropic",
      "bedrock_converse",
      "gemini",
      "keywords",
      "ndjson",
      "openai_chat",
      "openai_responses",
      "questions",
    ]);
  },
);

test("a bundle in one file has every part in it", options, async () => {
  const folder = join(installed.folder, "single");
  mkdirSync(folder);
  await esbuild.build({
    entryPoints: [join(installed.folder, "parts/agents.mjs")],
    outfile: join(folder, "agents.mjs"),
    bundle: true,
    format: "esm",
    logLevel: "error",
  });
  writeFileSync(
    join(folder, "index.html"),
    '<!doctype html><link rel="icon" href="data:,"><script type="module">import * as agents from "./agents.mjs"; Object.assign(window, agents); document.title = "ready";</script>',
  );
  const { call, parts } = await page("/single/");
  assert.equal(await call("converse", "gemini"), "completed: added 7");
  assert.deepEqual(parts(), []);
});

/** `call` calls a function of the page; `parts` are those whose files it has asked for. */
async function page(path = "/parts/") {
  const at = await browser.newPage();
  const asked = new Set();
  at.on("request", (request) => {
    const [, part] = /\/part-([a-z_]+)-\w+\.js$/.exec(request.url()) ?? [];
    if (part !== undefined) asked.add(part);
  });
  await at.goto(`http://127.0.0.1:${server.address().port}${path}`);
  await at.waitForFunction(() => document.title === "ready", null, { timeout: 20_000 });
  return {
    call: (name, ...args) => at.evaluate(([name, args]) => window[name](...args), [name, args]),
    parts: () => [...asked].sort(),
  };
}

async function serve(folder) {
  const types = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript" };
  const at = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://page.test");
    const file = join(folder, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    const isMissing = [...missing].some((part) => pathname.includes(`/part-${part}-`));
    if (isMissing || !existsSync(file)) return response.writeHead(404).end();
    response
      .writeHead(200, { "content-type": types[extname(file)] ?? "", "content-security-policy": csp })
      .end(readFileSync(file));
  });
  await new Promise((resolve) => at.listen(0, "127.0.0.1", resolve));
  return at;
}
