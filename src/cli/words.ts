/** Words and numbers for people. */
import type { Outcome, Usage } from "../typescript/core/api/index.js";
import { oneLine } from "../typescript/lab/replay/harmless.js";

/** A value on one line. */
export function short(value: unknown, most = 100): string {
  const text = oneLine(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/**
 * Characters that a terminal does not show as they are: commands, directions of text, blanks other than the space,
 * and all that Unicode ignores by default or has not assigned. U+2800 is a letter of Braille without dots.
 */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

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

/** Rows as columns. Columns with a name that begins with `+` are numbers, aligned right. */
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
