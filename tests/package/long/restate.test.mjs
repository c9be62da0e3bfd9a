// Runs as steps of Restate, a durable engine: its server goes on with the run when the process of the service is
// killed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { installPacked } from "../install.mjs";

const { LOOPLET_RESTATE, LOOPLET_RESTATE_SERVER } = process.env;
const ports = { ingress: 18080, admin: 19070, node: 15122, service: 19080 };

const service = `
import * as restate from "@restatedev/restate-sdk";
import { createAgent, custom, tool } from "looplet";
import { inSteps } from "looplet/steps";

const reach = async (name) => (await fetch(process.env.EFFECTS + name)).text();
const inputSchema = { type: "object" };

const orders = restate.service({
  name: "orders",
  handlers: {
    pay: async (ctx, cents) => {
      const agent = createAgent({
        ...inSteps(ctx.rand.uuidv4(), (name, work) => ctx.run(name, work)),
        model: custom(async ({ messages }) => {
          await reach("model-" + messages.length);
          if (messages.length > 1) return "Paid " + cents + ".";
          return ["a", "b"].map((id) => ({ type: "tool_call", id, name: "pay", input: {} }));
        }),
        tools: { pay: tool({ description: "Pays", inputSchema, execute: (_, { toolCallId }) => reach("pay-" + toolCallId) }) },
      });
      const { outcome, text } = await agent.run("Pay.").result;
      return { outcome, text };
    },
  },
});
restate.serve({ services: [orders], port: ${ports.service} });
`;

let installed, folder, server;
before(async () => {
  installed = await installPacked();
  const { folder: packed } = installed;
  mkdirSync(join(packed, "node_modules/@restatedev"), { recursive: true });
  for (const name of ["restate-sdk", "restate-sdk-core"])
    symlinkSync(join(LOOPLET_RESTATE, "@restatedev", name), join(packed, "node_modules/@restatedev", name));
  writeFileSync(join(packed, "orders.mjs"), service);
  folder = mkdtempSync(join(tmpdir(), "looplet-restate-"));
  const address = (port) => `127.0.0.1:${port}`;
  server = spawn(LOOPLET_RESTATE_SERVER, ["--no-logo", "--listen-mode", "tcp"], {
    cwd: folder,
    stdio: "ignore",
    env: {
      ...process.env,
      RESTATE_BASE_DIR: folder,
      RESTATE_BIND_ADDRESS: address(ports.node),
      RESTATE_INGRESS__BIND_ADDRESS: address(ports.ingress),
      RESTATE_ADMIN__BIND_ADDRESS: address(ports.admin),
      RESTATE_DISABLE_TELEMETRY: "true",
    },
  });
});
after(() => {
  server?.kill();
  installed?.remove();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** Asks again until there is an answer. */
async function asked(url, init) {
  for (;;) {
    const response = await fetch(url, init).catch(() => undefined);
    if (response?.ok) return response;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const json = (body) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

for (const hold of ["model-1", "pay-b", "model-3"])
  test(`a run in Restate whose process is killed at ${hold} makes each other effect once`, async () => {
    const counts = {};
    let reached;
    const isReached = new Promise((resolve) => (reached = resolve));
    const effects = createServer((request, response) => {
      const name = request.url.slice(1);
      counts[name] = (counts[name] ?? 0) + 1;
      if (name === hold && counts[name] === 1) reached();
      else response.end(name);
    });
    await new Promise((resolve) => effects.listen(0, "127.0.0.1", resolve));
    const env = { ...process.env, EFFECTS: `http://127.0.0.1:${effects.address().port}/` };
    const begin = () =>
      spawn(process.execPath, ["orders.mjs"], { cwd: installed.folder, env, stdio: "ignore" });
    let orders = begin();
    try {
      const uri = `http://127.0.0.1:${ports.service}`;
      await asked(`http://127.0.0.1:${ports.admin}/deployments`, json({ uri, force: true }));
      const paid = fetch(`http://127.0.0.1:${ports.ingress}/orders/pay`, json(5));
      await isReached;
      orders.kill("SIGKILL");
      orders = begin();
      assert.deepEqual(await (await paid).json(), { outcome: "completed", text: "Paid 5." });
      assert.deepEqual(counts, { "model-1": 1, "pay-a": 1, "pay-b": 1, "model-3": 1, [hold]: 2 });
    } finally {
      orders.kill("SIGKILL");
      effects.closeAllConnections();
      effects.close();
    }
  });
