/** The store of a run's journal, and your decision about a run whose store takes nothing. */
import type { AgentParts } from "../agent-parts.js";
import type { Failure } from "../../api/event.js";
import type { OnSaveFailed, SaveFailure } from "../../api/result.js";
import { journalGone, notSaved } from "../../host/failures.js";
import { describeReturned } from "../../options/check.js";
import { message } from "../../options/thrown.js";
import type { Driver } from "../../host/engine.js";
import { TAKEN_OVER, type JournalHost } from "../journal.js";

/** The run whose journal is kept. */
export interface SavedRun {
  readonly id: string;
  abort(reason: string): void;
  suspend(reason: string, error: Failure): void;
}

/** The host of a run's journal; undefined for an agent that keeps none. `running` gives the driver while it is under way. */
export function journalHost(
  { journals, store = journals, clock, durable: { flushMs, onSaveFailed = "continue" } }: AgentParts,
  run: SavedRun,
  running: () => Driver | undefined,
  report: (error: unknown) => void,
): JournalHost | undefined {
  if (store === undefined) return undefined;
  return {
    store,
    flushMs,
    clock,
    report,
    lost: () => run.abort(TAKEN_OVER),
    gone: () => {
      const failure = journalGone(run.id);
      run.suspend(failure.message, failure);
    },
    needsStore: onSaveFailed !== "continue",
    notSaved: async (unsaved) => {
      const { entries, since, error } = unsaved;
      running()?.tell({ notSaved: { entries, since, why: message(error) } });
      const word = await wordOf(onSaveFailed, { runId: run.id, ...unsaved }, report);
      if (word !== "stop") return;
      const failure = notSaved(run.id, unsaved);
      run.suspend(failure.message, failure);
    },
  };
}

/** A function that decides nothing has not agreed to a run that cannot be saved. */
async function wordOf(
  decide: OnSaveFailed,
  failure: SaveFailure,
  report: (error: unknown) => void,
): Promise<"stop" | "continue"> {
  if (typeof decide !== "function") return decide;
  try {
    const word: unknown = await decide(failure);
    if (word === "stop" || word === "continue") return word;
    report(
      new TypeError(`durable.onSaveFailed must return "stop" or "continue", got ${describeReturned(word)}`),
    );
  } catch (error) {
    report(error);
  }
  return "stop";
}
