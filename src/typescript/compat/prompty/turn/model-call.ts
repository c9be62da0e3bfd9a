/** One attempt of a model call. */
import { LoopletError, RunError } from "../../../core/api/errors.js";
import { CancelledError, ExecuteError, ValueError } from "../errors.js";
import { stopwatch, type OnTurnEvent, type TurnEvents } from "./events.js";
import type { TurnContext } from "./options.js";
import { executeLlm, providerOf } from "../invoke.js";
import { chatCall } from "../model/wire.js";
import { processChunks, RefusalError } from "../model/stream.js";
import type { Span } from "../tracer.js";
import { isAnswer } from "../model/answer.js";
import type { Message, ToolCall } from "../types.js";

/**
 * Calls the model once. `show` gets the text of an answer as it arrives, until a call is received. It resolves when a
 * reader has taken the text.
 *
 * @throws ExecuteError with the conversation, if a retry may bring an answer
 */
export async function ask(
  messages: readonly Message[],
  attempt: number,
  show: ((text: string) => Promise<void>) | undefined,
  { agent, options: { signal, stream }, host, tell }: TurnContext,
  span: Span,
): Promise<unknown> {
  const provider = providerOf(agent);
  const executing = span.child("Executor");
  const elapsed = stopwatch(host.clock);
  tell("llm_start", { provider, modelId: agent.model.id, messageCount: messages.length, attempt });
  try {
    const around = { host, signal, stream: stream === true && show !== undefined };
    let response = await executeLlm(agent, messages, around);
    if (isStream(response)) response = await answerOf(response, tell, show);
    const facts = told(response);
    executing.use(facts.usage);
    tell("llm_complete", { ...facts, durationMs: elapsed() });
    return response;
  } catch (error) {
    executing.set("error", String(error));
    throw finalError(error) ?? new ExecuteError(String(error), [...messages], error);
  } finally {
    executing.end();
  }
}

/** The error of a call that another attempt cannot change. The engine names mistakes of a configuration by their codes. */
function finalError(error: unknown): unknown {
  if ([RefusalError, ValueError, CancelledError, LoopletError].some((kind) => error instanceof kind))
    return error;
  const failure = error instanceof RunError ? error.result.error : undefined;
  return failure?.code.startsWith("config") ? new ValueError(failure.message, { cause: error }) : undefined;
}

/** What a provider reports about an answer: its id and its tokens. */
function told(response: unknown): Pick<TurnEvents["llm_complete"], "requestId" | "usage"> {
  const { id, usage } = (response ?? {}) as { id?: unknown; usage?: unknown };
  return {
    ...(typeof id === "string" && { requestId: id }),
    ...(usage !== undefined && usage !== null && { usage }),
  };
}

/** The answer of a stream: what `process` takes in place of a provider's. */
async function answerOf(
  chunks: AsyncIterable<unknown>,
  tell: OnTurnEvent,
  show: ((text: string) => Promise<void>) | undefined,
): Promise<unknown> {
  const calls: ToolCall[] = [];
  let [content, hasCalls] = ["", false];
  for await (const item of processChunks(chunks)) {
    if (item.kind === "answer") return item.answer;
    if (item.kind === "thinking") tell("thinking", { token: item.value });
    if (item.kind === "calling") hasCalls = true;
    if (item.kind === "tool") calls.push(item.call);
    if (item.kind !== "text") continue;
    content += item.value;
    if (!hasCalls) await show?.(item.value);
  }
  return { choices: [{ message: { content, tool_calls: calls.map(chatCall) } }] };
}

function isStream(response: unknown): response is AsyncIterable<unknown> {
  const isIterable = typeof (response as { [Symbol.asyncIterator]?: unknown } | null)?.[Symbol.asyncIterator];
  return !isAnswer(response) && isIterable === "function";
}
