/** One model call of a turn, with its retries. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import { LoopletError, RunError } from "../../../core/api/errors.js";
import { getExecutor } from "../components.js";
import { CancelledError, ExecuteError, ValueError } from "../errors.js";
import { stopwatch, type OnTurnEvent, type TurnEvents } from "./events.js";
import { providerOf } from "../invoke.js";
import { processChunks, RefusalError } from "../model/stream.js";
import type { Span } from "../tracer.js";
import { isAnswer } from "../model/answer.js";
import type { Message, Prompty, PromptyHost, ToolCall } from "../types.js";

export interface CallOptions {
  agent: Prompty;
  host: PromptyHost;
  signal: HostAbortSignal | undefined;
  isStreaming: boolean;
  maxAttempts: number;
  tell: OnTurnEvent;
  checkCancelled: () => void;
}

/** The answer of a stream, put together: what `process` takes in place of a provider's answer. */
function chatAnswer(text: string, calls: readonly ToolCall[]): object {
  const tool_calls = calls.map(({ id, name, arguments: json }) => ({
    id,
    function: { name, arguments: json },
  }));
  return { choices: [{ message: { content: text, tool_calls } }] };
}

/**
 * Asks the model and yields the text of an answer that has no calls as it arrives; returns the whole answer. After
 * the n-th failure it waits `min(2^n + jitter, 60)` seconds. Text that has been yielded cannot be taken back, so a
 * failure behind it is the last, and so is a refusal.
 *
 * @throws ExecuteError with the conversation
 * @throws RefusalError, ValueError, LoopletError `config_…`
 */
export async function* callModel(
  messages: readonly Message[],
  options: CallOptions,
  span: Span,
): AsyncGenerator<string, unknown> {
  const { agent, host, signal, isStreaming, maxAttempts, tell, checkCancelled } = options;
  const provider = providerOf(agent);
  const executor = getExecutor(provider);
  for (let attempt = 1; ; attempt++) {
    const executing = span.child("Executor");
    let hasYielded = false;
    const elapsed = stopwatch(host.clock);
    const complete = (response: unknown): unknown => {
      const facts = told(response);
      executing.use(facts.usage);
      tell("llm_complete", { ...facts, durationMs: elapsed() });
      return response;
    };
    tell("llm_start", { provider, modelId: agent.model.id, messageCount: messages.length, attempt });
    try {
      const response = await executor.execute(agent, messages, { host, signal, stream: isStreaming });
      if (!isStream(response)) return complete(response);
      const stream = answerOf(response, tell);
      for (;;) {
        const { value, done } = await stream.next();
        if (done === true) return complete(value);
        hasYielded = true;
        yield value;
      }
    } catch (error) {
      executing.set("error", String(error));
      checkCancelled();
      // Another attempt changes neither a refusal nor a mistake of the program or of the file.
      const final = finalError(error);
      if (final !== undefined) throw final;
      if (hasYielded || attempt >= maxAttempts) throw new ExecuteError(String(error), [...messages], error);
      const jitter = (host.random ?? Math.random)();
      const delayMs = Math.min(2 ** attempt + jitter, 60) * 1000;
      const next = attempt + 1;
      tell("status", { message: `LLM call failed, retrying (attempt ${next}/${maxAttempts})...` });
      tell("retry", { operation: "llm", attempt: next, maxAttempts, delayMs, reason: String(error) });
      await pause(delayMs, host, signal);
      checkCancelled();
    } finally {
      executing.end();
    }
  }
}

/** The error of a call that another attempt cannot change. The engine names mistakes of a configuration by their codes. */
function finalError(error: unknown): unknown {
  if ([RefusalError, ValueError, LoopletError].some((kind) => error instanceof kind)) return error;
  const failure = error instanceof RunError ? error.result.error : undefined;
  return failure?.code.startsWith("config") ? new ValueError(failure.message, { cause: error }) : undefined;
}

/** What a provider tells of an answer: its id and its tokens. */
function told(response: unknown): Pick<TurnEvents["llm_complete"], "requestId" | "usage"> {
  const { id, usage } = (response ?? {}) as { id?: unknown; usage?: unknown };
  return {
    ...(typeof id === "string" && { requestId: id }),
    ...(usage !== undefined && usage !== null && { usage }),
  };
}

/** Yields the text of an answer until it turns out to have calls; returns the answer. */
async function* answerOf(chunks: AsyncIterable<unknown>, tell: OnTurnEvent): AsyncGenerator<string, unknown> {
  const calls: ToolCall[] = [];
  let [text, hasCalls] = ["", false];
  for await (const item of processChunks(chunks)) {
    if (item.kind === "answer") return item.answer;
    if (item.kind === "thinking") tell("thinking", { token: item.value });
    if (item.kind === "calling") hasCalls = true;
    if (item.kind === "tool") calls.push(item.call);
    if (item.kind !== "text") continue;
    text += item.value;
    if (!hasCalls) yield item.value;
  }
  return chatAnswer(text, calls);
}

function isStream(response: unknown): response is AsyncIterable<unknown> {
  const isIterable = typeof (response as { [Symbol.asyncIterator]?: unknown } | null)?.[Symbol.asyncIterator];
  return !isAnswer(response) && isIterable === "function";
}

/** Waits on the host's clock. An abort ends the wait at once. */
function pause(delayMs: number, { clock }: PromptyHost, signal: HostAbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = (): void => {
      signal?.removeEventListener("abort", end);
      if (clock === undefined) clearTimeout(timer as number);
      else clock.clearTimer(timer);
      resolve();
    };
    const timer: unknown = clock === undefined ? setTimeout(end, delayMs) : clock.setTimer(end, delayMs);
    signal?.addEventListener("abort", end);
  });
}

/** Throws once the signal has fired, with what was said so far. */
export function cancellation(signal: HostAbortSignal | undefined, tell: OnTurnEvent): () => void {
  let error: CancelledError | undefined;
  return () => {
    if (signal?.aborted !== true) return;
    if (error === undefined) tell("cancelled", { reason: signal.reason });
    error ??= new CancelledError("The turn was cancelled", { cause: signal.reason });
    throw error;
  };
}
