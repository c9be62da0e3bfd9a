/**
 * OpenAI Chat Completions: reads its requests and writes its answers.
 * https://platform.openai.com/docs/api-reference/chat-streaming, …/guides/error-codes (seen 2026-11-20).
 */
import { ANY_JSON, fieldsBeyond, othersIn, told, toolsIn } from "../conversation.js";
import type { Conversation, PastMessage } from "../conversation.js";
import { listOf, parseJson } from "../json.js";
import type { ReplyStopReason } from "../types.js";
import { EVENT_STREAM, sse, type WireEvent, type WireFormat } from "./format.js";
import { choiceIn, OPENAI, promptOf, soundsLikeError } from "./openai.js";
import { checkOpenaiChat } from "./openai-chat-check.js";
import type { Reply, WireBlock } from "./reply.js";

export const openaiChat: WireFormat = {
  ...OPENAI,
  path: /\/chat\/completions$/,
  ids: { request: ["req_", 32], reply: ["chatcmpl-", 29], call: ["call_", 24] },
  check: checkOpenaiChat,
  read,
  stream,
  whole,
  frame: sse,
  streamType: EVENT_STREAM,
  unknownModel: (model) => ({
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    code: "model_not_found",
  }),
};

/** Fields that are read, or that change nothing in the answers of a practice model; also those of compatible servers. */
const FIELDS =
  "model messages tools tool_choice parallel_tool_calls response_format max_tokens max_completion_tokens stop stream stream_options reasoning_effort reasoning thinking enable_thinking thinking_budget chat_template_kwargs temperature top_p top_k min_p frequency_penalty presence_penalty repetition_penalty seed random_seed user metadata store service_tier safety_identifier prompt_cache_key prompt_cache_retention cache_control verbosity provider usage n";

function read(body: any): Conversation {
  const { reasoning_effort: effort, stop, tool_choice: choice, response_format: format, n } = body;
  return {
    said: body.messages.flatMap(saidIn),
    tools: toolsIn(
      listOf(body.tools).flatMap((tool) => tool.function ?? []),
      "parameters",
    ),
    choice: choiceIn(choice, choice?.function?.name),
    isParallel: body.parallel_tool_calls !== false,
    outputSchema: format?.json_schema?.schema ?? (format?.type === "json_object" ? ANY_JSON : undefined),
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    stopSequences: typeof stop === "string" ? [stop] : listOf(stop),
    thinking: effort == null || effort === "none" ? "none" : "hidden",
    others: [...fieldsBeyond(FIELDS, body), ...(n > 1 ? ["n"] : []), ...othersIn(body.tools, /^function$/)],
  };
}

const TEXTS = /^(?:text|refusal)$/;

function saidIn({ role, content, tool_calls: calls, tool_call_id: callId }: any): PastMessage[] {
  const own = told(content, TEXTS);
  if (role === "user") return [{ role, ...own }];
  if (role === "tool") return [{ role, callId, isError: soundsLikeError(own.text), ...own }];
  if (role !== "assistant") return [];
  const past = listOf(calls).map(({ id, function: { name = "", arguments: json = "" } = {} }) => {
    return { id, name, input: parseJson(json || "{}") };
  });
  return [{ role, text: own.text, calls: past }];
}

function stream(reply: Reply, body: any): { events: WireEvent[]; ending: WireEvent[] } {
  const includesUsage = body?.stream_options?.include_usage === true;
  const head = { ...headOf(reply, "chat.completion.chunk"), ...STAMP };
  const send = (choices: object[], usage: object | null = null) => {
    return { ...head, choices, ...(includesUsage && { usage }) };
  };
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
  if (type !== "tool-call") return pieces.map((piece) => ({ [PLACES[type] ?? type]: piece }));
  return [
    { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
    ...pieces.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ];
}

/** Where compatible servers put reasoning. OpenAI's own format has none. */
const PLACES: { [type: string]: string } = { text: "content", thinking: "reasoning_content" };

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
  const prompt = promptOf(usage);
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
const FINISH_REASONS: Record<ReplyStopReason, string> = {
  end: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "stop-sequence": "stop",
  refusal: "content_filter",
  pause: "stop",
};
