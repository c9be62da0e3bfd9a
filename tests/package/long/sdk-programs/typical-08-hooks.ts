// Hooks that guard files, write a log, and follow the session.
import {
  query,
  type HookCallback,
  type Options,
  type PostToolUseHookInput,
  type PreToolUseHookInput,
  type StopHookInput,
} from "@anthropic-ai/claude-agent-sdk";

export async function main(base: Options) {
  const log: string[] = [];
  const guard: HookCallback = async (input, _toolUseID, { signal }) => {
    const { tool_input, hook_event_name } = input as PreToolUseHookInput;
    const path = (tool_input as { file_path?: string }).file_path ?? "";
    if (signal.aborted || !path.endsWith(".env")) return {};
    return {
      systemMessage: "Secrets stay where they are.",
      hookSpecificOutput: {
        hookEventName: hook_event_name,
        permissionDecision: "deny",
        permissionDecisionReason: "Cannot touch .env files",
      },
    };
  };
  const audit: HookCallback = async (input, toolUseID) => {
    const { tool_name, tool_response, session_id, cwd } = input as PostToolUseHookInput;
    log.push(`${tool_name} ${typeof tool_response} ${typeof toolUseID} ${session_id.length > 0} ${cwd}`);
    return { async: true };
  };
  const stop: HookCallback = async (input) => {
    log.push(`stop ${(input as StopHookInput).stop_hook_active}`);
    return {};
  };
  for await (const message of query({
    prompt: "Read everything",
    options: {
      ...base,
      allowedTools: ["Read"],
      hooks: {
        PreToolUse: [{ matcher: "Write|Edit|Read", hooks: [guard], timeout: 60 }],
        PostToolUse: [{ hooks: [audit] }],
        Stop: [{ hooks: [stop] }],
        SessionEnd: [{ hooks: [async (input) => (log.push(input.hook_event_name), {})] }],
      },
    },
  })) {
    if (message.type === "result") log.push(message.subtype);
  }
  return log;
}
