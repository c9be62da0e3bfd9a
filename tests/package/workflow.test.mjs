// Runs as Cloudflare Workflows in workerd: each model call and each tool call is a step, and a killed process makes
// no effect twice.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { installPacked } from "./install.mjs";
import { restartWorkerd, startWorkerd, workerds } from "./workerd.mjs";

const worker = `
import { WorkflowEntrypoint } from "cloudflare:workers";
import { createAgent, custom, tool } from "looplet";
import { inSteps } from "looplet/steps";

const reach = async (name) => (await fetch("https://steps.test/" + name)).text();

export class Order extends WorkflowEntrypoint {
  async run({ instanceId, payload }, step) {
    const agent = createAgent({
      ...inSteps(instanceId, (name, work) => step.do(name, work)),
      model: custom(async ({ messages }) => {
        await reach("model-" + messages.length);
        if (messages.length === 1) return [{ type: "tool_call", id: "a", name: "pay", input: {} }];
        return "Paid " + payload.cents + ".";
      }),
      tools: {
        pay: tool({ description: "Pays", inputSchema: { type: "object" }, execute: () => reach("pay") }),
      },
    });
    const { outcome, text } = await agent.run("Pay.").result;
    return { outcome, text };
  }
}
export default {
  async fetch(request, { ORDERS }) {
    const { pathname, searchParams } = new URL(request.url);
    const id = pathname.slice(1);
    if (request.method === "POST") await ORDERS.create({ id, params: { cents: searchParams.get("cents") } });
    const order = await ORDERS.get(id);
    const change = searchParams.get("do");
    if (change !== null) await order[change]();
    return Response.json(await order.status());
  },
};`;

let installed, folder;
before(async () => {
  installed = await installPacked();
  folder = mkdtempSync(join(tmpdir(), "looplet-workflow-"));
  writeFileSync(join(installed.folder, "workflow.mjs"), worker);
});
after(() => {
  installed?.remove();
  rmSync(folder, { recursive: true, force: true });
});

test("a run in a Workflow makes each effect once, though its process is killed", async () => {
  const counts = {};
  let hold = "model-3";
  let held = () => {};
  const isHeld = new Promise((resolve) => (held = resolve));
  const options = {
    workflows: { ORDERS: { name: "orders", className: "Order" } },
    workflowsPersist: folder,
    async outboundService(request) {
      const name = new URL(request.url).pathname.slice(1);
      counts[name] = (counts[name] ?? 0) + 1;
      if (name === hold) await new Promise(held);
      return new Response(name);
    },
  };
  const start = (begin) => begin(installed.folder, "workflow.mjs", "2026-07-01", options);
  const first = await start(startWorkerd);
  await (await first.dispatchFetch("https://orders.test/order-1?cents=5", { method: "POST" })).json();
  await isHeld;
  assert.deepEqual(counts, { "model-1": 1, pay: 1, "model-3": 1 });
  for (const id of workerds()) process.kill(id, "SIGKILL");
  hold = undefined;
  const next = await start(restartWorkerd);
  const until = async (wanted) => {
    for (;;) {
      const status = await (await next.dispatchFetch("https://orders.test/order-1")).json();
      if (status.status === wanted) return status;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  try {
    // The platform goes on by itself with an instance whose process is gone. Its local double has to be told.
    for (const [change, wanted] of [
      ["pause", "paused"],
      ["resume", "complete"],
    ]) {
      await next.dispatchFetch(`https://orders.test/order-1?do=${change}`);
      await until(wanted);
    }
    const status = await until("complete");
    assert.deepEqual(status.output, { outcome: "completed", text: "Paid 5." });
    assert.deepEqual(counts, { "model-1": 1, pay: 1, "model-3": 2 });
  } finally {
    await next.dispose();
    await first.dispose().catch(() => {});
  }
});
