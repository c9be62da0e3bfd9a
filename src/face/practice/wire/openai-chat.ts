/**
 * OpenAI Chat Completions: reads its requests and writes its answers.
 * https://platform.openai.com/docs/api-reference/chat-streaming, …/guides/error-codes (seen 2026-11-20).
 */
import { textOf, type Conversation, type Said } from "../conversation.js";
import { listOf, parseJson } from "../json.js";
import type { StopReason } from "../types.js";
import { sse, type WireFormat } from "./format.js";
import { checkOpenaiChat } from "./openai-chat-check.js";
import type { Reply, WireBlock } from "./reply.js";

const NO_KEY = `You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your browser and are prompted for a username and password. You can obtain an API key from https://platform.openai.com/account/api-keys.`;
const WRONG_KEY = `Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys.`;
const TOO_MANY = "Rate limit reached for requests. Please try again in 1s.";
const BROKEN = "The server had an error while processing your request. Sorry about that!";
const ILLEGAL = "invalid_request_error";

export const openaiChat: WireFormat = {
  path: /\/chat\/completions$/,
  ids: { request: ["req_", 32], reply: ["chatcmpl-", 29], call: ["call_", 24] },
  deltaWords: 1,
  emptyArguments: "{}",
  check: checkOpenaiChat,
  keyOf: (headers) => headers["authorization"]?.replace(/^Bearer\s+/i, ""),
  read,
  stream,
  whole,
  error: ({ type, message, param, code }) => ({ error: { message, type, param, code } }),
  errorIndent: 2,
  frame: sse,
  headers: (requestId) => ({
    "x-request-id": requestId,
    "openai-organization": "practice",
    "openai-processing-ms": "12",
    "openai-version": "2020-10-01",
  }),
  errors: {
    400: [ILLEGAL, "Bad request"],
    401: [ILLEGAL, WRONG_KEY, "invalid_api_key"],
    403: [ILLEGAL, "Country, region, or territory not supported", "unsupported_country_region_territory"],
    404: [ILLEGAL, "Invalid URL"],
    405: [ILLEGAL, "Not allowed to use this method on this path."],
    429: ["requests", TOO_MANY, "rate_limit_exceeded"],
    500: ["server_error", BROKEN],
    503: ["server_error", "The engine is currently overloaded, please try again later"],
  },
  streamErrorStatus: 500,
  noKey: { status: 401, message: NO_KEY, code: null },
  unknownModel: (model) => ({
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    code: "model_not_found",
  }),
};

function read(body: any): Conversation {
  const { reasoning_effort: effort, stop, tool_choice: choice } = body;
  return {
    said: body.messages.flatMap(saidIn),
    tools: listOf(body.tools)
      .flatMap((tool) => tool.function ?? [])
      .map(({ name, description = "", parameters: schema = {} }) => ({ name, description, schema })),
    choice: choice?.function
      ? { type: "tool", name: choice.function.name }
      : { type: CHOICES[choice] ?? "auto" },
    isParallel: body.parallel_tool_calls !== false,
    outputSchema: body.response_format?.json_schema?.schema,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    stopSequences: typeof stop === "string" ? [stop] : listOf(stop),
    thinking: effort == null || effort === "none" ? "none" : "hidden",
  };
}

const CHOICES: { [word: string]: "none" | "any" } = { none: "none", required: "any" };

function saidIn({ role, content, tool_calls: calls, tool_call_id: callId }: any): Said[] {
  const text = textOf(content);
  if (role === "user") return [{ role, text }];
  // The protocol has no error flag: an error is told by what the result says.
  if (role === "tool") return [{ role, callId, text, isError: /^\s*error\b/i.test(text) }];
  if (role !== "assistant") return [];
  const past = listOf(calls).map(({ id, function: { name = "", arguments: json = "" } = {} }) => {
    return { id, name, input: parseJson(json || "{}") };
  });
  return [{ role, text, calls: past }];
}

function stream(reply: Reply, body: any): { events: string[]; ending: string[] } {
  const includesUsage = body?.stream_options?.include_usage === true;
  const head = { ...headOf(reply, "chat.completion.chunk"), ...STAMP };
  const send = (choices: object[], usage: object | null = null) =>
    sse({ ...head, choices, ...(includesUsage && { usage }) });
  const say = (delta: object, finish_reason: string | null = null) =>
    send([{ index: 0, delta, logprobs: null, finish_reason }]);
  const isText = reply.blocks.some(({ type }) => type === "text" || type === "refusal");
  const first = isText ? { content: "", refusal: null } : { content: null };
  const calls = reply.blocks.filter(({ type }) => type === "tool-call");
  const deltas = reply.blocks.flatMap((block) => deltasOf(block, calls.indexOf(block)));
  return {
    events: [{ role: "assistant", ...first }, ...deltas].map((delta) => say(delta)),
    ending: [
      say({}, finishReason(reply)),
      ...(includesUsage ? [send([], usageOf(reply))] : []),
      "data: [DONE]\n\n",
    ],
  };
}

const STAMP = { service_tier: "default", system_fingerprint: "fp_practice" };

function deltasOf({ type, pieces, id, name, value }: WireBlock, index: number): object[] {
  if (type === "redacted-thinking") return [];
  if (value) return [value];
  if (type !== "tool-call") return pieces.map((piece) => ({ [FIELDS[type] ?? type]: piece }));
  return [
    { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
    ...pieces.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ];
}

/** Where compatible servers put reasoning; OpenAI's own wire has none. */
const FIELDS: { [type: string]: string } = { text: "content", thinking: "reasoning_content" };

function whole(reply: Reply): object {
  const of = (wanted: string) => reply.blocks.filter(({ type }) => type === wanted);
  const joined = (type: string) => (of(type).length > 0 ? of(type).map(joinedPieces).join("") : null);
  const calls = of("tool-call").map((call) => {
    return { id: call.id, type: "function", function: { name: call.name, arguments: joinedPieces(call) } };
  });
  const message = {
    role: "assistant",
    content: joined("text"),
    ...(of("thinking").length > 0 && { reasoning_content: joined("thinking") }),
    ...(calls.length > 0 && { tool_calls: calls }),
    refusal: joined("refusal"),
    annotations: [],
  };
  return {
    ...headOf(reply, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(reply) }],
    usage: usageOf(reply),
    ...STAMP,
  };
}

const joinedPieces = ({ pieces }: WireBlock) => pieces.join("");

/** `created` is in seconds since 1970, and fixed: equal requests get equal bytes. */
const headOf = ({ id, model }: Reply, object: string) => ({ id, object, created: 1_700_000_000, model });

function usageOf({ usage }: Reply): object {
  const prompt = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const predicted = { accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 };
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.outputTokens,
    total_tokens: prompt + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens, audio_tokens: 0, ...predicted },
  };
}

const finishReason = ({ stopReason }: Reply) => FINISH_REASONS[stopReason] ?? stopReason;
const FINISH_REASONS: Record<StopReason, string> = {
  end: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "stop-sequence": "stop",
  refusal: "content_filter",
  pause: "stop",
};
