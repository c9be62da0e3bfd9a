// Hooks: what they are told, and what they may answer.
import type {
  HookCallback,
  HookCallbackMatcher,
  HookJSONOutput,
  Options,
} from "@anthropic-ai/claude-agent-sdk";

const keepSecrets: HookCallback = async (input, toolUseID, { signal }) => {
  if (input.hook_event_name !== "PreToolUse") return {};
  const { tool_name, tool_input, session_id, cwd } = input;
  if (signal.aborted || !JSON.stringify(tool_input).includes(".env")) return { continue: true };
  const answer: HookJSONOutput = {
    systemMessage: `${tool_name} ${toolUseID} ${session_id} ${cwd}`,
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: "secrets",
    },
  };
  return answer;
};

const note: HookCallback = async (input) =>
  input.hook_event_name === "PostToolUse"
    ? {
        hookSpecificOutput: {
          hookEventName: "PostToolUse",
          additionalContext: JSON.stringify(input.tool_response),
        },
      }
    : { decision: "block", reason: "not yet" };

const matcher: HookCallbackMatcher = { matcher: "Read|Write", hooks: [keepSecrets], timeout: 10 };

export const hooks: NonNullable<Options["hooks"]> = {
  PreToolUse: [matcher],
  PostToolUse: [{ hooks: [note] }],
  PostToolUseFailure: [{ hooks: [note] }],
  UserPromptSubmit: [{ hooks: [note] }],
  Stop: [{ hooks: [note] }],
  SubagentStart: [{ hooks: [note] }],
  SubagentStop: [{ hooks: [note] }],
  PreCompact: [{ hooks: [note] }],
  SessionStart: [{ hooks: [note] }],
  SessionEnd: [{ hooks: [note] }],
  Notification: [{ hooks: [note] }],
  PermissionRequest: [{ hooks: [note] }],
};
