/** What the examples of docs/tasks/vendor-tools.md and many-tools.md must have done; docs-expected.mjs says how. */
import assert from "node:assert/strict";

export const vendorTools = {
  "vendor-tools/search.ts": {
    async after({ made, practice: { scripted } }) {
      const fetch = scripted([
        { toolCalls: [{ name: "save", input: { text: "2026" } }] },
        { text: "Saved." },
      ]);
      assert.equal((await made.research(fetch)).text, "Saved.");
      const [{ body }] = fetch.requests;
      assert.deepEqual(
        body.tools.map(({ type, name, max_uses }) => [type, name, max_uses]),
        [
          ["web_search_20260318", "web_search", 3],
          [undefined, "save", undefined],
        ],
      );
    },
  },
  "vendor-tools/unknown-tool.ts": {
    async after({ made, looplet: { anthropic }, practice: { scripted } }) {
      const fetch = scripted([{ text: "Done." }]);
      await made.withSearch(anthropic("claude-opus-5-5", { fetch })).run("Go").result;
      const [{ body, headers }] = fetch.requests;
      assert.deepEqual(
        body.tools.map(({ type }) => type),
        ["web_search_20250305", "soon_20270101"],
      );
      assert.match(new Headers(headers).get("anthropic-beta"), /soon-2027-01-01/);
    },
  },
  "vendor-tools/client-tools.ts": {
    before() {
      const run = async (command) => ({ stdout: command, stderr: "", exitCode: 0 });
      Object.assign(globalThis, { browser: { picture: async () => "AAAA" }, sandbox: { run } });
    },
    async after({ made: { claudeTools, gptTools } }) {
      assert.deepEqual(Object.keys(claudeTools), [
        "memory",
        "browser",
        "browser_navigate",
        "browser_screenshot",
      ]);
      const outputs = await gptTools.terminal.execute({ action: { commands: ["ls"] } });
      assert.deepEqual(outputs, [{ stdout: "ls", stderr: "", outcome: { type: "exit", exit_code: 0 } }]);
      for (const name of ["browser", "sandbox"]) delete globalThis[name];
    },
  },
  "many-tools/many-tools.ts": {
    before() {
      const tables = Array.from({ length: 500 }, (_, at) => `table_${at}`);
      globalThis.register = { tables, read: async (table, id) => `${table}: ${id}` };
    },
    async after({ made, looplet: { openaiChat }, practice: { scripted } }) {
      const call = (name, input) => ({ toolCalls: [{ name, input }] });
      const fetch = scripted([
        call("search_tools", { query: "table_77" }),
        call("call_tool", { name: "read_table_77", input: { id: "7" } }),
        { text: "Read." },
      ]);
      const { toolCalls } = await made.clerk(openaiChat("m", { fetch })).run("Read 7 of table 77").result;
      assert.equal(toolCalls[1].output, "table_77: 7");
      assert.ok(JSON.stringify(fetch.requests[0].body).length < 2000);
      delete globalThis.register;
    },
  },
  "many-tools/own-search.ts": {
    before() {
      globalThis.index = { nearest: async () => ["far"] };
    },
    async after({ made, looplet: { openaiChat, tool }, practice: { scripted } }) {
      const fetch = scripted([
        { toolCalls: [{ name: "search_tools", input: { query: "x" } }] },
        { text: "Found." },
      ]);
      const inputSchema = { type: "object" };
      const far = tool({ description: "Far", inputSchema, deferLoading: true, execute: () => "" });
      await made.withIndex(openaiChat("m", { fetch }), { far }).run("Go").result;
      assert.match(JSON.stringify(fetch.requests[1].body.messages.at(-1)), /far/);
      delete globalThis.index;
    },
  },
};
