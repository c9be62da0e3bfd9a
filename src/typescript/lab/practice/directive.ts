/**
 * Faults that a prompt requests, so that you can watch retries without code changes: a line that begins with
 * `/practice`, for instance `/practice 529 x2`, followed by the real question.
 */
import type { Conversation } from "./conversation.js";
import type { ScriptedTurn } from "./types.js";

const PATTERN = /^[ \t]*\/practice[ \t]+([45]\d{2}|error|drop|stall)(?:[ \t]*x[ \t]*(\d+))?/im;

/** The fault that the last prompt asks for, as long as nothing was answered to it. */
export function readDirective({ said }: Conversation) {
  const last = said.at(-1);
  const match = last?.role === "user" ? PATTERN.exec(last.text) : null;
  if (!match) return undefined;
  const [, word = "", times = "1"] = match;
  const fault: Partial<ScriptedTurn> = FAULTS[word.toLowerCase()] ?? { status: Number(word) };
  // The key is equal for the retries of one request.
  return { key: `${said.length}:${match.input}`, times: Number(times), fault };
}

/** `text` without its directives. The planner answers it. */
export function withoutDirective(text: string): string {
  return text.replace(new RegExp(PATTERN.source, "gim"), "").trim();
}

const FAULTS: Record<string, ScriptedTurn> = {
  error: { error: { afterEvents: 6 } },
  drop: { dropAfterEvents: 6 },
  stall: { stall: 6 },
};
