/** A transcript as messages for a screen. */
import { LoopletError } from "../../core/api/errors.js";
import type { AgentTranscript, Block, Message, ToolCallRecord, ToolFault } from "../../core/api/index.js";
import { isObject } from "../../core/kit/check.js";
import { isNotice } from "../../extras/transcript/prompts.js";
import type { AgentUiPart, UiPart, ToolUiPart, UiMessage } from "./message.js";
import { callKey } from "./places.js";
import { partsOfRaw, sourcesOfText } from "./sources.js";

/**
 * The messages of a transcript as a screen draws them. An answer with all its tool calls, up to the user's next
 * message, is one message.
 */
export function shownMessages(transcript: readonly Message[]): readonly UiMessage[] {
  const shown: { id: string; role: UiMessage["role"]; parts: UiPart[] }[] = [];
  const partsOf = (role: UiMessage["role"]): UiPart[] => {
    const last = shown.at(-1);
    if (last?.role === role) return last.parts;
    const parts: UiPart[] = [];
    shown.push({ id: idAt(shown.length), role, parts });
    return parts;
  };
  for (const { role, content } of transcript) {
    for (const block of content) {
      if (block.type === "tool_result") finish(shown.at(-1)?.parts ?? [], block);
      else if (summaryOf(block) !== undefined)
        partsOf("assistant").push({ type: "compaction", state: "done", summary: summaryOf(block)! });
      else if (!isNotice(block)) for (const part of partsOfBlock(block)) partsOf(role).push(part);
    }
  }
  return shown;
}

/** The messages of a chat with those of its subagents, each below its call. The first transcript is the root's. */
export function shownTranscripts(transcripts: readonly AgentTranscript[]): readonly UiMessage[] {
  const [root, ...subagents] = transcripts;
  if (root === undefined) return [];
  const agents = queues(subagents, ({ agentPath, parentToolCallId = "" }) =>
    callKey(agentPath.slice(0, agentPath.lastIndexOf("/")), parentToolCallId),
  );
  const shown = ({ agentPath, messages, toolCalls }: AgentTranscript): readonly UiMessage[] => {
    const records = queues(toolCalls, ({ toolCallId }) => toolCallId);
    return shownMessages(messages).map((message) => ({
      ...message,
      parts: message.parts.map((part) => {
        if (part.type !== "tool") return part;
        const record = records.get(part.toolCallId)?.shift();
        const call = record === undefined ? part : recorded(part, record);
        const agent = agents.get(callKey(agentPath, part.toolCallId))?.shift();
        return agent === undefined ? call : { ...call, agent: agentPart(agent) };
      }),
    }));
  };
  const agentPart = (agent: AgentTranscript): AgentUiPart => {
    const model = agent.messages.map(({ origin }) => origin?.model).filter((name) => name !== undefined);
    return {
      agentPath: agent.agentPath,
      ...(model.length > 0 && { model: model.at(-1)! }),
      status: agent.outcome ?? "running",
      parts: shown(agent).flatMap(({ role, parts }) => (role === "assistant" ? parts : [])),
    };
  };
  return shown(root);
}

/** Lists of the elements with the same key, in their order. Vendors may use the id of a call again. */
function queues<T>(elements: readonly T[], keyOf: (element: T) => string): Map<string, T[]> {
  const lists = new Map<string, T[]>();
  for (const element of elements) {
    const key = keyOf(element);
    lists.set(key, [...(lists.get(key) ?? []), element]);
  }
  return lists;
}

/** The key of the message at this place. */
export function idAt(place: number): string {
  return `m${place + 1}`;
}

function summaryOf(block: Block): string | undefined {
  if (block.type !== "text" || block.purpose !== "summary") return undefined;
  // `[Context summary: …]`
  return block.text.slice(block.text.indexOf(": ") + 2, -1);
}

/** The parts that a block is drawn as. A text with only whitespace has no part. */
export function partsOfBlock(block: Exclude<Block, { type: "tool_result" }>): UiPart[] {
  switch (block.type) {
    case "text":
    case "refusal": {
      const { text } = block;
      const more = block.type === "refusal" ? ({ isRefusal: true } as const) : {};
      const sources = block.type === "text" ? sourcesOfText(block.vendor) : [];
      if (text === "") return sources;
      return [{ type: "text", text, state: "done", stable: text.length, ...more }, ...sources];
    }
    case "thinking":
      return [{ type: "reasoning", text: block.text, state: "done" }];
    case "redacted_thinking":
      return [{ type: "reasoning", text: "", state: "done" }];
    case "tool_call": {
      const { id: toolCallId, name, input: written = block.inputText } = block;
      const { name: toolName, input } = calledTool(name, written);
      return [{ type: "tool", toolCallId, toolName, state: "input-available", input }];
    }
    case "media": {
      const { vendor: _, ...file } = block;
      return [{ ...file, type: "file" }];
    }
    case "raw":
      return [{ type: "raw", json: block.json }, ...partsOfRaw(block.json)];
  }
}

/** The tool that a model has called, which for a tool with `deferLoading` is named in the input of `call_tool`. */
function calledTool(name: string, input: unknown): { readonly name: string; readonly input: unknown } {
  const inner = Object(input) as { readonly name?: unknown; readonly input?: unknown };
  if (name !== "call_tool" || typeof inner.name !== "string") return { name, input };
  return { name: inner.name, input: inner.input };
}

/** Adds the result to the last call with this id. A call in progress has none. */
function finish(
  parts: UiPart[],
  { callId, content, isError, pending }: Block & { type: "tool_result" },
): void {
  const at = parts.map((part) => part.type === "tool" && part.toolCallId).lastIndexOf(callId);
  const call = parts[at];
  if (call?.type !== "tool" || pending !== undefined) return;
  const output = outputOf(content);
  parts[at] =
    isError === true ? failed(call, faultOf(output)) : { ...call, state: "output-available", output };
}

/** A call that has failed. */
export function failed({ question: _, inputText: __, ...call }: ToolUiPart, error: ToolFault): ToolUiPart {
  return { ...call, state: error.code === "denied" ? "output-denied" : "output-error", error };
}

/** A call with the facts of its record. */
export function recorded(call: ToolUiPart, record: ToolCallRecord): ToolUiPart {
  const { output, durationMs, updatedInput = call.input } = record;
  const { question: _, inputText: __, ...rest } = { ...call, input: updatedInput, durationMs };
  if (record.isError) return { ...failed(rest, faultOf(output)) };
  return { ...rest, state: "output-available", output: output };
}

/**
 * Parses the text of a result as JSON. Returns the text if it is not JSON, or the blocks if there is more than text.
 */
function outputOf(content: readonly Block[]): unknown {
  const [only, ...more] = content;
  if (only?.type !== "text" || more.length > 0) return content;
  try {
    return JSON.parse(only.text);
  } catch {
    return only.text;
  }
}

/** The error that the model received. `toolCalls.wordError` may have replaced its text. */
function faultOf(output: unknown): ToolFault {
  if (isObject(output)) {
    const { code, message, hint = "", recoverable = true } = output as unknown as Partial<ToolFault>;
    if (typeof code === "string" && typeof message === "string") return { code, message, hint, recoverable };
  }
  const message = typeof output === "string" ? output : JSON.stringify(output);
  return { code: "tool_failed", message, hint: "", recoverable: true };
}

/**
 * The places of the user's messages in the transcript, by the ids under which they are shown. A message that a
 * summary has replaced has none.
 */
export function promptsOf(
  shown: readonly UiMessage[],
  transcript: readonly Message[],
): ReadonlyMap<string, number> {
  const ids = shown.filter(({ role }) => role === "user").map(({ id }) => id);
  const places = transcript.flatMap((message, place) => (isPrompt(message) ? [place] : []));
  const count = Math.min(ids.length, places.length);
  return new Map(ids.slice(ids.length - count).map((id, at) => [id, places[places.length - count + at]!]));
}

/** The place of a user message in the transcript. @throws LoopletError `misuse_invalid_argument` */
export function placeOf(
  messageId: string,
  places: ReadonlyMap<string, number>,
  shown: readonly UiMessage[],
): number {
  const place = places.get(messageId);
  if (place !== undefined) return place;
  const isKnown = shown.some(({ id, role }) => id === messageId && role === "user");
  const problem = isKnown
    ? "a summary has replaced this message, so the conversation cannot continue from it"
    : `there is no user message "${messageId}"`;
  throw new LoopletError("misuse_invalid_argument", "messageId", problem);
}

function isPrompt(message: Message): boolean {
  return message.role === "user" && shownMessages([message]).at(-1)?.role === "user";
}

/** The transcript up to a user message. Tool results in that message stay. */
export function withoutText(transcript: readonly Message[], place: number): readonly Message[] {
  const { role, content } = transcript[place]!;
  const results = content.filter(({ type }) => type === "tool_result");
  return [...transcript.slice(0, place), ...(results.length > 0 ? [{ role, content: results }] : [])];
}
