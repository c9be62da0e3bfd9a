/**
 * Replays of `.loop` files. A replay plays the inputs of a file in their order, with their moments, so the engine
 * tells the same events and asks for the same requests, calls and saves as in the run itself. Nothing of that is
 * performed.
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
import type { ToolInvocation } from "../../core/host/question.js";
import { loadWasm, type LoadedWasm } from "../../core/host/wasm.js";
import { describe } from "../../core/options/check.js";
import {
  journalIn,
  playing,
  readLoop,
  wrong,
  type LoopFile,
  type LoopInput,
  type LoopProcess,
} from "./loop-file.js";
import { Player, type Asked } from "./player.js";

/** A request that a step sent. Keys and headers are not part of it. */
export interface ReplayRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

/** A call of a tool that a step made. */
export interface ReplayCall {
  readonly agentPath: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** A question to one of your functions or to a person. */
export interface ReplayQuestion {
  /** What is asked: `permission`, `reconcile`, the name of a hook, … */
  readonly point: string;
  readonly data: unknown;
}

/** One input of a run, and everything that followed from it before the next one. */
export interface ReplayStep {
  readonly input: LoopInput;
  readonly events: readonly RunEvent[];
  readonly requests: readonly ReplayRequest[];
  readonly calls: readonly ReplayCall[];
  readonly questions: readonly ReplayQuestion[];
  /** The entries of the journal that were written. */
  readonly entries: readonly JournalEntry[];
}

/** The state of a run behind a step. */
export interface ReplayMoment {
  readonly messages: readonly Message[];
  readonly toolCalls: readonly ToolCallRecord[];
  /** The text of the latest answer so far. */
  readonly text: string;
  readonly output: unknown;
  readonly usage: Usage | null;
  readonly iterations: number;
  /** Undefined while the run goes on. */
  readonly outcome: OutcomeKind | undefined;
  /** The journal so far, from which `agent.resume` goes on. */
  readonly journal: readonly JournalEntry[];
}

/** A run that was played again. */
export interface Replay {
  /** The id of the run. */
  readonly id: string;
  /** A step for each input. */
  readonly steps: readonly ReplayStep[];
  /** All requests, in order. */
  readonly requests: readonly ReplayRequest[];
  /** The error with which the WebAssembly was lost in the last step: a defect of looplet. */
  readonly lost: string | undefined;
  /**
   * The state behind a step, an index of `steps`. It plays the run again up to there.
   *
   * @throws LoopletError `misuse_invalid_argument`
   */
  at(step: number): ReplayMoment;
}

/**
 * Plays the text of a `.loop` file: without a network, a key, tools or waiting. Events, requests, calls, questions
 * and the journal are those of the run. It needs the engine of an entry of looplet: `import "looplet"`.
 *
 * Rejects with a `LoopletError` of code `misuse_run_file` for a text that is not such a file.
 */
export async function replay(file: string): Promise<Replay> {
  const read = readLoop(file);
  return play(await loadWasm(), read);
}

/**
 * The journal of a run behind a step, an index of `replay(file).steps`. Give it to `agent.resume`: the run goes on
 * from there, with the options of that agent. A question that was open is asked again.
 *
 * Rejects with a `LoopletError` of code `misuse_run_file` or `misuse_invalid_argument`.
 */
export async function fork(file: string, at: number): Promise<readonly JournalEntry[]> {
  return (await replay(file)).at(at).journal;
}

/**
 * Plays a file that was read. `onCall` hears of each call of a tool, and `onRequest` of each request, with its number
 * in the file.
 *
 * @throws LoopletError `misuse_run_file`
 * @internal
 */
export function play(
  wasm: LoadedWasm,
  file: LoopFile,
  onCall: (call: ToolInvocation) => void = () => {},
  onRequest: (number: number, request: ReplayRequest) => void = () => {},
): Replay {
  const steps: ReplayStep[] = [];
  let lost: string | undefined;
  for (const process of file.processes) {
    const step = new Steps(onCall, onRequest);
    const player = playing(() => new Player(wasm, process, step));
    step.agent = (index) => player.agent(index);
    try {
      for (const input of process.inputs) {
        steps.push(step.begin(input));
        playing(() => player.step());
        lost = player.lost;
        if (lost !== undefined) break;
      }
    } finally {
      player.free();
    }
    if (lost !== undefined) break;
  }
  return {
    id: file.id,
    steps,
    requests: steps.flatMap(({ requests }) => requests),
    lost,
    at: (step) => playing(() => momentAt(wasm, file.processes, steps, step)),
  };
}

function momentAt(
  wasm: LoadedWasm,
  processes: readonly LoopProcess[],
  steps: readonly ReplayStep[],
  at: number,
): ReplayMoment {
  if (!Number.isInteger(at) || at < 0 || at >= steps.length) {
    const problem = `needs the index of a step, 0 to ${steps.length - 1}, got ${describe(at)}`;
    throw new LoopletError("misuse_invalid_argument", "at", problem);
  }
  let first = 0;
  let index = 0;
  while (at - first >= processes[index]!.inputs.length) first += processes[index++]!.inputs.length;
  const process = processes[index]!;
  const player = new Player(wasm, process, new Steps());
  try {
    for (let step = first; step <= at; step++) player.step();
    const result = player.result();
    if (result === undefined) throw wrong(`cannot be played: the WebAssembly was lost: ${player.lost}`);
    const { messages, toolCalls, text, output, usage, iterations } = result;
    const kept = journalIn(process) ?? [];
    return {
      messages: messages as Message[],
      toolCalls: toolCalls as ToolCallRecord[],
      text,
      output: output ?? undefined,
      usage,
      iterations,
      outcome: player.outcome()?.outcome,
      journal: [...kept, ...steps.slice(first, at + 1).flatMap(({ entries }) => entries)],
    };
  } finally {
    player.free();
  }
}

const DELTAS = ["text-delta", "reasoning-delta", "tool-input-delta"] as const;

/** Collects what the engine tells and asks for, by steps. */
class Steps implements Asked {
  agent: (index: number) => [path: string, toolCallId: string] = () => ["", ""];
  #events: RunEvent[] = [];
  #requests: ReplayRequest[] = [];
  #calls: ReplayCall[] = [];
  #questions: ReplayQuestion[] = [];
  #entries: JournalEntry[] = [];

  constructor(
    private readonly hearCall: (call: ToolInvocation) => void = () => {},
    private readonly hearRequest: (number: number, request: ReplayRequest) => void = () => {},
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

  onRequest(number: number, { method, url, body }: { method: string; url: string; body: Uint8Array }): void {
    const request = { method, url, body: new TextDecoder().decode(body) };
    this.hearRequest(number, request);
    this.#requests.push(request);
  }

  onCall(call: ToolInvocation): void {
    this.hearCall(call);
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
