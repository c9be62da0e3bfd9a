/**
 * A run as its transport sees it: the chunks so far, for readers that connect and disconnect, and the answers to its
 * questions. It receives every event of the run from the start, or from the snapshot that it starts with.
 */
import type { RunEvent } from "../../core/api/event.js";
import type { AgentTranscript } from "../../core/api/message.js";
import type { QuestionAnswer, Run } from "../../core/api/run.js";
import { reportUncaught } from "../../core/kit/runs.js";
import { message } from "../../core/kit/check.js";
import { judged } from "../../server/workers/hosting/hosted-run.js";
import { ChunkWriter, PAUSE_END, type OpenQuestion } from "./chunk-writer.js";
import { questionOf, waitingPart, type UiAnswers } from "./questions.js";
import type { UiChunk, UiStream, UiStreamOptions } from "./types.js";

/** The reason of a run that the page has stopped. */
export const STOP = "stopped by the user";

/** The run waits here for answers that come with a new request. */
const PAUSE = Symbol("pause");

export class StreamedRun {
  readonly id: string;
  readonly #run: Run;
  readonly #writer: ChunkWriter;
  readonly #log: (UiChunk | typeof PAUSE)[] = [];
  /** Readers that wait for the next chunk. */
  #wake: (() => void)[] = [];
  #isOver = false;
  #isHeld = false;
  /** The position up to which a page that answers has received chunks. */
  #sent = 0;
  /** The position up to which a page that answers has seen chunks: a snapshot, or a question that it has answered. */
  #past = 0;
  /** The answers of pages: to questions by their ids, and to calls of client tools by the ids of the calls. */
  readonly #taken = new Map<string, QuestionAnswer>();
  /** The questions with an answer that a function of the agent is checking. */
  readonly #given = new Set<number>();
  #aborts: (() => void)[] = [];
  /** Resolves when the run ends. */
  readonly ended: Promise<void>;
  /** Resolves when the run continues, or cannot because another process performs it. */
  readonly started: Promise<void>;
  #begin!: () => void;

  /**
   * `events` are those from before the run was known. `listen` subscribes to all later ones. `transcripts` have the
   * work of subagents before those events.
   */
  constructor(
    run: Run,
    options: UiStreamOptions,
    events: readonly RunEvent[],
    transcripts?: readonly AgentTranscript[],
  ) {
    this.id = run.id;
    this.#run = run;
    this.#writer = new ChunkWriter(options, run.id, transcripts);
    this.started = new Promise((resolve) => (this.#begin = resolve));
    for (const event of events) this.listen(event);
    this.ended = run.result.then(
      () => this.#end(),
      // A run that could not start has no events.
      (error: unknown) => this.#end(error),
    );
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether another page or process performs the run. Then this page can only show what is saved of it. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  readonly listen = (event: RunEvent): void => {
    if (this.#isOver) return;
    this.#log.push(...this.#writer.feed(event));
    if (event.type === "error") this.#isHeld = event.error.code === "run_held";
    if (event.type === "snapshot") this.#past = this.#log.length;
    else if (event.type !== "error") this.#begin();
    if (event.type === "question" && this.#answerOpen() && this.isUnread) this.#past = this.#log.length;
    if (this.#writer.isPause(event)) this.#log.push(...this.#writer.pauseChunks(), PAUSE);
    if (event.type === "finish") this.#end();
    this.#wakeAll();
  };

  abort(reason: string): void {
    this.#run.abort(reason);
  }

  /** Answers one question of the run, now or when it is asked again. */
  answer(id: string, answer: QuestionAnswer): boolean {
    if (questionOf(id)?.runId !== this.id || this.#isOver) return false;
    this.#taken.set(id, answer);
    this.#answerOpen();
    return true;
  }

  /**
   * Stores the answers of a message, for questions that are open or will be asked again. Returns false if the run is
   * over.
   */
  take({ approvals, outputs }: UiAnswers): boolean {
    if (this.#isOver || approvals.size + outputs.size === 0) return false;
    for (const [id, answer] of [...approvals, ...outputs]) this.#taken.set(id, answer);
    this.#answerOpen();
    return true;
  }

  /** Whether some chunks have not been sent to a page yet. */
  get hasMore(): boolean {
    return this.#sent < this.#log.length;
  }

  /** Whether no chunk has been sent to a page yet. */
  get isUnread(): boolean {
    return this.#sent === 0;
  }

  /**
   * The chunks up to the next pause or the end: all of them, or only those that continue an answered message.
   * `onAbort` is called when `signal` aborts. A reader that disconnects does not stop the run.
   */
  stream(
    isAnswer: boolean,
    signal: AbortSignal | undefined,
    onAbort: () => unknown = () => this.abort(STOP),
  ): UiStream {
    let place = isAnswer ? this.#sent : 0;
    this.#follow(signal, onAbort);
    return new ReadableStream<UiChunk>({
      start: (controller) => {
        if (isAnswer) controller.enqueue(waitingPart([]));
      },
      pull: async (controller) => {
        for (;;) {
          // A page that answers has seen everything before its questions.
          if (isAnswer) place = Math.max(place, this.#past);
          const isSeen = isAnswer && place === 0 && this.#taken.size > 0 && !this.#isOver;
          const next = isSeen ? undefined : this.#log[place];
          if (next === undefined && this.#isOver) return controller.close();
          if (next === undefined) {
            await new Promise<void>((resolve) => this.#wake.push(resolve));
            continue;
          }
          place += 1;
          this.#sent = Math.max(this.#sent, place);
          // An answer has continued the run, or will.
          if (next === PAUSE && (place < this.#log.length || (isAnswer && this.#isAnswered))) continue;
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

  /** Whether a chunk asks a question that the page has already answered. */
  #isTaken(chunk: UiChunk): boolean {
    return chunk.type === "tool-approval-request" && this.#taken.has(chunk.approvalId);
  }

  #follow(signal: AbortSignal | undefined, onAbort: () => unknown): void {
    if (signal == null || this.#isOver) return;
    if (signal.aborted) return void onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    this.#aborts.push(() => signal.removeEventListener("abort", onAbort));
  }

  /** Answers the open questions for which the page has sent an answer. Returns whether there were any. */
  #answerOpen(): boolean {
    let isAnswered = false;
    for (const [id, question] of this.#writer.questions) {
      const answer = this.#answerTo(id, question);
      if (answer === undefined) continue;
      isAnswered = true;
      void this.#give(question.questionId, answer);
    }
    return isAnswered;
  }

  /** Sends the first answer to a question, after the agent's function has checked it. */
  async #give(questionId: number, answer: QuestionAnswer): Promise<void> {
    if (this.#given.has(questionId)) return;
    this.#given.add(questionId);
    try {
      await judged(this.#run, questionId);
      this.#run.answer(questionId, answer);
    } catch (error) {
      reportUncaught(error);
    } finally {
      // If the run loses its engine, it asks again with the same number.
      this.#given.delete(questionId);
    }
  }

  #answerTo(id: string, { kind, toolCallId }: OpenQuestion): QuestionAnswer | undefined {
    return this.#taken.get(kind === "client" ? toolCallId : id) ?? this.#taken.get(id);
  }

  /** Whether no question waits for the page. Its answers may still be on their way to a host. */
  get #isAnswered(): boolean {
    const open = [...this.#writer.questions].filter(([, { kind }]) => kind !== "data");
    return open.every(([id, question]) => this.#answerTo(id, question) !== undefined);
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
