/**
 * Faults that a prompt asks for, so that a person can watch retries without touching code: a line that begins with
 * `/practice`, for instance `/practice 529 x2` and then the real question.
 */
import type { Conversation } from "./conversation.js";
import type { StreamFaults } from "./types.js";

/** A fault to be done `times` times for this conversation. */
export interface Directive {
  /** Equal for the retries of one request. */
  key: string;
  times: number;
  /** An HTTP status, or `undefined` for a fault inside the stream. */
  status: number | undefined;
  faults: StreamFaults;
}

const PATTERN = /^[ \t]*\/practice[ \t]+(\d{3}|error|drop|stall)(?:[ \t]*x[ \t]*(\d+))?/im;

/** The directive in the last prompt, as long as nothing was answered to it. */
export function readDirective({ said }: Conversation): Directive | undefined {
  const last = said.at(-1);
  const match = last?.role === "user" ? PATTERN.exec(last.text) : null;
  if (!match || last?.role !== "user") return undefined;
  const word = (match[1] ?? "").toLowerCase();
  const status = Number(word);
  const isStatus = status >= 400 && status <= 599;
  return {
    key: `${said.length}:${last.text}`,
    times: Number(match[2] ?? 1),
    status: isStatus ? status : undefined,
    faults: FAULTS[word] ?? {},
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
