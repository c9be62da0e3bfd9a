/**
 * Converts messages of `useChat` to looplet messages. The model receives text, files, reasoning, and calls with their
 * results. The rest of each message is in its field `ui`, which the engine ignores, so that `toUIMessages` can
 * restore the message.
 */
import type { Block, Message, ToolCallBlock, ToolResultBlock } from "../../core/api/message.js";
import type { Prompt } from "../../core/api/run.js";
import { isObject } from "../../core/kit/check.js";
import { promptFromPage } from "../../extras/tools/from-page.js";
import { isNotice } from "../../extras/transcript/prompts.js";
import { mediaOf } from "./files.js";
import { resultContent } from "./outputs.js";
import { checkMessages, isCall, notesOf, toolNameOf, type UIMessageLike, type UiPart } from "./types.js";

/** A message of looplet, with what only the AI SDK knows of it. */
export type MessageOfUi = Message & { ui?: UiNote };

/** The AI SDK message that starts with this looplet message. */
export interface UiNote {
  id: string;
  role: UIMessageLike["role"];
  /** Other fields of the message, such as `metadata`. */
  rest: { [field: string]: unknown };
  /** The parts in order. If a part has a block here, the fields of the block are omitted. */
  parts: { [field: string]: unknown }[];
}

/**
 * Converts messages to a history for `agent.run`. Parts that no model reads, such as data parts, and parts of a
 * failed attempt become no block. A call without a result gets a result that says the call was not made. A system
 * message becomes a user message, because the system prompt is an option of the agent.
 *
 * @throws LoopletError `misuse_invalid_argument` for values that are not UI messages
 */
export function fromUIMessages(messages: readonly UIMessageLike[]): MessageOfUi[] {
  checkMessages(messages);
  return messages.flatMap((message) =>
    message.role === "assistant" ? assistant(message) : [userMessage(message)],
  );
}

/** The message that a user has written, as one of looplet. */
export function userMessage(message: UIMessageLike): MessageOfUi {
  // A vendor's own blocks come from a model, never from the page.
  const isOwn = ({ type }: UiPart): boolean => type === "data-looplet";
  const { content, parts } = blocksOf(message.parts as UiPart[], isOwn);
  return { role: "user", content, ui: noteOf(message, parts) };
}

/**
 * Converts a user's message to a prompt. Omits provider data that the page sends.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function promptOf(message: UIMessageLike): Prompt {
  const { content } = userMessage(message);
  const said = content.map((block) => ("vendor" in block ? { ...block, vendor: undefined } : block));
  return promptFromPage(said, "messages");
}

function assistant(message: UIMessageLike): MessageOfUi[] {
  const said: MessageOfUi[] = [];
  const notes: UiNote["parts"] = [];
  for (const step of stepsOf(message.parts as UiPart[])) {
    const { content, told, parts, origin } = blocksOf(step);
    notes.push(...parts);
    if (content.length > 0) said.push({ role: "assistant", content, ...origin });
    if (told.length > 0) said.push({ role: "user", content: told });
  }
  // A message without blocks still needs a place for its note.
  const [first = { role: "assistant", content: [] }, ...rest] = said;
  return [{ ...first, ui: noteOf(message, notes) } as MessageOfUi, ...rest];
}

/**
 * Whether a part belongs to a failed attempt, so that the next attempt writes its text again. `ai` 7 removes such
 * parts. A page with `ai` 5 or 6 skips them when it renders the message.
 */
export function isVoid(part: object): boolean {
  return notesOf(part as UiPart)["void"] === true;
}

function noteOf({ id, role, parts: _, ...rest }: UIMessageLike, parts: UiNote["parts"]): UiNote {
  return { id, role, rest, parts };
}

/** Splits the parts into steps. A `step-start` begins a step. */
function stepsOf(parts: readonly UiPart[]): UiPart[][] {
  const steps: UiPart[][] = [[]];
  for (const part of parts) {
    if (part.type === "step-start") steps.push([]);
    steps.at(-1)!.push(part);
  }
  return steps;
}

interface Blocks {
  content: Block[];
  /** What the model receives after the step: results, and texts by looplet. */
  told: Block[];
  /** What no block has of the parts. */
  parts: UiNote["parts"];
  /** The model that wrote the step, if looplet has noted it, and other marks of its message. */
  origin: Partial<Message>;
}

/** Converts parts to blocks. Parts for which `isLeftOut` is true are only for the page. */
function blocksOf(parts: readonly UiPart[], isLeftOut: (part: UiPart) => boolean = () => false): Blocks {
  const found: Blocks = { content: [], told: [], parts: [], origin: {} };
  for (const part of parts) {
    const notes = notesOf(part);
    if (notes["message"] !== undefined) Object.assign(found.origin, notes["message"]);
    const isNote = isVoid(part) || notes["agentPath"] !== undefined || isLeftOut(part);
    const rest = isNote ? undefined : pushBlocks(part, found);
    found.parts.push({ ...(rest ?? part) });
  }
  return found;
}

/** Adds the blocks of a part, and returns what they do not have of it; undefined for a part without a block. */
function pushBlocks(part: UiPart, { content, told }: Blocks): object | undefined {
  const { looplet } = { looplet: notesOf(part) };
  const vendor = looplet["vendor"] === undefined ? {} : { vendor: looplet["vendor"] };
  if (part.type === "text" && part.text) {
    const { text, ...rest } = part;
    content.push(looplet["refusal"] === true ? { type: "refusal", text } : { type: "text", text, ...vendor });
    return rest;
  }
  if (part.type === "reasoning" && part.text) {
    const { text, ...rest } = part;
    const { signature } = looplet;
    content.push({ type: "thinking", text, ...(signature !== undefined && { signature }), ...vendor });
    return rest;
  }
  if (part.type === "file" && part.mediaType !== undefined && part.url) {
    const { mediaType, url, filename, ...rest } = part;
    content.push({ ...mediaOf(mediaType, url, filename), ...vendor });
    // A data: URL without base64 becomes one with it.
    return url.startsWith("data:") && !url.startsWith(`data:${mediaType};base64,`) ? { ...rest, url } : rest;
  }
  if (part.type === "data-looplet") {
    const block = part.data as Block;
    (isNotice(block) ? told : content).push(block);
    return { type: part.type };
  }
  if (!isCall(part) || part.state === "input-streaming") return undefined;
  const { toolCallId = "", input, output, errorText, ...rest } = part;
  const call: ToolCallBlock = { type: "tool_call", id: toolCallId, name: toolNameOf(part), ...vendor };
  content.push(isObject(input) ? { ...call, input } : { ...call, inputText: textOf(input) });
  told.push(resultOf(part));
  const isText = part.state === "output-available" && part.preliminary !== true;
  const kept = {
    ...rest,
    toolCallId,
    ...(!isObject(input) && "input" in part && { input }),
    ...("errorText" in part && { errorText }),
    // A value that is not an object, or that a result cannot represent, is retained unchanged.
    ...("output" in part && !(isText && isObject(output) && !Array.isArray(output)) && { output }),
  };
  return kept;
}

function textOf(input: unknown): string {
  return typeof input === "string" ? input : (JSON.stringify(input) ?? "");
}

/** The states that looplet notes for a call without a result. A page may write anything there. */
const PENDING: readonly unknown[] = ["waiting", "running", "queued"];

/** The result of a call. A call that never ran gets a result that says so. */
function resultOf(part: UiPart): ToolResultBlock {
  const { toolCallId: callId = "", state, output, errorText, preliminary, approval } = part;
  const { pending, content } = notesOf(part);
  if (state === "output-available" && preliminary !== true)
    return { type: "tool_result", callId, content: resultContent(output) };
  const refused =
    approval?.approved === false ? (approval.reason ?? "The user said no.") : "The call was not made.";
  const text = state === "output-error" ? (errorText ?? "It failed.") : refused;
  const said: Block[] = content ?? [{ type: "text", text }];
  return {
    type: "tool_result",
    callId,
    content: said,
    isError: true,
    ...(PENDING.includes(pending) && { pending }),
  };
}
