/**
 * A run as its transport has it: the chunks so far, for readers that come and go, and the answers that wait for their
 * questions. It hears every event of the run from its beginning, or from the snapshot that it begins with.
 */
import type { RunEvent } from "../../core/api/event.js";
import type { QuestionAnswer, Run } from "../../core/api/run.js";
import { message } from "../../core/options/thrown.js";
import { ChunkWriter, PAUSE_END, type UiStreamOptions } from "./chunk-writer.js";
import { questionOf, waitingPart, type UiAnswers } from "./questions.js";
import type { UiChunk, UiStream } from "./types.js";

/** The reason of a run that the page has stopped. */
export const STOP = "stopped by the user";

/** The run waits here for answers that come with a new request. */
const PAUSE = Symbol("pause");

export class GoingRun {
  readonly id: string;
  readonly #run: Run;
  readonly #writer: ChunkWriter;
  readonly #log: (UiChunk | typeof PAUSE)[] = [];
  /** Answers whose questions a run that goes on has not asked again. */
  readonly #answers = new Map<string, QuestionAnswer>();
  /** Readers that wait for the next chunk. */
  #wake: (() => void)[] = [];
  #isOver = false;
  /** The place behind what the page has got that answers. */
  #told = 0;
  /** The place behind a snapshot, which a page that answers has seen. */
  #past = 0;
  /** The questions that a page has answered. */
  readonly #taken = new Set<string>();
  #aborts: (() => void)[] = [];
  /** Resolves when the run has ended. */
  readonly ended: Promise<void>;
  /** Resolves when the run goes on, or cannot because another process has it. */
  readonly begun: Promise<void>;
  #begin!: () => void;

  /** `events` are those that came before the run was known; `listen` takes all later ones. */
  constructor(run: Run, options: UiStreamOptions, events: readonly RunEvent[]) {
    this.id = run.id;
    this.#run = run;
    this.#writer = new ChunkWriter(options, run.id);
    this.begun = new Promise((resolve) => (this.#begin = resolve));
    for (const event of events) this.listen(event);
    this.ended = run.result.then(
      () => this.#end(),
      // A run that could not begin has no events.
      (error: unknown) => this.#end(error),
    );
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  readonly listen = (event: RunEvent): void => {
    if (this.#isOver) return;
    this.#log.push(...this.#writer.feed(event));
    if (event.type === "snapshot") this.#past = this.#log.length;
    else if (event.type !== "error") this.#begin();
    if (this.#writer.isPause(event)) this.#log.push(...this.#writer.pauseChunks(), PAUSE);
    this.#answerWaiting();
    if (event.type === "finish") this.#end();
    this.#wakeAll();
  };

  abort(reason: string): void {
    this.#run.abort(reason);
  }

  /** Answers one question of the run, now or when it is asked again. */
  answer(id: string, answer: QuestionAnswer): boolean {
    const question = questionOf(id);
    if (question?.runId !== this.id || this.#isOver) return false;
    this.#answers.set(id, answer);
    this.#taken.add(id);
    this.#answerWaiting();
    return true;
  }

  /** Takes the answers of a message; false if none of them is for this run. */
  take({ approvals, outputs }: UiAnswers): boolean {
    let isMine = false;
    for (const [id, answer] of approvals) isMine = this.answer(id, answer) || isMine;
    for (const [toolCallId, answer] of outputs) {
      const open = [...this.#writer.questions].find(
        ([, question]) => question.kind === "client" && question.toolCallId === toolCallId,
      );
      if (open !== undefined) isMine = this.answer(open[0], answer) || isMine;
    }
    return isMine;
  }

  /** Whether a page has not got all of it. */
  get hasMore(): boolean {
    return this.#told < this.#log.length;
  }

  /** Whether no page has got any of it from here. */
  get isUntold(): boolean {
    return this.#told === 0;
  }

  /**
   * The chunks up to the next pause or the end: all from the beginning, or those that continue a message which
   * `isAnswered`. `signal` has `onAbort` called; a reader that goes does not stop the run.
   */
  stream(
    isAnswer: boolean,
    signal: AbortSignal | undefined,
    onAbort: () => unknown = () => this.abort(STOP),
  ): UiStream {
    let place = isAnswer ? this.#told : 0;
    this.#follow(signal, onAbort);
    return new ReadableStream<UiChunk>({
      start: (controller) => {
        if (isAnswer) controller.enqueue(waitingPart([]));
      },
      pull: async (controller) => {
        for (;;) {
          // A page that answers has seen what a snapshot tells.
          if (isAnswer) place = Math.max(place, this.#past);
          const next = this.#log[place];
          if (next === undefined && this.#isOver) return controller.close();
          if (next === undefined) {
            await new Promise<void>((resolve) => this.#wake.push(resolve));
            continue;
          }
          place += 1;
          this.#told = Math.max(this.#told, place);
          // An answer of another page has brought the run on.
          if (next === PAUSE && place < this.#log.length) continue;
          if (next === PAUSE) {
            for (const chunk of PAUSE_END) controller.enqueue(chunk);
            return controller.close();
          }
          if (isAnswer && this.#isTaken(next)) continue;
          return controller.enqueue(next);
        }
      },
    }) as UiStream;
  }

  /** Whether a chunk asks what the page has answered. */
  #isTaken(chunk: UiChunk): boolean {
    return chunk.type === "tool-approval-request" && this.#taken.has(chunk.approvalId);
  }

  #follow(signal: AbortSignal | undefined, onAbort: () => unknown): void {
    if (signal === undefined || this.#isOver) return;
    if (signal.aborted) return void onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#aborts.push(() => signal.removeEventListener("abort", onAbort));
  }

  #answerWaiting(): void {
    for (const [id, answer] of this.#answers) {
      const open = this.#writer.questions.get(id);
      if (open === undefined) continue;
      this.#answers.delete(id);
      this.#run.answer(open.questionId, answer);
    }
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#begin();
    if (error !== undefined) this.#log.push({ type: "error", errorText: message(error) });
    for (const drop of this.#aborts.splice(0)) drop();
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
