/** What a reader has seen of a run: its agents, with their open blocks and their calls. */
import type { EventStamp } from "../../core/api/event.js";
import type { AgentTranscript } from "../../core/api/message.js";

/** By `agentKey`, in the order in which they started. */
export interface Seen {
  readonly [key: string]: SeenAgent;
}

/** An agent at work on a call, or the run's own. */
export interface SeenAgent {
  readonly agentPath: string;
  readonly parentToolCallId?: string | undefined;
  /** `"past"`: a transcript has it, and none of its events was received. */
  readonly status: "past" | "running" | "over";
  /** The iteration under way; 0 between two of them. */
  readonly iteration: number;
  /** The blocks of the current answer, by number. */
  readonly blocks: { readonly [block: number]: SeenBlock };
  /** The latest call of each id. Completed calls stay until the second iteration after theirs. */
  readonly calls: { readonly [toolCallId: string]: SeenCall };
}

export interface SeenBlock {
  readonly type: "text" | "reasoning" | "tool-input";
  readonly block: number;
  readonly iteration: number;
  readonly attempt: number;
  /** The call whose input it is. */
  readonly toolCallId?: string;
  readonly isOver: boolean;
}

export interface SeenCall {
  /** `"writing"`: its input is still streaming. `"open"`: it has no result. */
  readonly state: "writing" | "open" | "done";
  /**
   * The iteration that made it. `undefined`: it is in the last answer of a transcript, so a resumed run may repeat
   * it. 0: it is in an earlier answer.
   */
  readonly iteration: number | undefined;
}

type OfAgent = Pick<EventStamp, "agentPath" | "parentToolCallId">;

/** The key of an agent. A persistent subagent has the same path for each call that it answers. */
export function agentKey({ agentPath, parentToolCallId }: OfAgent): string {
  return parentToolCallId === undefined ? agentPath : `${agentPath}:${parentToolCallId}`;
}

export const NOTHING_SEEN: Seen = {};

/** A call of a transcript. */
export interface PastCall extends OfAgent {
  readonly toolCallId: string;
  readonly isDone: boolean;
  /** Whether it is in the last answer of its agent. */
  readonly isLast: boolean;
}

/**
 * The initial state of a reader that starts with the calls of a transcript. Calls that cannot be repeated are
 * skipped.
 */
export function seenOf(past: Iterable<PastCall>): Seen {
  const seen: { [key: string]: SeenAgent & { readonly calls: { [toolCallId: string]: SeenCall } } } = {};
  for (const { agentPath, parentToolCallId, toolCallId, isDone, isLast } of past) {
    if (isDone && !isLast) continue;
    const agent = { agentPath, ...(parentToolCallId !== undefined && { parentToolCallId }) };
    const { calls } = (seen[agentKey(agent)] ??= { ...NO_AGENT, ...agent, calls: {} });
    calls[toolCallId] = { state: isDone ? "done" : "open", iteration: isLast ? undefined : 0 };
  }
  return seen;
}

/** An agent about which nothing is known. */
export const NO_AGENT = { status: "past", iteration: 0, blocks: {}, calls: {} } as const;

/** The calls of an agent's messages. `toolCalls` are those with a result in a round that has not ended. */
export function* callsOf({
  messages,
  toolCalls = [],
  agentPath,
  parentToolCallId,
}: OfAgent & Pick<AgentTranscript, "messages"> & Partial<AgentTranscript>): Generator<PastCall> {
  const agent = { agentPath, ...(parentToolCallId !== undefined && { parentToolCallId }) };
  const done = new Set(toolCalls.flatMap(({ toolCallId, output }) => (output === null ? [] : toolCallId)));
  for (const { content } of messages)
    for (const block of content)
      if (block.type === "tool_result" && block.pending === undefined) done.add(block.callId);
  const last = messages.map(({ role }) => role).lastIndexOf("assistant");
  for (const [at, { content }] of messages.entries())
    for (const block of content)
      if (block.type === "tool_call")
        yield { ...agent, toolCallId: block.id, isDone: done.has(block.id), isLast: at === last };
}
