/** Reads the error that a tool returned and changes the input accordingly, when the error says how. */
import type { ToolSpec } from "../conversation.js";
import { canonical, isObject, parseJson } from "../json.js";
import { isAgent } from "./delegate.js";
import { fillInput, type Source } from "./fill.js";

/** What a tool says about its failure. */
export interface ToolError {
  /** looplet's short word for what went wrong. */
  code: unknown;
  message: string;
  hint: string | undefined;
  isRecoverable: boolean;
}

/** Reads an error result: looplet's `{error, code, message, hint, recoverable}`, common shapes, or plain text. */
export function readError(text: string): ToolError {
  const value = parseJson(text);
  if (!isObject(value))
    return { code: undefined, message: plain(text), hint: undefined, isRecoverable: true };
  const inner = isObject(value["error"]) ? value["error"] : value;
  const message = [inner["message"], value["message"], value["error"], value["detail"]].find(
    (candidate) => typeof candidate === "string" && candidate !== "",
  );
  const hint = inner["hint"] ?? value["hint"];
  return {
    code: inner["code"] ?? value["code"],
    message: plain(typeof message === "string" ? message : text),
    hint: typeof hint === "string" && hint !== "" ? hint : undefined,
    isRecoverable: value["recoverable"] !== false && inner["recoverable"] !== false,
  };
}

/** A changed input worth one more try; `undefined` when the error gives no hint or nothing would change. */
export function correctInput(
  tool: ToolSpec,
  input: Record<string, unknown>,
  errorText: string,
  source: Source,
): Record<string, unknown> | undefined {
  const error = readError(errorText);
  // An agent that failed says what it did, not what it wants to be told.
  if (!error.isRecoverable || isAgent(tool)) return undefined;
  const words = `${error.message}\n${error.hint ?? ""}`;
  const changed =
    withSuggestion(input, words) ??
    withChoice(tool, input, words) ??
    withType(input, words) ??
    withMissing(tool, input, words, source);
  return changed && canonical(changed) !== canonical(input) ? changed : undefined;
}

const QUOTE = "[\"'`“]([^\"'`”]+)[\"'`”]";

/** "Did you mean X?", "use `X`", "for example X". */
function withSuggestion(input: Record<string, unknown>, words: string): Record<string, unknown> | undefined {
  const pattern = new RegExp(
    `(?:did you mean|try|use|for example|e\\.g\\.,?|such as|like|instead)\\s*:?\\s+(?:${QUOTE}|([A-Z][\\w/+-]*(?:\\s[A-Z][\\w-]*)*))`,
    "i",
  );
  const match = pattern.exec(words);
  const suggestion = match?.[1] ?? match?.[2];
  if (suggestion === undefined) return undefined;
  const name = mentionedProperty(input, words) ?? closestProperty(input, suggestion);
  return name === undefined ? undefined : { ...input, [name]: suggestion };
}

/** "Must be one of: a, b, c". */
function withChoice(
  tool: ToolSpec,
  input: Record<string, unknown>,
  words: string,
): Record<string, unknown> | undefined {
  const list =
    /(?:one of|expected|allowed(?: values)?|valid (?:values|options)(?: are)?|choose from|available)\s*:?\s*[[(]?([^\n.\])]+)/i.exec(
      words,
    )?.[1];
  const choices = list
    ?.split(/\s*(?:,|\||\bor\b|\band\b)\s*/)
    .map((choice) => choice.replace(/^["'`“”\s]+|["'`“”\s]+$/g, ""))
    .filter(Boolean);
  if (!choices || choices.length < 2) return undefined;
  const properties = Object.keys(tool.schema["properties"] ?? {});
  const name = mentionedProperty(input, words) ?? properties.find((key) => typeof input[key] === "string");
  if (name === undefined) return undefined;
  const current = String(input[name] ?? "").toLowerCase();
  const best = choices.find(
    (choice) =>
      current.includes(choice.toLowerCase()) || choice.toLowerCase().startsWith(current.slice(0, 3)),
  );
  return { ...input, [name]: best ?? choices[0] };
}

/** "`count` must be a number". */
function withType(input: Record<string, unknown>, words: string): Record<string, unknown> | undefined {
  const name = mentionedProperty(input, words);
  if (name === undefined) return undefined;
  const value = input[name];
  if (
    /must be (?:a|an)? ?(?:number|integer)|expected (?:a )?(?:number|integer)/i.test(words) &&
    Number.isFinite(Number(value))
  ) {
    return { ...input, [name]: Number(value) };
  }
  if (/must be (?:a )?string|expected (?:a )?string/i.test(words)) return { ...input, [name]: String(value) };
  return undefined;
}

/** "`city` is required": filled as if the schema required it. */
function withMissing(
  tool: ToolSpec,
  input: Record<string, unknown>,
  words: string,
  source: Source,
): Record<string, unknown> | undefined {
  if (!/\b(?:required|missing|must (?:provide|have|be given))\b/i.test(words)) return undefined;
  const properties = Object.keys(tool.schema["properties"] ?? {});
  const missing = properties.filter(
    (name) => !(name in input) && new RegExp(`\\b${name}\\b`, "i").test(words),
  );
  if (missing.length === 0) return undefined;
  const schema = { ...tool.schema, required: [...(tool.schema["required"] ?? []), ...missing] };
  return fillInput({ ...tool, schema }, source);
}

function mentionedProperty(input: Record<string, unknown>, words: string): string | undefined {
  return Object.keys(input).find((name) =>
    new RegExp(
      `[\`"'/.]${name}\\b|\\b${name} (?:must|is|should)\\b|\\b(?:unknown|invalid|unsupported) ${name}\\b`,
      "i",
    ).test(words),
  );
}

/** The text property whose value shares most with the suggestion; else the only one. */
function closestProperty(input: Record<string, unknown>, suggestion: string): string | undefined {
  const names = Object.keys(input).filter((name) => typeof input[name] === "string");
  const letters = new Set(suggestion.toLowerCase());
  const shared = (name: string) => {
    const value = String(input[name]).toLowerCase();
    return [...value].filter((letter) => letters.has(letter)).length / Math.max(1, value.length);
  };
  return names.sort((a, b) => shared(b) - shared(a))[0];
}

function plain(text: string): string {
  return text.trim().replace(/^(?:Error:\s*)+/i, "");
}
