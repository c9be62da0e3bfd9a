/** Brings a tool's return value or error into the engine's form. */
import { GENERAL_HINT, type ToolError } from "../api/errors.js";
import type { ToolFault } from "../api/index.js";
import type { ToolReturn } from "../host/driver.js";
import { isObject } from "../options/check.js";
import { isErrorObject, message } from "../options/thrown.js";
import { mediaOf, richResult } from "./tool-content.js";
import { bytesOf, inWords, jsonOf } from "./tool-json.js";

/** The result of a tool, by the rules of `ToolOptions.execute`. It is a promise only for a `Blob`. */
export function returned(value: unknown): ToolReturn | Promise<ToolReturn> {
  if (typeof value === "string") return { value: JSON.stringify(value) };
  if (value === undefined) return { value: '""' };
  if (isErrorObject(value)) return { fault: faultOf(value) };
  if (typeof Response !== "undefined" && value instanceof Response) {
    return unusable("a Response", "Return await response.json() or await response.text().");
  }
  if (typeof Blob !== "undefined" && value instanceof Blob) return fromBlob(value);
  const media = fileOf(value);
  if (media !== undefined) return media;
  try {
    const rich = richResult(value);
    if (rich !== undefined) return fromRich(rich);
    const json = jsonOf(value);
    return json === undefined ? unusable(`a ${typeof value}`, ANY_JSON) : { value: json };
  } catch (error) {
    return unusable(`something that JSON cannot hold (${message(error)})`, ANY_JSON);
  }
}

/**
 * The fault of a call, in the tool's own words if it threw a `ToolError`, and never with a stack trace. Never throws.
 */
export function faultOf(thrown: unknown): ToolFault {
  try {
    if (isToolError(thrown)) {
      const { code, hint, recoverable } = thrown;
      return { code: String(code), message: message(thrown), hint: String(hint), recoverable };
    }
    return failed(inWords(thrown));
  } catch {
    return failed("The tool threw something that cannot be shown.");
  }
}

/** Whether the tool has worded the error for the model. The class may be that of another copy of looplet. */
export function isToolError(thrown: unknown): thrown is ToolError {
  return isObject(thrown) && thrown["name"] === "ToolError" && typeof thrown["recoverable"] === "boolean";
}

function fromRich({
  content,
  isError,
  structuredContent,
}: NonNullable<ReturnType<typeof richResult>>): ToolReturn {
  if (isError) {
    const texts = content.map((block) => (block.type === "text" ? block.text : ""));
    const said = texts.filter((text) => text !== "").join("\n");
    return { fault: failed(said === "" ? (jsonOf(structuredContent) ?? "The tool failed.") : said) };
  }
  if (content.length === 0) return { value: jsonOf(structuredContent) ?? '""' };
  return { content: JSON.parse(jsonOf(content)!) };
}

async function fromBlob(blob: Blob): Promise<ToolReturn> {
  if (/^text\/|json\b/.test(blob.type)) return { value: JSON.stringify(await blob.text()) };
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const name = typeof File !== "undefined" && blob instanceof File ? blob.name : undefined;
  return fileOf(bytes, blob.type, name) ?? { value: jsonOf(bytes)! };
}

function fileOf(value: unknown, type?: string, name?: string): ToolReturn | undefined {
  const bytes = bytesOf(value);
  const media = bytes === undefined ? undefined : mediaOf(bytes, type, name);
  return media === undefined ? undefined : { content: [media] };
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
