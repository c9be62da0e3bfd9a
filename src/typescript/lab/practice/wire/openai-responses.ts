/**
 * OpenAI Responses: reads and checks its requests, and writes its answers.
 * https://platform.openai.com/docs/api-reference/responses-streaming (seen 2026-11-21).
 */
import { ANY_JSON, fieldsBeyond, joined, othersIn, textOf, told, toolsIn } from "../conversation.js";
import type { Conversation, PastMessage } from "../conversation.js";
import { isObject, listOf, parseJson } from "../json.js";
import { signatureOf } from "../random.js";
import type { ReceivedRequest, ReplyStopReason } from "../types.js";
import { firstBroken, type Rule } from "./check.js";
import {
  EVENT_STREAM,
  typedSse,
  type Refusal,
  type Strictness,
  type WireEvent,
  type WireFormat,
} from "./format.js";
import { choiceIn, limitRule, NOT_JSON, OPENAI, promptOf, soundsLikeError, toolRules } from "./openai.js";
import type { Reply, WireBlock } from "./reply.js";

export const openaiResponses: WireFormat = {
  ...OPENAI,
  path: /\/responses(?:\/compact)?$/,
  ids: { request: ["req_", 32], reply: ["resp_", 48], call: ["call_", 24] },
  check,
  read,
  stream,
  whole: (reply, body) => responseOf(reply, body, endOf(reply).status),
  streamError: ({ type, code, message, param }) => ({ type: "error", error: { type, code, message, param } }),
  frame: (data, sequence_number) => typedSse({ ...data, sequence_number } as object),
  streamType: EVENT_STREAM,
  unknownModel: (model) => ({
    status: 400,
    message: `The requested model '${model}' does not exist.`,
    param: "model",
    code: "model_not_found",
  }),
};

/** Fields that are read, or that change nothing in the answers of a practice model. */
const FIELDS =
  "model input instructions tools tool_choice parallel_tool_calls text max_output_tokens reasoning stream stream_options store include temperature top_p top_logprobs user metadata service_tier safety_identifier prompt_cache_key prompt_cache_retention truncation max_tool_calls";

function check({ body }: ReceivedRequest, { areSignaturesOurs }: Strictness): Refusal | undefined {
  if (!isObject(body)) return NOT_JSON;
  const items = listOf(body["input"]);
  const idsOf = (ending: string) =>
    items.filter(({ type }) => `${type}`.endsWith(ending)).map(({ call_id: id }) => String(id));
  const [asked, answered] = [idsOf("_call"), idsOf("_call_output")];
  const open = idsOf("_call").find((id) => id !== "undefined" && !answered.includes(id));
  const stray = answered.find((id) => !asked.includes(id));
  const missing = ["model", "input"].find((field) => body[field] == null);
  // prettier-ignore
  return firstBroken([
    [missing, `Missing required parameter: '${missing}'.`, missing, "missing_required_parameter"],
    limitRule(body, ["max_output_tokens"], 16),
    ...toolRules(body, "", (tool) => (tool?.type === "function" ? tool : undefined)),
    ...items.flatMap((item, at): Rule[] => [
      [String(item?.id ?? "").length > 64, `Invalid 'input[${at}].id': string too long. Expected a string with maximum length 64, but got a string with length ${item?.id?.length} instead.`, `input[${at}].id`, "string_above_max_length"],
      [areSignaturesOurs && item?.type === "reasoning" && item.encrypted_content != null && item.encrypted_content !== signatureOf(textOf(item.summary)), "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.", undefined, "invalid_encrypted_content"],
    ]),
    [open, `No tool output found for function call ${open}.`, "input"],
    [stray, `No tool call found for function call output with call_id ${stray}.`, "input"],
  ]);
}

function read(body: any): Conversation {
  const { input, tools, tool_choice: choice, reasoning, text } = body;
  const format = text?.format;
  const effort = reasoning?.effort ?? "none";
  return {
    said: joined(typeof input === "string" ? [{ role: "user", text: input }] : input.flatMap(saidIn)),
    tools: toolsIn(
      listOf(tools).filter(({ type }) => type === "function"),
      "parameters",
    ),
    choice: choiceIn(choice, choice?.type === "function" ? choice.name : undefined),
    isParallel: body.parallel_tool_calls !== false,
    outputSchema: format?.schema ?? (format?.type === "json_object" ? ANY_JSON : undefined),
    maxOutputTokens: body.max_output_tokens ?? undefined,
    stopSequences: [],
    thinking: reasoning?.summary ? "shown" : effort === "none" ? "none" : "omitted",
    others: [...fieldsBeyond(FIELDS, body), ...othersIn(tools, /^function$/)],
  };
}

const TEXTS = /^(?:input_text|output_text|refusal)$/;

function saidIn(item: any): PastMessage[] {
  const { type = "message", role, call_id: id, name } = item;
  const own = told(item.content ?? item.output, TEXTS);
  if (type === "function_call_output")
    return [{ role: "tool", callId: id, isError: soundsLikeError(own.text), ...own }];
  if (type === "message" && role === "user") return [{ role, ...own }];
  const calls = type === "function_call" ? [{ id, name, input: parseJson(item.arguments || "{}") }] : [];
  const isSaid = calls.length > 0 || role === "assistant";
  return isSaid ? [{ role: "assistant", text: own.text, calls }] : [];
}

function stream(reply: Reply, body: any): { events: WireEvent[]; ending: WireEvent[] } {
  const begun = responseOf({ ...reply, blocks: [] }, body, "in_progress");
  const items = reply.blocks.flatMap((block, output_index) => {
    const { start, inner, item } = encode(block, output_index, reply);
    return [
      { type: "response.output_item.added", output_index, item: start },
      ...inner.map(({ type, ...fields }) => ({
        type: `response.${type}`,
        item_id: item.id,
        output_index,
        ...fields,
      })),
      { type: "response.output_item.done", output_index, item },
    ];
  });
  const { status } = endOf(reply);
  return {
    events: [
      { type: "response.created", response: begun },
      { type: "response.in_progress", response: begun },
      ...items,
    ],
    ending: [{ type: `response.${status}`, response: responseOf(reply, body, status) }],
  };
}

/** How a block is written: the item and its list, the part of the list, and the events around and inside it. */
const KINDS = {
  text: ["msg", "message", "content", "output_text", "text", "content_part", "output_text"],
  refusal: ["msg", "message", "content", "refusal", "refusal", "content_part", "refusal"],
  thinking: [
    "rs",
    "reasoning",
    "summary",
    "summary_text",
    "text",
    "reasoning_summary_part",
    "reasoning_summary_text",
  ],
  "tool-call": ["fc", "function_call", "arguments", "", "arguments", "", "function_call_arguments"],
} as const;

/** An item as a stream begins it, the events inside it, and the whole item. */
function encode(block: WireBlock, index: number, reply: Reply): { start: any; inner: any[]; item: any } {
  const { type, pieces, id: call_id, name, signature, value } = block;
  const text = pieces.join("");
  if (type === "raw") return { start: value, inner: [], item: value };
  if (type === "redacted-thinking")
    return encode({ ...block, type: "thinking", pieces: [], signature: text }, index, reply);
  const [prefix, item, list, part, field, frame, event] = KINDS[type];
  const place = list === "arguments" ? {} : { [`${list}_index`]: 0 };
  const extra = type === "text" ? { annotations: [], logprobs: [] } : {};
  const partOf = (words: string) => ({ type: part, ...extra, [field]: words });
  const ofPart = (at: string, words: string) =>
    frame === "" ? [] : [{ type: `${frame}.${at}`, ...place, part: partOf(words) }];
  const empty = list === "arguments" ? "" : [];
  const { status } = endOf(reply);
  const start = {
    id: `${prefix}_${reply.id.slice(5)}${index}`,
    type: item,
    ...(type === "thinking" ? { encrypted_content: signature || undefined } : { status: "in_progress" }),
    ...(type === "tool-call" ? { call_id, name } : item === "message" && { role: "assistant" }),
    [list]: empty,
  };
  // Reasoning that is withheld has no part.
  if (type === "thinking" && text === "") return { start, inner: [], item: start };
  return {
    start,
    inner: [
      ...ofPart("added", ""),
      ...pieces.map((delta) => ({ type: `${event}.delta`, ...place, delta })),
      { type: `${event}.done`, ...place, [field]: text },
      ...ofPart("done", text),
    ],
    item: { ...start, ...("status" in start && { status }), [list]: empty === "" ? text : [partOf(text)] },
  };
}

/** How the answer ended: one that stopped early is incomplete, and has the reason. */
function endOf({ stopReason }: Reply): { status: string; incomplete_details: object | null } {
  if (COMPLETE.includes(stopReason)) return { status: "completed", incomplete_details: null };
  const reason = stopReason === "length" ? "max_output_tokens" : stopReason;
  return { status: "incomplete", incomplete_details: { reason } };
}

const COMPLETE: readonly ReplyStopReason[] = ["end", "tool-calls", "stop-sequence", "refusal", "pause"];

/** `created_at` is in seconds since 1970, and fixed: equal requests get equal bytes. */
function responseOf(reply: Reply, { input, include, stream, ...asked }: any, status: string): object {
  const { usage } = reply;
  const isOver = status !== "in_progress";
  return {
    id: reply.id,
    object: "response",
    created_at: 1_700_000_000,
    status,
    error: null,
    incomplete_details: isOver ? endOf(reply).incomplete_details : null,
    parallel_tool_calls: true,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    metadata: {},
    ...asked,
    model: reply.model,
    output: reply.blocks.map((block, index) => encode(block, index, reply).item),
    usage: isOver
      ? {
          input_tokens: promptOf(usage),
          input_tokens_details: { cached_tokens: usage.cacheReadTokens },
          output_tokens: usage.outputTokens,
          output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
          total_tokens: promptOf(usage) + usage.outputTokens,
        }
      : null,
  };
}
