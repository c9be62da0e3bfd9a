/** Messages of the user as prompts, and the prompts with a meaning of their own. */
import type { ContentBlock, Prompt } from "../../../core/api/index.js";
import { fromApi } from "../../anthropic.js";
import { isContentBlock } from "../../../core/tools/tool-content.js";
import type { SDKUserInput } from "../types.js";

/** Prompts with a meaning of their own. */
export const COMMANDS = [
  { name: "compact", description: "Summarises the session so far", argumentHint: "[instructions]" },
  { name: "clear", description: "Begins a new session", argumentHint: "" },
];

/** A message of the user on its way to the model. */
export interface Said {
  readonly prompt: Prompt;
  /** The id that the user has given it. */
  readonly uuid?: string | undefined;
  /** Whether it goes to the model as it is, also if it begins with the name of a command. */
  readonly isVerbatim?: boolean | undefined;
}

/** The command that a prompt is, with the text behind it. */
export function commandOf({
  prompt,
  isVerbatim,
}: Said): { readonly name: string; readonly text: string | undefined } | undefined {
  const [, name, text] = /^\/(clear|compact)(?:\s+([^]+))?$/.exec(String(prompt)) ?? [];
  return isVerbatim || typeof prompt !== "string" || name === undefined ? undefined : { name, text };
}

/** A message as a prompt. `problems` names the parts that no model can get. */
export function saidBy(
  { message, uuid, client_composed }: SDKUserInput,
  isVerbatim = client_composed,
): {
  readonly said: Said | undefined;
  readonly problems: string[];
} {
  const content = message?.content;
  if (typeof content === "string") return { said: { prompt: content, uuid, isVerbatim }, problems: [] };
  const problems: string[] = [];
  const blocks: ContentBlock[] = [];
  for (const block of Array.isArray(content) ? content : []) {
    const own: unknown = fromApi(block);
    // A raw block would reach the vendor as it is, whatever it says: also as the result of a call.
    if (isContentBlock(own) && own.type !== "raw") blocks.push(own);
    else
      problems.push(
        `A block of the type "${String(block?.type)}" cannot be part of a prompt, so it is left out.`,
      );
  }
  if (blocks.length === 0) problems.push("A message of the user without content is left out.");
  return { said: blocks.length === 0 ? undefined : { prompt: blocks, uuid }, problems };
}

export function textOf({ prompt }: Said): string {
  if (typeof prompt === "string") return prompt;
  return (prompt as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("\n");
}
