// A page in the installed folder whose script puts what the ten lines returned into its title.
import { createServer } from "node:http";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { after } from "node:test";
import { chromium } from "playwright-core";
import { build } from "vite";
import { chromiumArgs } from "../../scripts/lib/browser.mjs";

/** What the ten lines say in every host. */
export const answer = /completed with 1 tool call: .*437/;

/** Writes `page.mjs`, the script that every bundler takes as its entry. */
export function writeEntry(folder) {
  writeFileSync(join(folder, "page.mjs"), pageScript("./ten-lines.mjs"));
  return join(folder, "page.mjs");
}

/** Writes a page that loads `main.js`; with `imports` that script too, unbundled and with an import map. */
export function writePage(folder, name, imports) {
  mkdirSync(join(folder, name), { recursive: true });
  const map = imports ? `<script type="importmap">${JSON.stringify({ imports })}</script>` : "";
  const html = `<!doctype html><link rel="icon" href="data:,">${map}<script type="module" src="./main.js"></script>\n`;
  writeFileSync(join(folder, name, "index.html"), html);
  if (imports) writeFileSync(join(folder, name, "main.js"), pageScript("../ten-lines.mjs"));
}

/** A script that runs the ten lines of the module at `path`. */
export const pageScript = (path) =>
  `import { tenLines } from ${JSON.stringify(path)};\n` +
  "tenLines().catch(String).then((text) => (document.title = `done: ${text}`));\n";

/** What a page says that has compiled the engine while it arrived. */
export const streamed = /done: completed: external, streamed/;

/** A script that has the engine by its URL, which the statement `wasm` gives. */
export const externalScript = (wasm) => `${wasm}
import { createAgent, custom, init } from "looplet/external";
let way = "not streamed";
const { compileStreaming } = WebAssembly;
WebAssembly.compileStreaming = (...given) => ((way = "streamed"), compileStreaming(...given));
(async () => {
  await init(wasm);
  const { outcome, text } = await createAgent({ model: custom(() => "external") }).run("go").result;
  return outcome + ": " + text + ", " + way;
})().catch(String).then((text) => (document.title = "done: " + text));
`;

/** Serves the folder as `browse` does, opens one page of it, and returns its title and errors. */
export function open(folder, path, options = {}) {
  return browse({ folder, path, ...options }, async (page, errors) => {
    // What a page did not finish shows in its title below.
    await page
      .waitForFunction(() => document.title.startsWith("done: "), null, { timeout: 60_000 })
      .catch(() => {});
    return `${await page.title()} ${errors.join(" ")}`;
  });
}

/** What `openWatched` returns of a page with the ten lines that has streamed the file, or loaded the text. */
export const gotFile = /completed with 1 tool call: .*437.*; engine: the file$/;
export const gotText = /completed with 1 tool call: .*437.*; engine: the text$/;

/**
 * Opens a page of the folder as `open` does, and adds the parts of the engine that it has downloaded: `the file`,
 * `the text` of a module that may hold other code too, or both.
 */
export async function openWatched(folder, path, options = {}) {
  let engine;
  const opened = (page) => (engine = watchEngine(page));
  const title = await open(folder, path, { ...options, opened });
  return `${title.trim()}; engine: ${await engine()}`;
}

/** The function that it returns says what a page has downloaded of the engine, and the errors on its console. */
export function watchEngine(page) {
  const parts = new Set();
  const errors = [];
  const looking = [];
  const look = async (response) => {
    const type = response.headers()["content-type"] ?? "";
    if (type.includes("wasm") && response.ok()) parts.add("the file");
    const text = type.includes("javascript") ? await response.text().catch(() => "") : "";
    if (/["'`]\\(?:0|x00|u0000)asm/.test(text)) parts.add("the text");
  };
  page.on("response", (response) => looking.push(look(response)));
  page.on("console", (line) => {
    if (line.type() === "error") errors.push(line.text());
  });
  return async () => {
    await Promise.all(looking);
    return [[...parts].sort().join(" and "), ...errors].join("; ");
  };
}

/**
 * Opens an example of the documentation as `browse` does, and does there what `inPage(page)` does. `file` is a page,
 * or a module in `folder` that a script with the text `mount` puts on a page, which Vite builds. `files` are further
 * ones, and `alias` names modules that take the place of others.
 */
export async function visit(example) {
  const { folder, file, mount, files = {}, alias = {}, others, inPage, launch } = example;
  let path = file;
  if (!file.endsWith(".html")) {
    const root = join(folder, dirname(file));
    writeFileSync(join(root, "main.tsx"), mount);
    for (const [name, contents] of Object.entries(files)) writeFileSync(join(root, name), await contents());
    writeFileSync(
      join(root, "index.html"),
      '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Chat</title><style>button, input { min-height: 24px }</style><link rel="icon" href="data:,"><main></main><script type="module" src="./main.tsx"></script>\n',
    );
    const resolve = { alias };
    await build({
      root,
      base: "./",
      configFile: false,
      logLevel: "error",
      resolve,
      build: { target: "esnext" },
    });
    path = join(dirname(file), "dist/index.html");
  }
  await browse({ folder: dirname(folder), path: `/docs/${path}`, launch, others }, async (page, errors) => {
    page.setDefaultTimeout(30_000);
    await inPage(page).catch(async (error) => {
      const shown = await page.innerText("body").catch(String);
      throw new Error(`${error.message}\n${errors.join("\n")}\nThe page shows:\n${shown}`, {
        cause: error,
      });
    });
    if (errors.length > 0) throw new Error(errors.join("\n"));
  });
}

const inChromium = () =>
  chromium.launch({ executablePath: process.env.LOOPLET_CHROMIUM, args: chromiumArgs });

/** The browsers of the test file, by the functions that have started them. */
const browsers = new Map();
after(() => Promise.all([...browsers.values()].map(async (browser) => (await browser).close())));

/**
 * Serves the folder, opens `path` of it in Chromium, or in the browser that `launch` starts, and returns what
 * `use(page, errors)` returns. The pages of a test file share a browser, and each has a context of its own. `others`
 * answer below their paths. `opened(page)` is called before the page loads. `url` is another server.
 */
export async function browse({ folder, path, launch = inChromium, policy, others = {}, opened, url }, use) {
  const types = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://page.test");
    const other = Object.keys(others).find((below) => `${pathname}/`.startsWith(`${below}/`));
    if (other !== undefined) return others[other](request, response);
    const file = join(folder, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    if (!existsSync(file)) return response.writeHead(404).end();
    const headers = { "content-type": types[extname(file)] ?? "application/octet-stream" };
    response
      .writeHead(200, policy ? { ...headers, "content-security-policy": policy } : headers)
      .end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  if (!browsers.has(launch)) browsers.set(launch, launch());
  const context = await (await browsers.get(launch)).newContext();
  try {
    const page = await context.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    opened?.(page);
    await page.goto(url ?? `http://127.0.0.1:${server.address().port}${path}`);
    return await use(page, errors);
  } finally {
    await context.close();
    server.closeAllConnections();
    server.close();
  }
}
