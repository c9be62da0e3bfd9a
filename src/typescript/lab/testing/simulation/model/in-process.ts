/**
 * The protocol of `custom()` and of other models inside the process, as a row of wire formats: each part of an answer
 * is a line of JSON, a `CustomPart`.
 */
import type { CustomPart } from "../../../../core/api/model.js";
import type { Block, Message } from "../../../../core/api/message.js";
import {
  textOf,
  type Conversation,
  type PastMessage,
  type ToolSpec,
} from "../../../practice/conversation.js";
import type { WireFormat } from "../../../practice/wire/format.js";
import type { Reply, WireBlock } from "../../../practice/wire/reply.js";

/** The address of requests to models inside the process. */
export const IN_PROCESS = "http://custom.invalid";

const NONE = { status: 400 };
const FINISHES: { readonly [reason: string]: string } = {
  end: "stop",
  "tool-calls": "tool_calls",
  "stop-sequence": "stop",
};

export const inProcess: WireFormat = {
  path: /^http:\/\/custom\.invalid/,
  ids: { request: ["req_", 8], reply: ["answer_", 8], call: ["call_", 12] },
  deltaWords: 8,
  emptyArguments: "{}",
  check: () => undefined,
  read: ({ messages = [], tools = [] }): Conversation => ({
    said: (messages as Message[]).flatMap(saidIn),
    tools: (tools as { name: string; description?: string; inputSchema: ToolSpec["schema"] }[]).map(
      ({ name, description = "", inputSchema }) => ({ name, description, schema: inputSchema }),
    ),
    choice: { type: "auto" },
    isParallel: true,
    outputSchema: undefined,
    maxOutputTokens: undefined,
    stopSequences: [],
    thinking: "none",
    others: [],
  }),
  stream: ({ blocks, usage, stopReason }: Reply) => ({
    events: blocks.flatMap(partsOf),
    ending: [
      { type: "usage", inputTokens: usage.inputTokens, outputTokens: usage.outputTokens },
      { type: "finish", reason: FINISHES[stopReason] ?? stopReason },
    ] satisfies CustomPart[] | object[],
  }),
  whole: () => ({}),
  error: ({ message }) => ({ type: "error", message, code: "server" }) satisfies CustomPart,
  errorIndent: 0,
  frame: (part) => `${JSON.stringify(part)}\n`,
  streamType: "application/x-ndjson",
  headers: () => ({}),
  errors: {
    400: ["invalid", "Bad request"],
    429: ["rate_limit", "Too many requests"],
    500: ["server", "Error"],
  },
  streamErrorStatus: 500,
  noKey: NONE,
  wrongKey: NONE,
  unknownModel: () => NONE,
};

function saidIn({ role, content }: Message): PastMessage[] {
  const results = content.flatMap((block): PastMessage[] =>
    block.type === "tool_result"
      ? [{ role: "tool", callId: block.callId, text: textOf(block.content), isError: block.isError === true }]
      : [],
  );
  const text = textOf(content.filter(({ type }) => type === "text"));
  if (role === "user") return text === "" ? results : [...results, { role: "user", text }];
  const calls = content.flatMap((block: Block) =>
    block.type === "tool_call" ? [{ id: block.id, name: block.name, input: block.input }] : [],
  );
  return [{ role: "assistant", text, calls }];
}

function partsOf({ type, pieces, id, name, signature }: WireBlock): CustomPart[] {
  const text = pieces.join("");
  if (type === "tool-call") return [{ type: "tool_call", id, name, input: text }];
  if (type === "thinking") return [{ type: "reasoning", text, signature }];
  if (type === "refusal") return [{ type: "refusal", text }];
  return text === "" ? [] : [{ type: "text", text }];
}
