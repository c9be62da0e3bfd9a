/**
 * Faults that a prompt asks for, so that a person can watch retries without touching code: a line that begins with
 * `/practice`, for instance `/practice 529 x2` and then the real question.
 */
import type { Conversation } from "./conversation.js";
import type { StreamFaults } from "./types.js";

const PATTERN = /^[ \t]*\/practice[ \t]+(\d{3}|error|drop|stall)(?:[ \t]*x[ \t]*(\d+))?/im;

/** The fault that the last prompt asks for, as long as nothing was answered to it: an HTTP status, or one inside the stream. */
export function readDirective({ said }: Conversation) {
  const last = said.at(-1);
  const match = last?.role === "user" ? PATTERN.exec(last.text) : null;
  if (!match || last?.role !== "user") return undefined;
  const [, word = "", times = "1"] = match;
  const status = Number(word) >= 400 && Number(word) <= 599 ? Number(word) : undefined;
  // Equal for the retries of one request.
  return {
    key: `${said.length}:${last.text}`,
    times: Number(times),
    status,
    faults: FAULTS[word.toLowerCase()] ?? {},
  };
}

/** `text` without its directives: what the planner answers. */
export function withoutDirective(text: string): string {
  return text.replace(new RegExp(PATTERN.source, "gim"), "").trim();
}

const FAULTS: Record<string, StreamFaults> = {
  error: { error: { afterEvents: 6 } },
  drop: { dropAfterEvents: 6 },
  stall: { stall: 6 },
};
