/** What a tool returns, as the model reads it. */
import type { ContentBlock } from "../../../core/api/index.js";
import { isMap } from "../file/frontmatter.js";
import { isContentPart, textOfMessage } from "../model/content.js";
import { StructuredResultSymbol } from "../model/process.js";
import { richResult } from "../../../core/kit/tools.js";
import type { ContentPart, ToolResult } from "../types.js";

export interface ReadResult extends Pick<ToolResult, "result" | "parts"> {
  isError?: boolean;
}

/**
 * A text as it is, `{ parts }` and the `{ content }` of an MCP server as parts, any other object as JSON, and nothing
 * as an empty text.
 */
export function readResult(value: unknown): ReadResult {
  const parts = partsOf(value);
  if (parts !== undefined) return inParts(parts);
  const rich = richResult(value);
  if (rich !== undefined) return { ...inParts(rich.content.map(partOf)), isError: rich.isError };
  if (typeof value !== "object" || value === null) return { result: String(value ?? "") };
  const json = (value as { [StructuredResultSymbol]?: string })[StructuredResultSymbol];
  return { result: json ?? JSON.stringify(value) };
}

function inParts(parts: ContentPart[]): ReadResult {
  const result = textOfMessage({ content: parts });
  return parts.every(({ kind }) => kind === "text") ? { result } : { result, parts };
}

function partsOf(value: unknown): ContentPart[] | undefined {
  if (!isMap(value) || Object.keys(value).join() !== "parts" || !Array.isArray(value["parts"]))
    return undefined;
  return value["parts"].every(isContentPart) ? value["parts"] : undefined;
}

function partOf(block: ContentBlock): ContentPart {
  if (block.type === "text") return { kind: "text", value: block.text };
  if (block.type !== "media") return { kind: "text", value: JSON.stringify(block) };
  const { mediaType, data, url } = block;
  const [start] = mediaType.split("/");
  const kind = start === "image" || start === "audio" ? start : "file";
  return { kind, value: data ?? url ?? "", mediaType };
}
