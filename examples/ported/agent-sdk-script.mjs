// @ts-check
// A script of the Claude Agent SDK, ported: hooks, a session that continues, and a subagent. The names are the same.
// The program provides the files, here in memory.
//
//   before: import { query } from "@anthropic-ai/claude-agent-sdk"
//
//   node examples/ported/agent-sdk-script.mjs
import { InMemorySessionStore, query } from "looplet/agent-sdk";
import { memoryVfs } from "looplet/vfs";
import { claude, isMain } from "./model.mjs";

/** @param {(line: string) => void} print */
export async function main(print = console.log) {
  const vfs = memoryVfs({
    "/app/auth.js": "export const isAllowed = (user) => user.role = 'admin';\n",
    "/app/.env": "TOKEN=secret\n",
  });
  const model = claude([
    { toolCalls: [{ name: "Read", input: { file_path: "/app/.env" } }] },
    {
      toolCalls: [
        {
          name: "Agent",
          input: { description: "Review", prompt: "Review auth.js", subagent_type: "reviewer" },
        },
      ],
    },
    { toolCalls: [{ name: "Read", input: { file_path: "/app/auth.js" } }] },
    { text: "Line 1 assigns in place of comparing." },
    { text: "auth.js assigns in place of comparing." },
    {
      toolCalls: [
        {
          name: "Edit",
          input: { file_path: "/app/auth.js", old_string: "role = 'admin'", new_string: "role === 'admin'" },
        },
      ],
    },
    { text: "I have mended auth.js." },
  ]);
  /** @type {import("looplet/agent-sdk").Options} */
  const options = {
    model: "claude-sonnet-4-6",
    cwd: "/app",
    host: { model: () => model, vfs },
    sessionStore: new InMemorySessionStore(),
    permissionMode: "acceptEdits",
    allowedTools: ["Read", "Agent"],
    agents: { reviewer: { description: "Reviews one file", prompt: "You find defects.", tools: ["Read"] } },
    hooks: { PreToolUse: [{ matcher: "Read", hooks: [keepSecrets] }] },
  };
  const first = await told("Review the code.", options, print);
  const second = await told("Mend it.", { ...options, resume: first.session_id }, print);
  print(
    `${second.subtype}, ${first.num_turns} and ${second.num_turns} turns: ${new TextDecoder().decode(await vfs.read("/app/auth.js"))}`,
  );
}

/** @type {import("looplet/agent-sdk").HookCallback} */
async function keepSecrets(input) {
  const path = String(/** @type {any} */ (input).tool_input.file_path);
  if (!path.endsWith(".env")) return {};
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: `${path} has secrets`,
    },
  };
}

/**
 * Prints what a query says, and returns its result.
 *
 * @param {string} prompt
 * @param {import("looplet/agent-sdk").Options} options
 * @param {(line: string) => void} print
 */
async function told(prompt, options, print) {
  for await (const message of query({ prompt, options })) {
    if (message.type === "assistant")
      for (const block of message.message.content) {
        if (block.type === "text") print(block.text);
        if (block.type === "tool_use")
          print(`${message.parent_tool_use_id ? "  " : ""}${block.name} ${JSON.stringify(block.input)}`);
      }
    if (message.type === "result") return message;
  }
  throw new Error("The query has ended without a result");
}

if (isMain(import.meta.url)) await main();
