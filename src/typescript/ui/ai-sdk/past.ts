/** The chunks for what a run did before a reader connected, built from its messages. */
import type { Block, SavedChat, Message, ToolResultBlock } from "../../core/api/message.js";
import { isPrompt } from "../../extras/transcript/prompts.js";
import { fileUrl } from "./files.js";
import { faultOf, outputOf } from "./outputs.js";
import type { UiChunk } from "./types.js";

export interface Past {
  readonly chunks: UiChunk[];
  /** Chunks that settle a call which the reader already has. */
  readonly settled: UiChunk[];
  /** Whether a step is open. */
  readonly isInStep: boolean;
}

/** The index after the `count`-th last prompt of the user, or 0. `count` is at least 1. */
export function behindPrompt(messages: readonly Message[], count = 1): number {
  const prompts = messages.flatMap((message, at) => (isPrompt(message) ? [at + 1] : []));
  return prompts[prompts.length - count] ?? 0;
}

/** The number of prompts that the last run of a chat has taken: its own, steers and follow-ups. At least 1. */
export function promptsOf({ transcripts, runStart }: Partial<SavedChat> = {}): number {
  const own = transcripts?.[0]?.messages.slice(runStart) ?? [];
  return Math.max(1, own.filter(isPrompt).length);
}

/**
 * The chunks of the messages after the last prompt, for this version of `ai`. Adds their calls to `calls`.
 *
 * Contract of `below`: returns the parts of the subagents that answer a call.
 */
export function pastChunks(
  messages: readonly Message[],
  calls: Set<string>,
  version: number,
  below: (toolCallId: string) => UiChunk[],
): Past {
  const chunks: UiChunk[] = [];
  const settled: UiChunk[] = [];
  let isInStep = false;
  for (const [at, { role, content }] of messages.slice(behindPrompt(messages)).entries()) {
    if (role === "assistant") {
      if (isInStep) chunks.push({ type: "finish-step" });
      chunks.push({ type: "start-step" });
      isInStep = true;
      content.forEach((block, index) => chunks.push(...blockChunks(block, `past-${at}-${index}`)));
      for (const block of content) if (block.type === "tool_call") chunks.push(...below(block.id));
    } else {
      for (const result of content) {
        if (result.type !== "tool_result" || result.pending !== undefined) continue;
        const told = resultChunks(result, version);
        chunks.push(...told);
        if (calls.has(result.callId)) settled.push(...told);
      }
    }
    for (const block of content) if (block.type === "tool_call") calls.add(block.id);
  }
  return { chunks, settled, isInStep };
}

function blockChunks(block: Block, id: string): UiChunk[] {
  switch (block.type) {
    case "text":
    case "refusal":
      if (block.text === "") return [];
      return [
        { type: "text-start", id },
        { type: "text-delta", id, delta: block.text },
        { type: "text-end", id },
      ];
    case "thinking":
      if (block.text === "") return [];
      return [
        { type: "reasoning-start", id },
        { type: "reasoning-delta", id, delta: block.text },
        { type: "reasoning-end", id },
      ];
    case "tool_call": {
      const { id: toolCallId, name: toolName, input = block.inputText } = block;
      return [{ type: "tool-input-available", toolCallId, toolName, input }];
    }
    case "media":
      return [{ type: "file", url: fileUrl(block), mediaType: block.mediaType }];
    default:
      return [];
  }
}

function resultChunks(result: ToolResultBlock, version: number): UiChunk[] {
  const { callId: toolCallId, isError } = result;
  const { output, text } = outputOf(result);
  if (isError !== true) return [{ type: "tool-output-available", toolCallId, output }];
  const { code, message } = faultOf(result) ?? { code: "", message: text };
  if (code !== "denied" || version < 6)
    return [{ type: "tool-output-error", toolCallId, errorText: message }];
  // `ai` requires an approval for a denied output.
  return [
    { type: "tool-approval-request", approvalId: toolCallId, toolCallId },
    { type: "tool-output-denied", toolCallId },
  ];
}
