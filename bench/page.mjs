// `npm run bench:page`: a page that Vite has built, in Chromium with the CPU four times slower and a slow network,
// from the navigation to the moment at which its input is usable, its first request and its first text; with a cold
// and a warm cache. `npm run bench:page -- looplet` measures only the pages that it names.
import { createServer } from "node:http";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { chromium } from "playwright-core";
import { build } from "vite";
import { findBrowser } from "../scripts/lib/browser.mjs";
import { setUp } from "./setup.mjs";

const CPU_SLOWDOWN = 4;
/** Slow 4G of Chromium's developer tools: bits a second and milliseconds. */
const NETWORK = { downloadThroughput: 1_440_000 / 8, uploadThroughput: 675_000 / 8, latency: 562 };
const SAMPLES = 3;

/** Each module exports `ask(onText)`, which asks Anthropic's wire at `/api`. */
const apps = {
  looplet: `import { anthropic, createAgent } from "looplet";
const agent = createAgent({ model: anthropic("claude-sonnet-4-6", { baseUrl: "/api" }) });
export const ask = (onText) => agent.run("Hello", { onText }).result;`,
  "looplet/external": `import { anthropic, createAgent, init } from "looplet/external";
import wasm from "looplet/looplet.wasm?url";
init(wasm);
const agent = createAgent({ model: anthropic("claude-sonnet-4-6", { baseUrl: "/api" }) });
export const ask = (onText) => agent.run("Hello", { onText }).result;`,
  "AI SDK": `import { createAnthropic } from "@ai-sdk/anthropic";
import { streamText } from "ai";
const model = createAnthropic({ baseURL: location.origin + "/api/v1", apiKey: "x" })("claude-sonnet-4-6");
export async function ask(onText) {
  for await (const text of streamText({ model, prompt: "Hello" }).textStream) onText(text);
}`,
  "Anthropic SDK": `import Anthropic from "@anthropic-ai/sdk";
const client = new Anthropic({ baseURL: location.origin + "/api", apiKey: "x", dangerouslyAllowBrowser: true });
const messages = [{ role: "user", content: "Hello" }];
export const ask = (onText) =>
  client.messages.stream({ model: "claude-sonnet-4-6", max_tokens: 100, messages }).on("text", onText).done();`,
};

const PAGE = `import { ask } from "./app.js";
const input = document.querySelector("input");
input.onchange = () => ask((text) => (document.querySelector("p").textContent += text));
window.usableMs = performance.now();
input.dispatchEvent(new Event("change"));
`;
const HTML = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><input><p></p><script type="module" src="./page.js"></script>`;

/** An answer of one word. https://docs.anthropic.com/en/api/messages-streaming */
const ANSWER = [
  {
    type: "message_start",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-6",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  { type: "content_block_stop", index: 0 },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn", stop_sequence: null },
    usage: { output_tokens: 1 },
  },
  { type: "message_stop" },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

const folder = fileURLToPath(new URL("node_modules/.pages", import.meta.url));

setUp();
const browser = await chromium.launch({
  executablePath: findBrowser("chromium")?.browser,
  args: ["--no-sandbox"],
});
console.log("ms from the navigation, median of " + SAMPLES);
print("", ["cold: usable", "request", "text", "warm: usable", "request", "text", "kB"]);
const wanted = process.argv.slice(2);
for (const [name, code] of Object.entries(apps)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const site = await serve(await built(name, code));
  const samples = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const context = await browser.newContext();
    const cold = await visit(context, site);
    samples.push([...cold, ...(await visit(context, site))]);
    await context.close();
  }
  const medians = samples[0].map(
    (_, at) => samples.map((row) => row[at]).sort((a, b) => a - b)[SAMPLES >> 1],
  );
  print(name, [...medians.map((ms) => ms.toFixed(0)), (site.sentBytes / 1000).toFixed(0)]);
  site.close();
}
await browser.close();

async function built(name, code) {
  const root = join(folder, name.replace(/\\W/g, "-"));
  mkdirSync(root, { recursive: true });
  for (const [file, text] of [
    ["app.js", code],
    ["page.js", PAGE],
    ["index.html", HTML],
  ])
    writeFileSync(join(root, file), text);
  await build({ root, configFile: false, logLevel: "error", build: { outDir: "dist", emptyOutDir: true } });
  return join(root, "dist");
}

/** Serves the built page with brotli and a cache, and answers its request immediately. */
async function serve(dist) {
  const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
  const files = new Map();
  const site = { sentBytes: 0, close: () => (server.closeAllConnections(), server.close()) };
  const server = createServer((request, response) => {
    if (request.method === "POST") {
      site.requested?.();
      return response.writeHead(200, { "content-type": "text/event-stream" }).end(ANSWER);
    }
    const file = join(dist, request.url === "/" ? "index.html" : request.url);
    if (!files.has(file)) files.set(file, brotliCompressSync(readFileSync(file)));
    const headers = {
      "content-type": types[extname(file)],
      "content-encoding": "br",
      "cache-control": "max-age=3600",
    };
    response.writeHead(200, headers).end(files.get(file));
    site.sentBytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  site.url = `http://127.0.0.1:${server.address().port}/`;
  return site;
}

/** The times of one visit: usable, first request, first text. */
async function visit(context, site) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", { offline: false, ...NETWORK });
  await session.send("Emulation.setCPUThrottlingRate", { rate: CPU_SLOWDOWN });
  let startedAt;
  const requested = new Promise((resolve) => (site.requested = () => resolve(Date.now() - startedAt)));
  startedAt = Date.now();
  await page.goto(site.url);
  await page.waitForFunction(() => document.querySelector("p").textContent !== "", null, { polling: 10 });
  const textMs = Date.now() - startedAt;
  const times = [await page.evaluate(() => window.usableMs), await requested, textMs];
  await page.close();
  return times;
}

function print(name, columns) {
  console.log(name.padEnd(18) + columns.map((text) => text.padStart(13)).join(""));
}
