// What the examples about runs that survive must have done; docs-tasks.mjs takes them in.
import assert from "node:assert/strict";
import { vendor } from "./docs-vendor.mjs";

export const stores = {
  "trace/dashboard.ts": {
    before: ({ answer }) => answer({ text: "Hi." }),
    async after({ made }) {
      const { DatabaseSync } = await import("node:sqlite");
      const database = new DatabaseSync(":memory:");
      const prepare = (text) => ({
        bind: (...values) => ({
          run: async () => ({ meta: database.prepare(text).run(...values) }),
          all: async () => ({ results: database.prepare(text).all(...values) }),
        }),
      });
      const { agent } = made.traced({ prepare }, "key");
      await agent.run("Hello").result;
      await new Promise((resolve) => setTimeout(resolve, 10));
      const { maxItersPercent, iterationsToEndTurn } = await made.dashboard({ prepare });
      assert.deepEqual([maxItersPercent, iterationsToEndTurn], [0, [{ iterations: 1, jobs: 1 }]]);
    },
  },
  // `workflow.test.mjs` and `long/restate.test.mjs` run them.
  "durable-engines/workflow.ts": { isConfig: true },
  "durable-engines/restate.ts": { isConfig: true },
  "durable-engines-1": {
    async after({ made, looplet: { anthropic }, practice: { scripted } }) {
      const rows = new Map();
      const kept = {
        get: async (run, name) => rows.get(`${run} ${name}`),
        put: async (run, name, value) => void rows.set(`${run} ${name}`, value),
      };
      const ask = (turns) => made.ask("a", "Hello", anthropic("test", { fetch: scripted(turns) }), kept);
      assert.equal((await ask([{ text: "Once." }])).text, "Once.");
      // The second life asks nobody.
      assert.equal((await ask([])).text, "Once.");
    },
  },
  "workers/page.ts": {
    mount: 'import "./page";',
    others: { "/api/anthropic": vendor },
    inPage: (page) => page.waitForFunction(() => document.body.textContent.trim().length > 10),
  },
  // `chat-places.test.mjs` has it on its page.
  "workers/agent.ts": { isConfig: true },
  "workers/tabs.ts": {
    mount: 'import "./tabs";',
    others: { "/api/anthropic": vendor },
    async inPage(page) {
      const other = await page.context().newPage();
      await other.goto(page.url());
      for (const tab of [page, other])
        await tab.waitForFunction(() => document.body.textContent.trim().length > 10);
    },
  },
  "durable-objects/worker.ts": {
    // `sessions.test.mjs` has it in workerd.
    async after({ made }) {
      const asked = [];
      const SESSIONS = { idFromName: (name) => name, get: (id) => ({ fetch: async () => asked.push(id) }) };
      await made.default.fetch(new Request("https://chat.test/ada/run"), { SESSIONS });
      assert.deepEqual(asked, ["ada"]);
      assert.equal(typeof made.Session.prototype.alarm, "function");
    },
  },
  // `stores.test.mjs` has them in workerd.
  "cron-and-d1/worker.ts": { isConfig: true },
  "cron-and-d1/digest.ts": { isConfig: true },
  "stores/service.ts": {
    async after({ made, practice }) {
      const { DatabaseSync } = await import("node:sqlite");
      const agent = made.service(new DatabaseSync(":memory:"), practice.scripted([{ text: "Kept." }]));
      const run = agent.run("Hello", { id: "a" });
      assert.equal((await run.result).text, "Kept.");
      await run.saved();
      assert.equal((await agent.resume("a").result).text, "Kept.");
    },
  },
  "stores-1": {
    async after({ made }) {
      const texts = [];
      const query = async (text) => (texts.push(text), { rows: [], rowCount: 1 });
      await made.postgresStore({ query }).append("x", [{ seq: 1, json: "{}" }], 0);
      assert.match(texts.at(-1), /SELECT \$1, \$2, \$3, \$4, \$5 WHERE .* \$6/);
    },
  },
  "stores-2": {
    before: ({ answer }) => answer({ text: "Paid." }),
    after: ({ output }) => assert.match(output.join(""), /Paid\./),
  },
  "stores-3": {
    after: ({ output }) => assert.match(output.join(""), /0 journals were dropped/),
  },
  "runs-that-survive/agent.ts": {
    async after({ made, practice: { scripted } }) {
      const { memoryStore } = await import("looplet/stores");
      const call = { id: "c", name: "pay", input: { cents: 5 } };
      const fetch = scripted([{ toolCalls: [call] }, { text: "Paid." }]);
      const store = memoryStore();
      const payments = {
        find: async () => "receipt 1",
        // The process ends after the payment.
        pay: () => new Promise(() => {}),
      };
      const run = made.billing(store, payments, fetch).run("Pay.", { id: "invoice" });
      for await (const event of run.events({ detached: true })) if (event.type === "tool-call") break;
      const isStarted = async () =>
        (await store.load("invoice")).some(({ json }) => json.includes('"started"'));
      while (!(await isStarted())) await new Promise((resolve) => setTimeout(resolve, 1));
      const again = made.billing(store, payments, fetch).resume("invoice", { takeOver: true });
      const { outcome, toolCalls } = await again.result;
      assert.deepEqual([outcome, toolCalls[0].output], ["completed", "receipt 1"]);
      // The first process hangs in its tool.
      run.abort();
    },
  },
  "runs-that-survive-1": {
    before: ({ answer }) => answer({ text: "Paid." }),
    async after({ made, output }) {
      assert.equal(made.again.id, "invoice-17");
      assert.match(output.join(""), /Paid\./);
    },
  },
  "runs-that-survive-2": {
    after: ({ made }) => assert.equal(typeof made.model, "object"),
  },
  "runs-that-survive-3": {
    before: ({ answer }) => answer({ text: "Paid." }, { text: "Paid." }),
    after: ({ output }) => assert.match(output.join(""), /invoice-18 Paid\./),
  },
  "runs-that-survive-4": {
    after: ({ made }) => assert.equal(typeof made.supervisor.sweep, "function"),
  },
  "stores-4": {
    after: ({ output }) => assert.match(output.join(""), /The store keeps its contract\. 1\d rules/),
  },
};
