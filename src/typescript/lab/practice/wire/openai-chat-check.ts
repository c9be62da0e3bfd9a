/**
 * Refuses what OpenAI Chat Completions refuses and a history can run into, in its words: one rule a line. The words
 * are those of answers seen in public traffic up to 2026-11-20; the order of the rules is ours.
 */
import { isObject, listOf } from "../json.js";
import type { ReceivedRequest } from "../types.js";
import { firstBroken, walk, type Place, type Rule } from "./check.js";
import type { Refusal } from "./format.js";
import { emptyRule, limitRule, NOT_JSON, toolRules } from "./openai.js";

/** The reason why the request is illegal, or `undefined`. */
export function checkOpenaiChat({ body }: ReceivedRequest): Refusal | undefined {
  if (!isObject(body)) return NOT_JSON;
  const { places, end } = walk(body["messages"], callIds, ({ tool_call_id: id }) => [String(id)]);
  // prettier-ignore
  return firstBroken([
    [!body["model"], "you must provide a model parameter"],
    [body["messages"] === undefined, "Missing required parameter: 'messages'.", "messages", "missing_required_parameter"],
    [body["stream_options"] != null && body["stream"] !== true, "The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options"],
    limitRule(body, ["max_tokens", "max_completion_tokens"], 1),
    ...toolRules(body, ".function", (tool) => tool?.function),
    emptyRule(body["messages"], "messages"),
    ...places.flatMap(messageRules),
    openRule(end, places.length),
  ]);
}

const ROLES = ["system", "assistant", "user", "function", "tool", "developer"];

function messageRules({ message, at, asked, open }: Place): Rule[] {
  const { role, content, tool_calls: calls, refusal, audio, tool_call_id: id } = message;
  const isAssistant = role === "assistant";
  const isSaying = (content ?? (isAssistant ? (calls ?? refusal ?? audio) : undefined)) != null;
  // prettier-ignore
  return [
    [!ROLES.includes(role), `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`, `messages[${at}].role`, "invalid_value"],
    [role === "tool" && !asked.includes(id), "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", `messages.[${at}].role`],
    openRule(open, at),
    emptyRule(isAssistant ? calls : content, `messages[${at}].${isAssistant ? "tool_calls" : "content"}`),
    [!isSaying, "Invalid value for 'content': expected a string, got null.", `messages.[${at}].content`],
  ];
}

const callIds = (message: any) => listOf(message?.tool_calls).map((call) => String(call?.id));

// prettier-ignore
function openRule(ids: readonly string[], at: number): Rule {
  return [ids.length > 0, `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`, `messages.[${at}].role`];
}
