/**
 * What the face needs of the driver, which owns the engine's state on the wasm side. The face gives each run's driver
 * its callbacks and never calls into wasm itself.
 */
import type { ToolReturn } from "./tool-result.js";
import type { Message, Outcome, OutcomeKind, RunEvent, RunResult, ContentBlock } from "./types.js";

/** What the driver asks of the face. */
export interface Host {
  fetch(url: string, init: RequestInit): Promise<Response>;
  authorize(request: {
    method: string;
    url: string;
    headers: [string, string][];
    auth: { header: string; prefix: string };
    body: Uint8Array;
  }): [string, string][] | Promise<[string, string][]>;
  callTool(invocation: ToolInvocation): void;
  abortTool(call: number, why: string): void;
  ask(question: number, ask: { prepareCalls?: PrepareCalls }): void;
  /** `kind`: 0 text, 1 reasoning, 2 tool input. */
  onDelta(
    kind: 0 | 1 | 2,
    text: string,
    block: number,
    seq: number,
    agent: number,
    iteration: number,
    attempt: number,
  ): void;
  onEvent(event: RunEvent): void;
  done(): void;
  now(): number;
  random(): number;
  setTimer(callback: () => void, delayMs: number): unknown;
  clearTimer(timer: unknown): void;
  onHostError(error: unknown): void;
}

/** The face's side of one run in the engine. */
export interface Driver {
  start(content: ContentBlock[]): void;
  steer(id: number, content: ContentBlock[]): void;
  followUp(id: number, content: ContentBlock[]): void;
  withdraw(id: number): boolean;
  abort(why: string): void;
  toolFinished(call: number, result: ToolReturn): void;
  toolProgress(call: number, dataJson: string): void;
  answer(question: number, answer: QuestionAnswer): boolean;
  outcome(): Outcome | undefined;
  result(): RawRunResult;
  want(kinds: Wanted): void;
  free(): void;
}

/** A call of a tool; `input` is JSON text. */
export interface ToolInvocation {
  call: number;
  toolCallId: string;
  toolName: string;
  input: string;
  iteration: number;
}

export interface PrepareCalls {
  calls: ToolInvocation[];
}

export interface PreparedCall {
  /** The validated input, when it differs from what the model wrote. */
  input?: unknown;
  resourceKey?: string;
  problem?: string;
}

export type QuestionAnswer = { prepared: PreparedCall[] } | { failed: { why: string } };

/** What is worth carrying out of the engine. */
export interface Wanted {
  text: boolean;
  reasoning: boolean;
  toolInput: boolean;
  events: boolean;
}

/** The engine's `RunResult` as JSON; the outcome's fields are missing while the run goes on. */
export type RawRunResult = Omit<RunResult, "outcome" | "costUsd" | "costBasis" | "messages"> & {
  outcome?: OutcomeKind;
  messages: Message[];
};

/** Opens a run in the engine. Throws `{ field, problem }` for a configuration that the engine refuses. */
export type OpenRun = (configJson: string, host: Host) => Driver;

/** Starts the engine once and gives the function that opens runs; rejects when the wasm cannot be loaded. */
export type LoadEngine = () => Promise<OpenRun>;
