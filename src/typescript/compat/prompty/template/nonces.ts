/**
 * Inputs that are not text: a nonce represents each in the rendered text, and is replaced by its messages or its
 * part.
 */
import { ValueError } from "../errors.js";
import { isMap } from "../file/frontmatter.js";
import { isContentPart, textOfMessage } from "../model/content.js";
import { withoutOuterLines } from "../text.js";
import type { ContentPart, PromptInputs, MediaPart, Message, Property, PromptyHost } from "../types.js";

/** The value of each nonce, with the kind of its input. */
export type Nonces = Map<string, { kind: string; name: string; value: unknown }>;

const RICH = ["thread", "image", "file", "audio"];

/** The inputs with a nonce in place of each value that is not text. */
export function withNonces(
  inputs: PromptInputs,
  properties: readonly Property[],
  { random }: PromptyHost,
): { inputs: PromptInputs; nonces: Nonces } {
  const nonces: Nonces = new Map();
  const given = new Map(Object.entries(inputs));
  const replaced = new Map(given);
  for (const { name, kind } of properties) {
    const value = given.get(name);
    if (!RICH.includes(kind) || value === undefined || value === null) continue;
    const nonce = `${NONCE}${hexDigits(random)}_${name}__`;
    nonces.set(nonce, { kind, name, value });
    replaced.set(name, nonce);
  }
  return { inputs: Object.fromEntries(replaced), nonces };
}

/** Eight digits that no input can foresee, or those of the caller's `random`. */
function hexDigits(random: (() => number) | undefined): string {
  if (random !== undefined)
    return Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return [...crypto.getRandomValues(new Uint8Array(4))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/**
 * The messages with each nonce replaced. The text around a thread has the same role as before, and is dropped if
 * blank.
 */
export function expandNonces(messages: readonly Message[], nonces: Nonces): Message[] {
  return messages.flatMap((message) => expand(message, nonces));
}

function expand(message: Message, nonces: Nonces): Message[] {
  const text = textOfMessage(message);
  const pieces = piecesOf(text, nonces);
  if (pieces.every((piece) => !nonces.has(piece))) return [message];
  const expanded: Message[] = [];
  let parts: ContentPart[] = [];
  const close = (): void => {
    if (parts.length > 0) expanded.push({ ...message, content: parts });
    parts = [];
  };
  for (const piece of pieces) {
    const rich = nonces.get(piece);
    if (rich === undefined) {
      const value = withoutOuterLines(piece);
      if (value.trim() !== "") parts.push({ kind: "text", value });
    } else if (rich.kind === "thread") {
      close();
      for (const one of threadOf(rich.value, rich.name)) expanded.push(one);
    } else parts.push(partOf(rich.kind as MediaPart["kind"], rich.value, rich.name));
  }
  close();
  return expanded;
}

/** The text between nonces and the nonces, in their order. */
function piecesOf(text: string, nonces: Nonces): string[] {
  const byStart = new Map<string, string[]>();
  for (const nonce of nonces.keys()) {
    const start = nonce.slice(0, NONCE.length + DIGITS);
    byStart.set(start, [...(byStart.get(start) ?? []), nonce]);
  }
  const pieces: string[] = [];
  let from = 0;
  for (let at = text.indexOf(NONCE); at >= 0; at = text.indexOf(NONCE, at + 1)) {
    const candidates = byStart.get(text.slice(at, at + NONCE.length + DIGITS));
    const nonce = candidates?.find((nonce) => text.startsWith(nonce, at));
    if (nonce === undefined) continue;
    pieces.push(text.slice(from, at), nonce);
    from = at + nonce.length;
    if (pieces.length > 2 * MAX_USES)
      throw new ValueError(`The template uses threads and media more than ${MAX_USES} times`);
  }
  return [...pieces, text.slice(from)];
}

const NONCE = "__PROMPTY_THREAD_";
const DIGITS = 8;
/** Each use of a thread adds all of its messages. */
const MAX_USES = 1000;

/** The messages of a thread: a list of them, or an object with `messages`. A content may be a text. */
function threadOf(value: unknown, name: string): Message[] {
  const list: unknown = isMap(value) ? value["messages"] : value;
  if (!Array.isArray(list)) throw new ValueError(`The input ${name} needs a list of messages`);
  return list.map((message: unknown) => {
    if (!isMap(message) || typeof message["role"] !== "string")
      throw new ValueError(`A message of the input ${name} needs a role`);
    const { content, metadata = {} } = message;
    const parts = typeof content === "string" ? [{ kind: "text", value: content }] : content;
    if (!Array.isArray(parts)) throw new ValueError(`A message of the input ${name} needs content`);
    if (!parts.every(isContentPart) || !isMap(metadata))
      throw new ValueError(
        `A message of the input ${name} needs parts with a text as value, and metadata as a mapping`,
      );
    return { ...message, content: parts } as unknown as Message;
  });
}

/** A part from an address, from bytes in base64, or from `{ value, mediaType }`. */
function partOf(kind: MediaPart["kind"], value: unknown, name: string): MediaPart {
  if (typeof value === "string") return { kind, value };
  if (isMap(value) && typeof value["value"] === "string") return { ...value, kind, value: value["value"] };
  throw new ValueError(`The input ${name} needs an address, bytes in base64, or { value, mediaType }`);
}
