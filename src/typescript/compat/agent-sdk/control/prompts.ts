/** Messages of the user as prompts, and prompts that are commands. */
import type { ContentBlock, Prompt } from "../../../core/api/index.js";
import { fromApi } from "../../anthropic.js";
import { isContentBlock } from "../../../core/kit/tools.js";
import { calledBy, commandNamed, expanded, type FileCommand } from "./commands.js";
import type { SlashCommand } from "./responses.js";
import type { SDKUserInput } from "../types.js";

/** The commands that looplet has itself. */
export const COMMANDS: SlashCommand[] = [
  {
    name: "compact",
    description: "Summarises the session so far",
    argumentHint: "[instructions]",
    builtin: true,
  },
  { name: "clear", description: "Begins a new session", argumentHint: "", builtin: true },
];

/** A message of the user on its way to the model. */
export interface UserPrompt {
  readonly prompt: Prompt;
  /** The id that the user has given it. */
  readonly uuid?: string | undefined;
  /** Whether it goes to the model unchanged, even if it begins with the name of a command. */
  readonly isVerbatim?: boolean | undefined;
}

/** The command in a prompt, with the text after it. */
export function commandOf({
  prompt,
  isVerbatim,
}: UserPrompt): { readonly name: string; readonly text: string | undefined } | undefined {
  const [, name, text] = /^\/(clear|compact)(?:\s+([^]+))?$/.exec(String(prompt)) ?? [];
  return isVerbatim || typeof prompt !== "string" || name === undefined ? undefined : { name, text };
}

/** A message as a prompt. `problems` names the parts that no model can get. */
export function promptOf(
  { message, uuid, client_composed }: SDKUserInput,
  isVerbatim = client_composed,
): {
  readonly said: UserPrompt | undefined;
  readonly problems: string[];
} {
  const content = message?.content;
  if (typeof content === "string") return { said: { prompt: content, uuid, isVerbatim }, problems: [] };
  const [first] = Array.isArray(content) ? content : [];
  if (content?.length === 1 && first?.type === "text" && typeof first.text === "string")
    return { said: { prompt: first.text, uuid, isVerbatim }, problems: [] };
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

/**
 * The prompt as the model gets it: with the text of a settings file in place of its command. `problem` says that no
 * command has the name.
 */
export function filled(
  said: UserPrompt,
  commands: readonly FileCommand[],
): { readonly said: UserPrompt; readonly problem?: string } {
  const called = said.isVerbatim || typeof said.prompt !== "string" ? undefined : calledBy(said.prompt);
  if (called === undefined || commandOf(said) !== undefined) return { said };
  const { name, args } = called;
  const command = commandNamed(commands, name);
  if (command !== undefined) return { said: { ...said, prompt: expanded(command, args) } };
  // A path such as /tmp/x has not this form, but /tmp has.
  const all = [...COMMANDS, ...commands].map((one) => `/${one.name}`).join(", ");
  return {
    said,
    problem: `No command is called "/${name}", so the model reads the prompt as it is. There are ${all}. Commands of files need settingSources and host.vfs.`,
  };
}

/** False for a command that a later one of its name replaces. */
function isLast({ name }: FileCommand, at: number, all: readonly FileCommand[]): boolean {
  return !all.slice(at + 1).some((other) => other.name === name);
}

/** What a query answers to `supportedCommands`. */
export function commandsOf(commands: readonly FileCommand[]): SlashCommand[] {
  return [
    ...COMMANDS.map((command) => ({ ...command })),
    ...commands.filter(isLast).map(({ name, description, argumentHint, alias }) => ({
      name,
      description,
      argumentHint,
      ...(alias !== undefined && { aliases: [alias] }),
    })),
  ];
}

export function textOf({ prompt }: UserPrompt): string {
  if (typeof prompt === "string") return prompt;
  return (prompt as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("\n");
}
