/** The arguments of a call, also where a model wrote them badly. */
import { isMap } from "../file/frontmatter.js";

export type ReadArguments =
  | {
      args: { [name: string]: unknown };
      /** How they had to be read, if not as they are. */ repairedBy?: string;
    }
  | { error: string };

/**
 * Reads an object of JSON, by four ways in order: as it is, without a code fence, the first balanced block, without
 * trailing commas. A text that none of them reads is an error, never `{}`.
 */
export function readArguments(text: string): ReadArguments {
  let problem: string | undefined;
  for (const [repairedBy, candidate] of candidates(text)) {
    if (candidate === undefined) continue;
    try {
      const args: unknown = JSON.parse(candidate);
      if (isMap(args)) return repairedBy === undefined ? { args } : { args, repairedBy };
      problem ??= "they need to be an object";
    } catch (error) {
      problem ??= (error as Error).message;
    }
  }
  return { error: `Error: Invalid JSON in tool arguments: ${problem}` };
}

function* candidates(text: string): Generator<[name: string | undefined, candidate: string | undefined]> {
  yield [undefined, text];
  yield ["code fence", withoutFence(text.trim())];
  const block = firstBlock(text);
  yield ["first JSON block", block];
  yield ["trailing commas", withoutCommas(text)];
  yield ["first JSON block without trailing commas", block && withoutCommas(block)];
}

const FENCE = "```";

function withoutFence(text: string): string | undefined {
  if (text.length < 2 * FENCE.length || !text.startsWith(FENCE) || !text.endsWith(FENCE)) return undefined;
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

/** The first `{…}` whose braces match. Braces inside of strings do not count. */
export function firstBlock(text: string): string | undefined {
  const start = text.indexOf("{");
  if (start < 0) return undefined;
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at);
    if (text[at] === "{") depth++;
    if (text[at] === "}" && --depth === 0) return text.slice(start, at + 1);
  }
  return undefined;
}

/** The place of the quotation mark that ends a string; the end of the text if none does. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
