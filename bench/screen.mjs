// `npm run bench:screen`: an answer of 20,000 deltas that comes into a list of 200 messages, in React 19 in Chromium.
// Each chat has the same page and the same pace: what is counted is commits of React, the CPU time of the page's main
// thread, and its longest task.
import { createServer } from "node:http";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";
import { findBrowser } from "../scripts/lib/browser.mjs";
import { setUp } from "./setup.mjs";

const DELTAS = 20_000;
/** Deltas in a chunk, and the time between two chunks: 4,000 deltas a second. */
const IN_CHUNK = 20;
const EVERY_MS = 5;
const SAMPLES = 3;
/** An answer has paragraphs of so many words. */
const WORDS = 60;
const words = (from) =>
  Array.from({ length: IN_CHUNK }, (_, at) => ((from + at + 1) % WORDS === 0 ? "end.\n\n" : "word "));

/** Each module exports `Chat`. Its `window.send` sends a message, and it shows the messages as `Message`. */
const apps = {
  looplet: `import { anthropic, createAgent } from "looplet";
import { useAgent } from "looplet/react";
import { earlier, Message } from "./page.jsx";
const agent = createAgent({ model: anthropic("claude-sonnet-4-6", { baseUrl: "/api" }) });
const messages = earlier.map(({ role, text }) => ({ role, content: [{ type: "text", text }] }));
const history = { messages };
export function Chat() {
  const chat = useAgent(agent, { history });
  window.send = () => chat.send("Go on");
  return chat.messages.map(({ id, parts }) => <Message key={id} text={parts.map(({ text }) => text).join("")} />);
}`,
  // The minimum for a page: one state per frame. It reads Anthropic's format only by the text of its deltas.
  "Plain React": `import { useState } from "react";
import { earlier, Message } from "./page.jsx";
export function Chat() {
  const [text, setText] = useState("");
  window.send = async () => {
    let told = "";
    let isWaiting = false;
    const show = () => ((isWaiting = false), setText(told));
    const { body } = await fetch("/api", { method: "POST" });
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      for (const [, delta] of read.value.matchAll(/"text_delta","text":("[^"]*")/g)) told += JSON.parse(delta);
      if (!isWaiting) requestAnimationFrame(show);
      isWaiting = true;
    }
  };
  const shown = text === "" ? earlier : [...earlier, { text }];
  return shown.map(({ text }, id) => <Message key={id} text={text} />);
}`,
  "useChat, its own transport": useChat(""),
  "useChat, 16 ms throttle": useChat("experimental_throttle: 16"),
  "assistant-ui, local runtime": `import { AssistantRuntimeProvider, MessagePrimitive, ThreadPrimitive, useLocalRuntime } from "@assistant-ui/react";
import { createAnthropic } from "@ai-sdk/anthropic";
import { streamText } from "ai";
import { earlier, Message } from "./page.jsx";
const model = createAnthropic({ baseURL: location.origin + "/api/v1", apiKey: "x" })("claude-sonnet-4-6");
const adapter = {
  async *run({ abortSignal }) {
    let text = "";
    for await (const delta of streamText({ model, prompt: "Go on", abortSignal }).textStream) {
      text += delta;
      yield { content: [{ type: "text", text }] };
    }
  },
};
const initialMessages = earlier.map(({ role, text }) => ({ role, content: [{ type: "text", text }] }));
const Part = ({ text }) => <Message text={text} />;
const One = () => <MessagePrimitive.Root><MessagePrimitive.Parts components={{ Text: Part }} /></MessagePrimitive.Root>;
export function Chat() {
  const runtime = useLocalRuntime(adapter, { initialMessages });
  window.send = () => runtime.thread.append("Go on");
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ UserMessage: One, AssistantMessage: One }} />
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}`,
};

function useChat(options) {
  return `import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { earlier, Message } from "./page.jsx";
const transport = new DefaultChatTransport({ api: "/ui" });
const messages = earlier.map(({ role, text }, id) => ({ id: String(id), role, parts: [{ type: "text", text }] }));
export function Chat() {
  const chat = useChat({ messages, transport, ${options} });
  window.send = () => chat.sendMessage({ text: "Go on" });
  return chat.messages.map(({ id, parts }) => (
    <Message key={id} text={parts.map(({ text = "" }) => text).join("")} />
  ));
}`;
}

const PAGE = `import { memo } from "react";
const Paragraph = memo(({ text }) => <p>{text}</p>);
export const earlier = Array.from({ length: 200 }, (_, at) => ({
  role: at % 2 === 0 ? "user" : "assistant",
  text: "An earlier message of some length. ".repeat(20) + at,
}));
export const Message = memo(({ text }) => (
  <article>{text.split("\\n\\n").map((paragraph, at) => <Paragraph key={at} text={paragraph} />)}</article>
));
`;
const MAIN = `import { Profiler } from "react";
// The build of React that reports commits to a Profiler.
import { createRoot } from "react-dom/profiling";
import { Chat } from "./app.jsx";
window.commits = 0;
window.longestMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.longestMs = Math.max(window.longestMs, duration);
}).observe({ type: "longtask" });
createRoot(document.querySelector("main")).render(
  <Profiler id="chat" onRender={() => (window.commits += 1)}><Chat /></Profiler>,
);`;
const HTML = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><main></main><script type="module" src="./main.jsx"></script>`;

const folder = fileURLToPath(new URL("node_modules/.screens", import.meta.url));

setUp();
const browser = await chromium.launch({
  executablePath: findBrowser("chromium")?.browser,
  args: ["--no-sandbox"],
});
console.log(`${DELTAS} deltas into 200 messages, median of ${SAMPLES}`);
print("", ["commits", "CPU ms", "of it script", "longest task ms", "CPU, of looplet"]);
let first;
for (const [name, code] of Object.entries(apps)) {
  const site = await serve(await built(name, code));
  const samples = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) samples.push(await visit(site));
  const medians = samples[0].map(
    (_, at) => samples.map((row) => row[at]).sort((a, b) => a - b)[SAMPLES >> 1],
  );
  first ??= medians[1];
  print(name, [...medians.map((count) => count.toFixed(0)), (medians[1] / first).toFixed(2)]);
  site.close();
}
await browser.close();

async function built(name, code) {
  const root = join(folder, name.replace(/\W+/g, "-"));
  mkdirSync(root, { recursive: true });
  for (const [file, text] of [
    ["app.jsx", code],
    ["page.jsx", PAGE],
    ["main.jsx", MAIN],
    ["index.html", HTML],
  ])
    writeFileSync(join(root, file), text);
  await build({
    root,
    configFile: false,
    logLevel: "error",
    // The peer of looplet/react is the one of the bench.
    resolve: { dedupe: ["react", "react-dom"] },
    build: { outDir: "dist", emptyOutDir: true },
  });
  return join(root, "dist");
}

/** Serves the built page, and its answers at one pace: `/api` speaks Anthropic's wire, `/ui` that of the AI SDK. */
async function serve(dist) {
  const types = { ".html": "text/html", ".js": "text/javascript" };
  const server = createServer((request, response) => {
    if (request.method === "POST")
      return void answer(response, request.url === "/ui" ? uiChunks() : wireEvents());
    const file = join(dist, request.url === "/" ? "index.html" : request.url);
    response.writeHead(200, { "content-type": types[extname(file)] }).end(readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => (server.closeAllConnections(), server.close()),
  };
}

async function answer(response, { head, delta, end }) {
  response.writeHead(200, { "content-type": "text/event-stream", "x-vercel-ai-ui-message-stream": "v1" });
  response.write(head);
  for (let sent = 0; sent < DELTAS; sent += IN_CHUNK) {
    response.write(words(sent).map(delta).join(""));
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  response.end(end);
}

// https://docs.anthropic.com/en/api/messages-streaming
function wireEvents() {
  const event = (value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage,
  };
  return {
    head:
      event({ type: "message_start", message }) +
      event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    delta: (text) => event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    end:
      event({ type: "content_block_stop", index: 0 }) +
      event({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage }) +
      event({ type: "message_stop" }),
  };
}

// https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
function uiChunks() {
  const chunk = (value) => `data: ${JSON.stringify(value)}\n\n`;
  return {
    head:
      chunk({ type: "start", messageId: "a" }) +
      chunk({ type: "start-step" }) +
      chunk({ type: "text-start", id: "t" }),
    delta: (text) => chunk({ type: "text-delta", id: "t", delta: text }),
    end:
      chunk({ type: "text-end", id: "t" }) +
      chunk({ type: "finish-step" }) +
      chunk({ type: "finish" }) +
      "data: [DONE]\n\n",
  };
}

/** Commits, CPU time and its part in scripts, and the longest task, of one answer. */
async function visit({ url }) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(url);
  await page.waitForFunction(() => document.querySelectorAll("article").length === 200);
  const session = await page.context().newCDPSession(page);
  // The time of the thread, which does not count what else the machine does.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const seconds = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    const of = (name) => metrics.find((metric) => metric.name === name).value;
    return [of("TaskDuration"), of("ScriptDuration")];
  };
  await page.evaluate(() => ((window.commits = 0), (window.longestMs = 0)));
  const before = await seconds();
  await page.evaluate(() => void window.send());
  const paragraphs = Math.floor(DELTAS / WORDS);
  await page.waitForFunction(
    (count) => [...document.querySelectorAll("article")].at(-1).textContent.split("end.").length > count,
    paragraphs,
    { timeout: 300_000, polling: 250 },
  );
  const after = await seconds();
  const [commits, longestMs] = await page.evaluate(() => [window.commits, window.longestMs]);
  await page.context().close();
  return [commits, ...after.map((value, at) => (value - before[at]) * 1000), longestMs];
}

function print(name, columns) {
  console.log(`${name.padEnd(30)}${columns.map((text) => String(text).padStart(16)).join("")}`);
}
