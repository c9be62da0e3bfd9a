/** A run as its host sees it: the questions that wait for the user, and the calls of its clients. */
import { LoopletError } from "../../../core/api/errors.js";
import type { RunEvent } from "../../../core/api/event.js";
import type { Queued, QuestionAnswer, Run } from "../../../core/api/run.js";
import { OpenEvents } from "../../../core/kit/runs.js";
import { pageAnswer, pageCallOf } from "../../../extras/tools/page-call.js";
import { PageClaims } from "../pages/claims.js";

/** How long to wait for a resumed run to repeat its open questions, in milliseconds. */
const ASKED_AGAIN_MS = 5000;

/** A run as the core has it. `agent.close({ recoverable: true })` suspends it, and cancels it only here. */
export type HandedRun = Run & {
  readonly isSuspended?: boolean;
  /** Resolves when no function of the agent judges the question any more. */
  decided?(questionId: number): Promise<unknown>;
};

export class HostedRun {
  /** The run was resumed from an earlier process, and repeats its open questions. */
  readonly #continues: boolean;
  #run: HandedRun | undefined;
  #tell: (event: RunEvent) => void = (event) => void this.early.push(event);
  /** The events before the run was taken. */
  readonly early: RunEvent[] = [];
  /** The last events. They are sent with the end of the run. */
  readonly last: RunEvent[] = [];
  #begin = (): void => {};
  /** Resolves when the run has started. */
  readonly begun = new Promise<undefined>((resolve) => (this.#begin = () => resolve(undefined)));
  /** The questions that wait for the user, by id. */
  readonly #questions = new Map<number, RunEvent>();
  readonly #open = new OpenEvents();
  /** Listeners for each question. */
  readonly #asked = new Set<(questionId: number) => void>();
  /** The messages on their way, which a client may take back. */
  readonly #queued = new Map<number, Queued>();
  readonly #claims = new PageClaims((id, page) => this.#unclaim(id, page));

  constructor(continues: boolean) {
    this.#continues = continues;
  }

  /** The listener for the events of the run from its start or resumption. */
  readonly hear = (event: RunEvent): void => {
    this.#open.hear(event);
    if (event.type === "question" && event.data !== undefined) {
      this.#questions.set(event.questionId, event);
      this.#claims.renew(event);
      for (const hear of this.#asked) hear(event.questionId);
    }
    if (event.type === "answered") this.#forget(event.questionId);
    // A run that lost its WebAssembly does not withdraw its questions.
    if (event.type === "finish") for (const id of this.#questions.keys()) this.#forget(id);
    if (event.type === "run-start") this.#begin();
    this.#tell(event);
  };

  #forget(questionId: number): void {
    this.#questions.delete(questionId);
    this.#claims.end(questionId);
  }

  /** Sets the run after its start. `tell` receives all its events except the last ones. */
  take(run: HandedRun, tell: (event: RunEvent) => void): void {
    this.#run = run;
    this.#tell = (event) => {
      if (event.type === "finish" || run.isSuspended === true) this.last.push(event);
      else tell(event);
    };
    this.early.forEach((event) => this.#tell(event));
  }

  get run(): HandedRun {
    return this.#run!;
  }

  /** The questions that wait for the user. */
  get questions(): readonly RunEvent[] {
    return [...this.#questions.values()];
  }

  /** The run so far as events. Empty if an iteration can still get all of them, or if the run has ended. */
  async snapshot(): Promise<readonly RunEvent[]> {
    if (this.run.outcome !== undefined) return [];
    const events = this.run.events({ detached: true });
    const { value } = await events.next();
    await events.return?.();
    if (value?.type !== "snapshot") return [];
    const open = this.#open.events().filter(({ seq, type }) => seq <= value.seq && type !== "waiting");
    return [value, ...open];
  }

  /** Performs a method that a client calls. */
  perform(method: string, [first, second, third]: readonly any[]): unknown {
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
        return this.answer(first, second, third === true);
      case "claim":
        return this.#claim(first, second);
      case "unclaim":
        return this.#unclaim(first, second);
      case "abort":
      case "setPermissionMode":
      case "compact":
      case "addBudget":
      case "saved":
        return run[method](first);
    }
    throw unknownMethod(method);
  }

  /**
   * Answers a question. A resumed run may have to ask it again first. `waitsForFunctions`: only after the agent's
   * function that handles the question, if there is one.
   */
  async answer(questionId: number, answer: QuestionAnswer, waitsForFunctions = false): Promise<boolean> {
    const { run } = this;
    const give = async (): Promise<boolean> => {
      if (waitsForFunctions) await judged(run, questionId);
      return run.answer(questionId, answer);
    };
    if (await give()) return true;
    await this.#askedAgain(questionId);
    return give();
  }

  /**
   * Lets a page run a call of a page tool, or renews the claim of the page that runs it. Returns false if another
   * page runs the call, or if it is over.
   */
  async #claim(questionId: number, page: string): Promise<boolean> {
    if (!this.#questions.has(questionId)) await this.#askedAgain(questionId);
    const event = this.#questions.get(questionId);
    const call = event && pageCallOf(event);
    if (call === undefined) return false;
    if (call.page === undefined) return this.run.answer(questionId, pageAnswer({ claim: page }));
    if (call.page === page) this.#claims.renew(event);
    return call.page === page;
  }

  /** The page that claimed a call has disconnected. */
  #unclaim(questionId: number, page: string): boolean {
    const event = this.#questions.get(questionId);
    const isOfPage = event !== undefined && pageCallOf(event)?.page === page;
    return isOfPage && this.run.answer(questionId, pageAnswer({ left: page }));
  }

  /** Resolves when a resumed run has asked a question again, or will not. */
  async #askedAgain(questionId: number): Promise<void> {
    if (!this.#continues) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#asked.delete(hear);
        clearTimeout(timer);
        resolve();
      };
      const hear = (id: number): void => void (id === questionId && done());
      this.#asked.add(hear);
      const timer = setTimeout(done, ASKED_AGAIN_MS);
      void ended(this.run).then(done);
    });
  }
}

/**
 * Resolves when no function of the agent is deciding a question any more, or the run has ended. A page must not
 * decide what such a function is about to refuse. A host's run has no such functions here; its host waits for them.
 */
export async function judged(run: HandedRun, questionId: number): Promise<void> {
  // The function is called in the task that asks.
  if (run.decided !== undefined) await Promise.resolve();
  await Promise.race([run.decided?.(questionId), ended(run)]);
}

/** Resolves when a run has ended, with any outcome. */
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
