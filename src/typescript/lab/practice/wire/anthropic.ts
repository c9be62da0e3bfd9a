/**
 * Anthropic Messages: reads its requests and writes its answers.
 * https://platform.claude.com/docs/en/build-with-claude/streaming, …/api/errors (seen 2026-11-20).
 */
import { fieldsBeyond, saidByUser, textOf, told, toolsIn } from "../conversation.js";
import type { Conversation, PastMessage } from "../conversation.js";
import { isObject, listOf, parseJson } from "../json.js";
import type { ReplyStopReason } from "../types.js";
import { checkAnthropic } from "./anthropic-check.js";
import { EVENT_STREAM, typedSse, type WireEvent, type WireFormat } from "./format.js";
import type { Reply, WireBlock } from "./reply.js";

const TOO_MANY = "This request would exceed your organization's rate limit. Please try again later.";

export const anthropic: WireFormat = {
  path: /\/v1\/messages$/,
  ids: { request: ["req_011C", 20], reply: ["msg_01", 22], call: ["toolu_01", 22] },
  deltaWords: 4,
  emptyArguments: "",
  check: checkAnthropic,
  read,
  stream,
  whole: messageOf,
  error: ({ type, message }, request_id) => ({ type: "error", error: { type, message }, request_id }),
  errorIndent: 0,
  frame: typedSse,
  streamType: EVENT_STREAM,
  headers: (requestId, status) => ({
    "request-id": requestId,
    "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
    ...(status < 400 ? {} : { "x-should-retry": String(status >= 500 || [408, 409, 429].includes(status)) }),
  }),
  errors: {
    400: ["invalid_request_error", "Error"],
    401: ["authentication_error", "invalid x-api-key"],
    403: ["permission_error", "Your API key does not have permission to use the specified resource."],
    404: ["not_found_error", "Not found"],
    405: ["invalid_request_error", "Method Not Allowed"],
    413: ["request_too_large", "Request exceeds the maximum size"],
    429: ["rate_limit_error", TOO_MANY],
    500: ["api_error", "Internal server error"],
    529: ["overloaded_error", "Overloaded"],
  },
  streamErrorStatus: 529,
  noKey: { status: 401, message: "x-api-key header is required" },
  wrongKey: { status: 401 },
  unknownModel: (model) => ({ status: 404, message: `model: ${model}` }),
};

/** Fields that are read, or that change nothing in the answers of a practice model. */
const FIELDS =
  "model max_tokens messages system tools tool_choice thinking output_config output_format stop_sequences stream temperature top_p top_k metadata service_tier cache_control inference_geo speed";

function read(body: any): Conversation {
  const { type = "auto", name, disable_parallel_tool_use: isSerial } = body.tool_choice ?? {};
  const thinking = ["enabled", "adaptive"].includes(body.thinking?.type) ? body.thinking : undefined;
  const isOwn = ({ type = "custom" }: any) => type === "custom";
  const tools = listOf(body.tools);
  return {
    said: body.messages.flatMap(saidIn),
    tools: toolsIn(tools.filter(isOwn), "input_schema"),
    choice: { type, name },
    isParallel: isSerial !== true,
    outputSchema: (body.output_config?.format ?? body.output_format)?.schema,
    maxOutputTokens: body.max_tokens,
    stopSequences: listOf(body.stop_sequences),
    thinking: !thinking ? "none" : thinking.display === "omitted" ? "omitted" : "shown",
    others: [...fieldsBeyond(FIELDS, body), ...tools.filter((tool) => !isOwn(tool)).map(({ type }) => type)],
  };
}

const TEXTS = /^(?:text|tool_result)$/;

function saidIn({ role, content }: any): PastMessage[] {
  const ofType = (type: string) => listOf(content).filter((block) => block.type === type);
  if (role === "assistant") {
    const calls = ofType("tool_use").map(({ id, name, input }) => ({ id, name, input }));
    return [{ role, text: textOf(content), calls }];
  }
  const results = ofType("tool_result").map(({ tool_use_id: callId, content, is_error }): PastMessage => {
    return { role: "tool", callId, isError: is_error === true, ...told(content, TEXTS) };
  });
  return saidByUser(results, content, TEXTS);
}

function stream(reply: Reply): { events: WireEvent[]; ending: WireEvent[] } {
  const message = messageOf(reply);
  const { stop_reason, stop_sequence, stop_details, usage } = message;
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  const begun = { ...usage, output_tokens: Math.min(1, output_tokens) };
  const open = { ...message, content: [], stop_reason: null, stop_sequence: null, usage: begun };
  const blocks = reply.blocks.flatMap((block, index) => {
    const { start, deltas } = encode(block);
    return [
      { type: "content_block_start", index, content_block: start },
      // The vendor's own ping carries a blank that its other events do not have.
      ...(index === 0 ? ['event: ping\ndata: {"type": "ping"}\n\n'] : []),
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
  });
  const prompt = { input_tokens, cache_creation_input_tokens, cache_read_input_tokens };
  const thinking_tokens = reply.usage.reasoningTokens;
  const details = thinking_tokens > 0 ? { output_tokens_details: { thinking_tokens } } : {};
  const delta = { stop_reason, stop_sequence, stop_details };
  return {
    events: [{ type: "message_start", message: open }, ...blocks],
    ending: [
      { type: "message_delta", delta, usage: { ...prompt, output_tokens, ...details } },
      { type: "message_stop" },
    ],
  };
}

function messageOf({ model, id, blocks, stopReason, stopSequence, usage }: Reply) {
  return {
    model,
    id,
    type: "message",
    role: "assistant",
    content: blocks.map((block) => encode(block).whole),
    stop_reason: STOP_REASONS[stopReason] ?? stopReason,
    stop_sequence: stopSequence ?? null,
    stop_details: null,
    usage: {
      input_tokens: usage.inputTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      cache_creation: { ephemeral_5m_input_tokens: usage.cacheWriteTokens, ephemeral_1h_input_tokens: 0 },
      output_tokens: usage.outputTokens,
      service_tier: "standard",
      inference_geo: "not_available",
    },
  };
}

const STOP_REASONS: Record<ReplyStopReason, string> = {
  end: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  "stop-sequence": "stop_sequence",
  refusal: "refusal",
  pause: "pause_turn",
};

/** A block as a stream begins it, its deltas, and the block that they add up to. */
function encode({ type, pieces, id, name, signature, value }: WireBlock) {
  const text = pieces.join("");
  const fixed = type === "redacted-thinking" ? { type: "redacted_thinking", data: text } : value;
  if (fixed) return { start: fixed, deltas: [], whole: fixed };
  if (type === "tool-call") {
    const start = { type: "tool_use", id, name, input: {}, caller: { type: "direct" } };
    const deltas = ["", ...pieces].map((partial_json) => ({ type: "input_json_delta", partial_json }));
    const input = parseJson(text);
    return { start, deltas, whole: isObject(input) ? { ...start, input } : start };
  }
  if (type === "thinking") {
    const deltas = pieces.map((thinking) => ({ type: "thinking_delta", thinking }));
    const signed = signature === "" ? [] : [{ type: "signature_delta", signature }];
    const start = { type, thinking: "", signature: "" };
    return { start, deltas: [...deltas, ...signed], whole: { type, thinking: text, signature } };
  }
  const deltas = pieces.map((text) => ({ type: "text_delta", text }));
  return { start: { type: "text", text: "" }, deltas, whole: { type: "text", text } };
}
