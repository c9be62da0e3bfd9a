/** Converts a message of the user to the blocks of a prompt. */
import { LoopletError } from "../../../core/api/errors.js";
import type { ContentBlock, Prompt } from "../../../core/api/index.js";
import { base64Of } from "../../../core/kit/tools.js";
import { checkNames } from "./checks.js";
import type { SendOptions } from "../conversation.js";

/** A file that a page can read: a `File` or a `Blob`. */
export interface FileLike {
  /** The media type, as `image/png`. */
  readonly type: string;
  readonly name?: string;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The blocks of a message, files first. Empty for a blank text without files. */
export async function blocksOf(
  prompt: Prompt,
  options: SendOptions,
  names: readonly (keyof SendOptions)[] = ["files"],
): Promise<readonly ContentBlock[]> {
  if (typeof prompt !== "string" && !Array.isArray(prompt))
    throw new LoopletError("config_wrong_type", "prompt", "needs a text, or a list of blocks");
  checkNames(options, names);
  const { files = [] } = options;
  if (typeof files === "string" || !(Symbol.iterator in Object(files)))
    throw new LoopletError("config_wrong_type", "files", "needs a list, such as the `files` of an input");
  const blocks: ContentBlock[] = await Promise.all(Array.from(files, mediaOf));
  if (typeof prompt !== "string") return [...blocks, ...prompt];
  return prompt.trim() === "" ? blocks : [...blocks, { type: "text", text: prompt }];
}

async function mediaOf(file: FileLike, index: number): Promise<ContentBlock> {
  const { type: mediaType, name } = file;
  if (typeof file.arrayBuffer !== "function")
    throw new LoopletError("config_wrong_type", `files[${index}]`, "needs a File or a Blob");
  if (mediaType === "")
    throw new LoopletError(
      "config_invalid_value",
      `files[${index}]`,
      `has no media type: give a block { type: "media", mediaType, data } with the prompt`,
    );
  const data = base64Of(new Uint8Array(await file.arrayBuffer()));
  return { type: "media", mediaType, data, ...(name ? { name } : {}) };
}
