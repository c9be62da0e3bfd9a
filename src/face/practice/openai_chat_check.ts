/**
 * Refuses what OpenAI Chat Completions refuses, in its words, so that a history that is illegal there fails here too.
 * The words are those of answers seen in public traffic up to 2026-11-20; the order of the checks is ours.
 */
import { isObject } from "./json.js";
import { illegal, type Rejection } from "./rejection.js";

/** The reason why `body` is illegal, or `undefined`. */
export function checkOpenaiChat(body: any): Rejection | undefined {
  if (!isObject(body)) {
    return illegal(
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library " +
        "correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
    );
  }
  return checkTop(body) ?? checkTools(body) ?? checkMessages(body.messages);
}

const TOP_FIELDS = new Set(
  (
    "messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens " +
    "metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options " +
    "prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream " +
    "stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options"
  ).split(" "),
);

function checkTop(body: Record<string, any>): Rejection | undefined {
  if (typeof body.model !== "string") return illegal("you must provide a model parameter");
  if (body.messages === undefined) {
    return illegal("Missing required parameter: 'messages'.", "messages", "missing_required_parameter");
  }
  for (const field of Object.keys(body)) {
    if (!TOP_FIELDS.has(field)) return illegal(`Unknown parameter: '${field}'.`, field, "unknown_parameter");
  }
  if (body.stream_options != null && body.stream !== true) {
    return illegal(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      "stream_options",
    );
  }
  for (const field of ["max_tokens", "max_completion_tokens"]) {
    const value = body[field];
    if (value == null) continue;
    if (!Number.isInteger(value)) {
      const found =
        typeof value === "string" ? "a string" : typeof value === "number" ? "a decimal number" : "an object";
      return illegal(
        `Invalid type for '${field}': expected an integer, but got ${found} instead.`,
        field,
        "invalid_type",
      );
    }
    if (value < 1) {
      return illegal(
        `Invalid '${field}': integer below minimum value. Expected a value >= 1, but got ${value} instead.`,
        field,
        "integer_below_min_value",
      );
    }
  }
  return undefined;
}

function checkTools(body: Record<string, any>): Rejection | undefined {
  const { tools } = body;
  if (tools == null) {
    for (const field of ["tool_choice", "parallel_tool_calls"]) {
      if (body[field] == null || body[field] === "none") continue;
      return illegal(
        `Invalid value for '${field}': '${field}' is only allowed when 'tools' are specified.`,
        field,
      );
    }
    return undefined;
  }
  if (!Array.isArray(tools)) {
    return illegal("Invalid type for 'tools': expected an array of objects.", "tools", "invalid_type");
  }
  if (tools.length === 0) return emptyArray("tools");
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const kind = tool?.type === "custom" ? "custom" : "function";
    const name = tool?.[kind]?.name;
    const param = `tools[${at}].${kind}.name`;
    if (typeof name !== "string") {
      return illegal(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
    }
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      return illegal(
        `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        param,
        "invalid_value",
      );
    }
    names.add(name);
    const schema = tool.function?.parameters;
    if (schema != null && schema.type !== "object") {
      const found = schema.type === undefined ? "None" : schema.type;
      return illegal(
        `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${found}"'.`,
        `tools[${at}].function.parameters`,
        "invalid_function_parameters",
      );
    }
  }
  const named = body.tool_choice?.function?.name ?? body.tool_choice?.custom?.name;
  if (named !== undefined && !names.has(named)) {
    return illegal(`Tool choice '${named}' not found in 'tools' parameter.`, "tool_choice");
  }
  return undefined;
}

const ROLES = ["system", "assistant", "user", "function", "tool", "developer"];

function checkMessages(messages: unknown): Rejection | undefined {
  if (!Array.isArray(messages)) {
    return illegal(
      "Invalid type for 'messages': expected an array of objects, but got something else instead.",
      "messages",
      "invalid_type",
    );
  }
  if (messages.length === 0) return emptyArray("messages");
  let open: string[] = [];
  let isAfterCalls = false;
  for (const [at, message] of messages.entries()) {
    const role = message?.role;
    if (!ROLES.includes(role)) {
      return illegal(
        `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
        `messages[${at}].role`,
        "invalid_value",
      );
    }
    if (role === "tool") {
      if (message.tool_call_id === undefined) {
        const param = `messages[${at}].tool_call_id`;
        return illegal(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
      }
      if (!isAfterCalls || !open.includes(message.tool_call_id)) return orphan(at);
      open = open.filter((id) => id !== message.tool_call_id);
    } else {
      if (open.length > 0) return unanswered(open, at);
      isAfterCalls = false;
    }
    const fault = checkContent(message, at);
    if (fault) return fault;
    if (role === "assistant" && message.tool_calls != null) {
      open = message.tool_calls.map((call: any) => String(call?.id));
      isAfterCalls = true;
    }
  }
  return open.length > 0 ? unanswered(open, messages.length) : undefined;
}

function checkContent(message: any, at: number): Rejection | undefined {
  const { role, content, tool_calls: calls } = message;
  if (role === "assistant") {
    if (calls != null && (!Array.isArray(calls) || calls.length === 0))
      return emptyArray(`messages[${at}].tool_calls`);
    for (const [index, call] of (calls ?? []).entries()) {
      const param = `messages[${at}].tool_calls[${index}].function.arguments`;
      if (call?.type === "custom" || typeof call?.function?.arguments === "string") continue;
      return illegal(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
    }
    const hasSomething = content != null || calls != null || message.refusal != null || message.audio != null;
    if (hasSomething) return undefined;
  }
  if (content == null) {
    return illegal("Invalid value for 'content': expected a string, got null.", `messages.[${at}].content`);
  }
  if (Array.isArray(content) && content.length === 0) return emptyArray(`messages[${at}].content`);
  return undefined;
}

function emptyArray(param: string): Rejection {
  return illegal(
    `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    param,
    "empty_array",
  );
}

function orphan(at: number): Rejection {
  return illegal(
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    `messages.[${at}].role`,
  );
}

function unanswered(ids: readonly string[], at: number): Rejection {
  return illegal(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The " +
      `following tool_call_ids did not have response messages: ${ids.join(", ")}`,
    `messages.[${at}].role`,
  );
}
