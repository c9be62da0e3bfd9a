/** The parts of messages. */
import { isMap } from "../file/frontmatter.js";
import type { ContentPart, MediaPart, Message } from "../types.js";

/** The text of a message, without its other parts. */
export function textOfMessage({ content }: Pick<Message, "content">): string {
  return content.map((part) => (part.kind === "text" ? part.value : "")).join("");
}

/** One text if there is no other part, else a part of the vendor for each. */
export function contentOf<T>(
  content: readonly ContentPart[],
  toPart: (part: ContentPart) => T,
): string | T[] {
  return content.every(({ kind }) => kind === "text")
    ? textOfMessage({ content: [...content] })
    : content.map(toPart);
}

export function isContentPart(part: unknown): part is ContentPart {
  return isMap(part) && KINDS.includes(part["kind"] as string) && typeof part["value"] === "string";
}

const KINDS = ["text", "image", "file", "audio"];

export function isAddress({ value }: MediaPart): boolean {
  return /^(https?|data|gs|file):/i.test(value);
}

/** The address of a part, or its bytes as a `data:` address. */
export function addressOf(part: MediaPart): string {
  return isAddress(part)
    ? part.value
    : `data:${part.mediaType ?? MEDIA_TYPES[part.kind]};base64,${part.value}`;
}

export const MEDIA_TYPES = { image: "image/png", audio: "audio/wav", file: "application/pdf" } as const;

export function isSystem({ role }: Message): boolean {
  return role === "system" || role === "developer";
}

/** The texts of the system messages, with a blank line between them. */
export function systemText(messages: readonly Message[]): string {
  return messages.filter(isSystem).map(textOfMessage).join("\n\n");
}
