// A person approves, changes or denies calls.
import { query, type CanUseTool, type Options, type PermissionResult } from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  const asked: string[] = [];
  const canUseTool: CanUseTool = async (
    toolName,
    input,
    { signal, suggestions, toolUseID, decisionReason },
  ) => {
    asked.push(
      `${toolName} ${typeof toolUseID} ${signal.aborted} ${suggestions?.length ?? 0} ${typeof decisionReason}`,
    );
    if (toolName === "Write") {
      const safe: PermissionResult = {
        behavior: "allow",
        updatedInput: { ...input, file_path: `/sandbox${String(input["file_path"])}` },
      };
      return safe;
    }
    return { behavior: "deny", message: "The user does not want this." };
  };
  let denials = 0;
  for await (const message of query({ prompt: "Write a.txt", options: { ...base, canUseTool } }))
    if (message.type === "result") denials = message.permission_denials.length;
  return { asked, denials };
}
