/**
 * The result of a call, with only the blocks that MCP defines. A server must not write looplet's own blocks, which
 * are sent to the vendor unchanged (`raw`), or which the vendor reads from an address (`media`).
 * <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result>
 */
import { isObject } from "../../core/kit/check.js";
import type { McpResult } from "./types.js";
import { wordsOf, type Fields, type Reply } from "./wire.js";

/** The maximum number of blocks of a result, the same as for a model's answer. */
const MAX_BLOCKS = 1000;

/** The most characters of the texts of an error together. */
const MAX_ERROR_CHARS = 64 * 1024;

type Block = McpResult["content"][number];

/** The secrets of the request are removed from the texts of an error. */
export function resultOf({ content, structuredContent, isError }: Fields, clean: Reply["clean"]): McpResult {
  const given = Array.isArray(content) ? (content as unknown[]) : [];
  const blocks = given.slice(0, MAX_BLOCKS).filter(isObject).map(blockOf);
  if (given.length > MAX_BLOCKS)
    blocks.push(text(`${given.length - MAX_BLOCKS} further blocks of the result are left out.`));
  return {
    content: isError === true ? cleaned(blocks, clean) : blocks,
    ...(structuredContent === undefined || structuredContent === null ? {} : { structuredContent }),
    ...(isError === true ? { isError } : {}),
  };
}

function cleaned(blocks: readonly Block[], clean: Reply["clean"]): Block[] {
  let left = MAX_ERROR_CHARS;
  return blocks.map((block) => {
    if (typeof block["text"] !== "string") return block;
    const said = block["text"].slice(0, left);
    left -= said.length;
    return { ...block, text: clean(said) };
  });
}

const text = (words: string): Block => ({ type: "text", text: words });

function blockOf(block: Fields): Block {
  const { type, data, mimeType, resource, uri } = block;
  const { annotations, _meta } = block;
  const about = { ...(isObject(annotations) ? { annotations } : {}), ...(isObject(_meta) ? { _meta } : {}) };
  if (type === "text" && typeof block["text"] === "string") return { ...about, type, text: block["text"] };
  if (type === "image" || type === "audio") {
    if (isMedia(mimeType, type) && isBase64(data)) return { ...about, type, data, mimeType };
    return text(`An ${type} that cannot be shown (${wordsOf(mimeType ?? "without a type").slice(0, 100)})`);
  }
  if (type === "resource_link" && typeof uri === "string")
    return { ...about, type, uri, ...textsOf(block, ["name", "title", "description", "mimeType"]) };
  if (type === "resource" && isObject(resource)) return { ...about, type, resource: resourceOf(resource) };
  // The text of an unknown block may still help the model.
  return text(wordsOf(block));
}

function resourceOf(resource: Fields): Fields {
  const { blob, mimeType } = resource;
  const isShown = isMedia(mimeType, "[a-z]{1,20}") && isBase64(blob);
  return {
    ...textsOf(resource, ["uri", "text"]),
    mimeType: isShown || typeof blob !== "string" ? mimeType : "unknown",
    ...(typeof blob === "string" ? { blob: isShown ? blob : "" } : {}),
  };
}

/** The fields that are texts. */
function textsOf(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.flatMap((name) => (typeof fields[name] === "string" ? [[name, fields[name]]] : [])),
  );
}

function isMedia(type: unknown, kind: string): type is string {
  return typeof type === "string" && new RegExp(`^${kind}/[\\w.+-]{1,100}$`, "i").test(type);
}

function isBase64(data: unknown): data is string {
  return typeof data === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}
