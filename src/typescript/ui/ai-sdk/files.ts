/** Files of the two worlds: a `data:` URL or an address there, base64 or an address here. */
import { LoopletError } from "../../core/api/errors.js";
import type { MediaBlock } from "../../core/api/message.js";
import { base64Of } from "../../core/kit/tools.js";

export function fileUrl({ mediaType, data, url }: MediaBlock): string {
  return data === undefined ? (url ?? "") : `data:${mediaType};base64,${data}`;
}

/** The block of a file. A `data:` URL without base64 is encoded. */
export function mediaOf(mediaType: string, url: string, name?: string): MediaBlock {
  const named = name === undefined ? {} : { name };
  const [, head = "", body = ""] = /^data:([^,]*),(.*)$/s.exec(url) ?? [];
  if (!url.startsWith("data:")) return { type: "media", mediaType, ...named, url };
  const data = head.endsWith(";base64") ? body : base64Of(new TextEncoder().encode(decoded(body)));
  return { type: "media", mediaType, ...named, data };
}

/** @throws LoopletError `misuse_invalid_argument` */
function decoded(body: string): string {
  try {
    return decodeURIComponent(body);
  } catch {
    const problem = "has a data: address that cannot be read; encode it with base64";
    throw new LoopletError("misuse_invalid_argument", "url", problem);
  }
}
