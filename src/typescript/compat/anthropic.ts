/** Blocks of the Messages API, to looplet's and back. */
import type { Block } from "../core/api/index.js";

/** A content block of the Messages API. */
export type ApiBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature?: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: unknown }
  | { type: "tool_result"; tool_use_id: string; content: string | ApiResultPart[]; is_error?: true }
  | { type: "image"; source: ApiSource }
  | { type: "document"; source: ApiSource; title?: string | null };

/** A part of a tool's result. */
export type ApiResultPart = Extract<ApiBlock, { type: "text" | "image" | "document" }>;

/** Where an image or a document is. */
export type ApiSource =
  | { type: "base64"; media_type: string; data: string }
  | { type: "url"; url: string }
  | { type: "text"; media_type: "text/plain"; data: string };

/** The block in the form of the Messages API. Empty for audio, video, and blocks of another vendor. */
export function toApi(block: Block): ApiBlock[] {
  switch (block.type) {
    case "text":
    case "refusal":
      return [{ type: "text", text: block.text }];
    case "thinking": {
      const { text, signature } = block;
      return [{ type: "thinking", thinking: text, ...(signature === undefined ? {} : { signature }) }];
    }
    case "redacted_thinking":
      return [block];
    case "tool_call":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.input ?? {} }];
    case "tool_result": {
      const failed = block.isError ? ({ is_error: true } as const) : {};
      return [{ type: "tool_result", tool_use_id: block.callId, content: partsOf(block.content), ...failed }];
    }
    case "media": {
      const { mediaType, data, url, name } = block;
      const source: ApiSource =
        data === undefined
          ? { type: "url", url: url ?? "" }
          : { type: "base64", media_type: mediaType, data };
      if (mediaType.startsWith("image/")) return [{ type: "image", source }];
      if (/^(audio|video)\//.test(mediaType)) return [];
      return [{ type: "document", source, ...(name === undefined ? {} : { title: name }) }];
    }
    default:
      return [];
  }
}

/** The content of a result: one text as a string, everything else as parts. */
function partsOf(content: readonly Block[]): string | ApiResultPart[] {
  const parts = content.flatMap(toApi) as ApiResultPart[];
  const [first] = parts;
  if (first === undefined) return "";
  return parts.length === 1 && first.type === "text" ? first.text : parts;
}

export function fromApi(block: ApiBlock): Block {
  switch (block?.type) {
    case "thinking": {
      const { thinking: text, signature } = block;
      return { type: "thinking", text, ...(signature === undefined ? {} : { signature }) };
    }
    case "tool_use":
      return { type: "tool_call", id: block.id, name: block.name, input: block.input } as Block;
    case "tool_result": {
      const given: unknown = block.content ?? "";
      const content = Array.isArray(given) ? given.map(fromApi) : [{ type: "text", text: given }];
      return { type: "tool_result", callId: block.tool_use_id, content, isError: !!block.is_error } as Block;
    }
    case "image":
    case "document":
      return mediaOf(block) ?? (block as unknown as Block);
    default:
      return block;
  }
}

/** An image or a document as a block of looplet; a document that is text is a text. */
function mediaOf({ type, source, ...rest }: Extract<ApiBlock, { source: ApiSource }>): Block | undefined {
  const named = "title" in rest && typeof rest.title === "string" ? { name: rest.title } : {};
  switch (source?.type) {
    case "text":
      return { type: "text", text: source.data };
    case "base64":
      return { type: "media", mediaType: source.media_type, data: source.data, ...named };
    case "url":
      return { type: "media", mediaType: typeOfUrl(source.url, type), url: source.url, ...named };
    default:
      return undefined;
  }
}

/** The media type by the end of an address, because the API has none for addresses. */
function typeOfUrl(url: string, type: "image" | "document"): string {
  if (type === "document") return "application/pdf";
  const [, end = "jpeg"] = /\.(png|gif|webp)(?:[?#]|$)/i.exec(url) ?? [];
  return `image/${end.toLowerCase()}`;
}
