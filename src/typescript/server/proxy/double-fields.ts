/**
 * Finds duplicate fields in an object of a JSON text. Parsers differ in which of the two they use, so a body with two
 * models could show one to the proxy and the other to the vendor.
 */

import { folded } from "./fields.js";

/**
 * The first duplicate field, or undefined. `text` is valid JSON. At the top level, all spellings of a name are equal.
 */
export function doubleField(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === "{") open.push(new Set());
    else if (letter === "[") open.push(undefined);
    else if (letter === "}" || letter === "]") open.pop();
    else if (letter === '"') {
      const end = endOf(text, at);
      const fields = open.at(-1);
      if (fields !== undefined && isKey(text, end)) {
        const key = JSON.parse(text.slice(at, end + 1)) as string;
        // A gateway in Go takes `MODEL` for `model`. Schemas may have names that differ in their case only.
        const name = open.length === 1 ? folded(key) : key;
        if (fields.has(name)) return key;
        fields.add(name);
      }
      at = end;
    }
  }
  return undefined;
}

/** The index of the quote that ends a string. */
function endOf(text: string, begin: number): number {
  for (let at = begin + 1; ; at += 1) {
    at = text.indexOf('"', at);
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return at;
  }
}

function isKey(text: string, end: number): boolean {
  let at = end + 1;
  while (" \t\n\r".includes(text[at]!)) at += 1;
  return text[at] === ":";
}
