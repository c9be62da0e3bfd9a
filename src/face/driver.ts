/**
 * The JavaScript side of a run's handle: hands the host's answers in, calls the host's functions, and holds what a run
 * has open in JavaScript (its timer, its pumps). It decides nothing.
 *
 * Contract: the host's functions may call any method of the driver; outputs that follow are performed after they have
 * returned, but `outcome()` is set when `abort()` returns.
 */
import { report, type BatchListener, type BatchReader } from "./batch.js";
import { describe, discard, flatTexts, flatten, headerPairs, isThenable } from "./exchange.js";
import { withHistory } from "./history.js";
import { instanceOf, trapped, type Instance } from "./instance.js";
import { Pump } from "./pump.js";
import { redact, RedactedBody, secretsOf } from "./redact.js";
import type { Block, Outcome, PermissionResult, ToolFault, ToolRound } from "./types.js";
import type { LoadedWasm } from "./wasm.js";

/** What the host does for a run. Whatever these throw goes to `onHostError`, or answers the request. */
export interface HostCallbacks extends BatchListener {
  /** The host's `fetch`, already bound. `headers` are a `Headers`, `body` a `Uint8Array` of its own. */
  fetch(url: string, init: RequestInit): Promise<ResponseLike> | ResponseLike;
  /** Adds the key just before `fetch`; returns the headers to send. A rejection means that nothing is sent. */
  authorize(request: AuthorizeRequest): [string, string][] | Promise<[string, string][]>;
  callTool(invocation: ToolInvocation): void;
  abortTool(call: number, why: string): void;
  ask(question: number, ask: Partial<Question>): void;
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
  body: Uint8Array;
}

/** One call of a tool. */
export interface ToolInvocation {
  call: number;
  toolCallId: string;
  toolName: string;
  /** JSON text of the arguments. */
  input: string;
  iteration: number;
}

/** A question of the engine: one of these. The `input` of its calls is parsed JSON. */
export interface Question {
  prepareCalls: { calls: (Omit<ToolInvocation, "input"> & { input: unknown })[] };
  permission: {
    call: { toolCallId: string; toolName: string; input: unknown; reason: string };
    classify: boolean;
  };
  stop: { about: "condition" | "repeat"; round: ToolRound & { times: number } };
}

/** What `fetch` may return: a `Response`, or anything that looks like one. */
export interface ResponseLike {
  status: number;
  headers?: unknown;
  body?: unknown;
  arrayBuffer?(): Promise<ArrayBuffer>;
  text?(): Promise<string>;
}

/** What a tool came back with. `value` is JSON text. */
export type ToolReturn = { value: string } | { content: readonly Block[] } | { fault: ToolFault };

/** The answer to a question. `prepared` has one entry per asked call. */
export type QuestionAnswer =
  | { prepared: { input?: unknown; resourceKey?: string; problem?: string; needsApproval?: boolean }[] }
  | PermissionResult
  | { stop: boolean }
  | { failed: { why: string } };

/** The engine's `RunResult`, as its JSON has it. */
export interface RawRunResult extends Partial<Record<keyof Outcome, unknown>> {
  text: string;
  toolCalls: unknown[];
  messages: unknown[];
  usage: { [count: string]: unknown };
  costNanoUsd: number | null;
  iterations: number;
  finishReason: string | null;
  rawFinishReason: string | null;
  undelivered: string[];
}

type Handle = InstanceType<LoadedWasm["glue"]["RunHandle"]>;

/** Owns the handle of one run in WebAssembly. `free()` gives it back; afterwards the driver is inert. */
export class RunDriver {
  private readonly shell: Shell;

  /** Throws `{ field, problem }` for a configuration that cannot run. */
  constructor(wasm: LoadedWasm, configJson: string, host: HostCallbacks) {
    this.shell = new Shell(wasm, configJson, host);
  }

  start(content: readonly Block[]): void {
    this.shell.enter((handle) => handle.start(JSON.stringify(content)));
  }

  steer(id: number, content: readonly Block[]): void {
    this.shell.enter((handle) => handle.steer(id, JSON.stringify(content)));
  }

  followUp(id: number, content: readonly Block[]): void {
    this.shell.enter((handle) => handle.followUp(id, JSON.stringify(content)));
  }

  /** Whether the steer or follow-up was still undelivered. */
  withdraw(id: number): boolean {
    return this.shell.enter((handle) => handle.withdraw(id)) ?? false;
  }

  /** Synchronous: `outcome()` is set on return. */
  abort(why: string): void {
    this.shell.enter((handle) => handle.abort(why));
  }

  toolFinished(call: number, result: ToolReturn): void {
    const json = "value" in result ? `{"value":${result.value}}` : JSON.stringify(result);
    this.shell.enter((handle) => handle.toolFinished(call, json));
  }

  toolProgress(call: number, dataJson: string): void {
    this.shell.enter((handle) => handle.toolProgress(call, dataJson));
  }

  /** Whether the question was still open. */
  answer(question: number, answer: QuestionAnswer): boolean {
    return this.shell.enter((handle) => handle.answer(question, JSON.stringify(answer))) ?? false;
  }

  /** How the run ended; undefined while it runs. */
  outcome(): Outcome | undefined {
    return this.shell.outcome();
  }

  /**
   * Everything that the run has to show, at any time before `free()`; undefined when a trap, or a panic that left
   * nothing, has taken it away.
   */
  result(): RawRunResult | undefined {
    const json = this.shell.enter((handle) => handle.result());
    const bytes = this.shell.enter((handle) => handle.history());
    const text = this.shell.enter((handle) => handle.text());
    if (json === undefined || bytes === undefined || text === undefined) return undefined;
    return withHistory({ ...(JSON.parse(json) as RawRunResult), text }, bytes);
  }

  /** What is worth crossing the boundary; the numbering of events does not depend on it. Default: everything. */
  want(kinds: { text: boolean; reasoning: boolean; toolInput: boolean; events: boolean }): void {
    this.shell.enter((handle) => handle.want(kinds.text, kinds.reasoning, kinds.toolInput, kinds.events));
  }

  /** Ends what is open, silently, and gives the memory back. May be called inside a callback, and twice. */
  free(): void {
    this.shell.free();
  }

  [Symbol.dispose](): void {
    this.shell.free();
  }
}

/** What the handle calls: `Host` in `src/shell/host.rs`. */
class Shell {
  private readonly handle: Handle;
  private readonly instance: Instance;
  private readonly reader: BatchReader;
  private readonly pumps = new Map<number, Pump>();
  /** What stops each open request, from here: the controllers of a lost instance abort nothing. */
  private readonly requests = new Map<number, AbortController>();
  /** Those that were answered with an error, whose bodies become errors' texts. */
  private readonly refused = new Set<number>();
  /** What the last `authorize` has added. */
  private secrets: readonly string[] = [];
  private timer: { handle: unknown } | undefined;
  private ended: Outcome | undefined;
  private isDone = false;
  private isLost = false;
  private isDelivering = false;
  private isHeld = false;
  private isFreed = false;

  constructor(
    wasm: LoadedWasm,
    configJson: string,
    private host: HostCallbacks,
  ) {
    this.instance = instanceOf(wasm);
    this.reader = this.instance.reader;
    this.handle = new wasm.glue.RunHandle(configJson, this);
    this.instance.shells.add(this);
  }

  /**
   * Calls the handle. What it throws beyond `{ field, problem }` means that the instance is lost (a stack overflow,
   * no memory): every run in it ends as failed, and the next run gets a fresh instance.
   */
  enter<T>(call: (handle: Handle) => T): T | undefined {
    if (this.isFreed || this.isLost || this.instance.isLost()) return undefined;
    try {
      if (this.isDelivering && !this.isHeld) {
        this.isHeld = true;
        this.handle.hold();
      }
      return call(this.handle);
    } catch (error) {
      if (isConfigError(error)) throw error;
      this.instance.crash(error);
      return undefined;
    }
  }

  outcome(): Outcome | undefined {
    if (this.ended === undefined) {
      const json = this.enter((handle) => handle.outcome());
      if (json !== undefined) this.ended = JSON.parse(json) as Outcome;
    }
    return this.ended;
  }

  free(): void {
    if (this.isFreed) return;
    this.outcome();
    this.enter((handle) => handle.letGo());
    this.isDone = true;
    this.isFreed = true;
    this.release();
    this.instance.shells.delete(this);
    // A frame of this handle may be on the stack; when a microtask runs, none is.
    void Promise.resolve().then(() => {
      this.giveBack();
      this.host = {} as HostCallbacks;
      this.instance.freed = this;
    });
  }

  private giveBack(): void {
    // The memory of a lost instance is gone, and in a fresh one the same address belongs to somebody else. So the
    // handle only forgets its address, which also keeps a garbage collection from freeing it.
    if (this.isLost || this.instance.isLost()) {
      (this.handle as unknown as { __destroy_into_raw(): number }).__destroy_into_raw();
      return;
    }
    try {
      this.handle.free();
    } catch (error) {
      this.instance.crash(error);
    }
  }

  // Called by the handle.

  deliver(wordsAt: number, records: number, textAt: number, textBytes: number): void {
    this.reader.read(wordsAt, records, textAt, textBytes, this.host);
  }

  callTool(call: number, toolCallId: string, toolName: string, input: string, iteration: number): void {
    this.tell((host) => host.callTool({ call, toolCallId, toolName, input, iteration }));
  }

  abortTool(call: number, why: string): void {
    this.tell((host) => host.abortTool(call, why));
  }

  ask(question: number, json: string): void {
    this.tell((host) => host.ask(question, JSON.parse(json) as Partial<Question>));
  }

  done(): void {
    if (this.isDone) return;
    this.isDone = true;
    this.tell((host) => host.done());
  }

  authorize(
    method: string,
    url: string,
    flat: string[],
    header: string,
    prefix: string,
    body: Uint8Array,
  ): string[] | Promise<string[]> {
    const headers: [string, string][] = [];
    for (let at = 0; at + 1 < flat.length; at += 2) headers.push([flat[at]!, flat[at + 1]!]);
    const answer = this.host.authorize({ method, url, headers, auth: { header, prefix }, body });
    const take = (pairs: Iterable<[string, string]>): string[] => {
      const taken = flatTexts(pairs);
      this.secrets = secretsOf(headers, taken);
      return taken;
    };
    return isThenable(answer) ? Promise.resolve(answer).then(take) : take(answer);
  }

  fetch(url: string, { request, signal, ...init }: RequestInit & { request: number }): unknown {
    const controller = new AbortController();
    this.requests.set(request, controller);
    signal?.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
    const answer = this.host.fetch(url, { ...init, signal: controller.signal });
    if (this.secrets.length === 0) return answer;
    const note = (response: ResponseLike): ResponseLike => {
      if (response?.status >= 400) this.refused.add(request);
      return response;
    };
    return isThenable(answer) ? Promise.resolve(answer).then(note) : note(answer);
  }

  /** Never settles once the instance is lost: what waits for it would go on in memory that is gone. */
  race(value: unknown, signal: AbortSignal): Promise<unknown> {
    if (!isThenable(value)) return Promise.resolve(value);
    return new Promise((resolve, reject) => {
      const stop = (): void => resolve(undefined);
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      Promise.resolve(value).then(
        (settled) => {
          signal.removeEventListener("abort", stop);
          const isLost = this.isLost || this.instance.isLost();
          if (signal.aborted || isLost) discard(settled);
          if (!isLost) resolve(settled);
        },
        (error: unknown) => {
          signal.removeEventListener("abort", stop);
          if (!this.isLost && !this.instance.isLost()) reject(error);
        },
      );
    });
  }

  head(response: Partial<ResponseLike> | null | undefined): unknown[] {
    const status = response?.status;
    if (!response || typeof status !== "number") throw new TypeError("fetch returned no response");
    const hasReaders = typeof response.arrayBuffer === "function" || typeof response.text === "function";
    const body = response.body === undefined && hasReaders ? response : response.body;
    return [status, body ?? null, ...flatten(headerPairs(response.headers))];
  }

  read(request: number, body: unknown): void {
    const sink = this.refused.has(request) ? new RedactedBody(this, this.secrets) : this;
    const pump = new Pump(request, body, sink);
    this.pumps.set(request, pump);
    void pump.start();
  }

  stop(request: number): void {
    const pump = this.pumps.get(request);
    this.close(request);
    pump?.stop();
  }

  describe(error: unknown): string {
    try {
      return redact(describe(error), this.secrets);
    } catch {
      return "an error that cannot be read";
    }
  }

  now(): number {
    try {
      return this.host.now?.() ?? Date.now();
    } catch (error) {
      report(this.host, error);
      return Date.now();
    }
  }

  random(): number {
    try {
      return this.host.random();
    } catch (error) {
      report(this.host, error);
      return Math.random();
    }
  }

  arm(delayMs: number): void {
    this.disarm();
    const due = (): void => {
      this.timer = undefined;
      this.enter((handle) => handle.due());
    };
    this.tell((host) => (this.timer = { handle: host.setTimer(due, delayMs) }));
  }

  disarm(): void {
    const timer = this.timer;
    this.timer = undefined;
    if (timer) this.tell((host) => host.clearTimer(timer.handle));
  }

  // Called by the pumps.

  feed(request: number, chunk: Uint8Array): void {
    const { reader, host } = this;
    const { length } = chunk;
    if (length > reader.capacity) return this.feedPieces(request, chunk);
    try {
      if (reader.bytes.length === 0) reader.look();
      const lostWord = reader.lostWord;
      if (reader.words[lostWord] !== 0) return this.instance.crash(trapped());
      reader.bytes.set(chunk, reader.inletAt);
      const units = this.handle.chunk(request, length, host.now === undefined ? Date.now() : this.now());
      if (units === 0) return;
      if (reader.bytes.length === 0) reader.look();
      const text = reader.lentText(units);
      const at = reader.outletWord;
      const { words } = reader;
      // What a listener tells meanwhile is taken in at once but performed afterwards, as in every other callback.
      this.isDelivering = true;
      try {
        host.onDelta(
          words[at] as 0 | 1 | 2,
          text,
          words[at + 5]!,
          words[at + 1]!,
          words[at + 2]!,
          words[at + 3]!,
          words[at + 4]!,
        );
      } catch (error) {
        report(host, error);
      }
      this.isDelivering = false;
      if (this.isHeld) this.resume();
    } catch (error) {
      this.instance.crash(error);
    }
  }

  end(request: number): void {
    this.close(request);
    this.enter((handle) => handle.end(request));
  }

  fail(request: number, error: unknown): void {
    this.close(request);
    const why = this.describe(error);
    this.enter((handle) => handle.networkFailed(request, why));
  }

  private feedPieces(request: number, chunk: Uint8Array): void {
    if (this.instance.isLost()) return;
    this.instance.widen(chunk.length);
    const { capacity } = this.reader;
    for (let from = 0; from < chunk.length && !this.isDone; from += capacity) {
      this.feed(request, chunk.subarray(from, from + capacity));
    }
  }

  private resume(): void {
    this.isHeld = false;
    this.enter((handle) => handle.resume());
  }

  /** The instance is lost, and this run with it. */
  lose(error: unknown): void {
    this.isLost = true;
    this.ended ??= {
      outcome: "failed",
      error: { code: "bug", message: `looplet: ${describe(error)}`, retryable: false },
    };
    this.release();
    this.done();
  }

  private release(): void {
    this.disarm();
    const open = [...this.requests.values()];
    for (const request of [...this.pumps.keys()]) this.stop(request);
    for (const controller of open) controller.abort();
    this.requests.clear();
  }

  private close(request: number): void {
    this.pumps.delete(request);
    this.requests.delete(request);
    this.refused.delete(request);
  }

  private tell(call: (host: HostCallbacks) => void): void {
    try {
      call(this.host);
    } catch (error) {
      report(this.host, error);
    }
  }
}

function isConfigError(error: unknown): boolean {
  return typeof error === "object" && error !== null && "field" in error && "problem" in error;
}
