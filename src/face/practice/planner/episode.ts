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
      const text = readable(withoutDirective(entry.text));
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
  return { prompts: meant(prompts, earlier), calls, rounds, isFirst: start === 0, earlier };
}

const GO_ON =
  /^(?:please |yes,? |ok(?:ay)?,? )?(?:go (?:on|ahead)|continue|proceed|carry (?:on|it out)|do it)(?: please| now)?[.! ]*$/i;

/** "Go on" asks for what was asked before: for what is left of it after a limit, for all of it after a plan. */
function meant(prompts: string[], earlier: readonly string[]): string[] {
  const asked = prompts.filter((prompt) => !GO_ON.test(prompt));
  if (asked.length > 0 || prompts.length === 0) return asked;
  const before = earlier.map((text) => readable(withoutDirective(text)));
  const last = before.filter((prompt) => prompt !== "" && !GO_ON.test(prompt)).at(-1);
  return last === undefined ? prompts : [last];
}

/** UTF-16 units of a prompt that are read from its beginning, and as many from its end. */
const MAX_PROMPT_HALF = 4000;

// The patterns of the planner are written for sentences; pasted documents and runs of blanks would make them slow.
function readable(text: string): string {
  const isLong = text.length > 2 * MAX_PROMPT_HALF;
  const kept = isLong ? `${text.slice(0, MAX_PROMPT_HALF)}\n${text.slice(-MAX_PROMPT_HALF)}` : text;
  return kept
    .replace(/[^\S\n]+/g, " ")
    .replace(/\n\s+/g, "\n")
    .trim();
}

function saysError(text: string): boolean {
  const value = parseJson(text);
  return isObject(value) && value["error"] != null && value["error"] !== false;
}
