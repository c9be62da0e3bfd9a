/**
 * Cuts a prompt into the smallest pieces that may be tasks of their own. Whether they are is decided by the tools that
 * match them (`steps.ts`), which joins the others back together.
 */

/** A piece of a prompt. */
export interface Clause {
  text: string;
  /** The words that joined it to the piece before, for putting both together again. */
  joint: string;
  /** True when it is to be done after the piece before ("then", "after that"). */
  isAfter: boolean;
}

const JOINT =
  /(?<=[.!?])(?<!\b(?:e\.g|i\.e|mr|mrs|dr|vs|st)\.)\s+(?=\S)|\s*[;\n]+\s*|\s*,?\s+(?:and\s+)?(?:then|after that|afterwards|finally|next)\b,?\s+|\s*,\s+(?:and|also|plus)\s+|\s+(?:and\s+also|and|as well as)\s+|\s*,\s+(?=(?:add|save|note|remember|calculate|compute|search|find|look|list|show|tell|what|how|read|open|get|convert|check|delete|remove|create|send)\b)/gi;

const AFTER = /\b(?:then|after that|afterwards|finally|next)\b/i;

/** The pieces of `prompt`, in order. Text inside quotes is never cut. */
export function splitClauses(prompt: string): Clause[] {
  const quoted = [...prompt.matchAll(QUOTED)].map(
    (match) => [match.index, match.index + match[0].length] as const,
  );
  const clauses: Clause[] = [];
  let start = 0;
  let joint = "";
  for (const match of prompt.matchAll(JOINT)) {
    const at = match.index;
    if (quoted.some(([from, to]) => at >= from && at < to)) continue;
    push(clauses, prompt.slice(start, at), joint);
    start = at + match[0].length;
    joint = match[0];
  }
  push(clauses, prompt.slice(start), joint);
  return clauses;
}

const QUOTED = /"[^"\n]+"|“[^”\n]+”|`[^`\n]+`|(?<![\p{L}\p{N}])'[^'\n]+'(?![\p{L}\p{N}])/gu;

/** Texts in quotes, in order, without their quotes. */
export function findQuoted(text: string): string[] {
  return [...text.matchAll(QUOTED)].map(([quote]) => quote.slice(1, -1).trim());
}

function push(clauses: Clause[], text: string, joint: string): void {
  const trimmed = text.trim();
  if (trimmed === "") return;
  // "Then save it." begins a sentence: the joint before it was only the blank.
  const lead = /^(?:and\s+)?(?:then|after that|afterwards|finally|next)\b,?\s+/i.exec(trimmed);
  clauses.push({
    text: lead ? trimmed.slice(lead[0].length) : trimmed,
    joint: joint === "" ? " " : joint,
    isAfter: lead !== null || AFTER.test(joint),
  });
}
