// The deployments in examples/, on the packed package, in the hosts they are meant for.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";
import { chromiumArgs } from "../../scripts/lib/browser.mjs";
import { installPacked } from "./install.mjs";
import { browse } from "./page.mjs";
import { startWorkerd } from "./workerd.mjs";

const deno = process.env.LOOPLET_DENO;
let installed;

before(async () => {
  installed = await installPacked();
  for (const name of [
    "cloudflare-worker",
    "cloudflare-chat",
    "deno-deploy",
    "node-service",
    "offline-page",
    "tools",
  ])
    cpSync(fileURLToPath(new URL(`../../examples/${name}`, import.meta.url)), join(installed.folder, name), {
      recursive: true,
      filter: (path) => !path.endsWith("package.json"),
    });
});
after(() => installed?.remove());

describe("the Cloudflare Worker", () => behaves(startWorker));
describe("the Deno server", { skip: !deno && "no Deno" }, () => behaves(startDeno));

const browserPath = process.env.LOOPLET_CHROMIUM;

test(
  "the chat in a Durable Object asks, goes on when its page is opened again, and is told",
  {
    skip: !browserPath && "no Chromium",
  },
  async () => {
    const flare = await startWorkerd(installed.folder, "cloudflare-chat/src/index.ts", undefined, {
      durableObjects: { SESSIONS: { className: "Session", useSQLite: true } },
    });
    const browser = await chromium.launch({
      executablePath: browserPath,
      args: chromiumArgs,
    });
    try {
      const page = await browser.newPage();
      const errors = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(String(await flare.ready));
      await page.getByLabel("Message").fill("What time is it in Tokyo?");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("button", { name: "Allow" }).waitFor();
      // Another tab of the same conversation, after the first one is gone.
      const address = page.url();
      await page.close();
      const again = await browser.newPage();
      again.on("pageerror", (error) => errors.push(String(error)));
      await again.goto(address);
      await again.getByRole("button", { name: "Allow" }).click();
      await again.getByText("completed").waitFor();
      assert.equal(await again.locator(".user").textContent(), "What time is it in Tokyo?");
      assert.equal(await again.locator(".question").count(), 0);
      assert.match(await again.locator(".model").last().textContent(), /Tokyo|\d\d:\d\d/);
      const drawn = await again.locator("#log").innerText();
      await again.reload();
      await again.getByText("completed").waitFor();
      assert.equal(await again.locator("#log").innerText(), drawn);
      if (process.env.LOOPLET_PICTURE) await again.screenshot({ path: process.env.LOOPLET_PICTURE });
      assert.deepEqual(errors, []);
    } finally {
      await browser.close();
      await flare.dispose();
    }
  },
);

/** Builds the page into this folder. */
async function buildOfflinePage(into) {
  const { folder } = installed;
  const [from, to] = [join(folder, "offline-page"), join(folder, into)];
  for (const name of ["index.html", "worker.js"]) cpSync(join(from, name), join(to, name));
  await esbuild.build({
    entryPoints: [join(from, "main.js")],
    bundle: true,
    format: "esm",
    target: "es2022",
    outfile: join(to, "main.js"),
    logLevel: "error",
  });
}

test(
  "the offline page keeps its chats and itself without a network, and goes on with a run after a reload",
  { skip: !browserPath && "no Chromium" },
  async () => {
    const { folder } = installed;
    await buildOfflinePage("offline");
    await browse({ folder, path: "/offline/" }, async (page, errors) => {
      const ready = () => page.locator("body[data-ready]").waitFor();
      const say = async (prompt) => {
        await page.getByLabel("Message").fill(prompt);
        await page.getByRole("button", { name: "Send" }).click();
      };
      const completed = () => page.getByRole("status").getByText("completed").waitFor();
      await ready();
      await say("What time is it in Tokyo?");
      await completed();
      // The second visit goes through the service worker, which keeps the files.
      await page.reload();
      await ready();
      await page.context().setOffline(true);
      await page.reload();
      await ready();
      assert.equal(await page.locator(".user").textContent(), "What time is it in Tokyo?");
      // The page reloads itself at the first word of the answer: a driver may be so slow that the run ends before.
      await page.evaluate(() => {
        const isAnswering = () => document.querySelectorAll(".assistant").length > 2;
        const reload = () => isAnswering() && location.reload();
        new MutationObserver(reload).observe(document.querySelector("#log"), { childList: true });
      });
      const reloaded = page.waitForEvent("load");
      await say("And what time is it in Paris?");
      await reloaded;
      await completed();
      assert.deepEqual(await page.locator(".user").allInnerTexts(), [
        "What time is it in Tokyo?",
        "And what time is it in Paris?",
      ]);
      assert.match(await page.locator(".assistant").last().innerText(), /Europe\/Paris/);
      await page.getByRole("button", { name: "New chat" }).click();
      await say("Hello");
      await completed();
      const chats = page.getByRole("navigation").getByRole("button");
      await chats.getByText("Hello").waitFor();
      assert.deepEqual(await chats.allInnerTexts(), ["Hello", "What time is it in Tokyo?", "+"]);
      if (process.env.LOOPLET_PICTURE) await page.screenshot({ path: process.env.LOOPLET_PICTURE });
      assert.deepEqual(errors, []);
    });
  },
);

test("the Node service goes on with a run whose process was killed", async () => {
  const begin = () =>
    startProcess(process.execPath, ["node-service/server.mjs", "runs.db", "0"], /http:\/\/127\.0\.0\.1:\d+/);
  let service = await begin();
  const ask = (path, init) => fetch(`${service.url}/chats${path}`, init);
  const read = async (path) => (await ask(path)).json();
  try {
    const response = await ask("/ada", { method: "POST", body: '{"prompt":"What time is it in Tokyo?"}' });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; !text.includes("event: text-delta");) text += (await reader.read()).value;
    service.child.kill("SIGKILL");
    await service.ended;
    await reader.cancel().catch(() => {});
    service = await begin();
    assert.match(service.printed(), /Going on with ada/);
    let chat = await read("/ada");
    while (chat.isRunning) chat = await read("/ada");
    assert.equal(chat.messages.length, 4, JSON.stringify(chat.messages));
    assert.match(JSON.stringify(chat.messages.at(-1)), /Asia\/Tokyo/);
    const next = await ask("/ada", { method: "POST", body: '{"prompt":"And what time is it in Paris?"}' });
    assert.match(await next.text(), /event: finish/);
    assert.deepEqual(
      (await read("")).map(({ id }) => id),
      ["ada"],
    );
    assert.equal((await ask("/ada", { method: "POST", body: "{" })).status, 400);
  } finally {
    service.child.kill("SIGKILL");
  }
});

test(
  "one session is opened in a Durable Object, on a page and in Node, one after the other",
  { skip: !browserPath && "no Chromium" },
  async () => {
    const { folder } = installed;
    await buildOfflinePage("travels");
    const flare = await startWorkerd(folder, "cloudflare-chat/src/index.ts", undefined, {
      durableObjects: { SESSIONS: { className: "Session", useSQLite: true } },
    });
    const args = ["node-service/server.mjs", "travels.db", "0"];
    const service = await startProcess(process.execPath, args, /http:\/\/127\.0\.0\.1:\d+/);
    try {
      // It begins in Node.
      const inNode = `${service.url}/chats/ada`;
      const asked = { method: "POST", body: '{"prompt":"What time is it in Tokyo?"}' };
      await (await fetch(inNode, asked)).text();
      let text = await (await fetch(`${inNode}/session`)).text();
      const inObject = new URL("sessions/ada/", await flare.ready);
      assert.equal((await fetch(new URL("session", inObject), { method: "PUT", body: text })).status, 200);
      await browse({ folder, path: "/travels/" }, async (page, errors) => {
        const chat = await page.context().newPage();
        await chat.goto(`${await flare.ready}#ada`);
        const question = chat.locator(".user").getByText("What time is it in Tokyo?");
        await question.waitFor();
        await chat.getByLabel("Message").fill("And in Paris?");
        await chat.getByRole("button", { name: "Send" }).click();
        await chat.getByText("completed").waitFor();
        text = await (await fetch(new URL("session", inObject))).text();
        // On to the page that needs no network.
        await page.locator("body[data-ready]").waitFor();
        const file = { name: "ada.ndjson", mimeType: "application/x-ndjson", buffer: Buffer.from(text) };
        await page.getByLabel("Open a chat").setInputFiles(file);
        await page.locator(".user").getByText("And in Paris?").waitFor();
        await page.getByLabel("Message").fill("And in Lima?");
        await page.getByRole("button", { name: "Send" }).click();
        await page.getByRole("status").getByText("completed").waitFor();
        const saved = page.waitForEvent("download");
        await page.getByRole("button", { name: "Save this chat" }).click();
        text = readFileSync(await (await saved).path(), "utf8");
        if (process.env.LOOPLET_PICTURE) await page.screenshot({ path: process.env.LOOPLET_PICTURE });
        assert.deepEqual(errors, []);
      });
      // And back, where the first process has its beginning.
      assert.equal((await fetch(`${inNode}/session`, { method: "PUT", body: text })).status, 200);
      const { messages } = await (await fetch(inNode)).json();
      const said = messages.flatMap(({ role, content: [{ text }] }) =>
        role === "user" && text ? [text] : [],
      );
      assert.deepEqual(said, ["What time is it in Tokyo?", "And in Paris?", "And in Lima?"]);
      const old = await fetch(`${inNode}/session`, { method: "PUT", body: "no chat" });
      assert.equal(old.status, 400);
    } finally {
      service.child.kill("SIGKILL");
      await flare.dispose();
    }
  },
);

/** Registers what both have in common. `start` gives `{ ask, stop }`, `ask` being a `fetch` without a URL. */
function behaves(start) {
  let server;
  before(async () => (server = await start()));
  after(() => server?.stop());
  const post = (body) => server.ask({ method: "POST", body: JSON.stringify(body) });

  test("streams the events of a run with a tool call", async () => {
    const response = await post({ prompt: "What time is it in Tokyo?" });
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    const events = parse(await response.text());
    const types = events.map(({ type }) => type);
    assert.equal(types[0], "run-start");
    assert.ok(types.includes("tool-result") && types.includes("text-delta"), types.join());
    assert.deepEqual(types.slice(-2), ["finish", "result"]);
    assert.equal(events.at(-1).data.outcome, "completed");
  });

  test("goes on with the messages of the last result", async () => {
    const first = parse(await (await post({ prompt: "What time is it in Tokyo?" })).text()).at(-1).data;
    const second = parse(
      await (await post({ prompt: "And what time is it in Paris?", messages: first.messages })).text(),
    ).at(-1).data;
    assert.equal(second.outcome, "completed");
    assert.ok(second.messages.length > first.messages.length);
    assert.match(JSON.stringify(second.toolCalls), /Europe\/Paris/);
  });

  test("can be left in the middle of an answer", async () => {
    const response = await post({ prompt: "What time is it in Tokyo?" });
    const reader = response.body.getReader();
    assert.match(new TextDecoder().decode((await reader.read()).value), /run-start/);
    await reader.cancel();
    const again = parse(await (await post({ prompt: "Hello" })).text());
    assert.equal(again.at(-1).data.outcome, "completed");
  });

  test("answers a wrong request with what is wrong", async () => {
    assert.equal((await server.ask({ method: "GET" })).status, 405);
    const empty = await post({ prompt: " " });
    assert.equal(empty.status, 400);
    assert.match((await empty.json()).error, /prompt/);
    const noJson = await server.ask({ method: "POST", body: "prompt=hello" });
    assert.equal(noJson.status, 400);
    await noJson.text();
    const raw = { type: "raw", protocol: "anthropic_messages", json: { type: "text", text: "x" } };
    const media = { type: "media", mediaType: "image/png", url: "gs://bucket/of-others.png" };
    for (const [what, body] of Object.entries({
      prompt: { prompt: [raw] },
      "prompt[0].url": { prompt: [media] },
      "messages[0].content[0].url": { prompt: "Hi", messages: [{ role: "user", content: [media] }] },
      messages: { prompt: "Hi", messages: "all" },
    })) {
      const refused = await post(body);
      assert.equal(refused.status, 400, what);
      assert.ok((await refused.json()).error.startsWith(what), what);
    }
    const nothing = await server.ask({ method: "POST", body: "null" });
    assert.equal(nothing.status, 400);
    assert.match((await nothing.json()).error, /prompt/);
  });
}

async function startWorker() {
  const config = readFileSync(join(installed.folder, "cloudflare-worker/wrangler.jsonc"), "utf8");
  const [, date] = /"compatibility_date": "([^"]+)"/.exec(config);
  const flare = await startWorkerd(installed.folder, "cloudflare-worker/src/index.ts", date);
  return { ask: (init) => flare.dispatchFetch("http://worker.test/", init), stop: () => flare.dispose() };
}

async function startDeno() {
  const args = [
    "run",
    "--no-prompt",
    "--allow-net",
    "--allow-env",
    "--node-modules-dir=manual",
    "deno-deploy/main.js",
  ];
  const env = { DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0", NO_COLOR: "1" };
  const { child, ended, url } = await startProcess(deno, args, /http:\/\/127\.0\.0\.1:\d+\//, env);
  return { ask: (init) => fetch(url, init), stop: () => (child.kill(), ended) };
}

/** A server as a process of its own, once it prints its address. */
async function startProcess(command, args, address, env = {}) {
  const child = spawn(command, args, {
    cwd: installed.folder,
    env: { ...process.env, ANTHROPIC_API_KEY: "", ...env },
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let text = "";
  const url = await new Promise((resolve, reject) => {
    const onData = (bytes) => {
      text += bytes;
      const found = address.exec(text);
      if (found) resolve(found[0]);
    };
    child.stdout.on("data", onData);
    child.stderr.on("data", onData);
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`${command} ended with ${code}\n${text}`)));
  });
  return { child, ended, url, printed: () => text };
}

function parse(stream) {
  return stream
    .split("\n\n")
    .filter(Boolean)
    .map((block) => {
      const [, type, data] = /^event: (.+)\ndata: (.+)$/.exec(block) ?? assert.fail(`no event: ${block}`);
      return { type, data: JSON.parse(data) };
    });
}
