/** Words and numbers for people. */
import type { Outcome, Usage } from "../face/core/api/index.js";
import { oneLine } from "../face/parts/replay/harmless.js";

/** A value on one line. */
export function short(value: unknown, most = 100): string {
  const text = oneLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Characters that a terminal does not show as they are: commands, directions of text, and invisible ones. */
const UNSEEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** A whole value as JSON, with each character that a terminal would hide or obey as its escape. */
export function whole(value: unknown): string {
  const escaped = (letter: string): string =>
    Array.from({ length: letter.length }, (_, at) => {
      return `\\u${letter.charCodeAt(at).toString(16).padStart(4, "0")}`;
    }).join("");
  return (JSON.stringify(value) ?? "").replace(UNSEEN, escaped);
}

/** `186 + 12 tokens, $0.0012`. */
export function usageText(usage: Usage | null): string {
  if (usage === null) return "usage unknown";
  const { inputTokens, outputTokens, costNanoUsd } = usage;
  const cost = costNanoUsd === null ? "" : `, $${(costNanoUsd / 1e9).toFixed(4)}`;
  return `${inputTokens} + ${outputTokens} tokens${cost}`;
}

/** How a run has ended, with the reason. */
export function outcomeText(end: Outcome): string {
  if (end.outcome === "stopped") return `stopped by ${end.stoppedBy}`;
  if (end.outcome === "cancelled") return `cancelled: ${end.abortReason}`;
  if (end.outcome === "failed") return `failed: ${end.error.code}: ${end.error.message}`;
  return end.outcome;
}

/** Rows in columns. Columns whose names begin with `+` are numbers, at the right. */
export function tableText(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const heads = names.map((name) => name.replace(/^\+/, ""));
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((text, at) => (names[at]!.startsWith("+") ? text.padStart(widths[at]!) : text.padEnd(widths[at]!)))
      .join("  ")
      .trimEnd();
  return [line(heads), ...rows.map(line)].join("\n");
}
