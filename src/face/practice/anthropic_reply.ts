/**
 * Encodes an answer as Anthropic does: the events of a stream, and the message of a plain response.
 * https://platform.claude.com/docs/en/build-with-claude/streaming (seen 2026-11-20).
 */
import { parseObject } from "./json.js";
import type { EncodedStream, Reply, WireBlock } from "./reply.js";
import type { StopReason } from "./types.js";

/** The whole stream: `message_start`, blocks, `message_delta`, `message_stop`. */
export function anthropicStream(reply: Reply): EncodedStream {
  const events: string[] = [];
  const send = (type: string, rest: object) => events.push(sse(type, { type, ...rest }, reply.padding));
  const { outputTokens, ...prompt } = reply.usage;
  send("message_start", {
    message: {
      model: reply.model,
      id: reply.id,
      type: "message",
      role: "assistant",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: fullUsage({ ...prompt, outputTokens: Math.min(1, outputTokens) }),
    },
  });
  for (const [index, block] of reply.blocks.entries()) {
    const { start, deltas } = blockEvents(block);
    send("content_block_start", { index, content_block: start });
    // The vendor's own ping carries a blank that its other events do not have.
    if (index === 0) events.push('event: ping\ndata: {"type": "ping"}\n\n');
    for (const delta of deltas) send("content_block_delta", { index, delta });
    send("content_block_stop", { index });
  }
  const terminalAt = events.length;
  send("message_delta", {
    delta: {
      stop_reason: anthropicStopReason(reply.stopReason),
      stop_sequence: reply.stopSequence ?? null,
      stop_details: null,
    },
    usage: {
      input_tokens: prompt.inputTokens,
      cache_creation_input_tokens: prompt.cacheWriteTokens,
      cache_read_input_tokens: prompt.cacheReadTokens,
      output_tokens: outputTokens,
      ...(prompt.reasoningTokens > 0
        ? { output_tokens_details: { thinking_tokens: prompt.reasoningTokens } }
        : {}),
    },
  });
  send("message_stop", {});
  return { events, terminalAt };
}

/** The message of a response that is not streamed. */
export function anthropicMessage(reply: Reply): Record<string, unknown> {
  return {
    model: reply.model,
    id: reply.id,
    type: "message",
    role: "assistant",
    content: reply.blocks.map(wholeBlock),
    stop_reason: anthropicStopReason(reply.stopReason),
    stop_sequence: reply.stopSequence ?? null,
    stop_details: null,
    usage: fullUsage(reply.usage),
  };
}

/** An `error` event inside a stream. */
export function anthropicErrorEvent(type: string, message: string, requestId: string): string {
  return sse("error", { type: "error", error: { type, message }, request_id: requestId }, undefined);
}

function sse(type: string, data: object, padding: (() => number) | undefined): string {
  const json = JSON.stringify(data);
  const blanks = padding ? " ".repeat(padding()) : "";
  return `event: ${type}\ndata: ${json.slice(0, -1)}${blanks}}\n\n`;
}

function blockEvents(block: WireBlock): { start: object; deltas: object[] } {
  switch (block.type) {
    case "text":
    case "refusal":
      return {
        start: { type: "text", text: "" },
        deltas: block.pieces.map((text) => ({ type: "text_delta", text })),
      };
    case "thinking":
      return {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          ...block.pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
          ...(block.signature === "" ? [] : [{ type: "signature_delta", signature: block.signature }]),
        ],
      };
    case "redacted-thinking":
      return { start: { type: "redacted_thinking", data: block.data }, deltas: [] };
    case "tool-call":
      return {
        start: { type: "tool_use", id: block.id, name: block.name, input: {}, caller: { type: "direct" } },
        deltas: ["", ...block.pieces].map((partial_json) => ({ type: "input_json_delta", partial_json })),
      };
    case "raw":
      return { start: block.value, deltas: [] };
  }
}

function wholeBlock(block: WireBlock): object {
  switch (block.type) {
    case "text":
    case "refusal":
      return { type: "text", text: block.pieces.join("") };
    case "thinking":
      return { type: "thinking", thinking: block.pieces.join(""), signature: block.signature };
    case "redacted-thinking":
      return { type: "redacted_thinking", data: block.data };
    case "tool-call": {
      const input = parseObject(block.pieces.join("")) ?? {};
      return { type: "tool_use", id: block.id, name: block.name, input, caller: { type: "direct" } };
    }
    case "raw":
      return block.value;
  }
}

function fullUsage(usage: Reply["usage"]): Record<string, unknown> {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens,
      ephemeral_1h_input_tokens: 0,
    },
    output_tokens: usage.outputTokens,
    service_tier: "standard",
    inference_geo: "not_available",
  };
}

function anthropicStopReason(reason: StopReason): string {
  const words: Record<string, string> = {
    end: "end_turn",
    "tool-calls": "tool_use",
    length: "max_tokens",
    "stop-sequence": "stop_sequence",
    refusal: "refusal",
    pause: "pause_turn",
  };
  return words[reason] ?? reason;
}
