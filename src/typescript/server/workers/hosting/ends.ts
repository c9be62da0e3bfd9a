/** The ends of runs, as logs store them and clients receive them. */
import type { Chat, Failure, Outcome, Run, RunEvent, RunResult } from "../../../core/api/index.js";
import { TAKEN_OVER } from "../../../core/kit/journal.js";
import type { HandedRun } from "./hosted-run.js";
import { thrown, type RunEnd } from "../protocol.js";

export function endOfRun(run: Run): Promise<RunEnd> {
  return run.result.then(
    (result) => ({ result }),
    (error: unknown) => ({ thrown: thrown(error) }),
  );
}

/** Whether a run has ended here because another process performs it, or will resume it. */
export function isTaken(run: HandedRun, end: RunEnd): boolean {
  const { outcome, error, abortReason }: Partial<RunResult> =
    ("result" in end ? end.result : end.thrown.result) ?? {};
  const isHandedOver = run.isSuspended === true && outcome === "cancelled";
  return error?.code === "run_held" || abortReason === TAKEN_OVER || isHandedOver;
}

/** The end of a run of a chat: with the chat's messages, or without them, because they grow with every run. */
export function endWith(end: RunEnd, { messages, subagents }: Partial<Chat>): RunEnd {
  return "result" in end ? { result: { ...end.result, messages, subagents } as RunResult } : end;
}

/** The last event and the end of a run for which no journal has an end. `seq` is the number of the event. */
export function lostEnd(id: string, seq: number): { readonly event: RunEvent; readonly end: RunEnd } {
  const error: Failure = { code: "store_failed", message: LOST, retryable: true };
  const outcome: Outcome = { outcome: "failed", error };
  const stamp = { seq, agentPath: "root", iteration: 0, attempt: 0 };
  const nothing = { text: "", toolCalls: [], messages: [], subagents: [], undelivered: [] };
  const unknown = {
    usage: null,
    chatUsage: null,
    costNanoUsd: null,
    finishReason: null,
    rawFinishReason: null,
  };
  const counts = { modelUsage: {}, durationMs: 0, apiDurationMs: 0, costUsd: 0, iterations: 0 };
  const all = { ...outcome, id, agent: "", output: undefined, ...nothing, ...unknown, ...counts };
  const result: RunResult = { ...all, costBasis: "unknown" };
  return { event: { ...stamp, type: "finish", outcome }, end: { result } };
}

const LOST =
  "The process of this run ended before the store had the end of the run. Look at the messages of the chat, and send " +
  "the prompt again if they do not have it.";
