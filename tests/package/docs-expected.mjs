// What each example of the documentation must have done. One that is not here makes an `agent`, whose run completes.
//   before({ looplet, practice, answer })   gives the example its `run` and `event`; answer(…): what `fetch` answers
//   after({ made, requests, output, calls, looplet, practice })   made: the example's names; requests: what `fetch` was
//   asked; output: what was printed; calls: how the reader's own functions were called
import assert from "node:assert/strict";

const schema = { type: "object", properties: {} };

/** A run with these scripted turns. */
function scriptedRun({ looplet, practice }, turns, tools, options) {
  const model = looplet.anthropic("test", { fetch: practice.scripted(turns) });
  return looplet.createAgent({ model, tools }).run("Go", options);
}

/** The `createAgent` that the example imports runs a whole loop: an answer, a tool, an answer. */
async function runsLoop({ made: { createAgent }, looplet: { anthropic }, practice: { scripted } }) {
  const turns = [{ toolCalls: [{ name: "multiply", input: {} }] }, { text: "It is 391." }];
  const multiply = { description: "Multiplies", inputSchema: schema, execute: () => 17 * 23 };
  const model = anthropic("practice", { fetch: scripted(turns) });
  const { text, toolCalls } = await createAgent({ model, tools: { multiply } }).run("What is 17 * 23?")
    .result;
  assert.equal(toolCalls[0].output, 391);
  assert.equal(text, "It is 391.");
}

// The listener of an edge function.
let edge;

export const expected = {
  "runtimes/edge.js": {
    async before() {
      const { readFile } = await import("node:fs/promises");
      const bytes = await readFile(new URL(import.meta.resolve("looplet/looplet.wasm")));
      const LOOPLET_WASM = await WebAssembly.compile(bytes);
      const addEventListener = (_, listener) => (edge = listener);
      Object.assign(globalThis, { LOOPLET_WASM, ANTHROPIC_API_KEY: "key", addEventListener });
    },
    async after({ requests }) {
      const request = new Request("https://edge.test/", { method: "POST", body: "Hello" });
      let answer;
      edge({ request, respondWith: (given) => (answer = given) });
      assert.equal((await answer).status, 200);
      assert.equal(requests[0].headers.get("x-api-key"), "key");
      for (const name of ["LOOPLET_WASM", "ANTHROPIC_API_KEY", "addEventListener"]) delete globalThis[name];
    },
  },
  "guide-2": {
    before: (host) => {
      const turns = [{ text: "I look.", toolCalls: [{ name: "look", input: {} }] }, { text: "Seen." }];
      const look = { description: "Looks", inputSchema: schema, execute: () => "a lake" };
      globalThis.run = scriptedRun(host, turns, { look });
    },
    after: ({ output }) => assert.equal(output.join(""), "I look.look a lake\nSeen."),
  },
  "guide-3": {
    async after({ made, calls, ...host }) {
      const write = (input) => ({ toolCalls: [{ name: "notes", input }] });
      const turns = [write({ title: "a", text: "b" }), write({ title: "a", text: "" }), { text: "Done." }];
      const events = [];
      const run = scriptedRun(host, turns, { notes: made.notes }, { onEvent: (event) => events.push(event) });
      const { toolCalls } = await run.result;
      assert.equal(toolCalls[0].output, "saved");
      assert.deepEqual([toolCalls[1].isError, toolCalls[1].output.code], [true, "empty"]);
      assert.deepEqual(
        calls.save.map(([title, text]) => [title, text]),
        [["a", "b"]],
      );
      const progress = events.filter(({ type }) => type === "tool-progress").map(({ data }) => data);
      assert.deepEqual(progress, [{ saved: 0 }, { saved: 0 }]);
    },
  },
  "vendors/pricing.ts": {
    async after({ made }) {
      const models = { "claude-next": { cost: { input: 3, output: 15 } } };
      const price = await made.published(async () => Response.json({ anthropic: { models } }));
      assert.equal(price("anthropic", "claude-next").outputUsdPerMillion, 15);
      assert.equal(price("openai", "gpt-5").inputUsdPerMillion, 1.25);
    },
  },
  "what-a-run-may-cost/budget.ts": {
    after({ output, requests }) {
      assert.match(output[0], /^At most \$6\.\d\d and \d+ requests\. .*\n$/);
      assert.match(output[1], /^It was \$0\.00\d\d\.\n$/);
      assert.equal(requests.length, 0);
    },
  },
  "guide-4": {
    before: (host) => (globalThis.run = scriptedRun(host, [{ hang: true }])),
    async after() {
      const { outcome, abortReason, undelivered } = await globalThis.run.result;
      assert.deepEqual([outcome, abortReason, undelivered.length], ["cancelled", "user", 2]);
    },
  },
  "models-1": {
    async after({ made, looplet }) {
      const { text } = await looplet.createAgent({ model: made.echo }).run("Hi").result;
      assert.equal(text, 'You said: [{"type":"text","text":"Hi"}]');
    },
  },
  "models-2": {
    async after({ made, looplet }) {
      const said = async (model) => (await looplet.createAgent({ model }).run("Go").result).text;
      assert.equal(await said(made.inWorker), "Hi from a Worker");
      assert.equal(await said(made.onGpu), "Hi from Llama-3.2-3B-Instruct-q4f16_1-MLC");
      // Node has no model of its own: the run says what is missing.
      const { error } = await looplet.createAgent({ model: made.inBrowser }).run("Go").result;
      assert.match(error.message, /LanguageModel/);
    },
  },
  "models-3": {
    after({ made, output }) {
      assert.equal(made.result.outcome, "completed");
      assert.equal(output[0], "sends 1 messages\n");
    },
  },
  "permissions-3": {
    async before(host) {
      const call = { name: "refund", input: { amount: 500 } };
      const refund = {
        description: "Pays back",
        inputSchema: schema,
        needsApproval: true,
        execute: (input) => input,
      };
      const asked = Promise.withResolvers();
      const onEvent = (event) => event.type === "question" && asked.resolve(event);
      globalThis.run = scriptedRun(host, [{ toolCalls: [call] }, { text: "Paid." }], { refund }, { onEvent });
      globalThis.event = await asked.promise;
    },
    async after() {
      const { toolCalls } = await globalThis.run.result;
      assert.deepEqual(toolCalls[0].output, { amount: 10 });
    },
  },
  "presets-1": {
    async after({ made, requests }) {
      assert.equal((await made.made1.run("Hello").result).outcome, "completed");
      const { model, max_tokens } = JSON.parse(requests[0].body);
      assert.deepEqual([model, max_tokens], ["claude-opus-4-20250514", 8000]);
    },
  },
  "presets-2": {
    async after({ made, requests }) {
      assert.equal((await made.made1.result).outcome, "completed");
      const { system, max_tokens } = JSON.parse(requests[0].body);
      assert.match(JSON.stringify(system), /Write 1-2 topics\./);
      assert.equal(max_tokens, 2000);
    },
  },
  "protocols-1": {
    async after({ made, requests }) {
      await made.agent.run("Hello").result;
      const { headers, body } = requests[0];
      assert.match(headers.get("anthropic-beta"), /message-threads-2026-08-12/);
      assert.deepEqual(JSON.parse(body).thread, { type: "create" });
    },
  },
  "protocols-2": {
    async after({ made, requests, looplet }) {
      for (const model of [made.made1, made.made2])
        await looplet.createAgent({ model, retry: { maxRetries: 0 } }).run("Hello").result;
      const [first, second] = requests;
      assert.match(
        first.url,
        /^https:\/\/bedrock-runtime\.us-east-1\.amazonaws\.com\/model\/us\.anthropic\./,
      );
      assert.equal(first.headers.get("authorization"), "Bearer key");
      assert.match(
        second.url,
        /^https:\/\/bedrock-runtime\.eu-central-1\.amazonaws\.com\/model\/amazon\.nova-pro/,
      );
      assert.match(
        second.headers.get("authorization"),
        /^AWS4-HMAC-SHA256 Credential=id\/\d{8}\/eu-central-1\//,
      );
    },
  },
  "runtimes-1": { after: runsLoop },
  "runtimes-2": { after: runsLoop },
  "structured-output-1": {
    before: ({ answer }) =>
      answer({ text: '{"city":"Paris","days":0}' }, { text: '{"city":"Paris","days":2}' }),
    after: ({ made }) => assert.deepEqual(made.result.output, { city: "Paris", days: 2 }),
  },
  "structured-output-2": {
    before: ({ answer }) => answer({ text: ['{"city":', '"Par', 'is"}'] }),
    async after({ made, calls }) {
      assert.deepEqual((await made.made1.result).output, { city: "Paris" });
      assert.equal(calls.show.at(-1)[0], "Paris");
    },
  },
  "subagents-3": {
    before(host) {
      const model = host.looplet.anthropic("below", { fetch: host.practice.scripted([{ text: "Found." }]) });
      const helper = host.looplet.subagent({ description: "Helps", model });
      const call = { id: "toolu_1", name: "helper", input: { prompt: "Find it." } };
      globalThis.run = scriptedRun(host, [{ toolCalls: [call] }, { text: "Done." }], { helper });
    },
    after({ calls }) {
      assert.deepEqual(new Set(calls.card.map(([id]) => id)), new Set(["toolu_1"]));
      const types = calls["card.add"].map(([{ type }]) => type);
      assert.deepEqual([types.at(0), types.at(-1)], ["agent-start", "agent-finish"]);
    },
  },
  "tools-3": {
    after: ({ made }) =>
      assert.throws(made.thrown, {
        name: "ToolError",
        code: "no_key",
        message: "The key has expired.",
        hint: "Tell the user.",
        recoverable: false,
      }),
  },
  "tools-6": {
    before: ({ looplet, practice }) => {
      const turns = [
        { toolCalls: [{ name: "search", input: { query: "kettle" } }] },
        { text: "A blue one." },
      ];
      globalThis.model = looplet.anthropic("practice", { fetch: practice.scripted(turns) });
    },
    after: ({ output, calls }) => {
      assert.deepEqual(calls.show, [["KETTLE"]]);
      assert.equal(output.join(""), "3\nblue kettle\n");
    },
  },
  "ask-a-person-1": {
    before: ({ looplet, practice }) => {
      const turns = [{ toolCalls: [{ name: "book", input: { people: 4 } }] }, { text: "Outside, then." }];
      globalThis.model = looplet.anthropic("practice", { fetch: practice.scripted(turns) });
    },
    after: async ({ made, calls }) => {
      assert.deepEqual(calls.show, [["A table for 4: inside or outside?"]]);
      assert.equal((await made.run.result).toolCalls[0].output, "Booked outside.");
    },
  },
  "ask-a-person-2": {
    after: async ({ made, looplet, practice, calls }) => {
      const fetch = practice.scripted([{ toolCalls: [{ name: "exporting", input: {} }] }, { text: "Done." }]);
      const model = looplet.anthropic("practice", { fetch });
      await looplet.createAgent({ model, tools: { exporting: made.exporting } }).run("Export.").result;
      assert.deepEqual(
        calls["remote.call"].map(([step]) => step),
        ["begin", "wait"],
      );
    },
  },
  "vendors-2": {
    before: ({ answer }) => answer({ text: "Hi" }),
    async after({ made, requests, looplet }) {
      const agent = looplet.createAgent({ model: made.made1, maxOutputTokens: 99 });
      assert.equal((await agent.run("Hello").result).outcome, "completed");
      assert.equal(requests[0].url, "http://localhost:8000/v1/chat/completions");
      const { max_completion_tokens, chat_template_kwargs } = JSON.parse(requests[0].body);
      assert.deepEqual([max_completion_tokens, chat_template_kwargs], [99, { enable_thinking: false }]);
    },
  },
};
