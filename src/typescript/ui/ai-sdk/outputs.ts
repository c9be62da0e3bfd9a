/** Results of tools: a value there, blocks here. */
import type { Block, ToolResultBlock } from "../../core/api/message.js";

/** The value of a result as the tool has returned it, and its text. Blocks that are not one text are `{ content }`. */
export function outputOf({ content }: ToolResultBlock): { output: unknown; text: string } {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const [only] = content;
  const isPlain =
    content.length <= 1 && (only === undefined || (only.type === "text" && only.vendor === undefined));
  return { output: isPlain ? valueOf(text) : { content }, text };
}

/** The error that a result reported to the model. Undefined if your code replaced its text. */
export function faultOf(result: ToolResultBlock): { code: string; message: string } | undefined {
  const { output } = outputOf(result);
  const { error, code, message } = Object(output) as { [field: string]: unknown };
  if (result.isError !== true || error !== true) return undefined;
  return typeof code === "string" && typeof message === "string" ? { code, message } : undefined;
}

/** The blocks of a value, as looplet shows it to a model. */
export function resultContent(output: unknown): Block[] {
  if (typeof output === "string") return output === "" ? [] : [{ type: "text", text: output }];
  const { content } = (output ?? {}) as { content?: unknown };
  if (Array.isArray(content) && content.length > 0 && content.every(isBlock)) return content as Block[];
  return [{ type: "text", text: JSON.stringify(output ?? null) }];
}

/** Parses the text if it is exactly the JSON of an object or array. Otherwise returns the text. */
function valueOf(text: string): unknown {
  if (!/^[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : text;
  } catch {
    return text;
  }
}

function isBlock(block: unknown): boolean {
  const { type, text, mediaType, json } = (block ?? {}) as { [field: string]: unknown };
  if (type === "text") return typeof text === "string";
  return type === "media" ? typeof mediaType === "string" : type === "raw" && json !== undefined;
}
