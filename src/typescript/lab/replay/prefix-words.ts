/** What `attempt-start` says of a request and the one before it, in words. */
import type { PrefixBreak, PrefixCause, RunEvent, SharedPrefix } from "../../core/api/index.js";

/** A cause as a short phrase. */
export const CAUSES: { readonly [cause in PrefixCause]: string } = {
  handoff: "a handoff",
  summary: "a summary of the history",
  budget: "context.maxChars",
  pruning: "context.pruning",
  guardrail: "an input guardrail that rewrites messages",
  prepare: "prepareIteration",
  refused: "the vendor refused a change at the end of the request",
  model: "setModel or a fallback model",
  reasoning: "the vendor refused earlier reasoning",
  options: "other options than in the run before, for example after a deploy",
  other: "looplet does not know the cause",
};

const PARTS: { readonly [part in Exclude<PrefixBreak["part"], "message">]: string } = {
  model: "the model",
  effort: "the effort",
  format: "the format of answers",
  tools: "the tools",
  system: "the system prompt",
  thinking: "the thinking option",
};

/** The changed part: "the system prompt", "message 3". */
export function partText({ part, message }: PrefixBreak): string {
  if (part === "message") return `message ${message}`;
  return PARTS[part];
}

/** The tokens of a request that the one before did not begin with. */
export function newTokens({ tokens, sharedTokens }: SharedPrefix): number {
  return tokens - sharedTokens;
}

/** A started attempt and what it says of its prefix. */
export interface StartedAttempt {
  readonly agentPath: string;
  readonly iteration: number;
  readonly attempt: number;
  readonly prefix: SharedPrefix | undefined;
}

/** The attempts that begin with these events, in the order of their requests. */
export function attemptsIn(events: readonly RunEvent[]): StartedAttempt[] {
  return events.flatMap((event) => {
    if (event.type !== "attempt-start") return [];
    const { agentPath, iteration, attempt, prefix } = event;
    return [{ agentPath, iteration, attempt, prefix }];
  });
}
