/** A message of the person as the blocks of a prompt. */
import { LoopletError } from "../../core/api/errors.js";
import type { ContentBlock, Prompt } from "../../core/api/index.js";

/** A file that a page can read: a `File` or a `Blob`. */
export interface FileLike {
  /** The media type, as `image/png`. */
  readonly type: string;
  readonly name?: string;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The blocks of a message with its files in front; none for a blank text without files. */
export async function blocksOf(
  prompt: Prompt,
  files: Iterable<FileLike> | undefined,
): Promise<readonly ContentBlock[]> {
  const blocks: ContentBlock[] = await Promise.all(Array.from(files ?? [], mediaOf));
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
  const data = base64(new Uint8Array(await file.arrayBuffer()));
  return { type: "media", mediaType, data, ...(name ? { name } : {}) };
}

/** Bytes for which the arguments of one call are few enough in every engine. */
const AT_ONCE = 8_192;

function base64(bytes: Uint8Array): string {
  let letters = "";
  for (let at = 0; at < bytes.length; at += AT_ONCE)
    letters += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  return btoa(letters);
}
