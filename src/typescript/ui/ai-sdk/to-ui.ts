/**
 * Converts looplet messages to messages of `useChat`. A message with a note of `fromUIMessages` is restored. Any
 * other is converted, and what the AI SDK has no field for is in the provider metadata under `looplet`.
 */
import type { Block, MediaBlock, Message, ToolCallBlock, ToolResultBlock } from "../../core/api/message.js";
import { fileUrl } from "./files.js";
import type { MessageOfUi, UiNote } from "./from-ui.js";
import { faultOf, outputOf } from "./outputs.js";
import { isNotice, isPrompt } from "../../extras/transcript/prompts.js";
import type { UIMessageLike, UiPart } from "./types.js";

/** The options of `toUIMessages`. */
export interface ToUiOptions {
  /** Contract: returns the id of the message with this number, from 0. Default: `message-0`, `message-1`, … */
  idOf?: ((index: number) => string) | undefined;
  /** The major version of `ai` that reads the messages. For 5 a denied call is one that has failed. Default 6. */
  version?: 5 | 6 | 7 | undefined;
}

/**
 * Converts messages to the form of `useChat`: everything that the agent says up to the next prompt is one message.
 */
export function toUIMessages(messages: readonly MessageOfUi[], options: ToUiOptions = {}): UIMessageLike[] {
  const { idOf = (index: number) => `message-${index}`, version = 6 } = options;
  const turns: MessageOfUi[][] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    const isNew = message.ui !== undefined || (last?.[0]?.role === "user" ? true : isPrompt(message));
    if (isNew || last === undefined) turns.push([message]);
    else last.push(message);
  }
  return turns.map((turn, index) => {
    const { ui } = turn[0]!;
    // A message of the user that was added to a run has the results of the calls before it, too.
    const results = resultsOf([...turn, ...(turns[index + 1]?.slice(0, 1) ?? [])]);
    if (ui !== undefined) return noted(ui, turn, results);
    const role = turn[0]!.role;
    const parts = role === "user" ? userParts(turn[0]!.content, version) : stepParts(turn, results, version);
    return { id: idOf(index), role, parts };
  });
}

/** The parts of a message of the user. */
export function userParts(content: readonly Block[], version = 6): UiPart[] {
  return content.flatMap((block) => partOf(block, {}, new Map(), version));
}

/** The steps of an agent's turn. */
function stepParts(turn: readonly Message[], results: Results, version: number): UiPart[] {
  return turn.flatMap(({ role, content, ...message }) => {
    if (role === "user") return content.filter(isNotice).map((data) => ({ type: "data-looplet", data }));
    // The first part of a step has the message's metadata.
    const marks = Object.keys(message).length === 0 ? {} : { message };
    const parts = content.flatMap((block, at) => partOf(block, at === 0 ? marks : {}, results, version));
    return [{ type: "step-start" }, ...parts];
  });
}

/** The first result of each call. */
type Results = ReadonlyMap<string, ToolResultBlock>;

function resultsOf(turn: readonly Message[]): Results {
  return firstById(turn, (block) => (block.type === "tool_result" ? [block.callId, block] : undefined));
}

function firstById<T>(
  turn: readonly Message[],
  entry: (block: Block) => [id: string, block: T] | undefined,
): Map<string, T> {
  const found = new Map<string, T>();
  for (const { content } of turn)
    for (const block of content) {
      const [id, one] = entry(block) ?? [];
      if (id !== undefined && !found.has(id)) found.set(id, one!);
    }
  return found;
}

function partOf(block: Block, marks: object, results: Results, version: number): UiPart[] {
  switch (block.type) {
    case "text":
    case "refusal": {
      const refusal = block.type === "refusal" ? { refusal: true } : {};
      const vendor = block.type === "text" && block.vendor !== undefined ? { vendor: block.vendor } : {};
      return [
        { type: "text", text: block.text, state: "done", ...marked({ ...marks, ...refusal, ...vendor }) },
      ];
    }
    case "thinking": {
      const { type: _, text, ...rest } = block;
      return [{ type: "reasoning", text, state: "done", ...marked({ ...marks, ...rest }) }];
    }
    case "media": {
      const { mediaType, name, vendor } = block;
      const named = name === undefined ? {} : { filename: name };
      const vendors = vendor === undefined ? {} : { vendor };
      return [
        { type: "file", mediaType, url: fileUrl(block), ...named, ...marked({ ...marks, ...vendors }) },
      ];
    }
    case "tool_call":
      return [callPart(block, marks, results.get(block.id), version)];
    case "tool_result":
      return [];
    default:
      return [{ type: "data-looplet", data: block }];
  }
}

/** The vendors' data of a part with what looplet knows of it. */
function marked(looplet: { [field: string]: any }): {
  providerMetadata?: { looplet: { [field: string]: any } };
} {
  return Object.keys(looplet).length === 0 ? {} : { providerMetadata: { looplet } };
}

function callPart(
  call: ToolCallBlock,
  marks: object,
  result: ToolResultBlock | undefined,
  version: number,
): UiPart {
  const { id: toolCallId, name, input = call.inputText, vendor } = call;
  const isOpen = result === undefined || result.pending !== undefined;
  const { output, text } = isOpen ? { output: undefined, text: "" } : outputOf(result);
  const fault = isOpen ? undefined : faultOf(result);
  const errorText = fault?.message ?? text;
  // There an error has only a text. Here it may have more.
  const isRich = result?.isError === true && !(result.content.length === 1 && errorText === errorOf(result));
  const looplet = {
    ...marks,
    ...(vendor !== undefined && { vendor }),
    ...(result?.pending !== undefined && { pending: result.pending }),
    ...((isRich || result?.pending !== undefined) && { content: result!.content }),
  };
  const { providerMetadata: callProviderMetadata } = marked(looplet);
  const base = {
    type: `tool-${name}`,
    toolCallId,
    input,
    ...(callProviderMetadata && { callProviderMetadata }),
  };
  if (isOpen) return { ...base, state: "input-available" };
  if (result.isError !== true) return { ...base, state: "output-available", output };
  if (fault?.code !== "denied" || version < 6) return { ...base, state: "output-error", errorText };
  // `ai` requires an approval for a denied output.
  return {
    ...base,
    state: "output-denied",
    approval: { id: toolCallId, approved: false, reason: fault.message },
  };
}

function errorOf({ content }: ToolResultBlock): string | undefined {
  const [only] = content;
  return only?.type === "text" ? only.text : undefined;
}

/** Restores the message that a note describes. Its parts use their blocks in order. Calls find theirs by id. */
function noted({ id, role, rest, parts }: UiNote, turn: readonly Message[], results: Results): UIMessageLike {
  const blocks = turn.flatMap(({ content }) => content);
  const calls = firstById(turn, (block) => (block.type === "tool_call" ? [block.id, block] : undefined));
  const places = new Map<string, number>();
  /** The next block of one of these types. */
  const take = <T extends Block["type"]>(...types: T[]): Extract<Block, { type: T }> | undefined => {
    const key = types.join();
    for (let at = places.get(key) ?? 0; at < blocks.length; at += 1) {
      if (!(types as string[]).includes(blocks[at]!.type)) continue;
      places.set(key, at + 1);
      return blocks[at] as Extract<Block, { type: T }>;
    }
    places.set(key, blocks.length);
    return undefined;
  };
  const whole = (part: UiPart): UiPart[] => {
    if (part.type === "text" && part.text === undefined) return withText(part, take("text", "refusal"));
    if (part.type === "reasoning" && part.text === undefined) return withText(part, take("thinking"));
    if (part.type === "file" && part.mediaType === undefined) return withFile(part, take("media"));
    if (part.type === "data-looplet" && part.data === undefined)
      return withData(part, take("raw", "redacted_thinking"));
    return [part.toolCallId === undefined ? part : withCall(part, calls, results)];
  };
  return { id, role, ...rest, parts: parts.flatMap((part) => whole(part as unknown as UiPart)) };
}

function withText(part: UiPart, block: { text: string } | undefined): UiPart[] {
  return block === undefined ? [] : [{ ...part, text: block.text }];
}

function withFile(part: UiPart, block: MediaBlock | undefined): UiPart[] {
  if (block === undefined) return [];
  const { mediaType, name } = block;
  return [
    { ...part, mediaType, url: part.url ?? fileUrl(block), ...(name !== undefined && { filename: name }) },
  ];
}

function withData(part: UiPart, block: Block | undefined): UiPart[] {
  return block === undefined ? [] : [{ ...part, data: block }];
}

function withCall(part: UiPart, calls: ReadonlyMap<string, ToolCallBlock>, results: Results): UiPart {
  const { toolCallId = "", state, preliminary } = part;
  const call = calls.get(toolCallId);
  const result = results.get(toolCallId);
  const isDone =
    state === "output-available" && preliminary !== true && !("output" in part) && result !== undefined;
  return {
    ...part,
    ...(call?.input !== undefined && !("input" in part) && { input: call.input }),
    ...(isDone && { output: outputOf(result).output }),
  };
}
