/**
 * Helpers for formats over the events that a run has emitted: its questions, and positions for clients that
 * reconnect.
 */
import type { RunEvent, RunEventOf } from "../../core/api/index.js";
import type { FormattedRun } from "./formats.js";

/** The questions of a run. */
export interface RunQuestions {
  /** All of them, the oldest first. */
  readonly all: readonly RunEventOf<"question">[];
  /** Whether a question has no answer yet. */
  isOpen(question: RunEventOf<"question">): boolean;
}

export function questionsIn(events: readonly RunEvent[]): RunQuestions {
  const questions = new Map<number, RunEventOf<"question">>();
  const answered = new Set<number>();
  for (const event of events) {
    if (event.type === "question") questions.set(event.questionId, event);
    if (event.type === "answered") answered.add(event.questionId);
  }
  return { all: [...questions.values()], isOpen: ({ questionId }) => !answered.has(questionId) };
}

/**
 * The number of the last event that a client has seen when it answers these questions: there the run started to wait.
 */
export function seenBefore(events: readonly RunEvent[], questionIds: readonly number[]): number {
  const last = events.at(-1)?.seq ?? 0;
  const waits = questionIds.map((questionId) =>
    [...events].reverse().find((event) => event.type === "waiting" && event.questionIds.includes(questionId)),
  );
  return Math.min(last, ...waits.map((event) => event?.seq ?? last));
}

/**
 * Writes the parts of an event as server-sent events. The id of each is the number of its event and its own number,
 * so that a client can continue after any of them. Parts that the client has are skipped.
 */
export function numbered(run: FormattedRun): (seq: number, pieces: Iterable<object>) => Generator<string> {
  const [, seq, piece] = /^(\d+)\.(\d+)$/.exec(run.after ?? "") ?? [];
  const [seen, seenPiece] = seq === undefined ? [run.seen ?? -1, Infinity] : [Number(seq), Number(piece)];
  return function* (seq, pieces) {
    let at = 0;
    for (const piece of pieces) {
      if (seq > seen || (seq === seen && at > seenPiece))
        yield `id: ${encodeURIComponent(run.id)}:${seq}.${at}\n${dataOf(piece)}`;
      at += 1;
    }
  };
}

export function dataOf(piece: object): string {
  return `data: ${JSON.stringify(piece)}\n\n`;
}
