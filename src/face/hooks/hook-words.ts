/**
 * Translates for hooks that are written for the Claude Agent SDK: their input gets the SDK's names, and their answer
 * gets looplet's. Without it the engine would refuse a denial in the SDK's shape.
 * <https://code.claude.com/docs/en/agent-sdk/hooks> (2026-11-22)
 */
import { isObject } from "../options/check.js";

type Fields = { [name: string]: unknown };

/** The SDK's names of input fields, where snake case of looplet's name is not enough. */
const TOLD: { readonly [name: string]: string } = {
  event: "hook_event_name",
  toolCallId: "tool_use_id",
  input: "tool_input",
  output: "tool_response",
  agentPath: "agent_id",
  agentName: "agent_type",
  instructions: "custom_instructions",
  suggestions: "permission_suggestions",
};

/** looplet's names of answer fields; an empty name drops a field that has no meaning here. */
const SAID: { readonly [name: string]: string } = {
  hookEventName: "",
  permissionDecision: "decision",
  behavior: "decision",
  permissionDecisionReason: "reason",
  message: "reason",
  updatedToolOutput: "updatedOutput",
  updatedMCPToolOutput: "updatedOutput",
  suppressOriginalPrompt: "",
  sessionTitle: "",
  initialUserMessage: "",
};

const IGNORED = ["async", "asyncTimeout", "suppressOutput", "terminalSequence"];

/** Adds the SDK's names to the input. They are not enumerable, so that hooks of looplet do not see them. */
export function withSdkNames(input: Fields): Fields {
  for (const [name, value] of Object.entries(input)) {
    const other = TOLD[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    // In the SDK an agent id marks a subagent, so the root has none.
    if (name === "agentPath" && value === "root") continue;
    Object.defineProperty(input, other, { value });
    if (name === "toolCalls") (value as Fields[]).forEach(withSdkNames);
  }
  return input;
}

/** A hook's answer as one record in looplet's words. If it has two decisions, a denial wins. */
export function inOurWords(output: Fields): Fields {
  const { hookSpecificOutput, ...said } = output;
  for (const name of IGNORED) delete said[name];
  const isDenied = denies(said["decision"]);
  const take = (fields: Fields): void => {
    for (const [name, value] of Object.entries(fields)) {
      const ours = SAID[name] ?? name;
      if (ours === "decision" && isObject(value)) take(value);
      else if (ours !== "" && !(isDenied && /^(decision|reason)$/.test(ours))) said[ours] = value;
    }
  };
  if (isObject(hookSpecificOutput)) take(hookSpecificOutput);
  else if (hookSpecificOutput !== undefined) said["hookSpecificOutput"] = hookSpecificOutput;
  return said;
}

function denies(decision: unknown): boolean {
  return decision === "deny" || decision === "block";
}
