/**
 * The page's functions for the page tools of the host's agent. The page claims a call before it runs it, renews the
 * claim while it runs, and answers the question with the result.
 */
import { LoopletError } from "../../../core/api/errors.js";
import type { Agent, RunEvent, TypedRun } from "../../../core/api/index.js";
import { describe, isObject, jsonOf, isErrorObject, message } from "../../../core/kit/check.js";
import { pageAnswer, pageCallOf, type PageAnswer, type PageCall } from "../../../extras/tools/page-call.js";
import type { AgentLink } from "../connection.js";
import { randomName, type Target } from "../protocol.js";

/** The second argument of a page's function. */
export interface PageToolContext {
  /** The provider's id of the call. */
  readonly toolCallId: string;
  /** Fires when the call is over without this page: the run was aborted, the deadline is past, another page has it. */
  readonly signal: AbortSignal;
}

/**
 * Runs the calls of a page tool. Returns the result, any JSON value, or a promise of it. If it throws, the error goes
 * to the model.
 */
export type PageFunction<Input = any> = (input: Input, context: PageToolContext) => unknown;

/** The functions of a page, by the names of the page tools of the agent `A`. */
export type PageFunctions<A extends Agent<any, any> = Agent> =
  ReturnType<A["run"]> extends TypedRun<infer C, any>
    ? { readonly [N in C["toolName"]]?: PageFunction<InputOf<Extract<C, { toolName: N }>["input"]>> }
    : never;

type InputOf<I> = unknown extends I ? any : I;

/** The interval at which a page renews a claim, in milliseconds. */
const RENEW_MS = 20_000;

type Functions = { readonly [name: string]: PageFunction | undefined };

/** @throws LoopletError */
export function checkFunctions(tools: unknown): void {
  if (!isObject(tools))
    throw new LoopletError("config_wrong_type", "tools", `needs functions by name, got ${describe(tools)}`);
  for (const [name, value] of Object.entries(tools))
    if (value !== undefined && typeof value !== "function")
      throw new LoopletError(
        "config_wrong_type",
        `tools.${name}`,
        `needs a function, got ${describe(value)}`,
      );
}

/** The window of a page. A connecting worker has none. */
type Page = Record<
  "addEventListener" | "removeEventListener",
  (type: "pagehide", listener: (event: { readonly persisted?: boolean }) => void) => void
>;

/** A question that is for this page. */
interface Work {
  readonly target: Target;
  readonly questionId: number;
  readonly stop: AbortController;
  /** The running function. A repeated call does not run it a second time. */
  performing?: Promise<PageAnswer> | undefined;
  /** The result, until the host has received it. */
  content?: PageAnswer;
  timer?: ReturnType<typeof setInterval> | undefined;
}

export class PageCalls {
  readonly #page = randomName();
  readonly #link: Pick<AgentLink, "call" | "tell">;
  readonly #functions: Functions;
  /** By run and question. Finished ones stay until their run has ended. */
  readonly #works = new Map<string, Work>();
  readonly #onHide: (event: { readonly persisted?: boolean }) => void;

  constructor(link: Pick<AgentLink, "call" | "tell">, functions: Functions) {
    this.#link = link;
    this.#functions = functions;
    // A page that is restored from the browser's back/forward cache continues its calls.
    this.#onHide = ({ persisted }) => void (persisted !== true && this.#leave());
    (globalThis as Partial<Page>).addEventListener?.("pagehide", this.#onHide);
  }

  /** Handles an event of a run that the page follows. */
  hear(target: Target, event: RunEvent): void {
    const { run = "" } = target;
    if (event.type === "question") this.#asked(target, event);
    else if (event.type === "answered") this.#end(this.#works.get(`${run} ${event.questionId}`));
    else if (event.type === "finish") this.#forget(run);
  }

  /** Disconnects the page from the host. */
  close(): void {
    (globalThis as Partial<Page>).removeEventListener?.("pagehide", this.#onHide);
    for (const work of this.#works.values()) this.#end(work);
  }

  /** The page is closed: releases its claims now, so that others need not wait for them to expire. */
  #leave(): void {
    for (const { target, questionId, content, stop } of this.#works.values())
      if (content === undefined && !stop.signal.aborted)
        this.#link.tell(target, "unclaim", questionId, this.#page);
  }

  #forget(run: string): void {
    for (const [key, work] of this.#works) {
      if (work.target.run !== run) continue;
      this.#end(work);
      this.#works.delete(key);
    }
  }

  #asked(target: Target, event: RunEvent): void {
    const call = pageCallOf(event);
    if (call === undefined || !Object.hasOwn(this.#functions, call.toolName)) return;
    const perform = this.#functions[call.toolName];
    const isForUs = call.page === undefined || call.page === this.#page;
    if (perform === undefined || !isForUs) return;
    const { run = "" } = target;
    const key = `${run} ${call.questionId}`;
    const known = this.#works.get(key);
    // Another process has asked again. The result may not have arrived.
    if (known?.content !== undefined) {
      this.#renew(known);
      return this.#tell(known);
    }
    if (known !== undefined && !known.stop.signal.aborted) return;
    // A refused claim counts for the earlier question, not for this one.
    const { questionId } = call;
    const work: Work = { target, questionId, stop: new AbortController(), performing: known?.performing };
    this.#works.set(key, work);
    this.#renew(work);
    if (call.page === undefined) this.#tell(work);
    else void this.#perform(call, work, perform);
  }

  /** A call is received late if a page was offline, and so is the claim. */
  #renew(work: Work): void {
    work.timer ??= setInterval(() => this.#tell(work), RENEW_MS);
  }

  async #perform({ toolCallId, input }: PageCall, work: Work, perform: PageFunction): Promise<void> {
    const { signal } = work.stop;
    work.performing ??= contentOf(() => perform(input, { toolCallId, signal }));
    const content = await work.performing;
    if (signal.aborted) return;
    work.content = content;
    this.#tell(work);
  }

  /** Claims the call, renews the claim, or sends the result. */
  #tell(work: Work): void {
    const { target, questionId, content } = work;
    const told =
      content === undefined
        ? this.#link.call(target, "claim", questionId, this.#page)
        : this.#link.call(target, "answer", questionId, pageAnswer(content));
    told.then(
      (isTaken: unknown) => {
        if (isTaken === false) this.#end(work);
      },
      // The connection reports its own failures, and the timer retries.
      () => {},
    );
  }

  /** The call of the page is no longer needed. */
  #end(work: Work | undefined): void {
    if (work === undefined) return;
    clearInterval(work.timer);
    work.timer = undefined;
    if (work.content === undefined) work.stop.abort();
  }
}

async function contentOf(perform: () => unknown): Promise<PageAnswer> {
  try {
    const output: unknown = await perform();
    // A returned error counts as thrown, as in a tool of `createAgent`.
    if (isErrorObject(output)) throw output;
    jsonOf(output, "the result");
    return output === undefined ? {} : { output };
  } catch (error) {
    return { error: message(error) };
  }
}
