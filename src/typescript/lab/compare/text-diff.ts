/** A readable line diff of two texts. */
import { around, shared } from "../testing/differences.js";

/** Lines of a diff; longer ones end in a count. */
const MAX_LINES = 24;
/** Characters of a line. */
const MAX_CHARS = 160;
/** Equal lines before and after a change. */
const CONTEXT = 2;
/** Lines that are compared with each other. A longer change is shown as all old lines, then all new ones. */
const MAX_COMPARED = 400;

/** The lines that differ, with `-` before the old and `+` before the new ones. */
export function textDiff(before: string, after: string): string {
  const [one, other] = [linesOf(before), linesOf(after)];
  const { start, end } = shared(one, other);
  const [old, fresh] = [one.slice(start, one.length - end), other.slice(start, other.length - end)];
  if (old.length === 1 && fresh.length === 1) return pair(old[0]!, fresh[0]!).join("\n");
  const lines = [
    ...one.slice(Math.max(0, start - CONTEXT), start).map((line) => `  ${clipped(line)}`),
    ...changed(old, fresh),
    ...one.slice(one.length - end, one.length - end + CONTEXT).map((line) => `  ${clipped(line)}`),
  ];
  const left = lines.length - MAX_LINES;
  if (left <= 0) return lines.join("\n");
  return [...lines.slice(0, MAX_LINES), `  … ${left} more lines`].join("\n");
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

function pair(old: string, fresh: string): [string, string] {
  if (Math.max(old.length, fresh.length) <= MAX_CHARS) return [`- ${old}`, `+ ${fresh}`];
  const { start } = shared(old, fresh);
  return [`- ${around(old, start)}`, `+ ${around(fresh, start)}`];
}

/** The shortest way from one list of lines to the other: a table of the longest common subsequence. */
function changed(old: readonly string[], fresh: readonly string[]): string[] {
  const gone = (line: string): string => `- ${clipped(line)}`;
  const come = (line: string): string => `+ ${clipped(line)}`;
  if (old.length > MAX_COMPARED || fresh.length > MAX_COMPARED) return [...old.map(gone), ...fresh.map(come)];
  const width = fresh.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = fresh.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === fresh[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push(`  ${clipped(old[i++]!)}`);
      j++;
    } else if (
      j === fresh.length ||
      (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      lines.push(gone(old[i++]!));
    else lines.push(come(fresh[j++]!));
  }
  return lines;
}

function clipped(line: string): string {
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS)}…` : line;
}
