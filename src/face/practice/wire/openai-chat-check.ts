/**
 * Refuses what OpenAI Chat Completions refuses and a history can run into, in its words: one rule a line. The words are
 * those of answers seen in public traffic up to 2026-11-20; the order of the rules is ours.
 */
import { isObject, listOf } from "../json.js";
import type { ReceivedRequest } from "../types.js";
import { firstBroken, walk, type Place, type Rule } from "./check.js";
import type { Refusal } from "./format.js";

const NOT_JSON = `We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)`;

/** The reason why the request is illegal, or `undefined`. */
export function checkOpenaiChat({ body }: ReceivedRequest): Refusal | undefined {
  if (!isObject(body)) return { status: 400, message: NOT_JSON };
  const limit = ["max_tokens", "max_completion_tokens"].find((field) => body[field] < 1);
  const { places, end } = walk(body["messages"], callIds, ({ tool_call_id: id }) => [String(id)]);
  // prettier-ignore
  return firstBroken([
    [!body["model"], "you must provide a model parameter"],
    [body["messages"] === undefined, "Missing required parameter: 'messages'.", "messages", "missing_required_parameter"],
    [body["stream_options"] != null && body["stream"] !== true, "The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options"],
    [limit, `Invalid '${limit}': integer below minimum value. Expected a value >= 1, but got ${limit && body[limit]} instead.`, limit, "integer_below_min_value"],
    ...toolRules(body),
    emptyRule(body["messages"], "messages"),
    ...places.flatMap(messageRules),
    openRule(end, places.length),
  ]);
}

function toolRules(body: any): Rule[] {
  const { tools, tool_choice: choice } = body;
  const chosen = choice?.function?.name;
  const names = listOf(tools).map((tool) => (tool?.custom ?? tool?.function)?.name);
  const isSet = (field: string) => ![undefined, null, "none"].includes(body[field]);
  const needsTools = ["tool_choice", "parallel_tool_calls"].find(isSet);
  // prettier-ignore
  return [
    [tools == null && needsTools, `Invalid value for '${needsTools}': '${needsTools}' is only allowed when 'tools' are specified.`, needsTools],
    emptyRule(tools, "tools"),
    ...listOf(tools).flatMap((tool, at): Rule[] => {
      const param = `tools[${at}].function.name`;
      const { type } = tool?.function?.parameters ?? { type: "object" };
      return [
        [!/^[a-zA-Z0-9_-]{1,64}$/.test(names[at]), `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, param, "invalid_value"],
        [type !== "object", `Invalid schema for function '${names[at]}': schema must be a JSON Schema of 'type: "object"', got 'type: "${type ?? "None"}"'.`, `tools[${at}].function.parameters`, "invalid_function_parameters"],
      ];
    }),
    [chosen !== undefined && !names.includes(chosen), `Tool choice '${chosen}' not found in 'tools' parameter.`, "tool_choice"],
  ];
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

const callIds = (message: any) => listOf(message.tool_calls).map((call) => String(call?.id));

// prettier-ignore
function emptyRule(list: unknown, param: string): Rule {
  return [Array.isArray(list) && list.length === 0, `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`, param, "empty_array"];
}

// prettier-ignore
function openRule(ids: readonly string[], at: number): Rule {
  return [ids.length > 0, `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`, `messages.[${at}].role`];
}
