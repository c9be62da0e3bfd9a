/**
 * Tool use for models that have no tool calls but can be constrained to a JSON Schema. The system prompt describes
 * the tools, and the model replies with one JSON object, `{"text": …}` or `{"tool": …, "input": …}`. So an answer is
 * either text or one call.
 */
import { chunkOf, type ChatChunk, type ChatMessage, type ChatPart, type ChatRequest } from "./in-process.js";

/** A message for a model that knows no tools. */
export interface PlainMessage {
  role: "system" | "user" | "assistant";
  content: string | ChatPart[];
}

/** The request for such a model. */
export interface PlainRequest {
  messages: PlainMessage[];
  /** The schema that the reply must fit, if there are tools. */
  schema: Record<string, unknown> | undefined;
}

/** Rewrites a request for such a model: tools go into the system prompt, and calls and results become text. */
export function plain(request: ChatRequest): PlainRequest {
  const tools = request.tool_choice === "none" ? [] : (request.tools ?? []);
  const names = new Map<string, string>();
  const messages: PlainMessage[] = [];
  if (tools.length > 0) messages.push({ role: "system", content: instructions(tools) });
  for (const message of request.messages) {
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
    push(messages, plainMessage(message, tools.length > 0, names));
  }
  return { messages, schema: tools.length > 0 ? replySchema(request, tools) : undefined };
}

function plainMessage(message: ChatMessage, isJson: boolean, names: Map<string, string>): PlainMessage {
  const content = message.content ?? "";
  if (message.role === "tool") {
    const name = names.get(message.tool_call_id ?? "") ?? "the tool";
    return { role: "user", content: `Result of ${name}: ${textOf(content)}` };
  }
  if (message.role !== "assistant") return { role: message.role, content };
  const calls = (message.tool_calls ?? []).map((call) =>
    JSON.stringify({ tool: call.function.name, input: parsed(call.function.arguments) }),
  );
  const text = textOf(content);
  const said = isJson && text !== "" ? JSON.stringify({ text }) : text;
  return { role: "assistant", content: [said, ...calls].filter((line) => line !== "").join("\n") };
}

/**
 * Adds a message, joined to the one before if both have the same role, because some chat templates refuse two in a
 * row.
 */
function push(messages: PlainMessage[], message: PlainMessage): void {
  const last = messages.at(-1);
  if (last?.role !== message.role) messages.push(message);
  else if (typeof last.content === "string" && typeof message.content === "string")
    last.content = `${last.content}\n\n${message.content}`;
  else last.content = [...partsOf(last.content), ...partsOf(message.content)];
}

/** Content as parts. */
export function partsOf(content: string | ChatPart[]): ChatPart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** The text of content. */
export function textOf(content: string | ChatPart[]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Joins content that is only text into one string, because most of these models accept nothing else. */
export function flat(content: string | ChatPart[]): string | ChatPart[] {
  const isText = typeof content === "string" || content.every(({ type }) => type === "text");
  return isText ? textOf(content) : content;
}

type Tools = NonNullable<ChatRequest["tools"]>;

function instructions(tools: Tools): string {
  const list = tools.map(
    ({ function: { name, description, parameters } }) =>
      `- ${name}: ${description ?? ""}\n  input: ${JSON.stringify(parameters)}`,
  );
  return [
    "You can use tools. Reply with exactly one JSON object:",
    'to call a tool {"tool": "its name", "input": {its input}}, to answer {"text": "your answer"}.',
    "The result of a call follows in the next message. Answer when you need no further tool. Tools:",
    ...list,
  ].join("\n");
}

function replySchema(request: ChatRequest, tools: Tools): Record<string, unknown> {
  const choice = request.tool_choice;
  const only = typeof choice === "object" ? choice.function.name : undefined;
  const calls = tools
    .filter(({ function: { name } }) => only === undefined || name === only)
    .map(({ function: { name, parameters } }) =>
      exactly({ tool: { type: "string", enum: [name] }, input: inlined(parameters) }),
    );
  const text = exactly({ text: { type: "string" } });
  const all = only !== undefined || choice === "required" ? calls : [text, ...calls];
  return all.length === 1 ? all[0]! : { anyOf: all };
}

function exactly(properties: Record<string, unknown>): Record<string, unknown> {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

/**
 * A schema with references becomes any object, because references count from the root of the tool's schema and that
 * root is elsewhere here. The engine checks the input in any case.
 */
function inlined(parameters: Record<string, unknown>): Record<string, unknown> {
  return JSON.stringify(parameters).includes('"$ref"') ? { type: "object" } : parameters;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** Reads a reply while it streams. Emits text immediately, and a call when it is complete. */
export class ReplyReader {
  /** The end of the reply that has not been emitted. */
  #rest = "";
  #kind: "unknown" | "text" | "call" | "plain" = "unknown";
  #isClosed = false;

  /** Reads more of the reply; returns a chunk if there is news. */
  feed(piece: string): ChatChunk | undefined {
    this.#rest += piece;
    if (this.#kind === "unknown") this.#recognise();
    const text = this.#kind === "plain" ? this.#takeAll() : this.#kind === "text" ? this.#takeText() : "";
    return text === "" ? undefined : chunkOf({ content: text });
  }

  /** The last chunk. `reason` is the model's own, if it gave one. */
  end(reason?: string): ChatChunk {
    if (this.#kind === "plain") return chunkOf({}, reason ?? "stop");
    if (this.#kind === "text") return chunkOf({}, reason ?? (this.#isClosed ? "stop" : "length"));
    const reply = parsed(this.#rest) as { text?: unknown; tool?: unknown; input?: unknown } | string | null;
    if (typeof reply === "object" && reply !== null) {
      if (typeof reply.tool === "string")
        return chunkOf(call(reply.tool, JSON.stringify(reply.input ?? {})), "tool_calls");
      if (typeof reply.text === "string") return chunkOf({ content: reply.text }, reason ?? "stop");
      return chunkOf({ content: this.#rest }, reason ?? "stop");
    }
    // The engine answers a call that was cut off, and does not run it.
    const [, name, input] =
      /^\s*\{\s*"tool"\s*:\s*"([^"]*)"(?:\s*,\s*"input"\s*:\s*([^]*))?/.exec(this.#rest) ?? [];
    if (name !== undefined) return chunkOf(call(name, input ?? "{"), "length");
    return chunkOf({ content: this.#rest }, reason ?? (this.#rest === "" ? "stop" : "length"));
  }

  #recognise(): void {
    const start = /^\s*\{\s*"text"\s*:\s*"/.exec(this.#rest);
    if (start !== null) {
      this.#kind = "text";
      this.#rest = this.#rest.slice(start[0].length);
    } else if (/^\s*\{\s*"tool"/.test(this.#rest)) this.#kind = "call";
    else if (/^\s*[^\s{]/.test(this.#rest)) this.#kind = "plain";
  }

  #takeAll(): string {
    const all = this.#rest;
    this.#rest = "";
    return all;
  }

  /** The text so far, without an incomplete escape or surrogate pair at its end. */
  #takeText(): string {
    if (this.#isClosed) return "";
    const whole = this.#rest.slice(0, this.#wholeLength());
    this.#isClosed = this.#rest[whole.length] === '"';
    const open = this.#isClosed ? null : /(?:[\ud800-\udbff]|\\u[dD][89abAB][0-9a-fA-F]{2})$/.exec(whole);
    const taken = open === null ? whole : whole.slice(0, open.index);
    this.#rest = this.#rest.slice(taken.length);
    return unescaped(taken);
  }

  /** The length up to the closing quote, or to an incomplete escape. */
  #wholeLength(): number {
    const rest = this.#rest;
    const mark = /["\\]/g;
    for (;;) {
      const found = mark.exec(rest);
      if (found === null) return rest.length;
      if (found[0] === '"') return found.index;
      const end = found.index + (rest[found.index + 1] === "u" ? 6 : 2);
      if (end > rest.length) return found.index;
      mark.lastIndex = end;
    }
  }
}

/** Unescapes a string. A model that is not constrained to the schema may write line breaks into it. */
function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text.replace(/\\(.)/g, "$1");
  }
}

function call(name: string, input: string): object {
  return { tool_calls: [{ index: 0, type: "function", function: { name, arguments: input } }] };
}
