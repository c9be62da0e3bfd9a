/**
 * The one fold of a run's events. Readers join late, and a process may crash in the middle of an answer before
 * another one resumes the run. So the events that one reader gets have gaps and repetitions. `fold` turns them into
 * events that each reader can process in order:
 *
 * - `agent-begin` comes before everything else of an agent, and an agent that has no `agent-finish` when the run ends
 *   gets an `agent-lost`.
 * - Each delta follows the start of its block. Each block has an end when its iteration is over, or a `reset`
 * retracts
 *   it, even if the process that wrote it has crashed.
 * - An iteration starts once. A `question` follows the call that it is about.
 * - A `snapshot` is followed by the events of the current answer, which it contains.
 *
 * `Facts` say what was known of the event's call and blocks: a call that was known is not a new one.
 */
import type { EventStamp, RunEvent, RunEventOf } from "../../core/api/event.js";
import { isDelta } from "../../core/kit/runs.js";
import { replayed } from "./replayed.js";
import {
  agentKey,
  callsOf,
  NO_AGENT,
  NOTHING_SEEN,
  seenOf,
  type Seen,
  type SeenAgent,
  type SeenBlock,
  type SeenCall,
} from "./seen.js";

/** An event of a run, or the start or the loss of an agent. */
export type FoldedEvent = RunEvent | (EventStamp & { readonly type: "agent-begin" | "agent-lost" });

/** The type of a `FoldedEvent`: one row for each is in the table of each consumer. */
export type FoldedType = FoldedEvent["type"];

export type FoldedEventOf<K extends FoldedType> = Extract<FoldedEvent, { type: K }>;

/** What is known of an event. */
export interface Facts {
  /**
   * For events of a call: the call before the event. `undefined` for a new call, and for an event of an unknown call.
   */
  readonly call?: SeenCall | undefined;
  /** For `tool-call`: the reader has only a part of its input, because the process that wrote it crashed. */
  readonly isCutOff?: true;
  /** For events of a block: the block. */
  readonly block?: SeenBlock | undefined;
  /** For `reset`: the blocks that go and are known. */
  readonly blocks?: readonly SeenBlock[];
}

export interface Folded {
  readonly event: FoldedEvent;
  readonly facts: Facts;
}

/** What a reader has seen after an event, and the events that it receives for it. */
export interface Fold {
  readonly seen: Seen;
  readonly events: readonly Folded[];
}

/** A row for each event: what it does, or `undefined` if the consumer shows nothing of it. */
export type EventTable<Context, Out> = {
  readonly [K in FoldedType]: ((context: Context, event: FoldedEventOf<K>, facts: Facts) => Out) | undefined;
};

/** Folds one event. The given state is not changed; its parts that stay the same are the same objects. */
export function fold(seen: Seen, event: RunEvent): Fold {
  const folding = new Folding(seen);
  folding.take(event);
  return { seen: folding.seen, events: folding.events };
}

/** The same as a class that stores what was seen. */
export class EventFold {
  seen: Seen;

  constructor(seen = NOTHING_SEEN) {
    this.seen = seen;
  }

  take(event: RunEvent): readonly Folded[] {
    const folded = fold(this.seen, event);
    this.seen = folded.seen;
    return folded.events;
  }
}

type Stamp = EventStamp;
type Delta = RunEventOf<"text-delta" | "reasoning-delta" | "tool-input-delta">;
type BlockStart = RunEventOf<"text-start" | "reasoning-start" | "tool-input-start">;
type BlockEnd = RunEventOf<"text-end" | "reasoning-end" | "tool-input-end">;
type CallEvent = RunEventOf<"tool-progress" | "tool-result" | "tool-error">;

class Folding {
  seen: Seen;
  readonly events: Folded[] = [];

  constructor(seen: Seen) {
    this.seen = seen;
  }

  take(event: RunEvent): void {
    const agent = this.#begun(event);
    if (isDelta(event)) return this.#delta(event, agent);
    switch (event.type) {
      case "iteration-start":
        // A resumed run starts its open iteration again.
        if (agent.iteration === event.iteration) return;
        this.#endEarlier(event);
        this.#change(event, { iteration: event.iteration, calls: recent(agent.calls, event.iteration) });
        return this.#emit(event);
      case "attempt-start":
        // A process that ended could not retract its part of the answer.
        this.#retract(event);
        return this.#emit(event);
      case "text-start":
      case "reasoning-start":
      case "tool-input-start":
        return this.#start(event);
      case "text-end":
      case "reasoning-end":
      case "tool-input-end":
        return this.#end(event, agent);
      case "tool-call":
        return this.#call(event, agent);
      case "tool-progress":
      case "tool-result":
      case "tool-error":
        return this.#ofCall(event, agent);
      case "reset":
        return this.#reset(event, agent);
      case "question":
        return this.#ask(event, agent);
      case "iteration-finish":
        this.#endBlocks(event, agent);
        this.#change(event, { iteration: 0, blocks: {} });
        return this.#emit(event);
      case "agent-finish":
        this.#endBlocks(event, agent);
        this.#change(event, { status: "over", iteration: 0, blocks: {} });
        return this.#emit(event);
      case "finish":
        return this.#finish(event);
      case "snapshot":
        return this.#join(event);
      default:
        // A new event does not compile until it is folded above or is in this list of events that change nothing
        // here.
        event.type satisfies
          | "run-start"
          | "agent-start"
          | "answer-cut-off"
          | "reasoning-progress"
          | "handoff"
          | "model-change"
          | "answered"
          | "waiting"
          | "not-saved"
          | "retry"
          | "steer-delivered"
          | "compact-start"
          | "compact-boundary"
          | "usage"
          | "limits"
          | "message"
          | "warning"
          | "abort"
          | "error";
        return this.#emit(event);
    }
  }

  #emit(event: FoldedEvent, facts: Facts = {}): void {
    this.events.push({ event, facts });
  }

  #change(event: Stamp, change: Partial<SeenAgent>): void {
    const key = agentKey(event);
    this.seen = { ...this.seen, [key]: { ...this.seen[key]!, ...change } };
  }

  /**
   * The agent of an event. A resumed run does not start its subagents again, so any event can be the first of an
   * agent.
   */
  #begun(event: RunEvent): SeenAgent {
    const key = agentKey(event);
    const { [key]: known, ...others } = this.seen;
    if (known?.status === "running" || (known?.status === "over" && event.type !== "agent-start"))
      return known;
    const { agentPath, parentToolCallId } = event;
    const agent: SeenAgent = {
      ...NO_AGENT,
      ...known,
      agentPath,
      ...(parentToolCallId !== undefined && { parentToolCallId }),
      status: "running",
    };
    this.seen = { ...others, [key]: agent };
    this.#emit({ ...stampOf(event), type: "agent-begin" });
    return agent;
  }

  #start(event: BlockStart): void {
    const { block: number, iteration, attempt } = event;
    this.#endEarlier(event);
    const isVoid = (block: SeenBlock): boolean => block.attempt !== attempt;
    // The reader has missed the end of another attempt.
    if (Object.values(this.seen[agentKey(event)]!.blocks).some(isVoid)) this.#retract(event);
    const { blocks, calls } = this.seen[agentKey(event)]!;
    // The log of a session may have the start of an empty block twice.
    if (blocks[number]?.isOver === false) return;
    const isCall = event.type === "tool-input-start";
    const type = isCall ? "tool-input" : event.type === "text-start" ? "text" : "reasoning";
    const call = isCall && { toolCallId: event.toolCallId };
    const block: SeenBlock = { type, block: number, iteration, attempt, ...call, isOver: false };
    const writing = isCall && {
      calls: { ...calls, [event.toolCallId]: { state: "writing", iteration } as const },
    };
    this.#change(event, { iteration, blocks: { ...blocks, [number]: block }, ...writing });
    this.#emit(event, { block, ...(isCall && { call: calls[event.toolCallId] }) });
  }

  #delta(event: Delta, agent: SeenAgent): void {
    const block = agent.blocks[event.block];
    if (block !== undefined) return this.#emit(event, { block });
    // The reader has missed the start of the block. The start of a call block says which call it is.
    if (event.type === "tool-input-delta") return;
    const type = event.type === "text-delta" ? "text-start" : "reasoning-start";
    this.#start({ ...stampOf(event), type, block: event.block });
    this.#emit(event, { block: this.seen[agentKey(event)]!.blocks[event.block] });
  }

  #end(event: BlockEnd, { blocks }: Pick<SeenAgent, "blocks">): void {
    const open = blocks[event.block];
    if (open === undefined || open.isOver) return;
    const block = { ...open, isOver: true };
    this.#change(event, { blocks: { ...blocks, [event.block]: block } });
    this.#emit(event, { block });
  }

  /** Ends the blocks that an abort or the end of a process left open. */
  #endBlocks(event: Stamp, { blocks }: Pick<SeenAgent, "blocks">): void {
    for (const { type, block, iteration, attempt } of Object.values(blocks)) {
      const stamp = { ...stampOf(event), iteration, attempt };
      this.#end({ ...stamp, type: `${type}-end`, block }, this.seen[agentKey(event)]!);
    }
  }

  /** Ends and forgets the blocks of earlier iterations when the reader missed their ends. */
  #endEarlier(event: Stamp): void {
    const { blocks } = this.seen[agentKey(event)]!;
    const all = Object.entries(blocks);
    const earlier = all.filter(([, { iteration }]) => iteration !== event.iteration);
    if (earlier.length === 0) return;
    this.#endBlocks(event, { blocks: Object.fromEntries(earlier) });
    const own = all.filter(([, { iteration }]) => iteration === event.iteration);
    this.#change(event, { blocks: Object.fromEntries(own) });
  }

  /** Retracts the blocks of the current answer. */
  #retract(event: Stamp): void {
    this.#endEarlier(event);
    const agent = this.seen[agentKey(event)]!;
    const blocks = Object.values(agent.blocks).map(({ block }) => block);
    if (blocks.length > 0) this.#reset({ ...stampOf(event), type: "reset", blocks }, agent);
  }

  #reset(event: RunEventOf<"reset">, agent: SeenAgent): void {
    const blocks = event.blocks.flatMap((number) => agent.blocks[number] ?? []);
    const kept = { ...agent.blocks };
    const calls = { ...agent.calls };
    for (const { block, toolCallId } of blocks) {
      delete kept[block];
      if (toolCallId !== undefined) delete calls[toolCallId];
    }
    this.#change(event, { blocks: kept, calls });
    this.#emit(event, { blocks });
  }

  #call(event: RunEventOf<"tool-call">, { blocks, calls }: SeenAgent): void {
    const { toolCallId, iteration } = event;
    const open = Object.values(blocks).find((block) => block.toolCallId === toolCallId && !block.isOver);
    if (open !== undefined)
      this.#end({ ...stampOf(event), type: "tool-input-end", block: open.block }, { blocks });
    const known = calls[toolCallId];
    // A resumed run repeats a call if its result was not saved. Another iteration makes another call.
    const isOther = known?.state === "done" && (known.iteration ?? iteration) !== iteration;
    this.#change(event, { calls: { ...calls, [toolCallId]: { state: "open", iteration } } });
    const isCutOff = open !== undefined && { isCutOff: true as const };
    this.#emit(event, { call: isOther ? undefined : known, ...isCutOff });
  }

  #ofCall(event: CallEvent, { calls }: SeenAgent): void {
    const call = calls[event.toolCallId];
    if (call !== undefined && event.type !== "tool-progress")
      this.#change(event, { calls: { ...calls, [event.toolCallId]: { ...call, state: "done" } } });
    this.#emit(event, { call });
  }

  #ask(event: RunEventOf<"question">, agent: SeenAgent): void {
    const { data } = event;
    if (data !== undefined && agent.calls[data.toolCallId] === undefined) {
      // A late reader does not know a call of a subagent.
      const { toolCallId, toolName, input } = data;
      this.#call({ ...stampOf(event), type: "tool-call", toolCallId, toolName, input }, agent);
    }
    this.#emit(event);
  }

  #finish(event: RunEventOf<"finish">): void {
    const running = Object.values(this.seen).filter(({ status }) => status === "running");
    for (const agent of running.reverse()) {
      const { agentPath, parentToolCallId } = agent;
      const { parentToolCallId: _, ...stamp } = stampOf(event);
      const own = { ...stamp, agentPath, ...(parentToolCallId !== undefined && { parentToolCallId }) };
      this.#endBlocks(own, agent);
      this.#change(own, { status: "over", iteration: 0, blocks: {} });
      if (agentKey(own) !== agentKey(event)) this.#emit({ ...own, type: "agent-lost" });
    }
    this.#emit(event);
  }

  /** A late reader has the transcript so far instead of its events, and the blocks of the current answer. */
  #join(event: RunEventOf<"snapshot">): void {
    // The snapshot contains the whole current answer. A completed answer is among its messages.
    if (event.blocks.length > 0) this.#retract(event);
    else this.#endEarlier(event);
    const key = agentKey(event);
    const calls = { ...this.seen[key]!.calls };
    for (const [id, past] of Object.entries(seenOf(callsOf(event))[key]?.calls ?? {}))
      calls[id] = past.state === "done" ? { ...past, ...calls[id], state: "done" } : (calls[id] ?? past);
    this.#change(event, { calls, iteration: event.iteration });
    this.#emit(event);
    for (const one of replayed(event)) this.take(one);
  }
}

/** The calls that a process which resumes the run may repeat in this iteration, and those without a result. */
function recent(calls: SeenAgent["calls"], iteration: number): SeenAgent["calls"] {
  const isRecent = ({ state, iteration: made = iteration }: SeenCall): boolean =>
    state !== "done" || made >= iteration - 1;
  return Object.fromEntries(Object.entries(calls).filter(([, call]) => isRecent(call)));
}

/** The place of an event in its run. */
function stampOf({ seq, agentPath, parentToolCallId, iteration, attempt, timeMs }: Stamp): Stamp {
  return {
    seq,
    agentPath,
    ...(parentToolCallId !== undefined && { parentToolCallId }),
    iteration,
    attempt,
    ...(timeMs !== undefined && { timeMs }),
  };
}
