/**
 * Amazon Bedrock Converse: reads and checks its requests, and writes its answers.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html (seen 2026-11-21).
 */
import { fieldsBeyond, othersIn, saidByUser, textOf, told, toolsIn } from "../conversation.js";
import type { Conversation, PastMessage } from "../conversation.js";
import { isObject, listOf, parseJson } from "../json.js";
import { signatureOf } from "../random.js";
import type { ReceivedRequest, ReplyStopReason } from "../types.js";
import { firstBroken, walk, type Rule } from "./check.js";
import { eventMessage } from "./event-stream.js";
import type { Refusal, Strictness, WireEvent, WireFormat } from "./format.js";
import type { Reply, WireBlock } from "./reply.js";

export const bedrock: WireFormat = {
  path: /\/model\/(?<model>[^/]+)\/(?<method>converse|converse-stream)$/,
  ids: { request: ["", 36], reply: ["", 22], call: ["tooluse_", 22] },
  deltaWords: 3,
  emptyArguments: "{}",
  check,
  read,
  stream,
  whole: (reply) => ({
    output: { message: { role: "assistant", content: reply.blocks.map((block) => encode(block).whole) } },
    ...stopOf(reply),
    ...metadataOf(reply),
  }),
  error: ({ message }) => ({ message }),
  streamError: ({ type, message }) => ({ [type.charAt(0).toLowerCase() + type.slice(1)]: { message } }),
  errorIndent: 0,
  frame,
  streamType: "application/vnd.amazon.eventstream",
  headers: (requestId, status, type) => ({
    "x-amzn-requestid": requestId,
    ...(status < 400
      ? {}
      : { "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` }),
  }),
  errors: {
    400: ["ValidationException", "The request is not valid."],
    403: ["AccessDeniedException", "You don't have access to the model with the specified model ID."],
    404: ["ResourceNotFoundException", "The specified resource was not found."],
    408: ["ModelTimeoutException", "The request took too long to process."],
    424: ["ModelErrorException", "The request failed due to an error while processing the model."],
    429: ["ThrottlingException", "Too many requests, please wait before trying again."],
    500: [
      "InternalServerException",
      "The system encountered an unexpected error during processing. Try your request again.",
    ],
    503: ["ServiceUnavailableException", "Bedrock is unable to process your request."],
  },
  streamErrorStatus: 503,
  noKey: {
    status: 403,
    type: "MissingAuthenticationTokenException",
    message: "Missing Authentication Token",
  },
  wrongKey: {
    status: 403,
    type: "UnrecognizedClientException",
    message: "The security token included in the request is invalid.",
  },
  unknownModel: () => ({ status: 400, message: "The provided model identifier is invalid." }),
};

const blocksIn = (content: unknown, kind: string) => listOf(content).flatMap((block) => block?.[kind] ?? []);
const idsIn = (message: any, kind: string) =>
  blocksIn(message?.content, kind).map(({ toolUseId }) => String(toolUseId));

function check({ body }: ReceivedRequest, { areSignaturesOurs }: Strictness): Refusal | undefined {
  if (!isObject(body)) return { status: 400, type: "SerializationException", message: "" };
  const { places, end } = walk(
    body["messages"],
    (message) => idsIn(message, "toolUse"),
    (message) => idsIn(message, "toolResult"),
  );
  const tools = listOf(body["toolConfig"]?.tools);
  const usesTools = places.some(({ message }) =>
    ["toolUse", "toolResult"].some((kind) => idsIn(message, kind).length > 0),
  );
  // prettier-ignore
  const openRule = (ids: string[], at: number): Rule => [ids.length > 0, `Expected toolResult blocks at messages.${at}.content for the following Ids: ${ids.join(", ")}`];
  // prettier-ignore
  return firstBroken([
    [body["inferenceConfig"]?.maxTokens < 1, "Value at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member must have value greater than or equal to 1"],
    ...tools.map(({ toolSpec }, at): Rule => [toolSpec && !/^[a-zA-Z0-9_-]{1,64}$/.test(toolSpec.name), `Value at 'toolConfig.tools.${at + 1}.member.toolSpec.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`]),
    [places[0]?.message?.role !== "user", "A conversation must start with a user message. Try again with a conversation that starts with a user message."],
    [usesTools && tools.length === 0, "The toolConfig field must be defined when using toolUse and toolResult content blocks."],
    ...places.flatMap(({ message: { role, content }, at, previous, asked, open }): Rule[] => [
      [previous?.role === role, "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again."],
      [listOf(content).length === 0, `The content field in the Message object at messages.${at} is empty. Add a ContentBlock object to the content field and try again.`],
      ...listOf(content).flatMap((block, index): Rule[] => [
        [block?.text?.trim() === "", `The text field in the ContentBlock object at messages.${at}.content.${index} is blank. Add text to the text field, and try again.`],
        [areSignaturesOurs && !isOurs(block), `The model returned the following errors: messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`],
      ]),
      openRule(open, at),
      [idsIn({ content }, "toolResult").some((id) => !asked.includes(id)), `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`],
    ]),
    openRule(end, places.length),
  ]);
}

function isOurs({ reasoningContent }: any): boolean {
  const { text, signature } = reasoningContent?.reasoningText ?? {};
  return signature === undefined || signature === signatureOf(text);
}

/** Fields that are read, or that change nothing in the answers of a practice model. */
const FIELDS =
  "messages system toolConfig inferenceConfig additionalModelRequestFields outputConfig requestMetadata performanceConfig serviceTier additionalModelResponseFieldPaths";
const MORE = "thinking reasoningConfig tool_choice top_k inferenceConfig effort output_config anthropic_beta";

function read(body: any): Conversation {
  const { thinking, reasoningConfig, tool_choice: own } = body.additionalModelRequestFields ?? {};
  const { tools, toolChoice = {} } = body.toolConfig ?? {};
  const { maxTokens, stopSequences } = body.inferenceConfig ?? {};
  const name = toolChoice.tool?.name ?? own?.name;
  const reasoning = thinking ?? reasoningConfig;
  return {
    said: body.messages.flatMap(saidIn),
    tools: toolsIn(
      blocksIn(tools, "toolSpec").map((tool) => ({ ...tool, schema: tool.inputSchema?.json })),
      "schema",
    ),
    choice: name ? { type: "tool", name } : { type: toolChoice.any || own?.type === "any" ? "any" : "auto" },
    isParallel: own?.disable_parallel_tool_use !== true,
    outputSchema: parseJson(body.outputConfig?.textFormat?.structure?.jsonSchema?.schema),
    maxOutputTokens: maxTokens,
    stopSequences: listOf(stopSequences),
    thinking: ["enabled", "adaptive"].includes(reasoning?.type) ? "shown" : "none",
    others: [
      ...fieldsBeyond(FIELDS, body),
      ...fieldsBeyond(MORE, Object(body.additionalModelRequestFields)),
      ...othersIn(tools, /^(?:toolSpec|cachePoint)$/),
    ],
  };
}

const TEXTS = /^(?:text|json|toolResult|cachePoint)$/;

function saidIn({ role, content }: any): PastMessage[] {
  if (role === "assistant") {
    const calls = blocksIn(content, "toolUse").map(({ toolUseId: id, name, input }) => ({ id, name, input }));
    return [{ role, text: textOf(content), calls }];
  }
  const results = blocksIn(content, "toolResult").map(
    ({ toolUseId: callId, content, status }): PastMessage => {
      return { role: "tool", callId, isError: status === "error", ...told(content, TEXTS) };
    },
  );
  return saidByUser(results, content, TEXTS);
}

function stream(reply: Reply): { events: WireEvent[]; ending: WireEvent[] } {
  const blocks = reply.blocks.flatMap((block, contentBlockIndex) => {
    const { start, deltas } = encode(block);
    return [
      ...(start ? [{ contentBlockStart: { start, contentBlockIndex } }] : []),
      ...deltas.map((delta) => ({ contentBlockDelta: { delta, contentBlockIndex } })),
      { contentBlockStop: { contentBlockIndex } },
    ];
  });
  return {
    events: [{ messageStart: { role: "assistant" } }, ...blocks],
    ending: [{ messageStop: stopOf(reply) }, { metadata: metadataOf(reply) }],
  };
}

/** The start of a block in a stream, which only calls have, its deltas, and the whole block. */
function encode({ type, pieces, id: toolUseId, name, signature, value }: WireBlock): {
  start?: object;
  deltas: object[];
  whole: object;
} {
  const text = pieces.join("");
  const inReasoning = (reasoningContent: object) => ({ reasoningContent });
  switch (type) {
    case "raw":
      return { deltas: [value ?? {}], whole: value ?? {} };
    case "redacted-thinking":
      return {
        deltas: [inReasoning({ redactedContent: text })],
        whole: inReasoning({ redactedContent: text }),
      };
    case "thinking": {
      const deltas = [...pieces.map((text) => ({ text })), ...(signature === "" ? [] : [{ signature }])];
      return { deltas: deltas.map(inReasoning), whole: inReasoning({ reasoningText: { text, signature } }) };
    }
    case "tool-call": {
      const deltas = pieces.map((input) => ({ toolUse: { input } }));
      // Arguments that are not valid JSON are sent as text.
      const input = parseJson(text || "{}") ?? text;
      return {
        start: { toolUse: { toolUseId, name } },
        deltas,
        whole: { toolUse: { toolUseId, name, input } },
      };
    }
    default:
      return { deltas: pieces.map((text) => ({ text })), whole: { text } };
  }
}

/** An event is an object of one field, named like the event. Its padding hides the length of the words. */
function frame(data: object, index: number): Uint8Array {
  const [[name = "", payload] = []] = Object.entries(data);
  const isException = name.endsWith("Exception");
  const headers = {
    [isException ? ":exception-type" : ":event-type"]: name,
    ":content-type": "application/json",
    ":message-type": isException ? "exception" : "event",
  };
  const p = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".slice(0, 1 + ((index * 7) % 52));
  return eventMessage(headers, JSON.stringify(isException ? payload : { ...payload, p }));
}

const stopOf = ({ stopReason }: Reply) => ({ stopReason: STOP_REASONS[stopReason] ?? stopReason });
const STOP_REASONS: Record<ReplyStopReason, string> = {
  end: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  "stop-sequence": "stop_sequence",
  refusal: "content_filtered",
  pause: "end_turn",
};

function metadataOf({ usage }: Reply) {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const totalTokens = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  const cached = { cacheReadInputTokens: cacheReadTokens, cacheWriteInputTokens: cacheWriteTokens };
  return { usage: { inputTokens, outputTokens, totalTokens, ...cached }, metrics: { latencyMs: 12 } };
}
