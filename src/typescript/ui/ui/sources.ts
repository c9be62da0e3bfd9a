/** The pages and files that providers cite in an answer, in the forms of their APIs. */
import type { FileUiPart, SourceUiPart } from "./message.js";

type Fields = { readonly [field: string]: unknown };

/**
 * The pages for a text: `citations` of Anthropic's Messages API, `annotations` of OpenAI's Responses and Chat
 * Completions APIs, `groundingMetadata` and `urlContextMetadata` of Gemini.
 */
export function sourcesOfText(vendor: Fields | undefined): SourceUiPart[] {
  const { citations, annotations, groundingMetadata, urlContextMetadata } = fields(vendor);
  return sources([
    ...list(citations),
    ...list(annotations).map((one) => fields(one)["url_citation"] ?? one),
    ...list(fields(groundingMetadata)["groundingChunks"]).map((one) => fields(one)["web"]),
    ...list(fields(urlContextMetadata)["urlMetadata"]),
  ]);
}

/** The pages and files in a block that only its vendor reads: the result of a search, an image, the output of code. */
export function partsOfRaw(json: unknown): (SourceUiPart | FileUiPart)[] {
  const block = fields(json);
  switch (block["type"]) {
    case "web_search_tool_result":
    case "web_fetch_tool_result":
      return sources([...list(block["content"]), block["content"]]);
    case "web_search_call":
      return sources(list(fields(block["action"])["sources"]));
    case "image_generation_call": {
      const { result: data, output_format = "png" } = block;
      return typeof data === "string" && data !== ""
        ? [{ type: "file", mediaType: `image/${String(output_format)}`, data }]
        : [];
    }
    case "code_interpreter_call":
      return list(block["outputs"]).flatMap((one): FileUiPart[] => {
        const { type, url } = fields(one);
        return type === "image" && typeof url === "string"
          ? [{ type: "file", mediaType: "image/png", url }]
          : [];
      });
    default:
      return [];
  }
}

/** Those that have an address, each once. */
function sources(named: readonly unknown[]): SourceUiPart[] {
  const found = new Map<string, SourceUiPart>();
  for (const one of named) {
    const { uri, retrievedUrl = uri, url = retrievedUrl, title } = fields(one);
    if (typeof url !== "string" || found.has(url)) continue;
    found.set(url, { type: "source", url, ...(typeof title === "string" ? { title } : {}) });
  }
  return [...found.values()];
}

function fields(value: unknown): Fields {
  return Object(value) as Fields;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
