/**
 * The JavaScript side of a run's handle: hands answers in, and calls the functions of {@link HostCallbacks}.
 *
 * The room `host/` is the JavaScript half of the shell: it loads the WebAssembly, sends requests, adds keys, reads
 * bodies, keeps the timer, and notices a lost instance. It decides nothing, and it never gives a secret to the
 * engine. A run makes a driver and calls it; the handle in WebAssembly (`src/shell`) calls back. A request that fails
 * becomes a failure for the engine. A lost instance ends its runs as `failed` with code `bug`, except for runs with a
 * journal, which resume in a fresh instance. Without a journal only the text of the latest answer that a listener has
 * received is retained; earlier answers, calls and usage are lost.
 *
 * Contract: the callbacks may call any method of the driver. Outputs that follow are performed after the callback has
 * returned, but `outcome()` is set when `tell({ cancel })` returns.
 */
import type { BatchListener } from "./batch.js";
import { batchesOf, type JournalText } from "./entries.js";
import { withHistory, type History } from "./history.js";
import { isProblem } from "./instance.js";
import { Shell, type Handle } from "./shell.js";
import type { Answer, HookAnswer, HostOutput, ToolReturn } from "./question.js";
import type { AgentTranscript, FetchInit, JournalEntry, Outcome, RunRecord, Usage } from "../api/index.js";
import type { HostBytes } from "../api/platform.js";
import type { Input } from "../generated/input.js";
import type { JournalTail, StreamedBlock } from "../generated/model.js";
import type { LoadedWasm } from "./wasm.js";
import { normalUpdates, readingsOf } from "../options/readings.js";
import { message } from "../options/thrown.js";

export type * from "./question.js";

/**
 * Your functions and the platform's, for one run. An error that one throws goes to `onHostError`, or answers the
 * request.
 */
export interface HostCallbacks extends BatchListener {
  /** The `fetch` to use, already bound. `model` is the model's slot. */
  fetch(url: string, init: FetchInit, model: number): Promise<ResponseLike> | ResponseLike;
  /** Adds the key just before `fetch`; returns the headers to send. A rejection means that nothing is sent. */
  authorize(request: AuthorizeRequest): [string, string][] | Promise<[string, string][]>;
  /** Calls, stops and answers tools; asks and withdraws questions. */
  perform(output: HostOutput): void;
  /** Writes entries of the journal. The answer comes later, as the input `saved`. */
  save(save: number, entries: readonly JournalEntry[]): void;
  /** Records the inputs of the run. Default: no recording. */
  record?: RunRecord | undefined;
  /** Called when the instance is lost. Returns true if the run continues without this driver. Default: false. */
  lost?(): boolean;
  /** Called when the outcome is set; nothing follows. `cancel` may call it before it returns. */
  done(): void;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  now?: (() => number) | undefined;
  /** A random number in `[0, 1)`. */
  random(): number;
  setTimer(callback: () => void, delayMs: number): unknown;
  clearTimer(handle: unknown): void;
}

/** The end of a chat's journal, and the number of messages that it has of the transcript. */
export type ChatEnd = Pick<JournalTail, "seq" | "whole" | "leftOut" | "messages" | "requests">;

/** The JSON of a new run's options, or the journal of a run that resumes. */
export type RunSource = string | JournalText;

/** A request before its key is added. */
export interface AuthorizeRequest {
  method: string;
  url: string;
  headers: [string, string][];
  /** The header for the key; `header` is lower case, or empty if the vendor needs no key. */
  auth: { header: string; prefix: string };
  /** The `slot` of the model. */
  model: number;
  /** The bytes that go to `fetch`. */
  body: HostBytes;
}

/** A `Response`, or an object that looks like one. */
export interface ResponseLike {
  status: number;
  /** `opaqueredirect` for a redirect whose target a browser hides. */
  type?: string;
  /** True when `fetch` has followed a redirect itself; `url` is then the address that has answered. */
  redirected?: boolean;
  url?: string;
  headers?: unknown;
  body?: unknown;
  arrayBuffer?(): Promise<ArrayBuffer>;
  text?(): Promise<string>;
}

/** The parts of a run's result that the engine has, except for its outcome. */
export interface RawRunResult extends History {
  text: string;
  output: unknown;
  usage: Usage | null;
  chatUsage: Usage | null;
  modelUsage: { [model: string]: Usage | null };
  durationMs: number;
  apiDurationMs: number;
  costNanoUsd: number | null;
  iterations: number;
  finishReason: string | null;
  rawFinishReason: string | null;
  stopDetails?: unknown;
  undelivered: number[];
  streaming?: StreamedBlock[];
}

/** The result of a tool as the engine reads it. */
export function returnedJson({ terminate, ...returned }: ToolReturn): string {
  // The value is JSON text already.
  const result = "value" in returned ? `{"value":${returned.value}}` : JSON.stringify(returned);
  return terminate === true ? `{"last":${result}}` : result;
}

/** Owns the handle of one run in WebAssembly. `free()` frees it; afterwards the driver does nothing. */
export class RunDriver {
  private readonly shell: Shell;

  /**
   * `config` is the JSON of the agent's configuration, `options` that of the run's, or a journal. Throws
   * `{ field, problem }` for a configuration that cannot run, or for a history that is not legal.
   */
  constructor(wasm: LoadedWasm, config: string, options: RunSource, host: HostCallbacks) {
    this.shell = new Shell(wasm, config, options, host);
  }

  /**
   * Gives the engine an input; false if it has no effect any more. Throws `{ field, problem }` for one that the
   * engine refuses. It is synchronous: `outcome()` is set on return from `cancel`.
   */
  tell(input: Input): boolean {
    return this.shell.handleInput(input);
  }

  /** Continues at this end of a chat's journal. Called before the first input. `run` is the id of the run. */
  follow(end: ChatEnd, run: string): void {
    this.shell.enter((handle) => handle.follow(JSON.stringify(end), run));
  }

  /** Lets `result()` show the results of the open round of a journal, which is only read then. */
  recall(): void {
    this.shell.enter((handle) => handle.recall());
  }

  /**
   * The transcripts of all agents of a journal; undefined if the instance is lost. Throws `{ field, problem }` for a
   * journal that cannot be read.
   */
  transcripts(journal: JournalText): AgentTranscript[] | undefined {
    const bytes = this.shell.enter((handle) => handle.transcripts(batchesOf(journal)));
    return bytes === undefined
      ? undefined
      : (JSON.parse(new TextDecoder().decode(bytes)) as AgentTranscript[]);
  }

  /** The end of the run's journal; undefined if the instance is lost. */
  tail(): JournalTail | undefined {
    const json = this.shell.enter((handle) => handle.tail());
    return json === undefined ? undefined : (JSON.parse(json) as JournalTail);
  }

  /** An agent's path, and the provider's id of the call that it answers, which is empty for the root. */
  agent(index: number): [path: string, toolCallId: string] {
    const [path = "", toolCallId = ""] = (this.shell.enter((handle) => handle.agent(index)) ?? "").split(
      "\n",
    );
    return [path, toolCallId];
  }

  toolFinished(call: number, result: ToolReturn): void {
    const problem = this.refused(`{"toolFinished":{"call":${call},"result":${returnedJson(result)}}}`);
    if (problem === undefined) return;
    const fault = { code: "tool_failed", message: problem, hint: "", recoverable: true };
    this.shell.handleInput({ toolFinished: { call, result: { fault } } });
  }

  /** Reports progress. `dataJson` is JSON text; any other text is dropped. */
  toolProgress(call: number, dataJson: string): void {
    this.refused(`{"toolProgress":{"call":${call},"data":${dataJson}}}`);
  }

  /** Asks a person for a running call, with the number of its question, from 1. The answer comes by `answerTool`. */
  toolAsks(call: number, number: number, requestJson: string): void {
    this.required(`{"toolAsks":{"call":${call},"number":${number},"request":${requestJson}}}`);
  }

  /** Saves the state of a running call, or clears it. The call has asked `asked` questions before. */
  toolCheckpoint(call: number, stateJson: string | undefined, asked: number): void {
    const state = stateJson ?? null;
    this.required(`{"toolCheckpoint":{"call":${call},"state":${state},"asked":${asked}}}`);
  }

  /** True for a path that a rule withholds from a running call. */
  withholds(call: number, path: string): boolean {
    const composed = path.normalize("NFC");
    const other = composed === path ? undefined : composed;
    return this.shell.enter((handle) => handle.withholds(call, path, other)) ?? true;
  }

  /**
   * Answers a question; false if it is closed or takes no such answer. `texts` are the texts of the question whose
   * readings the engine wants.
   */
  answer(question: number, answer: Answer, texts: readonly string[] = []): boolean {
    try {
      return this.shell.handleJson(
        `{"answered":{"question":${question},"answer":${answerJson(answer, texts)}}}`,
      );
    } catch (error) {
      // An answer that JSON cannot hold, or that the engine refuses, must still close the question.
      const why = isProblem(error)
        ? wordsOf(error)
        : `the answer cannot be written as JSON: ${message(error)}`;
      return this.shell.handleInput({ answered: { question, answer: { failed: { why } } } });
    }
  }

  /** The number of requests under way. */
  get requests(): number {
    return this.shell.requests.size;
  }

  /** The outcome of the run; undefined while it runs. */
  outcome(): Outcome | undefined {
    return this.shell.outcome();
  }

  /** The run's result so far, at any time before `free()`; undefined if its instance is lost. */
  result(): RawRunResult | undefined {
    return readResult((read) => this.shell.enter(read));
  }

  /** @throws TypeError for an input that the engine refuses */
  private required(json: string): void {
    const problem = this.refused(json);
    if (problem !== undefined) throw new TypeError(problem);
  }

  /** The problem of an input, if the engine refuses it. */
  private refused(json: string): string | undefined {
    try {
      this.shell.handleJson(json);
    } catch (error) {
      if (!isProblem(error)) throw error;
      return wordsOf(error);
    }
    return undefined;
  }

  /** Selects the events that cross the boundary; their numbers do not depend on it. Default: all. */
  want(kinds: { text: boolean; reasoning: boolean; toolInput: boolean; events: boolean }): void {
    const { text, reasoning, toolInput, events } = kinds;
    this.shell.enter((handle) => handle.want(text, reasoning, toolInput, events));
  }

  /** Ends everything that is open, silently, and frees the memory. It may be called inside a callback, and twice. */
  free(): void {
    this.shell.free();
  }

  [Symbol.dispose](): void {
    this.shell.free();
  }
}

/** Reads a result. `enter` calls the handle, and returns undefined if the instance is lost. */
export function readResult(
  enter: <T>(read: (handle: Handle) => T) => T | undefined,
): RawRunResult | undefined {
  const read = enter((handle) => ({
    report: handle.report(),
    history: handle.history(),
    text: handle.text(),
  }));
  if (read === undefined) return undefined;
  const { report, history, text } = read;
  // A text that this engine of JavaScript cannot hold throws here, outside of the WebAssembly, which is intact.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const told = JSON.parse(decoder.decode(report)) as RawRunResult;
  return withHistory({ ...told, text: decoder.decode(text) }, history);
}

/** The answer as JSON, with the platform's readings of the texts that rules compare. */
function answerJson(answer: Answer, texts: readonly string[]): string {
  const changed = (
    "hook" in answer
      ? answer.hook
      : "permission" in answer
        ? answer.permission
        : "classified" in answer
          ? answer.classified
          : answer
  ) as Partial<HookAnswer>;
  const isPlain = changed.updatedInput === undefined && changed.updatedPermissions === undefined;
  if (isPlain && texts.length === 0) return JSON.stringify(answer);
  // Rules also compare the inputs that an answer brings.
  const found = [...texts];
  const json = JSON.stringify(answer, function (this: unknown, key: string, value: unknown) {
    if (typeof value === "string") found.push(value);
    return this === changed && key === "updatedPermissions" ? normalUpdates(value) : value;
  });
  const readings = readingsOf(found);
  return readings.length === 0 ? json : `{"read":{"readings":${JSON.stringify(readings)},"answer":${json}}}`;
}

/**
 * A problem of the engine in one line. A field that begins with `answer` or `result` is left out, because it means
 * nothing to users.
 */
function wordsOf({ field, problem }: { field: string; problem: string }): string {
  return `${field.split(".").slice(1).join(".")} ${problem}`.trimStart();
}
