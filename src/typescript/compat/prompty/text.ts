/** Untrusted texts, trimmed in one pass. A regular expression that backtracks over them would take quadratic time. */

/** The text without the line feeds at its ends. */
export function withoutOuterLines(text: string): string {
  let [start, end] = [0, text.length];
  while (text[start] === "\n") start++;
  while (end > start && text[end - 1] === "\n") end--;
  return text.slice(start, end);
}
