/**
 * Rich results of tools as blocks: looplet's own `{ content }`, results of MCP servers, and files.
 * <https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result> (2026-11-21)
 */
import type { ContentBlock } from "../api/index.js";
import { isObject } from "../options/check.js";
import { base64Of } from "./tool-json.js";

/** A result that consists of blocks. */
export interface RichResult {
  content: ContentBlock[];
  isError: boolean;
  /** MCP's JSON form of the result. */
  structuredContent: unknown;
}

/** The fields of a rich result; an object with any other field is an ordinary value. */
const FIELDS = ["content", "isError", "structuredContent", "_meta", "resultType"];

/** The result as blocks; undefined for an ordinary value. */
export function richResult(value: unknown): RichResult | undefined {
  if (!isObject(value) || !Array.isArray(value["content"])) return undefined;
  if (!Object.keys(value).every((name) => FIELDS.includes(name))) return undefined;
  // MCP's word for a result that is whole. Any other type, and any further field, would be lost in blocks.
  if ((value["resultType"] ?? "complete") !== "complete") return undefined;
  const content = value["content"].map(blockOf);
  if (content.includes(undefined)) return undefined;
  const { isError, structuredContent } = value;
  return { content: content as ContentBlock[], isError: isError === true, structuredContent };
}

/** True if `block` may stand in a prompt or a tool's result. */
export function isContentBlock(block: unknown): block is ContentBlock {
  if (!isObject(block)) return false;
  if (block["type"] === "text") return typeof block["text"] === "string";
  if (block["type"] === "raw") return isObject(block["json"]);
  return (
    block["type"] === "media" &&
    typeof block["mediaType"] === "string" &&
    (typeof block["data"] === "string") !== (typeof block["url"] === "string") &&
    (block["name"] === undefined || typeof block["name"] === "string")
  );
}

function blockOf(block: unknown): ContentBlock | undefined {
  if (!isObject(block)) return undefined;
  if (isContentBlock(block)) {
    if (block.type !== "text") return block;
    const { text, vendor } = block;
    return vendor === undefined ? { type: "text", text } : { type: "text", text, vendor };
  }
  const { type, data, mimeType, resource, uri } = block;
  if (type === "image" || type === "audio")
    return typeof data === "string" && typeof mimeType === "string"
      ? { type: "media", mediaType: mimeType, data }
      : undefined;
  if (type === "resource_link" && typeof uri === "string") {
    const about = [block["title"] ?? block["name"], block["description"]].filter(
      (text) => text !== undefined,
    );
    return { type: "text", text: `Resource ${uri}${about.length > 0 ? `: ${about.join(". ")}` : ""}` };
  }
  return type === "resource" && isObject(resource) ? resourceBlock(resource) : undefined;
}

function resourceBlock({ uri, text, blob, mimeType }: Record<string, unknown>): ContentBlock | undefined {
  if (typeof text === "string") return { type: "text", text: `Resource ${String(uri)}:\n${text}` };
  if (typeof blob !== "string") return undefined;
  if (isShown(String(mimeType))) return { type: "media", mediaType: String(mimeType), data: blob };
  return { type: "text", text: `Resource ${String(uri)}: a file that cannot be shown (${String(mimeType)})` };
}

/** A file that models can read, recognised by its declared type or by its first bytes. */
export function mediaOf(bytes: Uint8Array, type = "", name?: string): ContentBlock | undefined {
  const mediaType = isShown(type) ? type : sniffed(bytes);
  if (mediaType === undefined) return undefined;
  const media: ContentBlock = { type: "media", mediaType, data: base64Of(bytes) };
  return name === undefined ? media : { ...media, name };
}

function isShown(type: string): boolean {
  return /^(?:image|audio)\/|^application\/pdf$/.test(type);
}

/**
 * The type of an image by its first bytes: <https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern>
 * (2026-11-21)
 */
function sniffed(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  return SIGNATURES.find(([pattern]) => pattern.test(start))?.[1];
}

const SIGNATURES: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
  [/^%PDF-/, "application/pdf"],
];
