/** The ends of runs, as logs keep them and clients get them. */
import type { Chat, Run, RunResult } from "../../../core/api/index.js";
import { TAKEN } from "../../../core/run/journal.js";
import type { HandedRun } from "./hosted-run.js";
import { thrown, type RunEnd } from "../protocol.js";

export function endOfRun(run: Run): Promise<RunEnd> {
  return run.result.then(
    (result) => ({ result }),
    (error: unknown) => ({ thrown: thrown(error) }),
  );
}

/** Whether a run has ended here because another process has it, or is to go on with it. */
export function isTaken(run: HandedRun, end: RunEnd): boolean {
  const { outcome, error, abortReason }: Partial<RunResult> =
    ("result" in end ? end.result : end.thrown.result) ?? {};
  const isHandedOver = run.isSuspended === true && outcome === "cancelled";
  return error?.code === "run_held" || abortReason === TAKEN || isHandedOver;
}

/** The end of a run of a chat: with the messages of the chat, or without them, since they grow with every run. */
export function endWith(end: RunEnd, { messages, subagents }: Partial<Chat>): RunEnd {
  return "result" in end ? { result: { ...end.result, messages, subagents } as RunResult } : end;
}
