#!/usr/bin/env node
/**
 * `npm run bench:devtools [-- iterations]`: what `<looplet-devtools>` costs in Chromium with a recorded run of 3,200
 * iterations: the CPU of the page's thread to open it, to scroll through its steps, and to search it.
 */
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { findBrowser } from "../scripts/lib/browser.mjs";
import { heading, table } from "./report.mjs";
import { linkPackage } from "./setup.mjs";

const ITERATIONS = Number(process.argv[2] ?? 3200);
/** Milliseconds of CPU to open the run, and of a frame, at most. */
const TARGETS = { openMs: 1000, frameMs: 1000 / 60 };
const FRAMES = 240;

linkPackage();
heading(`<looplet-devtools> with a run of ${ITERATIONS} iterations, in Chromium`);
const rows = [
  [
    "answers come",
    "inputs",
    "CPU ms to open",
    "target",
    "CPU ms a frame of a scroll",
    "target",
    "longest task of a search, ms",
  ],
];
const server = await serve();
const browser = await chromium.launch({
  executablePath: findBrowser("chromium")?.browser,
  args: ["--no-sandbox"],
});
for (const [name, isCut] of [
  ["whole", false],
  ["event by event", true],
]) {
  const file = await recorded(isCut);
  const { openMs, frameMs, longestMs, inputs } = await measured(file);
  const [open, frame] = [TARGETS.openMs, TARGETS.frameMs.toFixed(1)];
  rows.push(
    [name, inputs, openMs.toFixed(0), open, frameMs.toFixed(1), frame, longestMs.toFixed(0)].map(String),
  );
}
table(rows);
await browser.close();
server.close();

/** The `.loop` file of a run in which every answer calls a tool. */
async function recorded(isCut) {
  const { anthropic, createAgent, tool } = await import("looplet");
  const { recorder } = await import("looplet/replay");
  let count = 0;
  const fetch = async () => {
    const events = eventsOf(++count, count > ITERATIONS);
    const chunks = isCut ? events : [events.join("")];
    const body = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const lookup = tool({
    description: "Looks up an entry of the ledger",
    inputSchema: { type: "object", properties: { key: { type: "string" } } },
    readOnly: true,
    execute: ({ key }) => ({ key, value: `The value of the entry ${key} in the ledger of the year.` }),
  });
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "x" }),
    record: recorder(),
    limits: { maxIterations: ITERATIONS + 1 },
    tools: { lookup },
    fetch,
  });
  const run = agent.run("Go through the ledger.");
  const { outcome } = await run.result;
  if (outcome !== "completed") throw new Error(outcome);
  return run.export();
}

/** https://docs.anthropic.com/en/api/messages-streaming */
function eventsOf(count, isLast) {
  const usage = { input_tokens: 100, output_tokens: 1 };
  const message = { id: `m${count}`, type: "message", role: "assistant", model: "m", content: [], usage };
  const text = { type: "text_delta", text: `Step ${count}: I look at the entry of the ledger.` };
  const call = { type: "tool_use", id: `toolu_${count}`, name: "lookup", input: {} };
  const input = { type: "input_json_delta", partial_json: `{"key":"k${count}"}` };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: text },
    { type: "content_block_stop", index: 0 },
  ];
  if (!isLast)
    events.push(
      { type: "content_block_start", index: 1, content_block: call },
      { type: "content_block_delta", index: 1, delta: input },
      { type: "content_block_stop", index: 1 },
    );
  const stop = { stop_reason: isLast ? "end_turn" : "tool_use" };
  events.push({ type: "message_delta", delta: stop, usage: { output_tokens: 30 } }, { type: "message_stop" });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

async function measured(file) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const problems = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction(() => window.devtools !== undefined);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.setTimeDomain", { timeDomain: "threadTicks" });
  await session.send("Performance.enable");
  const cpuMs = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value * 1000;
  };
  await page.evaluate((text) => (window.file = text), file);
  const before = await cpuMs();
  await page.evaluate(() => window.devtools.open("long.loop", window.file));
  await page.getByRole("heading", { name: "Messages" }).waitFor();
  const opened = await cpuMs();
  await page.evaluate(async (frames) => {
    const box = window.devtools.shadowRoot.querySelector(".rows");
    for (let frame = 0; frame < frames; frame++) {
      box.scrollTop = frame * 900;
      await new Promise(requestAnimationFrame);
    }
  }, FRAMES);
  const scrolled = await cpuMs();
  await page.evaluate(() => {
    window.longestMs = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longestMs = Math.max(window.longestMs, duration);
    });
    observer.observe({ type: "longtask" });
  });
  await page.getByRole("searchbox").fill("entry k3100 in");
  await page
    .getByText(/^[1-9]\d* steps?$/)
    .first()
    .waitFor();
  const longestMs = await page.evaluate(() => window.longestMs);
  const inputs = JSON.parse(file).processes[0].inputs.length;
  await page.close();
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return { openMs: opened - before, frameMs: (scrolled - opened) / FRAMES, longestMs, inputs };
}

/** A page with the element, on the files of `dist`. */
async function serve() {
  const dist = fileURLToPath(new URL("../dist", import.meta.url));
  const page = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><style>body { margin: 0 } looplet-devtools { height: 100vh }</style><looplet-devtools></looplet-devtools><script type="module">
import "/default.js";
import "/devtools.js";
window.devtools = document.querySelector("looplet-devtools");
</script>`;
  const listening = createServer(({ url }, response) => {
    if (url === "/") return response.setHeader("content-type", "text/html").end(page);
    response.setHeader("content-type", url.endsWith(".wasm") ? "application/wasm" : "text/javascript");
    response.end(readFileSync(join(dist, url)));
  });
  await new Promise((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return listening;
}
