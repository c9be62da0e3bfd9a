/**
 * Hooks that are written for the Claude Agent SDK: what they are told under its names, and what they answer in ours. A
 * denial in its shape must not pass for nonsense. <https://code.claude.com/docs/en/agent-sdk/hooks> (2026-11-22)
 */
import { isObject } from "../options/check.js";

type Fields = { [name: string]: unknown };

/** Its names of what a hook is told, where they are not ours with `_`. */
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

/** Our names of what a hook answers; nothing for what has no meaning here. */
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

/** The same input, which also has the SDK's names, where nobody sees them who does not ask for them. */
export function withSdkNames(input: Fields): Fields {
  for (const [name, value] of Object.entries(input)) {
    const other = TOLD[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    // There an id says that it is a subagent's.
    if (name === "agentPath" && value === "root") continue;
    Object.defineProperty(input, other, { value });
    if (name === "toolCalls") (value as Fields[]).forEach(withSdkNames);
  }
  return input;
}

/** What a hook has answered, as one record in looplet's words. Of two decisions the one that denies counts. */
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
