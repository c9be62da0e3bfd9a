// Fields that other code adds to the prototype of every object are no options of a query, and no answers of its
// hooks.
import { afterEach, expect, it } from "vitest";
import { custom } from "looplet";
import { createSdkMcpServer, query, tool, type Options } from "looplet/agent-sdk";

const INHERITED = Object.prototype as { [name: string]: unknown };
const added: string[] = [];
afterEach(() => added.splice(0).forEach((name) => delete INHERITED[name]));

const hooks: Options["hooks"] = { PreToolUse: [{ hooks: [async () => ({})] }] };

it.each<[string, { [name: string]: unknown }, Partial<Options>]>([
  ["allowedTools", { allowedTools: ["mcp__app"] }, {}],
  ["canUseTool", { canUseTool: async () => ({ behavior: "allow" }) }, {}],
  ["permissionMode", { permissionMode: "acceptEdits", allow: ["mcp__app"] }, {}],
  ["behavior", { behavior: "allow" }, { canUseTool: async () => ({}) as never }],
  ["decision", { decision: "approve" }, { hooks }],
  ["permissionDecision", { permissionDecision: "allow" }, { hooks }],
  [
    "hookSpecificOutput",
    { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } },
    { hooks },
  ],
])("%s on the prototype of every object allows no call", async (_, fields, more) => {
  let calls = 0;
  const app = createSdkMcpServer({ name: "app", tools: [tool("x", "x", {}, () => ((calls += 1), "ran"))] });
  const model = custom(({ messages }) =>
    messages.length === 1 ? [{ type: "tool_call", id: "a", name: "mcp__app__x", input: {} }] : "Done.",
  );
  for (const [name, value] of Object.entries(fields)) {
    INHERITED[name] = value;
    added.push(name);
  }
  const asked = query({ prompt: "Go", options: { model, mcpServers: { app }, ...more } });
  for await (const { type } of asked) expect(type).not.toBe("error");
  expect(calls).toBe(0);
});
