// What the examples of docs/tasks must have done; docs-expected.mjs says how.
//   inPage(page)   what a person does in a browser that has opened the example
//   mount          the script that puts a module on a page
//   others         what the page's server answers below a path
//   isTest         the example is a test file, which Node runs
//   isConfig       the example is a configuration, which another test uses
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createVite } from "vite";
import { agUi } from "./docs-ag-ui.mjs";
import { aiSdk } from "./docs-ai-sdk.mjs";
import { chats } from "./docs-chats.mjs";
import { facades } from "./docs-facades.mjs";
import { hotReloads } from "./docs-hot-reload.mjs";
import { mcp } from "./docs-mcp.mjs";
import { pageTools } from "./docs-page-tools.mjs";
import { replays } from "./docs-replays.mjs";
import { screens } from "./docs-screens.mjs";
import { ODD_REQUESTS, server, statusOf } from "./docs-server.mjs";
import { stores } from "./docs-stores.mjs";
import { vendor } from "./docs-vendor.mjs";
import { vendorTools } from "./docs-vendor-tools.mjs";

// The tests put a provider in the place of the global one.
const { fetch } = globalThis;

// The route that the page of its example asks.
let route;

/** A module with an agent whose requests go to the page's own server, without a key. */
const keyless = {
  // A path of the page's own server has no meaning without a page.
  before: () => (globalThis.location = new URL("https://page.test/")),
  async after({ made, requests }) {
    const { outcome } = await made.agent.run("Hello").result;
    delete globalThis.location;
    assert.equal(outcome, "completed");
    assert.equal(requests[0].url, "https://page.test/api/anthropic/v1/messages");
    assert.equal(requests[0].headers.get("x-api-key"), null);
  },
};

/** A request that a page sends to its proxy. */
const asked = (model = "claude-sonnet-4-6", headers = { cookie: "session=1" }) => ({
  method: "POST",
  headers: {
    ...headers,
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
    "accept-encoding": "identity",
  },
  body: JSON.stringify({
    model,
    max_tokens: 100,
    stream: true,
    messages: [{ role: "user", content: "Hello" }],
  }),
});

/** The beginning of an image. */
const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

/** A server that is listening, and its URL. */
const listening = (server) =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`)),
  );

export const tasks = {
  ...vendorTools,
  "first-run/index.html": {
    async inPage(page) {
      await page.waitForFunction(() => document.getElementById("outcome").textContent === "completed");
      assert.match(await page.textContent("#answer"), /Paris/);
    },
  },
  "first-run/agent.ts": keyless,
  "keep-the-key/agent.ts": keyless,
  "keep-the-key/server.ts": {
    async after({ made, looplet: { anthropic, createAgent } }) {
      for (const answer of [made.default.fetch, made.POST]) {
        const fetch = (url, { headers, ...init }) =>
          answer(new Request(url, { ...init, headers: [...headers, ["cookie", "session=ada"]] }));
        const model = anthropic("claude-sonnet-4-6", { baseUrl: "https://page.test/api/anthropic", fetch });
        const { outcome } = await createAgent({ model }).run("Hello").result;
        assert.equal(outcome, "completed");
      }
    },
  },
  "keep-the-key/quota.ts": {
    async after({ made }) {
      let usd = 0;
      const spent = { get: async () => usd, add: async (_, more) => void (usd += more) };
      const quota = made.quotaIn(spent, 1);
      assert.equal(await quota.begin({ owner: "ada" }), undefined);
      await quota.end({ owner: "ada" }, { costUsd: 2 });
      assert.match((await quota.begin({ owner: "ada" })).message, /used up/);
    },
  },
  "keep-the-key/shared-quota.ts": {
    async after({ made: { quota } }) {
      const call = { owner: "ada", vendor: "anthropic", model: "m" };
      try {
        assert.equal(await quota.begin(call), undefined);
        await quota.end(call, { inputTokens: 1, outputTokens: 1, costUsd: 2 });
        assert.match((await quota.begin({ ...call })).message, /used up/);
      } finally {
        rmSync("quota", { recursive: true, force: true });
      }
    },
  },
  "keep-the-key/clouds.ts": {
    before() {
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" });
    },
    async after({ made, requests }) {
      const url = "https://page.test/api/bedrock/model/eu.amazon.nova-pro-v1%3A0/converse-stream";
      const headers = { cookie: "session=1", "content-type": "application/json" };
      const body = JSON.stringify({
        messages: [{ role: "user", content: [{ text: "Hello" }] }],
        inferenceConfig: { maxTokens: 100 },
      });
      const answer = await made.handler(new Request(url, { method: "POST", headers, body }));
      assert.equal(answer.status, 200);
      assert.match(requests[0].headers.get("authorization"), /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/);
      await answer.body.cancel();
    },
  },
  "keep-the-key/node.ts": {
    async after({ made, requests }) {
      const url = `${await listening(made.server)}/api/anthropic/v1/messages`;
      try {
        const answer = await fetch(url, asked());
        assert.equal(answer.status, 200);
        assert.match(await answer.text(), /message_stop/);
        assert.equal(requests[0].url, "https://api.anthropic.com/v1/messages");
        assert.equal(requests[0].headers.get("x-api-key"), "key");
        const statuses = [
          fetch(url),
          fetch(`${url}/batches`, asked()),
          fetch(url, asked("claude-sonnet-4-6", {})),
          fetch(url, asked("claude-opus-4-8")),
        ];
        assert.deepEqual(
          (await Promise.all(statuses)).map(({ status }) => status),
          [405, 404, 401, 403],
        );
        assert.equal(requests.length, 1);
        for (const lines of ODD_REQUESTS.slice(1))
          assert.ok((await statusOf(made.server, lines)) >= 204, lines[0]);
      } finally {
        made.server.closeAllConnections();
        made.server.close();
      }
    },
  },
  "keep-the-key/worker.ts": {
    async after({ made, requests }) {
      const context = { waitUntil: () => {} };
      const ask = (init) => {
        const request = new Request("https://page.test/api/anthropic/v1/messages", init);
        return made.default.fetch(request, { ANTHROPIC_API_KEY: "secret" }, context);
      };
      assert.match(await (await ask(asked())).text(), /message_stop/);
      assert.equal(requests[0].headers.get("x-api-key"), "secret");
      assert.equal((await ask(asked("claude-sonnet-4-6", {}))).status, 401);
    },
  },
  "keep-the-key/vite.config.ts": {
    async after({ made }) {
      const seen = [];
      const vendor = createServer((request, response) => {
        seen.push({ url: request.url, ...request.headers });
        response.end("{}");
      });
      const target = await listening(vendor);
      const proxy = made.default.server.proxy["/api/anthropic"];
      const vite = await createVite({
        configFile: false,
        logLevel: "silent",
        server: { port: 0, host: "127.0.0.1", proxy: { "/api/anthropic": { ...proxy, target } } },
      });
      try {
        await vite.listen();
        const { headers, ...init } = asked();
        const page = { ...init, headers: { ...headers, origin: "https://page.test" } };
        await fetch(`${vite.resolvedUrls.local[0]}api/anthropic/v1/messages`, page);
        const [{ url, origin, "x-api-key": key }] = seen;
        assert.deepEqual([url, origin, key], ["/v1/messages", undefined, "key"]);
      } finally {
        await vite.close();
        vendor.close();
      }
    },
  },
  "server-route/route.ts": {
    async after({ made, requests, serve, practice }) {
      const post = (body) => made.POST(new Request("https://page.test/api/chat", { method: "POST", body }));
      assert.equal((await post("prompt=hello")).status, 400);
      assert.equal((await post('{"prompt":" "}')).status, 400);
      assert.equal((await post("null")).status, 400);

      const response = await post('{"prompt":"List the 3 newest orders"}');
      const text = await response.text();
      assert.match(text, /"type":"tool-result".*Kettle/);
      assert.match(text, /data: \{"type":"result","outcome":"completed".*\n\n$/);

      serve(practice.scripted([{ text: "Long", hang: true }]));
      const count = requests.length;
      const left = await post('{"prompt":"Hello"}');
      await left.body.cancel();
      assert.equal(requests.length, count);
      route = made.POST;
    },
  },
  "server-route/page.ts": {
    before: ({ practice, serve }) => {
      const turns = practice.scripted([{ text: "Hello you." }, { text: "Again." }, { status: 401 }]);
      serve((url, init) =>
        url === "/api/chat" ? route(new Request("https://page.test/api/chat", init)) : turns(url, init),
      );
    },
    async after({ made, requests }) {
      const shown = [];
      const send = (prompt) => made.send(prompt, (text) => shown.push(text));
      await send("Hello");
      await send("And again");
      assert.equal(shown.join(""), "Hello you.Again.");
      assert.equal(JSON.parse(requests.at(-1).body).messages.length, 3);
      await send("More");
      assert.match(shown.at(-1), /^The run ended as failed\. ./);
    },
    mount: `
      import { send } from "./page";
      const main = document.querySelector("main");
      main.innerHTML = "<form><input><button>Send</button></form><output></output>";
      main.querySelector("form").onsubmit = async (event) => {
        event.preventDefault();
        const output = main.querySelector("output");
        await send(main.querySelector("input").value, (text) => output.append(text));
        output.append(" |");
      };
    `,
    others: {
      async "/api/chat"(request, response) {
        const body = Buffer.concat(await request.toArray()).toString();
        const answer = await route(new Request("https://page.test/api/chat", { method: "POST", body }));
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        for await (const bytes of answer.body) response.write(bytes);
        response.end();
      },
    },
    async inPage(page) {
      const said = async (count) => {
        await page.waitForFunction((count) => document.body.innerText.split("|").length > count, count);
        return (await page.textContent("output")).split("|")[count - 1];
      };
      await page.fill("input", "List the 3 newest orders");
      await page.click("text=Send");
      assert.match(await said(1), /Kettle/);
      await page.fill("input", "How are you?");
      await page.click("text=Send");
      assert.doesNotMatch(await said(2), /ended as/);
    },
  },
  ...screens,
  ...hotReloads,
  "images-and-files/ask.ts": {
    async after({ made, requests }) {
      await made.describe(new File([PNG], "map.png", { type: "image/png" }));
      const [image, text] = JSON.parse(requests[0].body).messages[0].content;
      assert.deepEqual(image.source, {
        type: "base64",
        media_type: "image/png",
        data: PNG.toString("base64"),
      });
      assert.equal(text.text, "What is in this file?");
    },
  },
  "images-and-files/map.ts": {
    async after({ made, looplet: { anthropic, createAgent }, practice: { scripted } }) {
      const turns = scripted([
        { toolCalls: [{ name: "map", input: { city: "Paris" } }] },
        { text: "A map." },
      ]);
      const drawn = globalThis.fetch;
      globalThis.fetch = async () => new Response(PNG, { headers: { "content-type": "image/png" } });
      const agent = createAgent({ model: anthropic("test", { fetch: turns }), tools: { map: made.map } });
      await agent.run("Where is Paris?").result;
      globalThis.fetch = drawn;
      const [result] = turns.requests[1].body.messages.at(-1).content;
      assert.equal(result.content[0].source.data, PNG.toString("base64"));
    },
  },
  "tools-and-approvals/chat.ts": {
    before: ({ answer }) => {
      const pay = (id, euros) => ({ id, name: "refund", input: { order: "A1", euros } });
      answer(
        { toolCalls: [pay("toolu_1", 5), pay("toolu_2", 50), pay("toolu_3", 90), pay("toolu_4", 900)] },
        { text: "Done." },
      );
    },
    async after({ made }) {
      const asked = [];
      const { outcome, toolCalls } = await made.ask("Pay it back.", async (question) => {
        asked.push(question);
        return !question.includes("90}");
      });
      assert.equal(outcome, "completed");
      assert.equal(asked.length, 3);
      assert.deepEqual(
        toolCalls.map(({ output }) => output.code ?? output),
        ["Paid 5 euros back for A1.", "Paid 50 euros back for A1.", "denied", "too_much"],
      );
    },
  },
  ...facades,
  ...agUi,
  ...aiSdk,
  ...chats,
  "prompt-cache/chat.ts": {
    before: ({ answer }) => {
      process.on("exit", () => rmSync("chats", { recursive: true, force: true }));
      answer({ text: "On its way." }, { text: "Here." }, { text: "There." });
    },
    async after({ made }) {
      const reported = [];
      const ask = (system, prompt) => made.ask(system, prompt, ({ broken }) => reported.push(broken));
      await ask("You help customers.", "Where is my order?");
      await ask("You help customers.", "And now?");
      assert.deepEqual(reported, []);
      assert.equal(await ask("You help customers kindly.", "Thank you."), "There.");
      assert.deepEqual(reported, [{ part: "system", cause: "options" }]);
    },
  },
  "check-a-transcript/anthropic.ts": {
    async after({ made }) {
      assert.deepEqual(made.problems, [
        {
          path: "messages[1].content[0]",
          code: "missing_result",
          message: 'the call "toolu_1" needs a result in the next message',
        },
      ]);
      const [result, text] = made.repaired.messages[2].content;
      assert.deepEqual([result.tool_use_id, text.text], ["toolu_1", "Are you there?"]);
    },
  },
  "check-a-transcript/ai-sdk.ts": {
    async after({ made }) {
      assert.equal(made.sendable[2].content[0].toolCallId, "a");
      assert.equal(made.changes[0].code, "missing_result");
    },
  },
  "check-a-transcript/openai-responses.ts": {
    async after({ made }) {
      const types = made.sendable.map(({ type, role }) => type ?? role);
      assert.deepEqual(types, ["user", "reasoning", "function_call", "function_call_output", "user"]);
    },
  },
  "check-a-transcript/requests.ts": {
    async after({ made }) {
      assert.deepEqual(
        made.problems.map(({ path, code }) => [path, code]),
        [
          ["requests[1].system", "broken_prefix"],
          ["requests[1].messages[1].content[0]", "stale_reasoning"],
        ],
      );
      assert.match(made.problems[0].message, /about 75 tokens/);
    },
  },
  "check-a-transcript/ai-sdk-ui.ts": {
    async after({ made }) {
      assert.deepEqual(
        made.problems.map(({ path, code }) => [path, code]),
        [["messages[0].parts[0]", "missing_result"]],
      );
    },
  },
  ...pageTools,
  ...server,
  ...stores,
  ...replays,
  "troubleshooting-1": {
    before: ({ answer }) => answer({ status: 401 }),
    after: ({ output }) => assert.match(output.join(""), /^failed +\[object/m),
  },
  ...mcp,
  "errors/handle.ts": {
    async after({ made, looplet: { anthropic, createAgent }, practice: { scripted } }) {
      const retry = { maxRetries: 0 };
      const say = (turn, prompt = "Hello", options = {}) => {
        const model = anthropic("test", { fetch: scripted([turn]) });
        return made.answer(createAgent({ model, retry, ...options }), prompt);
      };
      const { error } = console;
      console.error = () => {};
      assert.equal(await say({ text: "Hi" }), "Hi");
      assert.equal(await say({ text: "Hi" }, " "), "Please write something.");
      assert.match(await say({ status: 429 }), /^Too many/);
      assert.match(await say({ status: 401 }), /^Something/);
      console.error = error;
      const stopped = say({ text: "Hi", usage: { inputTokens: 9, outputTokens: 9 } }, "Hello", {
        limits: { maxTotalTokens: 1 },
      });
      assert.match(await stopped, /\(stopped: tokens\)$/);
    },
  },
  "from-ai-sdk/agent.ts": {
    before: ({ answer }) =>
      answer(
        { toolCalls: [{ name: "weather", input: { city: "Paris" } }] },
        { text: "Rain.", toolCalls: [{ name: "done", input: {} }] },
      ),
    async after({ made }) {
      const { outcome, text } = await made.main();
      assert.deepEqual([outcome, text], ["stopped", "Rain."]);
      assert.equal((await made.main(AbortSignal.abort())).outcome, "cancelled");
    },
  },
  "from-langchain/agent.ts": {
    before: ({ answer }) => {
      process.env.OPENAI_API_KEY = "key";
      const order = (item) => ({ id: `toolu_${item}`, name: "order", input: { item } });
      const search = { id: "toolu_s", name: "search", input: { query: "kettle" } };
      answer({ toolCalls: [search, order("kettle"), order("boat")] }, { text: "Ordered." });
    },
    async after({ made, requests }) {
      const asked = [];
      const confirm = async (item) => (asked.push(item), item === "kettle");
      const { outcome, text } = await made.buy("Buy a kettle and a boat.", confirm);
      assert.deepEqual([outcome, text, asked], ["completed", "Ordered.", ["kettle", "boat"]]);
      const results = JSON.parse(requests[1].body).messages.at(-1).content;
      const said = results.map(({ content }) => JSON.stringify(content));
      assert.match(said[0], /Results for kettle/);
      assert.match(said[1], /Ordered kettle/);
      assert.match(said[2], /The user said no\./);
    },
  },
  "from-pi/agent.ts": {
    before: ({ answer }) =>
      answer(
        { toolCalls: [{ name: "read", input: { path: "a.md" } }] },
        { text: "The first." },
        { text: "The other." },
      ),
    async after({ made, requests }) {
      const { outcome, answer, messages } = await made.prompt("Read a.md.");
      assert.deepEqual([outcome, answer], ["completed", "The other."]);
      assert.match(JSON.stringify(requests[1].body), /Be brief\./);
      assert.match(JSON.stringify(requests[2].body), /And now the other file\./);
      assert.equal(messages.at(-1).role, "assistant");
    },
  },
  "from-claude-agent-sdk/agent.ts": {
    before: ({ answer }) => {
      const read = (id, file_path) => ({ id, name: "Read", input: { file_path } });
      answer(
        { toolCalls: [read("toolu_1", "src/a.ts"), read("toolu_2", ".env"), read("toolu_3", "b.ts")] },
        { text: "Read." },
      );
    },
    async after({ made }) {
      const { toolCalls } = await made.agent.run("Review src/a.ts.").result;
      assert.deepEqual(
        toolCalls.map(({ isError }) => isError),
        [false, true, true],
      );
    },
  },
  "from-openai-agents/agent.ts": {
    before: ({ answer }) => {
      process.env.OPENAI_API_KEY = "key";
      answer(
        { toolCalls: [{ name: "to_billing", input: {} }] },
        { toolCalls: [{ name: "invoices", input: { customer: "c-17" } }] },
        { text: "20 euros." },
      );
    },
    async after({ made, requests }) {
      const { text, toolCalls } = await made.agent.run("What do I owe?").result;
      assert.equal(text, "20 euros.");
      assert.deepEqual(toolCalls.at(-1).output, [{ customer: "c-17", euros: 20 }]);
      assert.equal(JSON.parse(requests[1].body).messages[0].content, "You are billing.");
      assert.equal((await made.agent.run("My password is 1").result).stoppedBy, "guardrail");
    },
  },
  "testing/agent.test.ts": { isTest: true },
  "testing/failure.test.ts": { isTest: true },
  "testing/jest.config.js": { isConfig: true },
};
