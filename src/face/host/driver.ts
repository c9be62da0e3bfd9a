/**
 * The JavaScript side of a run's handle: hands answers in, calls the functions of {@link HostCallbacks}.
 *
 * The room `host/` is the JavaScript half of the shell: it loads the WebAssembly, sends requests, adds keys, reads
 * bodies, keeps the timer, and notices a lost instance. It decides nothing, and it never gives a secret to the engine.
 * A run makes a driver and calls it; the handle in WebAssembly (`src/shell`) calls back.
 *
 * Contract: the callbacks may call any method of the driver; outputs that follow are performed after they have
 * returned, but `outcome()` is set when `abort()` returns.
 */
import type { BatchListener } from "./batch.js";
import { withHistory } from "./history.js";
import { Shell } from "./shell.js";
import type { Answer, Question, ToolInvocation, ToolReturn } from "./question.js";
import type { Block, Outcome } from "../api/index.js";
import { Tell, type LoadedWasm } from "./wasm.js";
import { message } from "../options/thrown.js";

export type * from "./question.js";

/** What the host does for a run. Whatever these throw goes to `onHostError`, or answers the request. */
export interface HostCallbacks extends BatchListener {
  /** The host's `fetch`, already bound. `headers` are a `Headers`, `body` a string; `model`: whose request it is. */
  fetch(url: string, init: RequestInit, model: number): Promise<ResponseLike> | ResponseLike;
  /** Adds the key just before `fetch`; returns the headers to send. A rejection means that nothing is sent. */
  authorize(request: AuthorizeRequest): [string, string][] | Promise<[string, string][]>;
  callTool(invocation: ToolInvocation): void;
  abortTool(call: number, why: string): void;
  ask(question: number, ask: Question): void;
  /** The outcome is set; nothing follows. Also called inside `abort()`. */
  done(): void;
  /** Milliseconds since the epoch; `Date.now` if it is not there. */
  now?: (() => number) | undefined;
  /** In `[0, 1)`. */
  random(): number;
  setTimer(callback: () => void, delayMs: number): unknown;
  clearTimer(handle: unknown): void;
}

/** A request before its key is added. */
export interface AuthorizeRequest {
  method: string;
  url: string;
  headers: [string, string][];
  /** Where the key goes; `header` is lower case, or empty when the vendor wants none. */
  auth: { header: string; prefix: string };
  /** The `slot` of the model that is asked. */
  model: number;
  body: string;
}

/** What `fetch` may return: a `Response`, or anything that looks like one. */
export interface ResponseLike {
  status: number;
  headers?: unknown;
  body?: unknown;
  arrayBuffer?(): Promise<ArrayBuffer>;
  text?(): Promise<string>;
}

/** The engine's `RunResult`, as its JSON has it. */
export interface RawRunResult extends Partial<Record<keyof Outcome, unknown>> {
  text: string;
  output: unknown;
  toolCalls: unknown[];
  messages: unknown[];
  subagents: unknown[];
  usage: { [count: string]: unknown };
  costNanoUsd: number | null;
  iterations: number;
  finishReason: string | null;
  rawFinishReason: string | null;
  undelivered: string[];
}

/** Owns the handle of one run in WebAssembly. `free()` gives it back; afterwards the driver is inert. */
export class RunDriver {
  private readonly shell: Shell;

  /** Throws `{ field, problem }` for a configuration that cannot run. */
  constructor(wasm: LoadedWasm, configJson: string, host: HostCallbacks) {
    this.shell = new Shell(wasm, configJson, host);
  }

  start(content: readonly Block[]): void {
    this.shell.tell(Tell.Start, 0, JSON.stringify(content));
  }

  steer(id: number, content: readonly Block[]): void {
    this.shell.tell(Tell.Steer, id, JSON.stringify(content));
  }

  followUp(id: number, content: readonly Block[]): void {
    this.shell.tell(Tell.FollowUp, id, JSON.stringify(content));
  }

  /** Whether the steer or follow-up was still undelivered. */
  withdraw(id: number): boolean {
    return this.shell.tell(Tell.Withdraw, id) !== undefined;
  }

  /** Synchronous: `outcome()` is set on return. */
  abort(why: string): void {
    this.shell.tell(Tell.Abort, 0, why);
  }

  /** `mode`: its place in the engine's list. */
  setMode(mode: number): void {
    this.shell.tell(Tell.SetMode, mode);
  }

  /** `instructions`: empty for none. */
  compact(instructions: string): void {
    this.shell.tell(Tell.Compact, 0, instructions);
  }

  /** Whether its agent is at work. */
  addBudget(budget: object): boolean {
    return this.shell.tell(Tell.AddBudget, 0, JSON.stringify(budget)) !== undefined;
  }

  /** `model`: the engine's `ModelConfig`. Throws `{ field, problem }` for one that cannot be asked. */
  setModel(model: object): void {
    this.shell.tell(Tell.SetModel, 0, JSON.stringify(model));
  }

  /** An agent's path, and the provider's id of the call that it answers; empty for the root. */
  agent(index: number): [path: string, toolCallId: string] {
    const [path = "", toolCallId = ""] = (this.shell.tell(Tell.Agent, index) ?? "").split("\n");
    return [path, toolCallId];
  }

  toolFinished(call: number, result: ToolReturn): void {
    const last = result.terminate === true ? `,"terminate":true` : "";
    const json = "value" in result ? `{"value":${result.value}${last}}` : JSON.stringify(result);
    this.shell.tell(Tell.ToolFinished, call, json);
  }

  toolProgress(call: number, dataJson: string): void {
    this.shell.tell(Tell.ToolProgress, call, dataJson);
  }

  /** Whether the question was still open, and the answer of its kind. */
  answer(question: number, answer: Answer): boolean {
    return this.shell.tell(Tell.Answer, question, answerJson(answer)) !== undefined;
  }

  /** How the run ended; undefined while it runs. */
  outcome(): Outcome | undefined {
    return this.shell.outcome();
  }

  /** Everything that the run has to show, at any time before `free()`; undefined when its instance is lost. */
  result(): RawRunResult | undefined {
    const json = this.shell.tell(Tell.Result);
    const bytes = this.shell.enter((handle) => handle.history());
    const text = this.shell.tell(Tell.Text);
    if (json === undefined || bytes === undefined || text === undefined) return undefined;
    return withHistory({ ...(JSON.parse(json) as RawRunResult), text }, bytes);
  }

  /** What is worth crossing the boundary; the numbering of events does not depend on it. Default: everything. */
  want(kinds: { text: boolean; reasoning: boolean; toolInput: boolean; events: boolean }): void {
    const { text, reasoning, toolInput, events } = kinds;
    this.shell.tell(Tell.Want, +text | (+reasoning << 1) | (+toolInput << 2) | (+events << 3));
  }

  /** Ends what is open, silently, and gives the memory back. May be called inside a callback, and twice. */
  free(): void {
    this.shell.free();
  }

  [Symbol.dispose](): void {
    this.shell.free();
  }
}

/** What JSON cannot hold is a failure of whoever was asked: the question must not stay open for it. */
function answerJson(answer: Answer): string {
  try {
    return JSON.stringify(answer);
  } catch (error) {
    return JSON.stringify({ failed: { why: `the answer cannot be written as JSON: ${message(error)}` } });
  }
}
