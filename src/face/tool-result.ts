/** What a tool returned or threw, in the form that the engine takes. */
import { isObject } from "./check.js";
import type { ToolReturn } from "./driver.js";
import { GENERAL_HINT } from "./errors.js";
import { message } from "./tool-schema.js";
import type { ContentBlock, ToolFault } from "./types.js";

/** A result: a string as it is, `undefined` as an empty text, `{ content }` as blocks, anything else as JSON. */
export function returned(value: unknown): ToolReturn {
  if (value === undefined) return { value: '""' };
  if (typeof Response !== "undefined" && value instanceof Response) {
    return unusable("a Response", "Return await response.json() or await response.text().");
  }
  try {
    const json = JSON.stringify(value);
    if (isContent(value)) return { content: value.content };
    return json === undefined ? unusable(`a ${typeof value}`, ANY_JSON) : { value: json };
  } catch (error) {
    return unusable(`something that JSON cannot hold (${message(error)})`, ANY_JSON);
  }
}

/** A fault: in the tool's own words when it threw a `ToolError`, never with a stack trace. Never throws. */
export function faultOf(thrown: unknown): ToolFault {
  try {
    if (isObject(thrown) && thrown["name"] === "ToolError" && typeof thrown["recoverable"] === "boolean") {
      const { code, hint, recoverable } = thrown;
      return { code: String(code), message: message(thrown), hint: String(hint), recoverable };
    }
    return failed(message(thrown));
  } catch {
    return failed("The tool threw something that cannot be shown.");
  }
}

function failed(what: string): ToolFault {
  return { code: "tool_failed", message: what, hint: GENERAL_HINT, recoverable: true };
}

const ANY_JSON = "Return a string or a value that JSON can hold.";

function unusable(what: string, hint: string): ToolReturn {
  return {
    fault: { code: "unusable_result", message: `The tool returned ${what}.`, hint, recoverable: true },
  };
}

/** Nothing but blocks: an object with other fields, or with other things in `content`, is an ordinary JSON result. */
function isContent(value: unknown): value is { content: ContentBlock[] } {
  if (!isObject(value) || Object.keys(value).length !== 1) return false;
  const content = value["content"];
  return Array.isArray(content) && content.length > 0 && content.every(isContentBlock);
}

/** Whether `block` may stand in a prompt or a tool's result. */
export function isContentBlock(block: unknown): block is ContentBlock {
  if (!isObject(block)) return false;
  if (block["type"] === "text") return typeof block["text"] === "string";
  return (
    block["type"] === "media" &&
    typeof block["mediaType"] === "string" &&
    (typeof block["data"] === "string") !== (typeof block["url"] === "string")
  );
}
