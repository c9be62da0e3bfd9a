/**
 * Messages of `useChat` as messages of looplet. A model gets text, files, reasoning and calls with their results. The
 * rest of each message stands beside it in `ui`, which the engine does not read, so that `toUIMessages` can write the
 * same message again.
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

/** The message of the AI SDK that begins with this message of looplet. */
export interface UiNote {
  id: string;
  role: UIMessageLike["role"];
  /** What a message has beside its parts, such as `metadata`. */
  rest: { [field: string]: unknown };
  /** The parts in their order. Of one with a block here, the fields that the block has are left out. */
  parts: { [field: string]: unknown }[];
}

/**
 * The messages as a history for `agent.run`. Parts that no model reads, such as data parts, and those of a failed
 * attempt are in none of its blocks. A call without a result gets one that says that it was not made. A system
 * message becomes a user's, because the system prompt is an option of the agent.
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
 * What the user of a page says in a message, as a prompt. What the page brings for the vendor is left out.
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
  // A message without a block has to keep its note somewhere.
  const [first = { role: "assistant", content: [] }, ...rest] = said;
  return [{ ...first, ui: noteOf(message, notes) } as MessageOfUi, ...rest];
}

/**
 * Whether a part of a message is of an attempt that has failed, whose text the next attempt writes again. `ai` 7
 * removes such parts. A page of `ai` 5 and 6 leaves them out when it draws the message.
 */
export function isVoid(part: object): boolean {
  return notesOf(part as UiPart)["void"] === true;
}

function noteOf({ id, role, parts: _, ...rest }: UIMessageLike, parts: UiNote["parts"]): UiNote {
  return { id, role, rest, parts };
}

/** The parts of each step: a `step-start` begins one. */
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
  /** What the model is told behind the step: results, and words of looplet. */
  told: Block[];
  /** What no block has of the parts. */
  parts: UiNote["parts"];
  /** The model that wrote the step, if looplet has noted it, and other marks of its message. */
  origin: Partial<Message>;
}

/** The blocks of parts. Those that `isLeftOut` are for the page alone. */
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
    // A value that is no object, and one that a result does not hold, is kept as it is.
    ...("output" in part && !(isText && isObject(output) && !Array.isArray(output)) && { output }),
  };
  return kept;
}

function textOf(input: unknown): string {
  return typeof input === "string" ? input : (JSON.stringify(input) ?? "");
}

/** How far a call has come that has no result, as looplet notes it. A page may write anything there. */
const PENDING: readonly unknown[] = ["waiting", "running", "queued"];

/** The result of a call. A call that never ran has one too, which says so. */
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
