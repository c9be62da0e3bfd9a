/**
 * How much of a streaming text can be rendered permanently. A blank line ends a block of Markdown, and a fence ends
 * its code. If the next line may belong to the block above it, the block counts as open.
 */

/** Items, quotes, tables, HTML and indented text may continue the block above the blank line. */
const CONTINUES = /^(?:[ \t]|[-*+>|<]|\d+[.)])/;
/** The same for an incomplete line. */
const MAY_CONTINUE = /^(?:[ \t]|[-*+>|<]|\d)/;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/**
 * The number of characters of `text` that do not change when more is appended. `from` is the result for a prefix of
 * `text`: only the text after it is read.
 */
export function stableLength(text: string, from = 0): number {
  let stable = from;
  let fence: string | undefined;
  let isBlankBefore = false;
  for (let at = from, end; at < text.length; at = end + 1) {
    end = text.indexOf("\n", at);
    const isWhole = end >= 0;
    if (!isWhole) end = text.length;
    const line = text.slice(at, end);
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (!isWhole || mark === undefined || !mark.startsWith(fence) || line.trim() !== mark) continue;
      fence = undefined;
      // An indented fence may be in a list.
      if (line.startsWith(mark)) stable = end + 1;
      continue;
    }
    const isBlank = line.trim() === "";
    const continues = isWhole ? CONTINUES : MAY_CONTINUE;
    if (isBlankBefore && !isBlank && !continues.test(line)) stable = at;
    isBlankBefore = isBlank;
    if (isWhole) fence = mark;
  }
  return stable;
}
