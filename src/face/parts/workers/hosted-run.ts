/** A run as its host has it: the questions that wait for a person, and the calls of its clients. */
import { LoopletError } from "../../core/api/errors.js";
import type { RunEvent } from "../../core/api/event.js";
import type { Queued, QuestionAnswer, Run } from "../../core/api/run.js";

/** The time in which a run that goes on asks its open questions again, in milliseconds. */
const ASKED_AGAIN_MS = 5000;

export class HostedRun {
  /** The run goes on from a process before this one, and asks its open questions again. */
  readonly #goesOn: boolean;
  readonly #tell: (event: RunEvent) => void;
  #run: Run | undefined;
  /** The questions that wait for a person, by their ids. */
  readonly #questions = new Map<number, RunEvent>();
  /** Those who hear of each question. */
  readonly #asked = new Set<(questionId: number) => void>();
  /** The messages on their way, which a client may take back. */
  readonly #queued = new Map<number, Queued>();

  /** `tell` gets the events. */
  constructor(goesOn: boolean, tell: (event: RunEvent) => void) {
    this.#goesOn = goesOn;
    this.#tell = tell;
  }

  /** The listener with which the run begins or goes on. */
  readonly hear = (event: RunEvent): void => {
    if (event.type === "question" && event.data !== undefined) {
      this.#questions.set(event.questionId, event);
      for (const hear of this.#asked) hear(event.questionId);
    }
    if (event.type === "answered") this.#questions.delete(event.questionId);
    if (event.type === "finish") this.#questions.clear();
    this.#tell(event);
  };

  /** Takes the run that has begun. */
  take(run: Run): this {
    this.#run = run;
    return this;
  }

  get run(): Run {
    return this.#run!;
  }

  /** The questions that wait for a person. */
  get questions(): readonly RunEvent[] {
    return [...this.#questions.values()];
  }

  /** Performs a method that a client calls. */
  perform(method: string, [first, second]: readonly any[]): unknown {
    const { run } = this;
    switch (method) {
      case "steer":
      case "followUp": {
        const message = run[method](first, second);
        this.#queued.set(message.id, message);
        return message.id;
      }
      case "withdraw":
        return this.#queued.get(first)?.withdraw() ?? false;
      case "answer":
        return this.answer(first, second);
      case "abort":
        return run.abort(first);
      case "setPermissionMode":
        return run.setPermissionMode(first);
      case "compact":
        return run.compact(first);
      case "addBudget":
        return run.addBudget(first);
      case "saved":
        return run.saved();
    }
    throw unknownMethod(method);
  }

  /** Answers a question. One of a run that goes on may have to be asked again first. */
  async answer(questionId: number, answer: QuestionAnswer): Promise<boolean> {
    const { run } = this;
    if (run.answer(questionId, answer)) return true;
    if (!this.#goesOn) return false;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#asked.delete(hear);
        clearTimeout(timer);
        resolve();
      };
      const hear = (id: number): void => void (id === questionId && done());
      this.#asked.add(hear);
      const timer = setTimeout(done, ASKED_AGAIN_MS);
      void ended(run).then(done);
    });
    return run.answer(questionId, answer);
  }
}

/** Resolves when a run has ended, however it has. */
export function ended(run: Run): Promise<unknown> {
  return run.result.catch(() => {});
}

export function unknownMethod(method: string): LoopletError {
  return new LoopletError(
    "misuse_invalid_argument",
    method,
    "the host of this agent does not have this method; is it of another version?",
  );
}
