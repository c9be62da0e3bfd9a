/** Checks the values that users hand to a run (a prompt, a history, a reason to stop) and words them for the engine. */
import { LoopletError } from "../api/errors.js";
import type {
  ContentBlock,
  Inputs,
  Message,
  Prompt,
  RunOptions,
  SessionSource,
  SubagentMemory,
} from "../api/index.js";
import { headOf } from "../host/history.js";
import { checkValue, describe, isObject, joined, jsonOf } from "../options/check.js";
import { messagesOf } from "../options/messages.js";
import { isErrorObject } from "../options/thrown.js";
import { inputsJson } from "../options/tool-options.js";
import { isContentBlock } from "../tools/tool-content.js";

/** The history that a run continues. */
type History = Pick<RunOptions, "messages" | "subagents" | "chatUsage">;

/** In place of a prompt: the run only has its history summarised, by these instructions. */
export interface OnlySummary {
  readonly onlySummary: string;
}

export function isOnlySummary(prompt: Prompt | OnlySummary): prompt is OnlySummary {
  return isObject(prompt) && "onlySummary" in prompt;
}

/**
 * The prompt of a run as blocks. An empty list continues messages that end with the user's.
 *
 * @throws LoopletError `misuse_empty_prompt`, `misuse_invalid_argument`
 */
export function promptOf(prompt: Prompt, { messages }: Pick<RunOptions, "messages">): ContentBlock[] {
  const continues = Array.isArray(prompt) && prompt.length === 0 && messages?.at(-1)?.role === "user";
  return continues ? [] : content(prompt, "prompt");
}

/**
 * A prompt as blocks.
 *
 * @throws LoopletError `misuse_empty_prompt`, `misuse_invalid_argument`
 */
export function content(prompt: Prompt, field: string): ContentBlock[] {
  if (typeof prompt === "string") {
    if (prompt.trim() === "") throw empty(field);
    return [{ type: "text", text: prompt }];
  }
  if (!Array.isArray(prompt)) {
    throw new LoopletError(
      "misuse_invalid_argument",
      field,
      `needs a string or an array of blocks, got ${describe(prompt)}${messageHint(prompt)}`,
    );
  }
  const blocks = prompt as readonly ContentBlock[];
  for (const [index, block] of blocks.entries()) {
    if (!isContentBlock(block)) {
      throw new LoopletError(
        "misuse_invalid_argument",
        `${field}[${index}]`,
        `needs { type: "text", text }, { type: "media", mediaType, data | url } or { type: "raw", json }${messageHint(block)}`,
      );
    }
  }
  const said = blocks.filter((block) => block.type !== "text" || block.text.trim() !== "");
  if (said.length === 0) throw empty(field);
  jsonOf(said, field, "misuse_invalid_argument");
  return said;
}

/** Other libraries take the history and the prompt in one list. */
function messageHint(value: unknown): string {
  const isMessage = typeof value === "object" && value !== null && "role" in value;
  return isMessage ? "; earlier messages go into the option messages: run(prompt, { messages })" : "";
}

function empty(field: string): LoopletError {
  return new LoopletError("misuse_empty_prompt", field, "must not be empty; ask something");
}

/** The part of a history that is read once, when it is given. */
interface CheckedHistory {
  readonly messages?: readonly Message[];
  readonly subagents?: readonly SubagentMemory[];
}

/**
 * Checks the whole history of a run: its messages, its usage and the memory of its subagents.
 *
 * @throws LoopletError `config_wrong_type`
 */
export function checkedHistory({ messages: given, subagents, chatUsage }: History): CheckedHistory {
  const messages = given === undefined ? undefined : { messages: messagesOf(given, "messages") };
  if (chatUsage != null) checkValue(chatUsage, "chatUsage", "object");
  if (subagents === undefined) return joined(messages);
  if (!Array.isArray(subagents)) throw wrongMemory("subagents", subagents);
  for (const [index, memory] of (subagents as SubagentMemory[]).entries()) {
    const field = `subagents[${index}]`;
    if (!isObject(memory) || typeof memory.agentPath !== "string") throw wrongMemory(field, memory);
    messagesOf(memory.messages ?? null, `${field}.messages`);
  }
  return joined(messages, { subagents });
}

/** A memory with the head of its requests, which no result shows. */
const withHead = (memory: SubagentMemory): object => ({ ...memory, head: headOf(memory.messages) });

/** The options of one run, which its agent's configuration does not have, as JSON for the engine. */
export function runConfig(
  history: History,
  inputs: Inputs,
  session: SessionSource | undefined,
  profile: number,
): string {
  const { messages = [], subagents = [], chatUsage } = history;
  const values = inputsJson(inputs);
  const head = headOf(messages);
  const fields = [
    ...(values === undefined ? [] : [`"inputs":${values}`]),
    ...(profile === 0 ? [] : [`"profile":${profile}`]),
    ...(session === undefined ? [] : [`"session":"${session}"`]),
    ...(messages.length === 0 ? [] : [`"messages":${jsonOf(messages, "messages")}`]),
    ...(head === undefined ? [] : [`"head":${jsonOf(head, "messages")}`]),
    ...(chatUsage == null ? [] : [`"chatUsage":${jsonOf(chatUsage, "chatUsage")}`]),
    ...(subagents.length === 0 ? [] : [`"subagents":${jsonOf(subagents.map(withHead), "subagents")}`]),
  ];
  return `{${fields.join(",")}}`;
}

/**
 * The index of the agent that begins.
 *
 * @throws LoopletError `config_invalid_value`
 */
export function speakerAt(speakers: readonly (string | undefined)[], agent: string | undefined): number {
  const index = agent === undefined ? 0 : speakers.indexOf(agent);
  if (index >= 0) return index;
  const names = speakers.filter((name) => name !== undefined).join(", ");
  throw new LoopletError("config_invalid_value", "agent", `needs result.agent of an earlier run: ${names}`);
}

function wrongMemory(field: string, got: unknown): LoopletError {
  return new LoopletError(
    "config_wrong_type",
    field,
    `needs result.subagents of an earlier run, got ${describe(got)}`,
  );
}

/** The reason of an abort, in words. */
export function abortReason(reason: unknown): string {
  if (typeof reason === "string") return reason;
  try {
    if (isErrorObject(reason) || reason instanceof DOMException) return String(reason.message || reason.name);
  } catch {
    // A reason that cannot be read still aborts.
  }
  return "aborted";
}
