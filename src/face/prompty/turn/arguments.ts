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
 * trailing commas. For a text that none of them reads there is no `{}` in its place.
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
  yield ["code fence", /^\s*```(?:json)?\s*\n?(.*?)\n?\s*```\s*$/s.exec(text)?.[1]];
  const block = firstBlock(text);
  yield ["first JSON block", block];
  yield ["trailing commas", withoutCommas(text)];
  yield ["first JSON block without trailing commas", block && withoutCommas(block)];
}

function withoutCommas(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|,\s*(?=[}\]])/g, (_, string: string | undefined) => string ?? "");
}

/** The first `{…}` whose braces match. Braces inside of strings do not count. */
export function firstBlock(text: string): string | undefined {
  const start = text.indexOf("{");
  if (start < 0) return undefined;
  let depth = 0;
  for (const { 0: sign, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
    if (index < start) continue;
    if (sign === "{") depth++;
    if (sign === "}" && --depth === 0) return text.slice(start, index + 1);
  }
  return undefined;
}
