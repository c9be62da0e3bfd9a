/**
 * Encodes an answer as OpenAI Chat Completions does: the chunks of a stream, and the plain completion.
 * https://platform.openai.com/docs/api-reference/chat-streaming (seen 2026-11-20).
 */
import type { EncodedStream, Reply, WireBlock } from "./reply.js";
import type { StopReason } from "./types.js";

/** What the request asked of the stream. */
export interface StreamWishes {
  /** `stream_options.include_usage`: a last chunk with usage and without choices. */
  includeUsage: boolean;
}

/** The whole stream: role, deltas, finish reason, usage when asked for, `[DONE]`. */
export function openaiChatStream(reply: Reply, wishes: StreamWishes): EncodedStream {
  const events: string[] = [];
  const send = (choices: object[], usage: object | null) => {
    const chunk = {
      id: reply.id,
      object: "chat.completion.chunk",
      created: reply.createdS,
      model: reply.model,
      service_tier: "default",
      system_fingerprint: "fp_practice",
      choices,
      ...(wishes.includeUsage ? { usage } : {}),
      ...(reply.padding ? { obfuscation: OBFUSCATION.slice(0, reply.padding()) } : {}),
    };
    events.push(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const delta = (value: object, finish_reason: string | null = null) =>
    send([{ index: 0, delta: value, logprobs: null, finish_reason }], null);

  const isText = reply.blocks.some((block) => block.type === "text" || block.type === "refusal");
  delta(isText ? { role: "assistant", content: "", refusal: null } : { role: "assistant", content: null });
  let toolIndex = 0;
  for (const block of reply.blocks) {
    for (const value of blockDeltas(block, toolIndex)) delta(value);
    if (block.type === "tool-call") toolIndex += 1;
  }
  const terminalAt = events.length;
  delta({}, openaiFinishReason(reply.stopReason));
  if (wishes.includeUsage) send([], usageOf(reply));
  events.push("data: [DONE]\n\n");
  return { events, terminalAt };
}

/** The body of a response that is not streamed. */
export function openaiChatCompletion(reply: Reply): Record<string, unknown> {
  const joined = (type: "text" | "refusal" | "thinking") => {
    const texts = reply.blocks.flatMap((block) => (block.type === type ? [block.pieces.join("")] : []));
    return texts.length > 0 ? texts.join("") : null;
  };
  const calls = reply.blocks.flatMap((block) =>
    block.type === "tool-call"
      ? [
          {
            id: block.id,
            type: "function",
            function: { name: block.name, arguments: block.pieces.join("") },
          },
        ]
      : [],
  );
  const reasoning = joined("thinking");
  const message = {
    role: "assistant",
    content: joined("text"),
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    refusal: joined("refusal"),
    annotations: [],
  };
  return {
    id: reply.id,
    object: "chat.completion",
    created: reply.createdS,
    model: reply.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: openaiFinishReason(reply.stopReason) }],
    usage: usageOf(reply),
    service_tier: "default",
    system_fingerprint: "fp_practice",
  };
}

/** An error inside a stream. */
export function openaiErrorEvent(type: string, message: string): string {
  return `data: ${JSON.stringify({ error: { message, type, param: null, code: null } })}\n\n`;
}

const OBFUSCATION = "aZ3kQ9xWm2LpT7v";

function blockDeltas(block: WireBlock, index: number): object[] {
  switch (block.type) {
    case "text":
      return block.pieces.map((content) => ({ content }));
    case "refusal":
      return block.pieces.map((refusal) => ({ refusal }));
    case "thinking":
      return block.pieces.map((reasoning_content) => ({ reasoning_content }));
    case "redacted-thinking":
      return [];
    case "tool-call": {
      const head = { index, id: block.id, type: "function", function: { name: block.name, arguments: "" } };
      return [
        { tool_calls: [head] },
        ...block.pieces.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
      ];
    }
    case "raw":
      return [block.value];
  }
}

function usageOf(reply: Reply): Record<string, unknown> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = reply.usage;
  const promptTokens = inputTokens + cacheReadTokens + cacheWriteTokens;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens,
    total_tokens: promptTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function openaiFinishReason(reason: StopReason): string {
  const words: Record<string, string> = {
    end: "stop",
    "tool-calls": "tool_calls",
    length: "length",
    "stop-sequence": "stop",
    refusal: "content_filter",
    pause: "stop",
  };
  return words[reason] ?? reason;
}
