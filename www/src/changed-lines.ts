/** What became of a value, line by line of its JSON: a line that went is struck out, one that came is marked. */
import { diffLines } from "diff";
import { element } from "./element.js";

export function changedLines(before: unknown, after: unknown): HTMLElement[] {
  return diffLines(lines(before), lines(after)).map(({ added, removed, value }) =>
    element(added ? "ins" : removed ? "del" : "span", {}, value),
  );
}

const lines = (value: unknown) => `${typeof value === "string" ? value : JSON.stringify(value, null, 2)}\n`;
