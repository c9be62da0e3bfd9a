/**
 * The functions that a run's handle calls. They perform the engine's outputs with your functions and the platform's,
 * and hold everything that a run has open in JavaScript (its timer, its pumps). They decide nothing.
 */
import { report, type BatchReader } from "./batch.js";
import type { AuthorizeRequest, HostCallbacks, ResponseLike, RunSource } from "./driver.js";
import {
  codeOf,
  describeError,
  describeRejection,
  cancelBody,
  headerPairs,
  redirectOf,
  textPairs,
} from "./exchange.js";
import { batchesOf, entriesOf } from "./entries.js";
import { instanceOf, isProblem, wholeLetters, type Instance } from "./instance.js";
import { Pump } from "./pump.js";
import { redact, redactFailure, secretsOf } from "./secrets/redact.js";
import type { Failure, FetchInit, Outcome } from "../api/index.js";
import type { Output } from "../generated/model.js";
import type { Input } from "../generated/input.js";
import type { LoadedWasm } from "./wasm.js";
import { isThenable } from "../options/check.js";

/** The handle of a run in WebAssembly. */
export type Handle = ReturnType<InstanceType<LoadedWasm["glue"]["AgentHandle"]>["open"]>;

/** A request under way. */
interface OpenRequest {
  readonly controller: AbortController;
  /** Reads the values that `authorize` has added, and other secret headers, for an error that may repeat them. */
  secrets: () => readonly string[];
  pump?: Pump;
  /** True when the body is read to its end, or has broken off. */
  isOver: boolean;
}

/** The callbacks of a handle: `Shell` in `src/shell/javascript.rs`. */
export class Shell {
  private readonly handle: Handle;
  private readonly instance: Instance;
  private readonly reader: BatchReader;
  private readonly glue: LoadedWasm["glue"];
  readonly requests = new Map<number, OpenRequest>();
  /** The last request's headers and their JSON, because most requests of a run have equal headers. */
  private sent: { json: string; headers: Headers } | undefined;
  /** In a recorded run, the chunk that is being handed over. */
  private chunk: { request: number; bytes: Uint8Array } | undefined;
  private timer: { handle: unknown } | undefined;
  private ended: Outcome | undefined;
  private isDone = false;
  private isDelivering = false;
  private isHeld = false;
  private isFreed = false;
  private readonly hasClock: boolean;

  constructor(
    wasm: LoadedWasm,
    config: string,
    options: RunSource,
    private host: HostCallbacks,
  ) {
    this.instance = instanceOf(wasm);
    this.reader = this.instance.reader;
    this.glue = wasm.glue;
    this.hasClock = host.now !== undefined;
    let [asked, from] = [config, options];
    const open = (): Handle | undefined =>
      this.instance.enter(() => {
        const agent = this.instance.agent(asked);
        if (typeof from === "string") return agent?.open(from, this);
        return agent?.restore(batchesOf(from), from.last, this);
      });
    let handle: Handle | undefined;
    try {
      handle = open();
    } catch (error) {
      asked = wholeLetters(config);
      if (typeof options === "string") from = wholeLetters(options);
      if (!isProblem(error) || (asked === config && from === options)) throw error;
      handle = open();
    }
    if (handle === undefined) throw new Error("the WebAssembly was lost when the run was opened");
    this.handle = handle;
    this.instance.shells.add(this);
    if (host.record === undefined) return;
    host.record.begin(asked, from);
    this.enter(() => handle.record());
  }

  /** Calls the handle, unless it is freed or lost. */
  enter<T>(call: (handle: Handle) => T): T | undefined {
    if (this.isFreed) return undefined;
    return this.instance.enter(() => {
      if (this.isDelivering && !this.isHeld) {
        this.isHeld = true;
        this.handle.hold();
      }
      return call(this.handle);
    });
  }

  /**
   * Gives the engine an input. Returns false for an answer that no open question takes, for the withdrawal of a steer
   * that was delivered, and for a budget of an agent that is not at work. Throws `{ field, problem }` for an
   * input that the engine refuses.
   */
  handleInput(input: Input): boolean {
    return this.handleJson(JSON.stringify(input));
  }

  /** Gives the engine an input that is JSON text. */
  handleJson(json: string): boolean {
    try {
      return this.enter((handle) => handle.handleInput(json)) ?? false;
    } catch (error) {
      const whole = wholeLetters(json);
      if (!isProblem(error) || whole === json) throw error;
      return this.enter((handle) => handle.handleInput(whole)) ?? false;
    }
  }

  outcome(): Outcome | undefined {
    if (this.ended === undefined) {
      const told = this.enter((handle) => handle.outcome() as Outcome | undefined);
      // A loss during the call has ended the run already.
      this.ended ??= told;
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
    // The handle may be at work further up the stack. In a microtask it is not.
    void Promise.resolve().then(() => {
      this.giveBack();
      this.host = {} as HostCallbacks;
      this.sent = undefined;
      this.instance.freed = this;
    });
  }

  private giveBack(): void {
    // The memory of a lost instance is gone with it, and the glue frees no handle of an earlier instance.
    this.instance.enter(() => this.handle.free());
  }

  // The handle calls the methods below.

  deliver(wordsAt: number, records: number, textAt: number, textBytes: number): void {
    // Frames of a lost instance may still run below the call that has lost it.
    if (!this.instance.isLost) this.reader.read(wordsAt, records, textAt, textBytes, this.host);
  }

  perform(json: string): void {
    if (this.instance.isLost) return;
    const output = JSON.parse(json) as Output;
    if ("abort" in output) return this.stop(output.abort.request);
    if ("redact" in output) return this.redact(output.redact.request, output.redact.failure);
    this.call((host) => host.perform(output));
  }

  save(save: number, firstSeq: number, entries: readonly string[]): void {
    this.call((host) => host.save(save, entriesOf(firstSeq, entries)));
  }

  record(nowMs: number, random: bigint, after: number, json: string): void {
    this.host.record?.input(nowMs, random, after, json === "" ? this.chunk! : json);
  }

  done(): void {
    if (this.isDone) return;
    this.isDone = true;
    this.call((host) => host.done());
  }

  send(request: number, json: string, at: number, length: number): void {
    if (this.instance.isLost) return;
    const body = this.reader.copy(at, length);
    const open: OpenRequest = { controller: new AbortController(), secrets: () => [], isOver: false };
    this.requests.set(request, open);
    void this.exchange(request, open, { ...JSON.parse(json), body } as AuthorizeRequest);
  }

  // After each wait the work is dropped if the request has been stopped or the instance is lost.
  private async exchange(request: number, open: OpenRequest, asked: AuthorizeRequest): Promise<void> {
    const { signal } = open.controller;
    const isOver = (): boolean => signal.aborted || this.instance.isLost;
    let isSent = false;
    try {
      await null;
      if (isOver()) return;
      let authorized: unknown = this.host.authorize(asked);
      if (isThenable(authorized)) authorized = await authorized;
      if (isOver()) return;
      const pairs = textPairs(authorized as Iterable<[string, string]>);
      const { method, url, body, model, headers: given } = asked;
      open.secrets = () => secretsOf(given, pairs);
      this.host.record?.know(open.secrets());
      const headers = this.headersOf(JSON.stringify(pairs));
      // From here on an error counts as a network failure, even if your `fetch` throws at once, unless it says
      // otherwise.
      isSent = true;
      // A request without a body, such as the one for the rest of an answer, must have none.
      const init: FetchInit = {
        method,
        headers,
        signal,
        redirect: "manual",
        ...(method === "POST" && { body }),
      };
      let answer: unknown = this.host.fetch(url, init, model);
      if (isThenable(answer)) answer = await answer;
      if (isOver()) return cancelBody(answer);
      this.respond(request, open, url, answer as ResponseLike);
    } catch (error) {
      if (isOver()) return;
      const why = redacted(error, open.secrets(), isSent ? describeRejection : describeError);
      const code = codeOf(error, isSent);
      this.close(
        request,
        code === "network" ? { networkFailed: { request, why } } : { notSent: { request, code, why } },
      );
    }
  }

  private headersOf(json: string): Headers {
    if (this.sent?.json !== json) {
      const headers = this.instance.enter(() => this.glue.headersOf(json));
      if (headers === undefined) throw new Error("the WebAssembly was lost when the headers were checked");
      this.sent = { json, headers };
    }
    // Your code may change the headers that it gets, so it gets a copy.
    return new Headers(this.sent.headers);
  }

  private respond(request: number, open: OpenRequest, url: string, response: ResponseLike): void {
    const status = response?.status;
    if (typeof status !== "number") throw new TypeError("fetch returned no response");
    let { body } = response;
    const redirect = redirectOf(response, url);
    // Only a plain `Response` goes into the WebAssembly; any other object may have a getter of yours that throws
    // there.
    if (redirect !== undefined) {
      this.handleInput({ head: { request, ...redirect } });
    } else if (response instanceof Response && Object.getPrototypeOf(response) === Response.prototype) {
      this.enter((handle) => handle.respond(request, response));
    } else {
      const hasReaders = typeof response.arrayBuffer === "function" || typeof response.text === "function";
      if (body === undefined && hasReaders) body = response;
      this.handleInput({ head: { request, status, headers: headerPairs(response.headers) } });
    }
    if (!this.requests.has(request)) return cancelBody(response);
    if (body === undefined || body === null) return this.end(request);
    open.pump = new Pump(request, body, this);
    void open.pump.start();
  }

  private stop(request: number): void {
    const open = this.requests.get(request);
    this.requests.delete(request);
    if (open === undefined || open.isOver) return;
    open.pump?.stop();
    open.controller.abort();
  }

  private redact(request: number, failure: Failure): void {
    const secrets = this.requests.get(request)?.secrets();
    this.handleInput({ requestFailed: { request, failure: redactFailure(failure, secrets) } });
  }

  now(): number {
    try {
      return this.host.now?.() ?? Date.now();
    } catch (error) {
      report(this.host, error);
      // For the engine NaN means that no time has passed: the time of another clock may be years away.
      return NaN;
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
    if (this.instance.isLost) return;
    let isArming = true;
    const timer: { handle: unknown } = { handle: undefined };
    const due = (): void => {
      // A timer that fires while it is set would call the engine back before its outputs are performed. A task lets
      // everything else continue if the clock does not advance.
      if (isArming) return void setTimeout(due, 0);
      if (this.timer !== timer) return;
      this.timer = undefined;
      this.handleInput("due");
    };
    this.timer = timer;
    this.call((host) => (timer.handle = host.setTimer(due, delayMs)));
    isArming = false;
  }

  disarm(): void {
    const timer = this.timer;
    this.timer = undefined;
    if (timer) this.call((host) => host.clearTimer(timer.handle));
  }

  // The pumps call the methods below.

  feed(request: number, chunk: Uint8Array): void {
    const { reader } = this;
    if (chunk.length > reader.capacity) return this.feedPieces(request, chunk);
    const units = this.take(request, chunk);
    if (units === 0) return;
    // The engine accepts inputs of a listener at once, but performs their outputs afterwards, as in every other
    // callback.
    this.isDelivering = true;
    reader.tellLent(units, this.host);
    this.isDelivering = false;
    if (this.isHeld) this.resume();
  }

  // A separate method that calls no user code, because the code that V8 optimises for it outlives its run.
  private take(request: number, chunk: Uint8Array): number {
    const { reader } = this;
    // The clock comes first: if it is yours, it may do anything, even to other runs of the instance.
    const now = this.hasClock ? this.now() : Date.now();
    if (this.isFreed || this.instance.isLost) return 0;
    if (reader.bytes.length === 0) reader.look();
    reader.bytes.set(chunk, reader.inletAt);
    if (this.host.record !== undefined) this.chunk = { request, bytes: chunk };
    let units = 0;
    try {
      units = this.handle.chunk(request, chunk.length, now);
    } catch (error) {
      this.instance.crash(error);
    }
    if (reader.bytes.length === 0) reader.look();
    return units;
  }

  end(request: number): void {
    this.close(request, { end: { request } });
  }

  fail(request: number, error: unknown): void {
    const why = redacted(error, this.requests.get(request)?.secrets() ?? [], describeError);
    this.close(request, { networkFailed: { request, why } });
  }

  private feedPieces(request: number, chunk: Uint8Array): void {
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

  /** Ends this run, because its instance is lost, unless it continues elsewhere. */
  lose(error: unknown): void {
    if (this.isDone) return;
    this.host.record?.lose(describeError(error));
    let continues = false;
    this.call((host) => (continues = host.lost?.() ?? false));
    if (continues) {
      this.isDone = true;
      return this.release();
    }
    this.ended ??= {
      outcome: "failed",
      error: { code: "bug", message: `looplet: ${describeError(error)}`, retryable: false },
    };
    this.release();
    this.done();
  }

  release(): void {
    this.disarm();
    for (const request of [...this.requests.keys()]) this.stop(request);
  }

  /** Hands in the last input of a request. Its record stays until then, because a failure that follows needs it. */
  private close(request: number, input: Input): void {
    const open = this.requests.get(request);
    if (open !== undefined) open.isOver = true;
    this.handleInput(input);
    this.requests.delete(request);
  }

  private call(call: (host: HostCallbacks) => void): void {
    try {
      call(this.host);
    } catch (error) {
      report(this.host, error);
    }
  }
}

/** One line about an error of your code or of the platform. Never throws. */
function redacted(error: unknown, secrets: readonly string[], words: (error: unknown) => string): string {
  try {
    return redact(words(error), secrets);
  } catch {
    return "an error that cannot be read";
  }
}
