/** The arguments of a call, also where a model wrote them badly. */
import { warn } from "../../host.js";
import { isMap } from "../file/frontmatter.js";
import type { PromptyHost } from "../types.js";

/** Options of {@link resilientJsonParse}. */
export interface JsonParseOptions extends Pick<PromptyHost, "logger"> {
  /** The tool of the call, for the warning. */
  toolName?: string | undefined;
}

/**
 * Reads the arguments of a call by four strategies in order: the text itself, without a Markdown code fence, the
 * first balanced block, without trailing commas. Every strategy but the first logs a warning that names it.
 *
 * Returns `null` for a text that no strategy reads as an object, never `{}`.
 */
export function resilientJsonParse(
  rawArguments: string,
  { logger, toolName }: JsonParseOptions = {},
): { [name: string]: unknown } | null {
  for (const [fallback, candidate] of candidates(rawArguments)) {
    const args = candidate === null ? undefined : parsed(candidate);
    if (!isMap(args)) continue;
    const whose = toolName === undefined ? "Arguments" : `The arguments of ${toolName}`;
    if (fallback !== undefined) warn({ logger }, `${whose} were read by a fallback: ${fallback}`);
    return args;
  }
  return null;
}

/** The result of a call with arguments that {@link resilientJsonParse} cannot read. */
export function argumentsError(rawArguments: string): string {
  let problem = "they need to be an object";
  try {
    JSON.parse(rawArguments);
  } catch (error) {
    problem = (error as Error).message;
  }
  return `Error: Invalid JSON in tool arguments: ${problem}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function* candidates(text: string): Generator<[name: string | undefined, candidate: string | null]> {
  yield [undefined, text];
  yield ["code fence", withoutFence(text.trim())];
  const block = extractFirstJsonBlock(text);
  yield ["first JSON block", block];
  yield ["trailing commas", withoutCommas(text)];
  yield ["first JSON block without trailing commas", block && withoutCommas(block)];
}

const FENCE = "```";

function withoutFence(text: string): string | null {
  if (text.length < 2 * FENCE.length || !text.startsWith(FENCE) || !text.endsWith(FENCE)) return null;
  const inner = text.slice(FENCE.length, -FENCE.length);
  return (inner.startsWith("json") ? inner.slice(4) : inner).trim();
}

/** The text without commas before a closing bracket. Commas in strings stay. */
function withoutCommas(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at);
    if (text[at] !== ",") continue;
    let next = at + 1;
    while (next < text.length && text[next]!.trim() === "") next++;
    if (text[next] === "}" || text[next] === "]") {
      kept.push(text.slice(from, at));
      from = next;
    }
    at = next - 1;
  }
  return [...kept, text.slice(from)].join("");
}

/** The first `{…}` with matching braces, or `null`. Braces inside strings do not count. */
export function extractFirstJsonBlock(text: string): string | null {
  const start = text.indexOf("{");
  if (start < 0) return null;
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at);
    if (text[at] === "{") depth++;
    if (text[at] === "}" && --depth === 0) return text.slice(start, at + 1);
  }
  return null;
}

/** The index of the quote that ends a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
