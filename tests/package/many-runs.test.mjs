// Ten thousand agents and runs in one isolate of workerd: the memory of the engine stays as it is.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { installPacked } from "./install.mjs";
import { startWorkerd } from "./workerd.mjs";

const worker = `
let memory;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (source, imports) => {
  const made = await instantiate(source, imports);
  memory = (made.instance ?? made).exports.memory;
  return made;
};
const { createAgent, custom, tool } = await import("looplet");
const look = tool({ description: "Looks", inputSchema: { type: "object" }, execute: () => "x".repeat(1000) });
async function one(index) {
  let asked = 0;
  const model = custom(() => (++asked === 1 ? [{ type: "tool_call", name: "look", input: {} }] : "done"));
  const agent = createAgent({ model, system: "Agent " + (index % 40), tools: { look } });
  return (await agent.run("go").result).outcome;
}
export default {
  async fetch() {
    for (let index = 0; index < 500; index++) await one(index);
    const before = memory.buffer.byteLength;
    let completed = 0;
    for (let index = 0; index < 10_000; index++) {
      if ((await one(index)) === "completed") completed++;
      // Each run sets a timer, and a request may have 10,000 that have not fired.
      if (index % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return Response.json({ before, after: memory.buffer.byteLength, completed });
  },
};`;

test("ten thousand agents and runs in workerd keep the engine's memory flat", async () => {
  const installed = await installPacked();
  try {
    writeFileSync(join(installed.folder, "many.mjs"), worker);
    const flare = await startWorkerd(installed.folder, "many.mjs");
    try {
      const response = await flare.dispatchFetch("http://worker.test/");
      const said = await response.text();
      const { before, after, completed } = response.ok ? JSON.parse(said) : assert.fail(said);
      assert.equal(completed, 10_000);
      assert.equal(after, before);
    } finally {
      await flare.dispose();
    }
  } finally {
    installed.remove();
  }
});
