/** `runProduction`: a job with caps, checkpoints, an inbox and a record of everything. */
import { randomUuid } from "../../extras/random-uuid.js";
import { ToolError } from "../../core/api/errors.js";
import type { Agent, AgentOptions, Run, RunEvent, RunResult, Tool, Tools } from "../../core/api/index.js";
import { hostOptions, modelOf, warn } from "../host.js";
import { createAgent } from "../../core/index.js";
import { fetchOnce } from "../../core/kit/http.js";
import { joined } from "../../core/kit/check.js";
import { mergeOptions, presets } from "../presets/index.js";
import { memoryStore } from "../../extras/stores/memory.js";
import type { TraceRow } from "../../extras/trace/index.js";
import { stopReason, traceRows } from "../../extras/trace/rows.js";
import { RawResponses } from "./raw-responses.js";
import { givenMessage, storedMessage } from "./stored.js";
import { isToolError } from "./tool-blocks.js";
import type {
  StoredMessage,
  Checkpoint,
  MessageEntry,
  ProductionJob,
  ProductionOptions,
  ProductionResult,
} from "./types.js";

/** The text with which the user ends a job. */
const CANCEL = "/cancel";

/**
 * Starts a job, or resumes it from a checkpoint. No work is lost: a cap closes the job with an error and saves a
 * checkpoint, from which it can be resumed with a higher cap.
 *
 * @example
 * ```ts
 * import { runProduction } from "looplet/production";
 *
 * const job = runProduction({ model: "claude-opus-5-5", system: "You build pages.", prompt: "Build a page." });
 * const { stopReason, text } = await job.result;
 * console.log(stopReason); // prints "end_turn"
 * ```
 *
 * @throws TypeError for a missing option, LoopletError `config_…` for a wrong one
 */
export function runProduction(options: ProductionOptions): ProductionJob {
  check(options);
  return new Job(options);
}

/** The options that are not `createAgent`'s. */
const OWN = [
  "prompt",
  "messages",
  "maxIters",
  "tokensCap",
  "jobId",
  "checkpointStore",
  "resume",
  "messageStore",
  "storeRawResponse",
  "trace",
  "signal",
  "onEvent",
  "onError",
  "host",
  "tools",
] as (keyof object)[];

function check(options: ProductionOptions): void {
  const missing = (name: string, needed: string): never => {
    throw new TypeError(`runProduction: ${name} needs ${needed}`);
  };
  if (typeof options !== "object" || options === null) missing("its argument", "options");
  const { model, prompt, resume, checkpointStore, storeRawResponse, messageStore } = options;
  if (model === undefined) missing("model", "a name or a model");
  if (prompt === undefined && resume === undefined) missing("prompt", "a text, or give resume");
  if (resume !== undefined && typeof checkpointStore?.load !== "function")
    missing("resume", "a checkpointStore that can load it");
  if (storeRawResponse && messageStore === undefined) missing("storeRawResponse", "a messageStore");
  if (storeRawResponse && typeof model !== "string")
    missing("storeRawResponse", "model as a name, and the function that sends requests in host.fetch");
}

class Job implements ProductionJob {
  readonly result: Promise<ProductionResult>;
  readonly #options: ProductionOptions;
  readonly #store = memoryStore();
  readonly #raw = new RawResponses();
  readonly #agent: Agent;
  #id: string;
  #run: Run | undefined;
  /** Messages that came before the run began. */
  #early: string[] = [];
  #iter = 0;
  /** The reason of an answer's end that the loop does not know. */
  #unexpected: string | undefined;
  /** The pending writes to the message store, one after another. */
  #written: Promise<void> = Promise.resolve();

  constructor(options: ProductionOptions) {
    this.#options = options;
    this.#id = options.jobId ?? options.host?.ids?.() ?? randomUuid();
    this.#agent = this.#agentOf(options);
    this.result = this.#go();
    // The caller who awaits the result gets the error.
    this.result.catch(() => {});
  }

  get id(): string {
    return this.#id;
  }

  send(message: string): void {
    if (this.#run === undefined) this.#early.push(message);
    else if (message.trim() === CANCEL) this.#run.abort("user_cancel");
    else this.#run.steer(message);
  }

  #agentOf(options: ProductionOptions): Agent {
    const { model, host = {}, tools = {}, maxIters, tokensCap, trace, storeRawResponse, ...more } = options;
    for (const name of OWN) delete more[name];
    const fetch = host.fetch ?? ((url, init) => fetchOnce(undefined, url, init));
    const sends = storeRawResponse ? { ...host, fetch: this.#raw.around(fetch) } : host;
    const caps = joined(
      maxIters === undefined ? {} : { maxIterations: maxIters },
      tokensCap === undefined ? {} : { maxTotalTokens: tokensCap },
    );
    const own = {
      ...hostOptions(sends),
      limits: caps,
      ...(trace === undefined ? {} : { trace: traceRows(this.#named(trace), { jobId: () => this.#id }) }),
    };
    const always = {
      model: modelOf(model, sends),
      tools: inOrder(tools),
      store: this.#store,
      events: { messages: true },
    };
    return createAgent(mergeOptions(presets.production.agent, own, more, always) as AgentOptions);
  }

  /** Rows that have the reason of an unexpected end in place of the abort or the end that follows it. */
  #named(sink: NonNullable<ProductionOptions["trace"]>): (row: TraceRow) => unknown {
    return (row) => {
      const replaced = row.stop_reason === "user_cancel" || row.stop_reason === "end_turn";
      const stop_reason = replaced ? this.#unexpected : undefined;
      const named = stop_reason === undefined ? row : { ...row, stop_reason };
      return typeof sink === "function" ? sink(named) : sink.write(named);
    };
  }

  async #go(): Promise<ProductionResult> {
    const run = await this.#begin();
    this.#run = run;
    for (const message of this.#early.splice(0)) this.send(message);
    const result = await run.result;
    await run.saved().catch(() => {});
    const reason = stopReason(result);
    if (result.outcome === "failed" && result.error.code === "finish_reason")
      this.#unexpected = result.rawFinishReason ?? "none";
    if (this.#unexpected !== undefined) {
      this.#keep({ stop_reason: this.#unexpected });
      await this.#written;
      throw unexpected(this.#unexpected, result);
    }
    const checkpointId = await this.#checkpoint(run, result);
    this.#keep({ stop_reason: reason });
    await this.#written;
    const error = errorOf(result, reason);
    return {
      jobId: this.id,
      stopReason: reason,
      text: result.text,
      messages: messagesOf(result),
      iterations: result.iterations,
      tokensUsed: (result.usage?.inputTokens ?? 0) + (result.usage?.outputTokens ?? 0),
      ...(error === undefined ? {} : { error }),
      ...(checkpointId === undefined ? {} : { checkpointId }),
      run: result,
    };
  }

  async #begin(): Promise<Run> {
    const { prompt = [], messages, resume, checkpointStore, signal, onError } = this.#options;
    const listeners = joined({ onEvent: (event: RunEvent) => this.#hear(event) }, { signal, onError });
    if (resume === undefined)
      return this.#agent.run(prompt, joined(listeners, { messages: messages?.map(givenMessage) }));
    const checkpoint = await checkpointStore!.load(resume);
    if (checkpoint === undefined)
      throw new TypeError(`runProduction: the checkpoint "${resume}" does not exist`);
    this.#id = this.#options.jobId ?? checkpoint.jobId;
    return this.#agent.resume(checkpoint.entries, listeners);
  }

  #hear(event: RunEvent): void {
    const { host = {}, onEvent } = this.#options;
    if (event.type === "warning" && !saysHigherCap(event)) warn(host, event.message);
    onEvent?.(event);
    if (event.agentPath !== "root") return;
    if (event.type === "iteration-start") this.#iter = event.iteration - 1;
    // The engine asks again after a pause and completes at a stop sequence. The skeleton knows neither reason.
    if (
      event.type === "iteration-finish" &&
      (event.finishReason === "pause" || event.rawFinishReason === "stop_sequence")
    ) {
      this.#unexpected = event.rawFinishReason ?? "pause";
      this.#run?.abort(this.#unexpected);
    }
    if (event.type !== "message") return;
    this.#keep(
      { message: storedMessage(event.message) },
      event.message.role === "assistant" && this.#options.storeRawResponse === true,
    );
  }

  #keep(entry: Pick<MessageEntry, "message" | "stop_reason">, hasRaw = false): void {
    const { messageStore: sink, onError = console.error } = this.#options;
    if (sink === undefined) return;
    const about = { job_id: this.id, iter: this.#iter, ...entry };
    const raw = hasRaw ? this.#raw.last : undefined;
    this.#written = this.#written.then(async () => {
      try {
        const body = await raw;
        const whole: MessageEntry = { ...about, ...(body === undefined ? {} : { raw_response: body }) };
        await (typeof sink === "function" ? sink(whole) : sink.write(whole));
      } catch (error) {
        onError(error);
      }
    });
  }

  /** Saves the state from which a run with a higher cap can resume. */
  async #checkpoint(run: Run, result: RunResult): Promise<string | undefined> {
    const reason = stopReason(result);
    const { checkpointStore, onError = console.error } = this.#options;
    if (checkpointStore === undefined || (reason !== "max_iters" && reason !== "budget")) return undefined;
    const { iterations, messages } = result;
    const entries = (await this.#store.load(run.id)) ?? [];
    const id = `${this.id}-${iterations}`;
    const checkpoint: Checkpoint = { id, jobId: this.id, stopReason: reason, iterations, messages, entries };
    try {
      await checkpointStore.save(checkpoint);
      return id;
    } catch (error) {
      onError(error);
      return undefined;
    }
  }
}

/** Whether a warning only says that the limits have changed: a job resumes from its checkpoint with a higher cap. */
function saysHigherCap({ code, message }: Extract<RunEvent, { type: "warning" }>): boolean {
  return code === "options_changed" && message.endsWith(": limits");
}

/** Tools with functions that may return a tool error instead of a result. */
function inOrder(tools: Tools): Tools {
  const wrap = (tool: Tool): Tool => ({
    ...tool,
    execute: async (...given: Parameters<NonNullable<Tool["execute"]>>) => {
      const result: unknown = await tool.execute!(...given);
      if (isToolError(result)) throw new ToolError(result);
      return result;
    },
  });
  const wrapped = <T extends Tool | undefined>(tool: T): Tool | T =>
    typeof tool?.execute === "function" ? wrap(tool) : tool;
  if (Array.isArray(tools)) return (tools as Tool[]).map(wrapped) as unknown as Tools;
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, wrapped(tool)]));
}

function messagesOf({ messages }: RunResult): StoredMessage[] {
  return messages.map(storedMessage);
}

function errorOf(result: RunResult, code: string): ProductionResult["error"] {
  if (result.outcome === "completed" || result.outcome === "cancelled") return undefined;
  const message =
    result.outcome === "failed"
      ? result.error.message
      : `The job was stopped by ${code} after ${result.iterations} model calls.`;
  return { code, message };
}

/** The error of the skeleton, with the messages so far. */
function unexpected(reason: string, result: RunResult): Error & { messages: StoredMessage[] } {
  const error = new Error(`unexpected stop_reason: ${reason}`);
  return Object.assign(error, { messages: messagesOf(result) });
}
