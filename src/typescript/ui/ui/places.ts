/**
 * Maps the events of a run to their parts: the parts of each agent, of each block of its current answer, and of each
 * call. A place is the index of a message, followed by the indexes of the calls that contain the subagent.
 */
import { NOTHING_SEEN, seenOf, type PastCall, type Seen } from "../../extras/transcript/seen.js";
import { isDone, type UiPart, type ToolUiPart, type UiMessage } from "./message.js";

export type Place = readonly [message: number, ...parts: number[]];

export interface AgentPlace {
  /** The place of the agent's parts. */
  readonly at: Place;
  /** The parts of the blocks of its current answer, by block number. */
  readonly blocks: { readonly [block: number]: number };
}

export interface Places {
  readonly agents: { readonly [agentPath: string]: AgentPlace };
  /** The latest call of each id. Its place ends with its own index. */
  readonly calls: { readonly [agentAndId: string]: Place };
  readonly seen: Seen;
}

export const NOWHERE: Places = { agents: {}, calls: {}, seen: NOTHING_SEEN };

export function callKey(agentPath: string, toolCallId: string): string {
  return `${agentPath} ${toolCallId}`;
}

/** The places of the calls and of the subagents in these messages. No block is under way. */
export function placesIn(messages: readonly UiMessage[]): Places {
  const agents: { [path: string]: AgentPlace } = {};
  const calls: { [key: string]: Place } = {};
  const past: PastCall[] = [];
  const last = messages.length - 1;
  const walk = (parts: readonly UiPart[], agentPath: string, at: Place, parentToolCallId?: string): void => {
    // A resumed run repeats the calls at the end of the last answer.
    const end = parts.map(({ type }) => type !== "tool").lastIndexOf(true);
    parts.forEach((part, index) => {
      if (part.type !== "tool") return;
      const { toolCallId, agent } = part;
      calls[callKey(agentPath, toolCallId)] = [...at, index];
      const of = { agentPath, ...(parentToolCallId !== undefined && { parentToolCallId }) };
      past.push({ ...of, toolCallId, isDone: isDone(part), isLast: at[0] === last && index > end });
      if (agent === undefined) return;
      agents[agent.agentPath] = { at: [...at, index], blocks: {} };
      walk(agent.parts, agent.agentPath, [...at, index], toolCallId);
    });
  };
  messages.forEach(({ parts }, index) => walk(parts, "root", [index]));
  if (messages[last]?.role === "assistant") agents["root"] = { at: [last], blocks: {} };
  return { agents, calls, seen: seenOf(past) };
}

/** The parts of an agent. */
export function partsAt(messages: readonly UiMessage[], [message, ...calls]: Place): readonly UiPart[] {
  let parts = messages[message]?.parts ?? [];
  for (const index of calls) parts = agentOf(parts[index])?.parts ?? [];
  return parts;
}

function agentOf(part: UiPart | undefined): ToolUiPart["agent"] {
  return part?.type === "tool" ? part.agent : undefined;
}

/** The messages with other parts of an agent. All others stay the same objects. */
export function withPartsAt(
  messages: readonly UiMessage[],
  [message, ...calls]: Place,
  change: (parts: readonly UiPart[]) => readonly UiPart[],
): readonly UiMessage[] {
  const changed = messages[message];
  if (changed === undefined) return messages;
  return withAt(messages, message, { ...changed, parts: changedIn(changed.parts, calls, change) });
}

function changedIn(
  parts: readonly UiPart[],
  [index, ...rest]: readonly number[],
  change: (parts: readonly UiPart[]) => readonly UiPart[],
): readonly UiPart[] {
  if (index === undefined) return change(parts);
  const call = parts[index];
  const agent = agentOf(call);
  if (agent === undefined) return parts;
  return withAt(parts, index, {
    ...(call as ToolUiPart),
    agent: { ...agent, parts: changedIn(agent.parts, rest, change) },
  });
}

/** A copy of the list with another element. */
export function withAt<T>(list: readonly T[], index: number, element: T): readonly T[] {
  const copy = list.slice();
  copy[index] = element;
  return copy;
}
