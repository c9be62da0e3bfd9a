/**
 * The conversation as this tab keeps it over a reload: what the model needs to go on, and what happened, to be shown
 * again. No connection and no key is ever in it.
 */
import type { Message, RunEvent, RunResult, Trace, TracedRun, Tracer } from "looplet";
import type { Limits } from "./budget.js";
import type { Connection } from "./connection.js";
import type { QueuedKind } from "./conversation.js";
import type { Mode } from "./permission.js";

export interface Happened {
  event: RunEvent;
  timeMs: number;
}

/** One run as it happened. */
export interface Recording {
  prompt: string;
  run: Pick<TracedRun, "id" | "vendor" | "model">;
  /** What was queued. A run that goes on gets it again, and takes it once by its `requestId`. */
  queued: { kind: QueuedKind; text: string; id: number; requestId: string }[];
  happened: Happened[];
  /** Events of before a reload, without the pieces of answers. The transcript of the snapshot stands for them; the trace needs them. */
  earlier?: readonly Happened[];
  /** Why the run began with a snapshot. */
  origin?: string;
  /** Absent while it goes on. */
  result?: RunResult;
}

export interface Kept {
  messages: readonly Message[];
  /** The last prompt, and the transcript that it was asked on. */
  last: { prompt: string; before: readonly Message[] } | undefined;
  recordings: readonly Recording[];
  /** The run that goes on, which is the last recording. */
  open: OpenRun | undefined;
}

/** What a fork has otherwise than the page. */
export interface Changes {
  system?: string;
  /** Tools that the model does not get. */
  without?: readonly string[];
  /** What the model is told about tools, by their names. */
  descriptions?: { readonly [toolName: string]: string };
}

/** What a run needs to go on, beside its journal. */
export interface OpenRun extends Changes {
  /** The practice provider; a connection with a key is gone with the page, and only its model's name is kept. */
  connection: Extract<Connection, { kind: "practice" }> | { kind: "gone"; model: string };
  limits: Limits;
  mode: Mode;
  /** Tools that the person has allowed once and for all. */
  allowed: readonly string[];
}

const key = "looplet.chat";

/** Keeps the conversation, or nothing if the tab has no room for it. */
export function keep(kept: Kept): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(kept));
  } catch {
    forget();
  }
}

export function forget(): void {
  sessionStorage.removeItem(key);
}

export function remembered(): Kept | undefined {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Kept);
  } catch {
    return undefined;
  }
}

/** Notes an event; pieces of one block become one. */
export function record({ happened }: Recording, event: RunEvent, timeMs: number): void {
  const last = happened.at(-1)?.event;
  if (
    last &&
    (event.type === "text-delta" || event.type === "reasoning-delta" || event.type === "tool-input-delta") &&
    last.type === event.type &&
    last.agentPath === event.agentPath &&
    last.iteration === event.iteration &&
    last.attempt === event.attempt &&
    last.block === event.block
  )
    happened.splice(-1, 1, { event: { ...event, text: last.text + event.text }, timeMs });
  else happened.push({ event, timeMs });
}

/** The whole events of a run so far. */
export function wholeEvents({ earlier = [], happened }: Recording): Happened[] {
  return [...earlier, ...happened.filter(({ event }) => !event.type.endsWith("-delta"))];
}

/** The trace of a run that is told first what happened in it before the page was reloaded. */
export function traceFrom(earlier: readonly Happened[], tracer: Tracer, run: TracedRun): Trace {
  let earlierMs: number | undefined;
  const trace = tracer({ ...run, now: () => earlierMs ?? run.now() });
  for (const { event, timeMs } of earlier) {
    earlierMs = timeMs;
    trace.onEvent(event);
  }
  earlierMs = undefined;
  return trace;
}

/** Notes the result, without what the conversation holds already. */
export function conclude(recording: Recording, result: RunResult): void {
  // The first message may be a summary, which the page shows.
  recording.result = { ...result, messages: result.messages.slice(0, 1), toolCalls: [], subagents: [] };
}
