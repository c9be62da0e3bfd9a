/** Texts of strangers, cut in one pass. An expression that may look back over them takes the square of their length. */

/** The text without the line feeds at its ends. */
export function withoutOuterLines(text: string): string {
  let [start, end] = [0, text.length];
  while (text[start] === "\n") start++;
  while (end > start && text[end - 1] === "\n") end--;
  return text.slice(start, end);
}
