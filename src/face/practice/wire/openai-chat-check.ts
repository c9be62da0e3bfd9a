/**
 * Refuses what OpenAI Chat Completions refuses, in its words, so that a history that is illegal there fails here too: one
 * rule a line. The words are those of answers seen in public traffic up to 2026-11-20; the order of the rules is ours.
 */
import { isObject, listOf } from "../json.js";
import type { ReceivedRequest } from "../types.js";
import { firstBroken, illegal, type Rejection, type Rule } from "./format.js";

/** The reason why the request is illegal, or `undefined`. */
export function checkOpenaiChat({ body }: ReceivedRequest): Rejection | undefined {
  if (!isObject(body))
    return illegal(
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library " +
        "correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
    );
  const { messages } = body;
  const list = listOf(messages);
  // prettier-ignore
  return firstBroken([
    ...topRules(body),
    ...toolRules(body),
    [!Array.isArray(messages), "Invalid type for 'messages': expected an array of objects, but got something else instead.", "messages", "invalid_type"],
    emptyRule(messages, "messages"),
    ...list.flatMap((message, at) => messageRules(message, at, openCalls(list.slice(0, at)))),
    openRule(openCalls(list), list.length),
  ]);
}

const TOP_FIELDS =
  "messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens " +
  "metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options " +
  "prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream " +
  "stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options";

function topRules(body: any): Rule[] {
  const unknown = Object.keys(body).find((field) => !TOP_FIELDS.split(" ").includes(field));
  // prettier-ignore
  return [
    [typeof body.model !== "string", "you must provide a model parameter"],
    missingRule(body.messages, "messages"),
    [unknown, `Unknown parameter: '${unknown}'.`, unknown, "unknown_parameter"],
    [body.stream_options != null && body.stream !== true, "The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options"],
    ...["max_tokens", "max_completion_tokens"].flatMap((field): Rule[] => {
      const value = body[field] ?? 1;
      const found = { string: "a string", number: "a decimal number" }[typeof value as string] ?? "an object";
      return [
        [!Number.isInteger(value), `Invalid type for '${field}': expected an integer, but got ${found} instead.`, field, "invalid_type"],
        [value < 1, `Invalid '${field}': integer below minimum value. Expected a value >= 1, but got ${value} instead.`, field, "integer_below_min_value"],
      ];
    }),
  ];
}

function toolRules(body: any): Rule[] {
  const { tools, tool_choice: choice } = body;
  const chosen = choice?.function?.name ?? choice?.custom?.name;
  const names = listOf(tools).map((tool) => (tool?.custom ?? tool?.function)?.name);
  const needsTools = ["tool_choice", "parallel_tool_calls"].find(
    (field) => ![undefined, null, "none"].includes(body[field]),
  );
  // prettier-ignore
  return [
    [tools == null && needsTools, `Invalid value for '${needsTools}': '${needsTools}' is only allowed when 'tools' are specified.`, needsTools],
    [tools != null && !Array.isArray(tools), "Invalid type for 'tools': expected an array of objects.", "tools", "invalid_type"],
    emptyRule(tools, "tools"),
    ...listOf(tools).flatMap((tool, at): Rule[] => {
      const param = `tools[${at}].${tool?.type === "custom" ? "custom" : "function"}.name`;
      const type = tool?.function?.parameters == null ? "object" : tool.function.parameters.type;
      return [
        missingRule(names[at], param),
        [!/^[a-zA-Z0-9_-]{1,64}$/.test(names[at]), `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`, param, "invalid_value"],
        [type !== "object", `Invalid schema for function '${names[at]}': schema must be a JSON Schema of 'type: "object"', got 'type: "${type ?? "None"}"'.`, `tools[${at}].function.parameters`, "invalid_function_parameters"],
      ];
    }),
    [chosen !== undefined && !names.includes(chosen), `Tool choice '${chosen}' not found in 'tools' parameter.`, "tool_choice"],
  ];
}

const ROLES = ["system", "assistant", "user", "function", "tool", "developer"];

function messageRules(message: any, at: number, open: readonly string[]): Rule[] {
  const { role, content, tool_calls: calls, refusal, audio, tool_call_id: id } = message ?? {};
  const [isResult, isAssistant] = [role === "tool", role === "assistant"];
  const isSaying = (content ?? (isAssistant ? (calls ?? refusal ?? audio) : undefined)) != null;
  // prettier-ignore
  return [
    [!ROLES.includes(role), `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`, `messages[${at}].role`, "invalid_value"],
    missingRule(isResult ? id : "", `messages[${at}].tool_call_id`),
    [isResult && !open.includes(id), "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", `messages.[${at}].role`],
    openRule(isResult ? [] : open, at),
    emptyRule(isAssistant ? calls : undefined, `messages[${at}].tool_calls`),
    ...(isAssistant ? listOf(calls) : []).map((call, index) =>
      missingRule(call?.type === "custom" ? "" : call?.function?.arguments, `messages[${at}].tool_calls[${index}].function.arguments`)),
    [!isSaying, "Invalid value for 'content': expected a string, got null.", `messages.[${at}].content`],
    emptyRule(isAssistant ? undefined : content, `messages[${at}].content`),
  ];
}

/** Ids of the calls that `messages` leave without an answer at their end. */
function openCalls(messages: readonly any[]): string[] {
  const at = messages.map((message) => message?.role !== "tool").lastIndexOf(true);
  const answered = messages.slice(at + 1).map((message) => message?.tool_call_id);
  const calls = messages[at]?.role === "assistant" ? listOf(messages[at].tool_calls) : [];
  return calls.map((call) => String(call?.id)).filter((id) => !answered.includes(id));
}

function missingRule(value: unknown, param: string): Rule {
  return [
    value === undefined,
    `Missing required parameter: '${param}'.`,
    param,
    "missing_required_parameter",
  ];
}

// prettier-ignore
function emptyRule(list: unknown, param: string): Rule {
  return [Array.isArray(list) && list.length === 0, `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`, param, "empty_array"];
}

// prettier-ignore
function openRule(ids: readonly string[], at: number): Rule {
  return [ids.length > 0, `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`, `messages.[${at}].role`];
}
