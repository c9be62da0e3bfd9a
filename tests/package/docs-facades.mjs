// What the examples of the pages about other loops must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";

export const facades = {
  "sprout/tutor.ts": {
    async after({ made, practice: { scripted } }) {
      const fetch = scripted([
        { text: "Trees first.", toolCalls: [{ name: "add_subconcept", input: { title: "Trees" } }] },
        { text: "A tree has leaves." },
      ]);
      const sent = [];
      const { finalText, toolCalls } = await made.teach({ fetch }, { send: (...event) => sent.push(event) });
      assert.equal(finalText, "A tree has leaves.");
      assert.deepEqual(toolCalls, [
        { name: "add_subconcept", input: { title: "Trees" }, result: '{"added":"Trees"}' },
      ]);
      assert.deepEqual(sent, [
        ["agent_reasoning", { agent: "tutor", text: "Trees first." }],
        ["tool_call", { tool: "add_subconcept", input: { title: "Trees" } }],
        ["tool_result", { tool: "add_subconcept", summary: '{"added":"Trees"}' }],
        ["agent_reasoning", { agent: "tutor", text: "A tree has leaves." }],
      ]);
    },
  },
  "sprout/route.ts": {
    async after({ made, practice: { scripted } }) {
      const response = made.route("Teach me", { fetch: scripted([{ text: "Trees." }]) });
      assert.equal(response.headers.get("content-type"), "text/event-stream");
      assert.match(
        await response.text(),
        /^event: agent_reasoning\n.*\n\nevent: done\ndata: \{"finalText":"Trees."\}\n\n$/,
      );
    },
  },
  "sprout/nodes.ts": {
    async after({ made }) {
      const sent = [];
      const node = made.createNode.execute({ title: "Trees" }, { send: (...event) => sent.push(event) });
      assert.equal(node.title, "Trees");
      assert.deepEqual(sent, [["node_created", node]]);
    },
  },
  "sprout/topic.ts": {
    async after({ made, practice: { scripted } }) {
      const fetch = scripted([{ text: "Trees" }]);
      assert.equal(await made.generate({ fetch }, "n7", "ada"), "Trees");
      assert.equal(fetch.requests[0].body.system, "You create 1-2 concepts.");
      assert.match(fetch.requests[0].bodyText, /topic n7 for user ada/);
    },
  },
  "built-in-tools/tools.ts": {
    async after({ made, practice: { scripted } }) {
      const fetch = scripted([
        { toolCalls: [{ name: "Grep", input: { pattern: "\\ba\\b", output_mode: "content" } }] },
        {
          toolCalls: [
            { name: "Edit", input: { file_path: "auth.ts", old_string: "a =", new_string: "count =" } },
          ],
        },
        { text: "Renamed." },
      ]);
      const { result, file } = await made.rename(fetch);
      assert.deepEqual([result.outcome, file], ["completed", "export const count = 1;\n"]);
      assert.match(fetch.requests[1].bodyText, /auth\.ts:1:export const a = 1;/);
    },
  },
  "agent-sdk/repair.ts": {
    async after({ made, practice: { scripted } }) {
      const fetch = scripted([
        { toolCalls: [{ name: "mcp__files__read", input: { path: "auth.ts" } }] },
        { toolCalls: [{ name: "mcp__files__write", input: { path: "auth.ts", text: "fixed" } }] },
        { text: "Fixed." },
      ]);
      const files = { "auth.ts": "broken" };
      assert.match(
        await made.repair({ fetch, apiKey: "k" }, files),
        /^Fixed\. \$0\.00\d\d, session [\da-f-]{36}$/,
      );
      assert.deepEqual(files, { "auth.ts": "fixed" });
      assert.match(fetch.requests[1].bodyText, /broken/);
    },
  },
  "agent-sdk/trust.ts": {
    async after({ made, practice: { scripted } }) {
      const path = "/app/.claude/settings.json";
      const said = new TextEncoder().encode('{"permissions":{"allow":["Read"]},"env":{"PORT":"1"}}');
      const vfs = {
        read: async (file) => (file === path ? said : undefined),
        stat: async (file) =>
          file === path ? { size: said.length, mtimeMs: 0, isDirectory: false } : undefined,
        list: async () => [],
      };
      const asked = [];
      const isFine = (question) => asked.push(question) > 0;
      const host = { fetch: scripted([{ text: "Done." }]), apiKey: "k", vfs };
      assert.equal(await made.inProject(host, isFine), "success");
      assert.deepEqual(asked, [`${path} allows Read with PORT?`]);
    },
  },
  "agent-sdk/session.ts": {
    async after({ made, practice: { scripted } }) {
      const messages = await made.twice({
        fetch: scripted([{ text: "Hello." }, { text: "Ada." }]),
        apiKey: "k",
      });
      assert.deepEqual(
        messages.map(({ type, message }) => `${type} ${message.content[0].text}`),
        ["user My name is Ada.", "assistant Hello.", "user Who am I?", "assistant Ada."],
      );
    },
  },
  "production/builder.ts": {
    async after({ made, practice: { scripted } }) {
      const fetch = scripted([
        { toolCalls: [{ name: "read_file", input: { path: "Hero.jsx" } }] },
        { toolCalls: [{ name: "write_file", input: { path: "Hero.jsx", text: "<h1/>" } }] },
        { text: "Built." },
      ]);
      const files = {};
      const { stopReason, text } = await made.build({ fetch }, {}, files).result;
      assert.deepEqual([stopReason, text, files], ["end_turn", "Built.", { "Hero.jsx": "<h1/>" }]);
      assert.match(fetch.requests[1].bodyText, /file_not_found.*list the directory with list_dir/);
    },
  },
  "production/job.ts": {
    async after({ made, practice: { scripted } }) {
      const saved = new Map();
      const store = {
        save: (checkpoint) => saved.set(checkpoint.id, checkpoint),
        load: (id) => saved.get(id),
      };
      const look = { toolCalls: [{ name: "look_up", input: {} }] };
      const fetch = scripted([look, look, { text: "Built in blue." }]);
      assert.equal(await made.twice({ fetch }, store), "Built in blue.");
      assert.equal(saved.size, 1);
      assert.match(fetch.requests[1].bodyText, /Use blue\./);
    },
  },
  "production/again.ts": {
    async after({ made, practice: { scripted } }) {
      const fetch = scripted([{ text: "The footer." }]);
      const message = (role, text) => ({ role, content: [{ type: "text", text }] });
      const rows = [message("user", "Build."), message("assistant", "Built.")];
      const entries = rows.map((message, iter) => ({ job_id: "j", iter, message }));
      const end = { job_id: "j", iter: 1, stop_reason: "end_turn" };
      assert.equal(await made.continueJob([...entries, end], { fetch }), "The footer.");
      assert.equal(fetch.requests[0].body.messages.length, 3);
    },
  },
  "guide-loop/loop.ts": {
    async after({ made, practice: { scripted }, looplet: { anthropic } }) {
      const { makeInvokeModel } = await import("looplet/guide");
      const fetch = scripted([
        { toolCalls: [{ id: "call_1", name: "read_file", input: { path: "a.txt" } }] },
        { toolCalls: [{ id: "call_2", name: "summarize", input: { text: "Alpha, Beta" } }] },
        { text: "Letters." },
        { text: "It is about letters." },
      ]);
      const invokeModel = makeInvokeModel(anthropic("m", { fetch }));
      const { session, answer } = await made.ask(
        invokeModel,
        { "a.txt": "Alpha, Beta" },
        "What is it about?",
      );
      assert.equal(answer, "It is about letters.");
      const outputs = session.messages
        .filter(({ type }) => type === "tool_result")
        .map(({ output }) => output);
      assert.deepEqual(outputs, ["Alpha, Beta", "Letters."]);
      assert.equal(fetch.requests[2].body.messages.length, 1);
    },
  },
  "guide-loop/model.ts": {
    async after({ made, practice: { scripted } }) {
      const invoke = made.invokeModel({ fetch: scripted([{ text: "Hi." }]) });
      const said = await invoke([], { messages: [{ role: "user", content: "Hello" }] });
      assert.deepEqual(said, [{ role: "assistant", content: "Hi." }]);
    },
  },
  "prompty/weather.ts": {
    async after({ made, practice: { scripted } }) {
      const fetch = scripted([
        { toolCalls: [{ id: "call_1", name: "get_weather", input: { city: "Paris", unit: "fahrenheit" } }] },
        { text: "It is 22 degrees." },
      ]);
      const env = { ANTHROPIC_API_KEY: "key" };
      assert.equal(await made.ask("Paris?", { fetch, env }), "It is 22 degrees.");
      assert.match(fetch.requests[1].bodyText, /Paris: 22 degrees celsius/);
    },
  },
  "prompty/stranger.ts": {
    async after({ made, practice: { scripted } }) {
      const fetch = scripted([{ text: "Yes." }]);
      const text = (endpoint) =>
        `---\nmodel: { id: m, connection: { endpoint: "${endpoint}" } }\n---\nuser:\n{{question}}`;
      const host = (endpoint) => ({ fetch, apiKey: "key", vfs: { readFile: () => text(endpoint) } });
      const asked = made.askStranger("a.prompty", "Well?", host("https://llm.mine.example/v1"));
      assert.equal(await asked, "Yes.");
      const refused = made.askStranger("a.prompty", "Well?", host("https://evil.example/v1"));
      await assert.rejects(refused, /The file names the endpoint https:\/\/evil\.example\/v1/);
    },
  },
  "prompty/stream.ts": {
    async after({ made, practice: { scripted } }) {
      const texts = [];
      const fetch = scripted([{ text: ["Trees ", "grow."] }]);
      for await (const text of made.tell("trees", { fetch, apiKey: "key" })) texts.push(text);
      assert.equal(texts.join(""), "Trees grow.");
    },
  },
  "prompty/run-turn.ts": {
    async after({ made }) {
      const answers = [{ tools: [{ id: "a", name: "book", arguments: {} }] }, { output: "Booked." }];
      const model = { invoke: async () => answers.shift() ?? { output: "Booked again." } };
      const { result, journal, restart } = await made.book(model, {
        names: ["book"],
        execute: async () => "ok",
      });
      assert.deepEqual([result.status, result.output], ["success", "Booked."]);
      assert.equal(journal.at(-1).kind, "turn_committed");
      assert.equal((await restart()).output, "Booked.");
    },
  },
  "prompty/executor.ts": {
    async after({ made }) {
      assert.equal(await made.echo("Hello"), "Hello");
    },
  },
};
