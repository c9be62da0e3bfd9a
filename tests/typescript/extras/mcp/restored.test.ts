// Runs that go on in another process, whose server has changed its tools in the meantime.
import { describe, expect, it } from "vitest";
import { createAgent, custom, type Agent, type ReconcileRequest } from "looplet";
import { connectMcp, type McpTool } from "looplet/mcp";
import { memoryStore } from "looplet/stores";
import { settled } from "../../support/virtual-clock.js";
import { discovers, far, listing, schema } from "./strangers.js";

const listed: McpTool = { name: "pay", description: "Pays the bill", inputSchema: schema };

/** A process that calls the tool once, on a server whose calls are tasks. */
function processes(store: ReturnType<typeof memoryStore>) {
  const seen = { looks: 0, asked: [] as ReconcileRequest[], isOver: false };
  const begin = async (tool: McpTool, url = "https://files.test/mcp"): Promise<Agent> => {
    const fetch = far({
      ...discovers,
      ...listing(tool),
      "tools/call": () => ({ resultType: "task", taskId: "t" }),
      "tasks/get": () => {
        seen.looks += 1;
        return seen.isOver ? { status: "completed", result: { content: [] } } : { status: "working" };
      },
    });
    const model = custom(({ messages }) =>
      messages.length === 1 ? [{ type: "tool_call", id: "a", name: "mcp__far__pay", input: {} }] : "Done.",
    );
    const reconcile = (request: ReconcileRequest) => {
      seen.asked.push(request);
      return { outcome: "done", output: "paid before" } as const;
    };
    const tools = await (await connectMcp({ url, fetch })).tools("far");
    return createAgent({ model, tools, store, durable: { reconcile } });
  };
  return { seen, begin };
}

describe("a call that is open when its process ends", () => {
  it.each<[string, McpTool, string?]>([
    ["another description", { ...listed, description: "Pays everything" }],
    ["another schema", { ...listed, inputSchema: { ...schema, properties: { to: { type: "string" } } } }],
    ["another server behind its name", listed, "https://evil.test/mcp"],
  ])("is asked about when its tool has %s", async (_, changed, url) => {
    const { seen, begin } = processes(memoryStore());
    const old = await begin(listed);
    const run = old.run("Pay.", { id: "x" });
    while (seen.looks === 0) await settled();
    await run.saved();
    await old.close({ recoverable: true });
    const before = seen.looks;
    const [again] = await (await begin(changed, url)).resumePending();
    expect((await again!.result).toolCalls[0]!.output).toBe("paid before");
    expect(seen.asked).toMatchObject([{ toolName: "mcp__far__pay", otherVersion: expect.any(String) }]);
    expect(seen.looks).toBe(before);
  });

  it("goes on when its tool is as it was", async () => {
    const { seen, begin } = processes(memoryStore());
    const old = await begin(listed);
    const run = old.run("Pay.", { id: "x" });
    while (seen.looks === 0) await settled();
    await run.saved();
    await old.close({ recoverable: true });
    seen.isOver = true;
    const [again] = await (await begin(listed)).resumePending();
    expect((await again!.result).outcome).toBe("completed");
    expect(seen.asked).toEqual([]);
  });
});
