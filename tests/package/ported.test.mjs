// The programs of examples/ported, on the packed package in Node.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { z } from "zod";
import { installPacked, run } from "./install.mjs";

const node = process.env.LOOPLET_NODE || process.execPath;
let folder, remove;

before(async () => {
  ({ folder, remove } = await installPacked());
  cpSync(fileURLToPath(new URL("../../examples/ported", import.meta.url)), join(folder, "ported"), {
    recursive: true,
  });
});
after(() => remove?.());

/** What a program prints, in its folder. */
const printed = (name, ...args) => run(node, [join("ported", name), ...args], folder);
const load = (name) => import(pathToFileURL(join(folder, "ported", name)).href);
const chunksOf = async (response) =>
  (await response.text())
    .trim()
    .split("\n\n")
    .map((line) => line.replace(/^data: /, ""));

test("the route of the AI SDK answers useChat with the UI message stream", async () => {
  const { POST, route } = await load("ai-sdk-route.mjs");
  const ask = (messages, post = POST, id = "chat") => {
    const body = JSON.stringify({ id, trigger: "submit-message", messages });
    return post(new Request("http://route.test/", { method: "POST", body }));
  };
  const user = (text) => ({ id: text, role: "user", parts: [{ type: "text", text }] });
  const response = await ask([user("What is the weather in Paris?")]);
  assert.equal(response.headers.get("x-vercel-ai-ui-message-stream"), "v1");
  const lines = await chunksOf(response);
  assert.equal(lines.pop(), "[DONE]");
  const chunks = lines.map((line) => JSON.parse(line));
  const types = chunks.map(({ type }) => type).filter((type) => !/-delta$|^message-metadata$/.test(type));
  assert.deepEqual(types, [
    ...["start", "start-step", "text-start", "tool-input-start", "text-end", "tool-input-available"],
    ...[
      "tool-output-available",
      "finish-step",
      "start-step",
      "text-start",
      "text-end",
      "finish-step",
      "finish",
    ],
  ]);

  // The page sends the answer back as it has put it together, to a process that has never seen it.
  const call = chunks.find(({ type }) => type === "tool-input-available");
  const { output } = chunks.find(({ type }) => type === "tool-output-available");
  const { toolCallId, input } = call;
  const parts = [
    { type: "step-start" },
    { type: "text", text: "I look." },
    { type: "tool-weather", toolCallId, state: "output-available", input, output },
    { type: "step-start" },
    { type: "text", text: "It rains in Paris." },
  ];
  const conversation = [user("Weather?"), { id: "a", role: "assistant", parts }, user("And tomorrow?")];
  const again = await chunksOf(await ask(conversation, route(), "other"));
  assert.deepEqual(JSON.parse(again.at(-2)), { type: "finish", finishReason: "stop" });

  const refused = await ask(undefined);
  assert.equal(refused.status, 400);
  assert.match((await refused.json()).error, /messages/);
});

test("the route of the AI SDK asks the page about a call, and goes on with its answer", async () => {
  const { route } = await load("ai-sdk-route.mjs");
  const { scripted } = await import(
    pathToFileURL(join(folder, "node_modules/looplet/dist/practice.js")).href
  );
  let post;
  const ask = async (id, ...messages) => {
    const body = JSON.stringify({ id, trigger: "submit-message", messages });
    const lines = await chunksOf(await post(new Request("http://route.test/", { method: "POST", body })));
    assert.equal(lines.pop(), "[DONE]");
    return lines.map((line) => JSON.parse(line));
  };
  const user = (...parts) => ({ id: "u", role: "user", parts });
  const text = (text) => ({ type: "text", text });
  const image = { type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" };
  // A call behind one that waits for a person has not begun.
  const toolCalls = [
    { id: "toolu_1", name: "book", input: { city: "Paris" } },
    { id: "toolu_2", name: "weather", input: { city: "Paris" } },
    { id: "toolu_3", name: "book", input: { city: "Rome" } },
  ];
  const one = { toolCalls: toolCalls.slice(0, 1) };
  const answers = [{ text: "Booked." }, one, { text: "As you like." }, one, { text: "Gone on." }];
  const model = scripted([{ toolCalls }, ...answers]);
  const { fetch } = globalThis;
  Object.assign(globalThis, { fetch: model });
  process.env.ANTHROPIC_API_KEY = "key";
  try {
    post = route();
    const asked = await ask("hotels", user(image, text("A hotel here, please.")));
    assert.equal(asked.at(-1).type, "finish");
    const [{ content }] = model.requests[0].body.messages;
    assert.deepEqual(
      content.map(({ type }) => type),
      ["image", "text"],
    );
    const requests = asked.filter(({ type }) => type === "tool-approval-request");
    assert.deepEqual(
      requests.map(({ toolCallId }) => toolCallId),
      ["toolu_1", "toolu_3"],
    );
    const part = ({ id, name, input }, state, more) => ({
      type: `tool-${name}`,
      toolCallId: id,
      state,
      input,
      ...more,
    });
    const approved = (at, approved) => ({ approval: { id: requests[at].approvalId, approved } });
    const answered = [
      { type: "step-start" },
      part(toolCalls[0], "approval-responded", approved(0, true)),
      part(toolCalls[1], "input-available"),
      part(toolCalls[2], "approval-responded", approved(1, false)),
    ];
    const went = await ask("hotels", user(text("A hotel?")), { id: "a", role: "assistant", parts: answered });
    const ended = went.filter(({ type }) => type.startsWith("tool-output"));
    assert.deepEqual(
      ended.map(({ type, toolCallId }) => [type, toolCallId]).sort(([, a], [, b]) => a.localeCompare(b)),
      [
        ["tool-output-available", "toolu_1"],
        ["tool-output-available", "toolu_2"],
        ["tool-output-denied", "toolu_3"],
      ],
    );
    assert.match(JSON.stringify(went), /Booked\./);

    // A person who writes on without an answer.
    const again = await ask("second", user(text("A hotel?")));
    const { approvalId } = again.find(({ type }) => type === "tool-approval-request");
    const unanswered = [
      { type: "step-start" },
      part(toolCalls[0], "approval-requested", { approval: { id: approvalId } }),
    ];
    const on = await ask(
      "second",
      user(text("A hotel?")),
      { id: "a", role: "assistant", parts: unanswered },
      user(text("Forget it.")),
    );
    assert.match(JSON.stringify(on), /As you like\./);

    // The route's other process has nothing but the store, and takes the run up when the first one gives it up.
    const last = await ask("third", user(text("A hotel?")));
    const { approvalId: id } = last.find(({ type }) => type === "tool-approval-request");
    await post.close();
    post = route();
    const late = [
      { type: "step-start" },
      part(toolCalls[0], "approval-responded", { approval: { id, approved: true } }),
    ];
    const resumed = await ask("third", user(text("A hotel?")), { id: "a", role: "assistant", parts: late });
    assert.ok(
      resumed.some(({ type, toolCallId }) => type === "tool-output-available" && toolCallId === "toolu_1"),
    );
    assert.match(JSON.stringify(resumed), /Gone on\./);
  } finally {
    globalThis.fetch = fetch;
    delete process.env.ANTHROPIC_API_KEY;
  }
});

test("the script of the Claude Agent SDK denies by a hook, asks a subagent and goes on with its session", async () => {
  const lines = (await printed("agent-sdk-script.mjs")).split("\n");
  assert.match(lines[1], /^Agent .*"reviewer"/);
  assert.match(lines[2], /^  Read /, "the call of the subagent");
  assert.match(lines.join("\n"), /success, 3 and 2 turns: .*role === 'admin'/);
});

test("the handoff of the OpenAI Agents SDK reaches billing, and its guardrail stops a card number", async () => {
  assert.match(await printed("openai-handoff.mjs"), /owes 20 euros[^]*root\/to_billing/);
  const stopped = await printed("openai-handoff.mjs", "My card is 4111 1111 1111 1111");
  assert.match(stopped, /stopped[^]*the number of a card/);
});

test("the research goes on where its process was killed, and pays no search twice", async () => {
  mkdirSync(join(folder, "research"));
  const journal = join(folder, "research/research.jsonl");
  const written = (name) => (existsSync(name) ? readFileSync(name, "utf8") : "");
  writeFileSync(
    join(folder, "ported/hangs.mjs"),
    `import { research } from "./research-agent.mjs";
await research("Whales?", "research", (query) => query === "sleep" ? new Promise((r) => setTimeout(r, 60_000)) : Promise.resolve("found"));`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(node, ["ported/hangs.mjs"], { cwd: folder, env, stdio: "inherit" });
  const ended = new Promise((resolve) => child.once("close", resolve));
  while (!/About breathing[^]*About brains|About brains[^]*About breathing/.test(written(journal)))
    await new Promise(setImmediate);
  child.kill("SIGKILL");
  await ended;
  assert.match(
    await printed("research-agent.mjs", "Whales?", "research"),
    /completed[^]*half of their brain/,
  );
  const searches = written(join(folder, "research/searches.log")).trim().split("\n");
  assert.deepEqual(searches.sort(), ["brains", "breathing", "sleep"]);
});

test("the tools of an MCP server of the official package run under permissions", async () => {
  const tokens = [];
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: "files", version: "1" });
      const inputSchema = z.object({ path: z.string() });
      server.registerTool("read", { description: "Reads a file", inputSchema }, ({ path }) => ({
        content: [{ type: "text", text: `the text of ${path}` }],
      }));
      return server;
    },
    { legacy: "stateless" },
  );
  const server = createServer(async (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    tokens.push(headers.authorization);
    const body = method === "POST" ? await incoming.toArray() : undefined;
    const request = new Request(`http://127.0.0.1${url}`, {
      method,
      headers,
      body: body && Buffer.concat(body),
    });
    const response = await handler.fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { main } = await load("mcp-tools.mjs");
    const url = `http://127.0.0.1:${server.address().port}/mcp`;
    assert.deepEqual(await main("Read notes.md", { url, token: "t" }), {
      outcome: "completed",
      text: "It says: the text of notes.md",
      calls: ["mcp__files__read"],
    });
    assert.deepEqual(new Set(tokens), new Set(["Bearer t"]));
  } finally {
    server.close();
  }
});
