/** What a reader has seen of a run: its agents with their open blocks and their calls, and its open questions. */
import type { EventStamp, RunEvent, RunEventOf } from "../../api/event.js";
import type { AgentTranscript } from "../../api/message.js";

export interface Seen {
  /** By `agentKey`, in the order in which they began. */
  readonly agents: { readonly [key: string]: SeenAgent };
  /** The questions without an answer, by their ids. */
  readonly questions: { readonly [questionId: number]: RunEventOf<"question"> };
}

/** An agent at work on a call, or the run's own. */
export interface SeenAgent {
  readonly agentPath: string;
  readonly parentToolCallId?: string | undefined;
  /** `"past"`: a transcript has it, and no event has come of it. */
  readonly status: "past" | "running" | "over";
  /** The iteration under way; 0 between two of them. */
  readonly iteration: number;
  /** The blocks of the answer under way, by their numbers. */
  readonly blocks: { readonly [block: number]: SeenBlock };
  /** The latest call of each id. */
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
  /** `"writing"`: its input is still coming. `"open"`: it has no result. */
  readonly state: "writing" | "open" | "done";
  /**
   * The iteration that made it. `undefined`: it is in the last answer of a transcript, so a process that resumes the
   * run may repeat it. 0: it is in an earlier answer.
   */
  readonly iteration: number | undefined;
}

type OfAgent = Pick<EventStamp, "agentPath" | "parentToolCallId">;

/** The key of an agent. A persistent subagent has the same path for each call that it answers. */
export function agentKey({ agentPath, parentToolCallId }: OfAgent): string {
  return parentToolCallId === undefined ? agentPath : `${agentPath}:${parentToolCallId}`;
}

/** The agent whose call a subagent answers: the latest one with the path above. */
export function parentOf({ agents }: Seen, { agentPath }: OfAgent): SeenAgent | undefined {
  const above = agentPath.slice(0, agentPath.lastIndexOf("/"));
  return Object.values(agents)
    .reverse()
    .find((agent) => agent.agentPath === above);
}

export const NOTHING_SEEN: Seen = { agents: {}, questions: {} };

/** A call of a transcript. */
export interface PastCall extends OfAgent {
  readonly toolCallId: string;
  readonly isDone: boolean;
  /** Whether it is in the last answer of its agent. */
  readonly isLast: boolean;
}

/** What a reader has seen who begins with the calls of a transcript. */
export function seenOf(calls: Iterable<PastCall>): Seen {
  let agents: Seen["agents"] = {};
  for (const { agentPath, parentToolCallId, toolCallId, isDone, isLast } of calls) {
    const of = { agentPath, parentToolCallId };
    const key = agentKey(of as OfAgent);
    const agent = agents[key] ?? { ...of, status: "past" as const, iteration: 0, blocks: {}, calls: {} };
    const call: SeenCall = { state: isDone ? "done" : "open", iteration: isLast ? undefined : 0 };
    agents = { ...agents, [key]: { ...agent, calls: { ...agent.calls, [toolCallId]: call } } };
  }
  return { agents, questions: {} };
}

/** The calls of an agent's messages. `toolCalls` are those that have come back in a round that is not over. */
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

export function isDelta(
  event: RunEvent,
): event is RunEventOf<"text-delta" | "reasoning-delta" | "tool-input-delta"> {
  return event.type === "text-delta" || event.type === "reasoning-delta" || event.type === "tool-input-delta";
}
