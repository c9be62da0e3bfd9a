/** What a query says, as messages of `looplet/ui`: each message of the SDK makes another object of the turn. */
import type { SDKMessage, SDKResultMessage } from "looplet/agent-sdk";
import type { OpenQuestion, ToolUiPart, UiMessage, UiPart } from "looplet/ui";

export interface Turn {
  readonly messages: readonly UiMessage[];
  readonly result: SDKResultMessage | undefined;
  /** What the query threw. */
  readonly thrown?: unknown;
}

type Blocks = readonly { readonly type: string; readonly [field: string]: any }[];
type Role = UiMessage["role"];

export function begun(prompt: string): Turn {
  return withPart({ messages: [], result: undefined }, "user", textPart(prompt));
}

/** The turn after a message; those that only observe change nothing. */
export function withMessage(turn: Turn, message: SDKMessage): Turn {
  if (message.type === "stream_event")
    return message.parent_tool_use_id === null ? streamed(turn, message.event) : turn;
  if (message.type === "assistant")
    return answered(turn, message.message.content, message.parent_tool_use_id);
  if (message.type === "user") return withResults(turn, message.message.content);
  return message.type === "result" ? { ...turn, result: message } : turn;
}

/** The turns of a session that is opened again. */
export function turnsOf(messages: readonly { type: string; message: { content: Blocks } }[]): Turn[] {
  const turns: Turn[] = [];
  for (const { type, message } of messages) {
    const asked = message.content.filter((block) => type === "user" && block.type === "text");
    if (asked.length > 0) turns.push(begun(asked.map(({ text }) => text).join("\n")));
    else if (type === "assistant") turns.push(answered(turns.pop() ?? begun(""), message.content, null));
    else turns.push(withResults(turns.pop() ?? begun(""), message.content));
  }
  return turns;
}

export function withPart(turn: Turn, role: Role, part: UiPart): Turn {
  const last = turn.messages.at(-1);
  const isSame = last?.role === role;
  const message = isSame
    ? { ...last, parts: [...last.parts, part] }
    : { id: `m${turn.messages.length}`, role, parts: [part] };
  return { ...turn, messages: [...(isSame ? turn.messages.slice(0, -1) : turn.messages), message] };
}

export function textPart(text: string, state: "streaming" | "done" = "done"): UiPart {
  return { type: "text", text, state, stable: text.length };
}

/** The turn with a question at its call, or without one. */
export function withQuestion(turn: Turn, toolCallId: string, question: OpenQuestion | undefined): Turn {
  return onParts(turn, (part) => {
    if (part.type !== "tool" || part.toolCallId !== toolCallId) return part;
    const { question: _, ...call } = part;
    return { ...call, state: "input-available", ...(question && { question }) };
  });
}

/** The query is over: calls without a result never get one. */
export function ended(turn: Turn, thrown: unknown): Turn {
  const error = { code: "not_run", message: "The query has ended.", hint: "", recoverable: true };
  const closed = onParts(turn, (part) => {
    if (part.type !== "tool" || part.state.startsWith("output")) return part;
    const { question: _, ...call } = part;
    return { ...call, state: "output-error", error };
  });
  return { ...closed, thrown };
}

function streamed(turn: Turn, event: { readonly type: string; readonly [field: string]: any }): Turn {
  const block = event["content_block"];
  // A call has its place when it begins.
  if (event.type === "content_block_start" && block.type === "tool_use")
    return withPart(turn, "assistant", callPart(block.id, block.name));
  const text = event["delta"]?.text;
  if (event.type !== "content_block_delta" || typeof text !== "string") return turn;
  if (!isStreaming(turn)) return withPart(turn, "assistant", textPart(text, "streaming"));
  return onParts(turn, (part) =>
    part.type === "text" && part.state === "streaming" ? { ...part, text: part.text + text } : part,
  );
}

function answered(turn: Turn, content: Blocks, parent: string | null): Turn {
  const hasStreamed = parent === null && isStreaming(turn);
  let next = onParts(turn, (part) =>
    part.type === "text" && parent === null ? { ...part, state: "done" } : part,
  );
  for (const block of content) {
    const { id, name: toolName, input } = block;
    if (block.type === "text" && !hasStreamed) next = withAnswer(next, parent, textPart(block["text"]));
    if (block.type !== "tool_use") continue;
    if (!partsOf(next).some((part) => part.type === "tool" && part.toolCallId === id))
      next = withAnswer(next, parent, callPart(id, toolName));
    next = onParts(next, (part) =>
      part.type === "tool" && part.toolCallId === id && part.input === undefined
        ? { ...part, input, state: "input-available" }
        : part,
    );
  }
  return next;
}

/** A part of the agent itself, or of the one that answers a call. */
function withAnswer(turn: Turn, parent: string | null, added: UiPart): Turn {
  if (parent === null) return withPart(turn, "assistant", added);
  return onParts(turn, (part) => {
    if (part.type !== "tool" || part.toolCallId !== parent) return part;
    const parts = [...(part.agent?.parts ?? []), added];
    return { ...part, agent: { agentPath: parent, status: "running", parts } };
  });
}

function withResults(turn: Turn, content: Blocks | string): Turn {
  let next = turn;
  for (const block of typeof content === "string" ? [] : content) {
    if (block.type !== "tool_result") continue;
    const text = resultText(block["content"]);
    const error = { code: "tool_failed", message: text, hint: "", recoverable: true };
    next = onParts(next, (part) => {
      if (part.type !== "tool" || part.toolCallId !== block["tool_use_id"]) return part;
      const { question: _, ...call } = part;
      return block["is_error"] === true
        ? { ...call, state: "output-error", error }
        : { ...call, state: "output-available", output: text };
    });
  }
  return next;
}

const callPart = (toolCallId: string, toolName: string): ToolUiPart => ({
  type: "tool",
  toolCallId,
  toolName,
  state: "input-streaming",
});

const partsOf = ({ messages }: Turn) => messages.flatMap(({ parts }) => parts);

const isStreaming = (turn: Turn) =>
  partsOf(turn).some((part) => part.type === "text" && part.state === "streaming");

/** Changes parts, those of subagents too. */
function onParts(turn: Turn, change: (part: UiPart) => UiPart): Turn {
  const changed = (part: UiPart): UiPart => {
    const next = change(part);
    if (next.type !== "tool" || !next.agent) return next;
    return { ...next, agent: { ...next.agent, parts: next.agent.parts.map(changed) } };
  };
  const messages = turn.messages.map((message) => ({ ...message, parts: message.parts.map(changed) }));
  return { ...turn, messages };
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  return (Array.isArray(content) ? (content as Blocks) : [])
    .map((block) => (block.type === "text" ? String(block["text"]) : `(${block.type})`))
    .join("\n");
}
