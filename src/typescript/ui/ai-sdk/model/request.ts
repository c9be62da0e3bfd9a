/** A request of looplet as the options of `doStream`. */
import type { Block, CustomRequest, MediaBlock, Message, ToolResultBlock } from "../../../core/api/index.js";
import { isObject } from "../../../core/kit/check.js";
import { outputOf } from "../outputs.js";

/** A version of the specification of language models. */
export type Specification = "v2" | "v3" | "v4";

/** The field of a signature that belongs to the call with this id. */
export const OF_CALL = "looplet-call";

/** The type of a raw block with a part of the prompt: a call of a tool that the vendor runs, or its result. */
export const HOSTED = "ai-sdk";

type Vendors = { readonly [vendor: string]: object };

/** The options for `doStream`. `version` is that of the model: they differ in files and results. */
export function callOptions(
  request: CustomRequest,
  given: Vendors | undefined,
  version: Specification,
): object {
  const { system, messages, tools, signal, options } = request;
  const {
    toolChoice,
    responseFormat,
    effort,
    thinking,
    parallelToolCalls,
    metadata,
    promptCaching,
    ...sampling
  } = options as { [option: string]: any };
  const names = new Map<string, string>();
  for (const { content } of messages)
    for (const block of content)
      if (block.type === "tool_call" && !names.has(block.id)) names.set(block.id, block.name);
  const prompt = messages.flatMap((message) => promptOf(message, names, version));
  return {
    ...sampling,
    prompt: system === undefined ? prompt : [{ role: "system", content: system }, ...prompt],
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", ...tool })) }),
    ...(toolChoice !== undefined && { toolChoice: choiceOf(toolChoice) }),
    ...(responseFormat !== undefined && {
      responseFormat: { type: "json", schema: responseFormat.schema, name: responseFormat.name },
    }),
    ...(version === "v4" && effort !== undefined && { reasoning: effort }),
    ...(given !== undefined && { providerOptions: given }),
    abortSignal: signal,
    includeRawChunks: false,
  };
}

function choiceOf(choice: string | { tool: string }): object {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.tool };
}

/** The names of the tools by the ids of their calls. */
type ToolNames = ReadonlyMap<string, string>;

/** Converts a looplet message. Tool results become a message of their own. */
function promptOf({ role, content }: Message, names: ToolNames, version: Specification): object[] {
  if (role === "assistant") {
    const parts = assistantParts(content, version);
    return parts.length === 0 ? [] : [{ role, content: parts }];
  }
  const results = content.filter((block) => block.type === "tool_result");
  const said = content.flatMap((block) => userPart(block, version));
  const tool = { role: "tool", content: results.map((result) => resultPart(result, names, version)) };
  return [...(results.length > 0 ? [tool] : []), ...(said.length > 0 ? [{ role, content: said }] : [])];
}

function userPart(block: Block, version: Specification): object[] {
  if (block.type === "text") return block.text === "" ? [] : [{ type: "text", text: block.text }];
  return block.type === "media" ? [filePart(block, version)] : [];
}

function assistantParts(content: readonly Block[], version: Specification): object[] {
  const ofCalls = new Map(
    content.flatMap((block) => (block.type === "thinking" ? metadataOfCall(block.signature) : [])),
  );
  return content.flatMap((block): object[] => {
    switch (block.type) {
      case "text":
      case "refusal":
        return block.text === "" ? [] : [{ type: "text", text: block.text }];
      case "thinking": {
        const providerOptions = metadataOf(block.signature);
        const isOfCall = providerOptions !== undefined && OF_CALL in providerOptions;
        if (isOfCall || (block.text === "" && providerOptions === undefined)) return [];
        return [{ type: "reasoning", text: block.text, ...(providerOptions && { providerOptions }) }];
      }
      case "tool_call": {
        const { id: toolCallId, name: toolName, input = {} } = block;
        const providerOptions = ofCalls.get(toolCallId);
        return [
          { type: "tool-call", toolCallId, toolName, input, ...(providerOptions && { providerOptions }) },
        ];
      }
      case "media":
        return [filePart(block, version)];
      case "raw": {
        const { type, part } = Object(block.json) as { type?: unknown; part?: object };
        return type === HOSTED && isObject(part) ? [part] : [];
      }
      default:
        return [];
    }
  });
}

/** The vendors' data in a signature that this model has written. */
function metadataOf(signature: string | undefined): { [vendor: string]: unknown } | undefined {
  if (signature?.startsWith("{") !== true) return undefined;
  try {
    const value: unknown = JSON.parse(signature);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function metadataOfCall(signature: string | undefined): [string, object][] {
  const { [OF_CALL]: id, ...vendors } = metadataOf(signature) ?? {};
  return typeof id === "string" ? [[id, vendors]] : [];
}

function filePart({ mediaType, data, url, name }: MediaBlock, version: Specification): object {
  const file = { type: "file", mediaType, ...(name !== undefined && { filename: name }) };
  if (version === "v4")
    return {
      ...file,
      data: data === undefined ? { type: "url", url: new URL(url!) } : { type: "data", data },
    };
  return { ...file, data: data ?? new URL(url!) };
}

function resultPart(result: ToolResultBlock, names: ToolNames, version: Specification): object {
  const { callId: toolCallId, isError } = result;
  const toolName = names.get(toolCallId) ?? "";
  const { output, text } = outputOf(result);
  const part = { type: "tool-result", toolCallId, toolName };
  if (result.content.some(({ type }) => type === "media"))
    return {
      ...part,
      output: { type: "content", value: result.content.flatMap((block) => contentPart(block, version)) },
    };
  if (typeof output !== "string" && !isPlainContent(output))
    return { ...part, output: { type: isError ? "error-json" : "json", value: output } };
  return { ...part, output: { type: isError ? "error-text" : "text", value: text } };
}

/** Whether an output is a list of texts, which `outputOf` does not join. */
function isPlainContent(output: unknown): boolean {
  return isObject(output) && Array.isArray(output["content"]);
}

/** V2 has only `media`, V3 has a type for each form, V4 has `file`. */
function contentPart(block: Block, version: Specification): object[] {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  if (block.type !== "media") return [];
  if (version === "v4") return [filePart(block, version)];
  const { mediaType, data, url = "" } = block;
  if (version === "v2")
    return [data === undefined ? { type: "text", text: url } : { type: "media", data, mediaType }];
  const kind = mediaType.startsWith("image/") ? "image" : "file";
  if (data !== undefined) return [{ type: `${kind}-data`, data, mediaType }];
  return [{ type: `${kind}-url`, url }];
}
