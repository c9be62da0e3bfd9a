/**
 * A run that is played in the engine as far as its inputs are available, and the state after each of its steps. The
 * engine is the only model of the run: the state after an earlier step is computed by playing from the start.
 */
import { LoopletError } from "../../core/api/errors.js";
import type {
  JournalEntry,
  Message,
  OutcomeKind,
  RunEvent,
  ToolCallRecord,
  Usage,
} from "../../core/api/index.js";
import type { ToolInvocation, LoadedWasm } from "../../core/kit/engine.js";
import { describe } from "../../core/kit/check.js";
import { journalIn, playing, wrong, type LoopInput, type LoopProcess } from "./loop-file.js";
import { Player, type Asked } from "./player.js";

/** A request of a run. Keys and headers are not part of it. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

/**
 * A request that a step sent. The first `body` that is read plays the run once more, which then has all of them.
 *
 * @beta
 */
export interface ReplayRequest extends SentRequest {
  /** The number by which the inputs of its process name it. */
  readonly number: number;
}

/** A call of a tool that a step made. @beta */
export interface ReplayCall {
  readonly agentPath: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** A question to one of your functions or to the user. @beta */
export interface ReplayQuestion {
  /** What is asked: `permission`, `reconcile`, the name of a hook, … */
  readonly point: string;
  readonly data: unknown;
}

/** One input of a run, and everything that followed from it before the next one. @beta */
export interface ReplayStep {
  readonly input: LoopInput;
  readonly events: readonly RunEvent[];
  readonly requests: readonly ReplayRequest[];
  readonly calls: readonly ReplayCall[];
  readonly questions: readonly ReplayQuestion[];
  /** The entries of the journal that were written. */
  readonly entries: readonly JournalEntry[];
}

/** The state of a run after a step. @beta */
export interface ReplayMoment {
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCallRecord[];
  /** The text of the latest answer so far. */
  readonly text: string;
  readonly output: unknown;
  readonly usage: Usage | null;
  readonly iterations: number;
  /** Undefined while the run is in progress. */
  readonly outcome: OutcomeKind | undefined;
  /** The journal so far, from which `agent.resume` continues. */
  readonly journal: readonly JournalEntry[];
}

/** Receives what the engine requests, when it requests it. */
export interface Hearing {
  onCall?(call: ToolInvocation): void;
  onRequest?(request: ReplayRequest): void;
}

/** A process of the run, and the index of its first step. */
export interface ProcessStart {
  readonly process: LoopProcess;
  readonly first: number;
}

/** A player positioned after the last step that it played. */
interface Cursor {
  readonly begun: ProcessStart;
  readonly player: Player;
  /** The index of the step that it plays next. */
  next: number;
}

export class Playback {
  /** A step for each input that was played. */
  readonly steps: ReplayStep[] = [];
  /** The error that ended the WebAssembly in the last step: a bug in looplet. */
  lost: string | undefined;
  readonly #wasm: LoadedWasm;
  readonly #hearing: Hearing;
  readonly #processes: ProcessStart[] = [];
  /** Plays the inputs that come. */
  #head: (Cursor & { readonly steps: Steps }) | undefined;
  /** Positioned at an earlier step that was inspected. */
  #cursor: Cursor | undefined;
  #requests = 0;
  #bodies: readonly string[] = [];

  /** @internal */
  constructor(wasm: LoadedWasm, hearing: Hearing = {}) {
    this.#wasm = wasm;
    this.#hearing = hearing;
  }

  /**
   * The run starts in a process, or resumes in another one. `advance` plays the inputs of `process`, which may grow.
   *
   * @throws LoopletError `misuse_run_file`
   */
  begin(process: LoopProcess): void {
    this.#free(this.#head);
    const begun = { process, first: this.steps.length };
    const steps = new Steps(this.#hearing, () => this.#lazyBody());
    const player = playing(() => new Player(this.#wasm, process, steps));
    steps.agent = (index) => player.agent(index);
    this.#processes.push(begun);
    this.#head = { begun, player, steps, next: begun.first };
  }

  /**
   * Plays the inputs that were added since the last call, until `isEnough`. Returns true if none is left.
   *
   * @throws LoopletError `misuse_run_file`
   */
  advance(isEnough: () => boolean = () => false): boolean {
    const head = this.#head;
    if (head === undefined) return true;
    const { begun, player, steps } = head;
    const { inputs } = begun.process;
    while (this.lost === undefined && head.next - begun.first < inputs.length && !isEnough()) {
      this.steps.push(steps.begin(inputs[head.next++ - begun.first]!));
      playing(() => player.step());
      this.lost = player.lost;
    }
    return this.lost !== undefined || head.next - begun.first === inputs.length;
  }

  /**
   * The state after a step, an index of `steps`.
   *
   * @throws LoopletError `misuse_invalid_argument`, `misuse_run_file`
   */
  at(step: number): ReplayMoment {
    if (!Number.isInteger(step) || step < 0 || step >= this.steps.length) {
      const problem = `needs the index of a step, 0 to ${this.steps.length - 1}, got ${describe(step)}`;
      throw new LoopletError("misuse_invalid_argument", "at", problem);
    }
    return playing(() => this.#momentOf(this.#movedTo(step), step));
  }

  /**
   * The journal up to a step, from which `agent.resume` continues. `input` replaces the step's own input.
   *
   * @throws LoopletError `misuse_run_file` for an input that the engine cannot accept
   */
  journalAt(step: number, input?: LoopInput["input"]): readonly JournalEntry[] {
    const { process, first } = this.processOf(step);
    if (input === undefined) {
      const written = this.steps.slice(first, step + 1).flatMap(({ entries }) => entries);
      return [...(journalIn(process) ?? []), ...written];
    }
    const inputs = process.inputs.slice(0, step - first + 1);
    const last = inputs.pop()!;
    const changed = { ...process, inputs: [...inputs, { ...last, input }] };
    return this.#again(changed, {}, undefined, (again) => again.journalAt(step - first));
  }

  /** The bodies of requests, by their indexes among all requests of the run. Plays the run up to the last of them. */
  bodies(indexes: readonly number[]): string[] {
    const left = new Set(indexes);
    const found = new Map<number, string>();
    let index = 0;
    const onRequest = (request: ReplayRequest): void => {
      if (left.delete(index)) found.set(index, request.body);
      index++;
    };
    for (const { process } of this.#processes) {
      if (left.size === 0) break;
      this.#again(
        process,
        { onRequest },
        () => left.size === 0,
        () => {},
      );
    }
    return indexes.map((wanted) => found.get(wanted) ?? "");
  }

  /** Frees the memory of the engine. The steps stay, and `at` allocates memory again. */
  close(): void {
    this.#free(this.#head);
    this.#free(this.#cursor);
    this.#head = this.#cursor = undefined;
  }

  #movedTo(step: number): Cursor {
    if (this.#head?.next === step + 1 && this.lost === undefined) return this.#head;
    const begun = this.processOf(step);
    if (this.#cursor === undefined || this.#cursor.begun !== begun || this.#cursor.next > step + 1) {
      this.#free(this.#cursor);
      this.#cursor = undefined;
      const player = new Player(this.#wasm, begun.process, new Steps());
      this.#cursor = { begun, player, next: begun.first };
    }
    const cursor = this.#cursor;
    for (; cursor.next <= step; cursor.next++) cursor.player.step();
    return cursor;
  }

  /** The process in which a step was made. */
  processOf(step: number): ProcessStart {
    let index = this.#processes.length - 1;
    while (index > 0 && this.#processes[index]!.first > step) index--;
    return this.#processes[index]!;
  }

  #momentOf({ player }: Cursor, step: number): ReplayMoment {
    const result = player.result();
    if (result === undefined) throw wrong(`cannot be played: the WebAssembly was lost: ${player.lost}`);
    const { messages, toolCalls, text, output, usage, iterations } = result;
    return {
      messages: messages as Message[],
      toolCalls: toolCalls as ToolCallRecord[],
      text,
      output: output ?? undefined,
      usage,
      iterations,
      outcome: player.outcome()?.outcome,
      journal: this.journalAt(step),
    };
  }

  /** Reads the body of the next request on demand. */
  #lazyBody(): () => string {
    const at = this.#requests++;
    return () => {
      if (at >= this.#bodies.length) this.#bodies = this.bodies([...Array(this.#requests).keys()]);
      return this.#bodies[at]!;
    };
  }

  /** Plays a process once more, as far as it takes. */
  #again<T>(
    process: LoopProcess,
    hearing: Hearing,
    isEnough: (() => boolean) | undefined,
    read: (again: Playback) => T,
  ): T {
    const again = new Playback(this.#wasm, hearing);
    try {
      again.begin(process);
      again.advance(isEnough);
      return read(again);
    } finally {
      again.close();
    }
  }

  #free(cursor: Cursor | undefined): void {
    cursor?.player.free();
  }
}

const DELTAS = ["text-delta", "reasoning-delta", "tool-input-delta"] as const;

/** Collects what the engine emits and requests, by steps. */
class Steps implements Asked {
  agent: (index: number) => [path: string, toolCallId: string] = () => ["", ""];
  #events: RunEvent[] = [];
  #requests: ReplayRequest[] = [];
  #calls: ReplayCall[] = [];
  #questions: ReplayQuestion[] = [];
  #entries: JournalEntry[] = [];

  constructor(
    private readonly hearing: Hearing = {},
    private readonly lazyBody: () => () => string = () => () => "",
  ) {}

  begin(input: LoopInput): ReplayStep {
    const events = (this.#events = []);
    const requests = (this.#requests = []);
    const calls = (this.#calls = []);
    const questions = (this.#questions = []);
    const entries = (this.#entries = []);
    return { input, events, requests, calls, questions, entries };
  }

  onDelta(
    kind: 0 | 1 | 2,
    text: string,
    block: number,
    seq: number,
    agent: number,
    iteration: number,
    attempt: number,
  ): void {
    this.#events.push({ type: DELTAS[kind], seq, ...this.#originOf(agent), iteration, attempt, block, text });
  }

  onEvent(event: RunEvent, agent: number): void {
    this.#events.push(agent === 0 ? event : { ...event, ...this.#originOf(agent) });
  }

  onRequest(number: number, { method, url, body }: Parameters<Asked["onRequest"]>[1]): void {
    let read: (() => string) | undefined = () => new TextDecoder().decode(body());
    const later = this.lazyBody();
    const request: ReplayRequest = {
      number,
      method,
      url,
      get body() {
        return read === undefined ? later() : read();
      },
    };
    this.hearing.onRequest?.(request);
    // The memory of the body is used again from here on.
    read = undefined;
    this.#requests.push(request);
  }

  onCall(call: ToolInvocation): void {
    this.hearing.onCall?.(call);
    const { agent, toolCallId, toolName, input } = call;
    const { agentPath } = this.#originOf(agent);
    this.#calls.push({ agentPath, toolCallId, toolName, input });
  }

  onQuestion({ point, data }: Parameters<Asked["onQuestion"]>[0]): void {
    this.#questions.push({ point, data: data as unknown });
  }

  onEntries(entries: readonly JournalEntry[]): void {
    this.#entries.push(...entries);
  }

  onHostError(error: unknown): void {
    throw error;
  }

  #originOf(agent: number): { agentPath: string; parentToolCallId?: string } {
    if (agent === 0) return { agentPath: "root" };
    const [agentPath, parentToolCallId] = this.agent(agent);
    return { agentPath, parentToolCallId };
  }
}
