/** Raw events of the Messages API, made of looplet's events, so that they are equal for each protocol. */
import type { RunEvent } from "../../core/api/index.js";
import type { ApiBlock } from "../anthropic.js";
import type { ApiUsage } from "./types.js";

/** What is added to a block. */
export type ApiDelta =
  | { type: "text_delta"; text: string }
  | { type: "thinking_delta"; thinking: string }
  | { type: "input_json_delta"; partial_json: string };

/** A raw event of the Messages API. */
export type ApiEvent =
  | {
      type: "message_start";
      message: {
        type: "message";
        role: "assistant";
        model: string;
        content: ApiBlock[];
        stop_reason: string | null;
        usage: ApiUsage;
      };
    }
  | { type: "content_block_start"; index: number; content_block: ApiBlock }
  | { type: "content_block_delta"; index: number; delta: ApiDelta }
  | { type: "content_block_stop"; index: number }
  | {
      type: "message_delta";
      delta: { stop_reason: string | null; stop_sequence: string | null };
      usage: ApiUsage;
    }
  | { type: "message_stop" };

/** The raw event of an event, if it has one. */
export function streamEvent(event: RunEvent, model: string): ApiEvent | undefined {
  switch (event.type) {
    case "attempt-start":
      return {
        type: "message_start",
        message: {
          type: "message",
          role: "assistant",
          model,
          content: [],
          stop_reason: null,
          usage: NOTHING,
        },
      };
    case "text-start":
      return begun(event.block, { type: "text", text: "" });
    case "reasoning-start":
      return begun(event.block, { type: "thinking", thinking: "" });
    case "tool-input-start":
      return begun(event.block, { type: "tool_use", id: event.toolCallId, name: event.toolName, input: {} });
    case "text-delta":
      return grown(event.block, { type: "text_delta", text: event.text });
    case "reasoning-delta":
      return grown(event.block, { type: "thinking_delta", thinking: event.text });
    case "tool-input-delta":
      return grown(event.block, { type: "input_json_delta", partial_json: event.text });
    case "text-end":
    case "reasoning-end":
    case "tool-input-end":
      return { type: "content_block_stop", index: event.block };
    default:
      // A new event does not compile until it has a case above, or is in this list of those that are left out.
      event.type satisfies
        | "run-start"
        | "agent-start"
        | "iteration-start"
        | "answer-cut-off"
        | "reasoning-progress"
        | "handoff"
        | "model-change"
        | "tool-call"
        | "tool-progress"
        | "tool-result"
        | "tool-error"
        | "question"
        | "answered"
        | "waiting"
        | "not-saved"
        | "retry"
        | "reset"
        | "steer-delivered"
        | "compact-start"
        | "compact-boundary"
        | "usage"
        | "limits"
        | "message"
        | "warning"
        | "iteration-finish"
        | "agent-finish"
        | "abort"
        | "error"
        | "finish"
        | "snapshot";
      return undefined;
  }
}

/** The last two events of an answer. */
export function endOfStream(stopReason: string | null, usage: ApiUsage): ApiEvent[] {
  return [
    { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

/** A usage of zero. */
export const NOTHING: ApiUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

function begun(index: number, block: ApiBlock): ApiEvent {
  return { type: "content_block_start", index, content_block: block };
}

function grown(index: number, delta: ApiDelta): ApiEvent {
  return { type: "content_block_delta", index, delta };
}
