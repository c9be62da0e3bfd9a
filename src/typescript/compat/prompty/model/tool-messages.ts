/** The messages of a round of tool calls, in the form of each provider. No other file makes them. */
import { anthropicPart, chatCall, toolUse } from "./wire.js";
import type { Message, ToolCall, ToolResult } from "../types.js";

/** Contract: returns the messages that the conversation gets for a round of calls. `response` is `null` after a crash. */
export type FormatToolMessages = (
  response: unknown,
  toolCalls: readonly ToolCall[],
  toolResults: readonly ToolResult[],
  textContent: string | null,
) => Message[];

/** Chat Completions: the calls in an assistant message, then a tool message for each result. */
export const chatToolMessages: FormatToolMessages = (_, calls, results, text) => [
  { role: "assistant", content: textParts(text), metadata: { tool_calls: calls.map(chatCall) } },
  ...results.map(toolMessage),
];

/** Responses: the original items of the calls, then an output for each. */
export const responsesToolMessages: FormatToolMessages = (response, calls, results, text) => {
  const output = (response as { output?: unknown } | null)?.output;
  const items = Array.isArray(output)
    ? (output as unknown[])
    : calls.map(({ id, name, arguments: text }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: text,
      }));
  const tool_calls = calls.map(chatCall);
  return [
    { role: "assistant", content: textParts(text), metadata: { items, tool_calls } },
    ...results.map(toolMessage),
  ];
};

/** Anthropic: every block of the answer, then all results in one user message. */
export const anthropicToolMessages: FormatToolMessages = (response, calls, results, text) => {
  const blocks = (response as { content?: unknown } | null)?.content;
  const content = Array.isArray(blocks)
    ? (blocks as unknown[])
    : [...(text ? [{ type: "text", text }] : []), ...calls.map(toolUse)];
  const tool_results = results.map(({ tool_call_id: tool_use_id, result, parts }) => ({
    type: "tool_result",
    tool_use_id,
    content: parts?.map(anthropicPart) ?? result,
  }));
  return [
    { role: "assistant", content: textParts(text), metadata: { content, tool_calls: calls.map(chatCall) } },
    { role: "user", content: [], metadata: { tool_results } },
  ];
};

function textParts(text: string | null): Message["content"] {
  return [{ kind: "text", value: text ?? "" }];
}

function toolMessage({ tool_call_id, result, parts }: ToolResult): Message {
  const content = parts ?? [{ kind: "text" as const, value: result }];
  return { role: "tool", content: [...content], metadata: { tool_call_id } };
}
