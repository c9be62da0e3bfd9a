import { expect, it } from "vitest";
import { createAgent, custom, tool } from "looplet";
import type { Agent, ReconcileRequest } from "looplet";
import { memoryStore } from "looplet/stores";
import { settled } from "../support/virtual-clock.js";

it("asks about a call that had begun under another version of its tool", async () => {
  const store = memoryStore();
  const asked: ReconcileRequest[] = [];
  /** A process whose tool has this version. */
  const process = (version: string, pay: () => Promise<string>): Agent =>
    createAgent({
      model: custom(({ messages }) =>
        messages.length > 1 ? "Done." : [{ type: "tool_call", id: "a", name: "pay", input: {} }],
      ),
      tools: {
        pay: tool({
          description: "Pays",
          inputSchema: { type: "object" },
          replay: "safe",
          version,
          execute: pay,
        }),
      },
      store,
      durable: {
        reconcile(request) {
          asked.push(request);
          return { outcome: "done", output: "paid before" };
        },
      },
    });
  let hasBegun = false;
  const old = process("1", () => {
    hasBegun = true;
    return new Promise<string>(() => {});
  });
  const run = old.run("Pay.", { id: "x" });
  while (!hasBegun) await settled();
  await run.saved();
  await old.close({ recoverable: true });
  const [again] = await process("2", async () => "paid again").resumePending();
  const { outcome, toolCalls } = await again!.result;
  expect([outcome, toolCalls[0]!.output]).toEqual(["completed", "paid before"]);
  expect(asked).toMatchObject([{ toolName: "pay", otherVersion: "1" }]);
});

it("refuses a version that is no text", () => {
  const options = { description: "Pays", inputSchema: { type: "object" }, execute: () => "", version: 2 };
  expect(() => createAgent({ model: custom(() => ""), tools: { pay: tool(options as never) } })).toThrow(
    "version",
  );
});
