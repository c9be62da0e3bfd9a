/** What the current question is and what was done for it: the part of a conversation since the last finished answer. */
import type { Conversation, PastCall } from "../conversation.js";
import { withoutDirective } from "../directive.js";
import { isObject, parseJson } from "../json.js";

/** A call with its result. */
export interface DoneCall extends PastCall {
  text: string;
  isError: boolean;
}

/** The current question. */
export interface Episode {
  /** What the user asked, first and later (steering while tools ran), in order. */
  prompts: string[];
  calls: DoneCall[];
  /** How often the model was asked since the question. */
  rounds: number;
  /** Whether anything was said before. */
  isFirst: boolean;
  /** What the user asked before, oldest first. */
  earlier: string[];
}

/** Reads the current question out of `conversation`. */
export function readEpisode({ said }: Conversation): Episode {
  let start = said.length;
  while (start > 0) {
    const entry = said[start - 1];
    if (entry?.role === "assistant" && entry.calls.length === 0) break;
    start -= 1;
  }
  const prompts: string[] = [];
  const calls: DoneCall[] = [];
  const open = new Map<string, PastCall>();
  let rounds = 0;
  for (const entry of said.slice(start)) {
    if (entry.role === "user") {
      const text = withoutDirective(entry.text);
      if (text !== "") prompts.push(text);
    } else if (entry.role === "assistant") {
      rounds += 1;
      for (const call of entry.calls) open.set(call.id, call);
    } else {
      const call = open.get(entry.callId);
      if (call) calls.push({ ...call, text: entry.text, isError: entry.isError || saysError(entry.text) });
    }
  }
  const earlier = said.slice(0, start).flatMap((entry) => (entry.role === "user" ? [entry.text] : []));
  return { prompts, calls, rounds, isFirst: start === 0, earlier };
}

function saysError(text: string): boolean {
  const value = parseJson(text);
  return isObject(value) && value["error"] != null && value["error"] !== false;
}
