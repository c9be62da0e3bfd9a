// A plan first; the work after it is approved.
import { query, type Options } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  let plan = "";
  const used: string[] = [];
  for await (const message of query({
    prompt: "Add a cache",
    options: {
      ...base,
      permissionMode: "plan",
      canUseTool: async (toolName, input) => {
        if (toolName !== "ExitPlanMode") return { behavior: "deny", message: "Only plans." };
        plan = String(input["plan"]);
        return {
          behavior: "allow",
          updatedInput: input,
          updatedPermissions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
        };
      },
    },
  })) {
    if (message.type === "assistant")
      for (const block of message.message.content) if (block.type === "tool_use") used.push(block.name);
  }
  return { plan, used };
}
