/**
 * A turn as a run of looplet's engine: the executor is its model, and each call of an answer is a call of its one
 * tool. The engine repeats, retries, runs the calls and aborts. The conversation exists only here, in the messages of
 * the executor. The engine sees only the number of each call.
 */
import type { CustomPart, RunEvent, RunEventOf } from "../../../core/api/index.js";
import { createAgent, custom } from "../../../core/index.js";
import { joined } from "../../../core/kit/check.js";
import { getExecutor } from "../components.js";
import { ExecuteError } from "../errors.js";
import { process, providerOf } from "../invoke.js";
import { textOfMessage } from "../model/content.js";
import { extractTextContent, withText } from "../model/process.js";
import type { Span } from "../tracer.js";
import type { Message, ToolCall, ToolResult } from "../types.js";
import { fitting } from "./fit.js";
import { isCalls, judgedInput, judgedOutput, messageOf, textParts } from "./guardrails.js";
import { ask } from "./model-call.js";
import { MAX_ITERATIONS, MAX_LLM_RETRIES, type TurnContext } from "./options.js";
import { runCall } from "./tool-call.js";

/** The calls of an answer, and the results that there are. */
interface Round {
  response: unknown;
  text: string | null;
  calls: readonly ToolCall[];
  results: ToolResult[];
  span: Span;
}

export class TurnOnEngine {
  messages: Message[];
  /** The model calls so far. */
  iterations = 0;
  /** The attempt of a model call that is under way; 0 between them. */
  #attempt = 0;
  /** Whether a reader has text of the current answer. */
  #isShown = false;
  #round: Round | undefined;
  /** The error that ends the turn, unless another attempt follows. */
  #failure: { error: unknown } | undefined;
  #last: { result: unknown; response: unknown } | undefined;

  /** Contract: `show` gets the text of the last answer as it arrives, and resolves when a reader has taken it. */
  constructor(
    first: Message[],
    private readonly context: TurnContext,
    private readonly show: (text: string) => Promise<void>,
    private readonly span: Span,
  ) {
    this.messages = first;
  }

  /** Runs the turn. `response` is the executor's answer from which `result` was made. Throws as `turn`. */
  async play(): Promise<{ result: unknown; response: unknown }> {
    const { host, options } = this.context;
    const {
      signal,
      maxIterations = MAX_ITERATIONS,
      maxLlmRetries = MAX_LLM_RETRIES,
      parallelToolCalls,
    } = options;
    const call = {
      name: "call",
      description: "Runs a call of the answer.",
      inputSchema: { type: "object" },
      execute: ({ at }: { at: number }) => this.#call(at),
    };
    const agent = createAgent({
      ...joined({ clock: host.clock, random: host.random }),
      model: custom(() => this.#answer()),
      tools: [call],
      limits: { maxIterations, repeat: false },
      toolCalls: { execution: parallelToolCalls === true ? "parallel" : "sequential" },
      retry: { maxRetries: 0, maxModelCallRetries: maxLlmRetries - 1 },
      timeouts: { firstChunkMs: null, chunkMs: null },
      context: { compaction: false },
    });
    const onEvent = (event: RunEvent): void => {
      if (event.type === "retry") this.#tellRetry(event);
    };
    const { error } = await agent.run("Run the turn.", { signal, onEvent }).result;
    this.#closeRound();
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#last !== undefined) return this.#last;
    throw new Error(error?.message ?? `Agent loop exceeded ${maxIterations} iterations`);
  }

  /** The model of the run: an attempt of a model call. */
  async *#answer(): AsyncGenerator<CustomPart> {
    this.#isShown = false;
    try {
      if (this.#attempt === 0) await this.#prepare();
      this.#failure = undefined;
      this.#attempt++;
      // Text that an output guardrail may refuse is not shown before.
      const isHeld = this.context.options.guardrails?.output !== undefined;
      const show = isHeld ? undefined : (token: string) => this.#tellToken(token);
      const response = await ask(this.messages, this.#attempt, show, this.context, this.span);
      this.#attempt = 0;
      yield* await this.#take(response);
    } catch (error) {
      this.#failure = { error };
      // Another attempt changes only what the executor has thrown, and takes no text back.
      if (this.#attempt === 0 || this.#isShown || !(error instanceof ExecuteError)) throw error;
      yield { type: "error", message: error.message };
    }
  }

  /** Brings the conversation into the form in which the model is asked. */
  async #prepare(): Promise<void> {
    const { options, tell, around } = this.context;
    this.#closeRound();
    if (this.#failure !== undefined) throw this.#failure.error;
    const steered = options.steering?.drain() ?? [];
    if (steered.length > 0) {
      const added = steered.map((text): Message => ({ role: "user", content: textParts(text) }));
      this.#update([...this.messages, ...added]);
      tell("status", { message: `Injected ${steered.length} steering message(s)` });
    }
    this.#update(await fitting(this.messages, this.context));
    this.#checkAborted();
    this.#update(await judgedInput(this.messages, options.guardrails ?? {}, around));
    this.#checkAborted();
    this.iterations++;
  }

  /** Takes an answer into the conversation. No call of it runs before the guardrail has allowed it. */
  async #take(response: unknown): Promise<CustomPart[]> {
    const { agent, options, tell, around } = this.context;
    this.#checkAborted();
    const result = await this.span.within("Processor", {}, () => process(agent, response));
    const message = messageOf(response, result);
    const rewrite = await judgedOutput(message, options.guardrails ?? {}, around);
    this.#checkAborted();
    const judged = rewrite === undefined ? response : withText(response, rewrite);
    if (isCalls(result)) {
      if (this.iterations === 1) tell("status", { message: "Starting agent loop" });
      const text = rewrite ?? extractTextContent(response);
      const span = this.span.child("toolCalls");
      this.#round = { response: judged, text, calls: result, results: [], span };
      return result.map((_, at) => ({ type: "tool_call", name: "call", input: { at } }));
    }
    const said = rewrite === undefined ? message : { ...message, content: textParts(rewrite) };
    const text = textOfMessage(said);
    if (!this.#isShown && text !== "") await this.show(text);
    this.messages = [...this.messages, said];
    this.#last = { result: rewrite ?? result, response: judged };
    return [{ type: "text", text: "The turn is over." }];
  }

  /** The tool of the run. A call that cannot run ends the turn after the parallel calls are over. */
  async #call(at: number): Promise<void> {
    if (this.#failure !== undefined) return;
    const { calls, results, span } = this.#round!;
    const call = calls[at]!;
    results[at] = { tool_call_id: call.id, result: "Error: The turn ended before the tool" };
    try {
      results[at] = await runCall(call, this.context, span);
    } catch (error) {
      delete results[at];
      this.#failure ??= { error };
    }
  }

  /** Adds the calls of the last answer to the conversation, with a result for each. */
  #closeRound(): void {
    if (this.#round === undefined) return;
    const { response, text, calls, results, span } = this.#round;
    this.#round = undefined;
    const closed = calls.map(
      ({ id }, at) => results[at] ?? { tool_call_id: id, result: "Error: The tool was not run" },
    );
    span.set("result", closed);
    span.end();
    const { formatToolMessages } = getExecutor(providerOf(this.context.agent));
    this.#update([...this.messages, ...formatToolMessages(response, calls, closed, text)]);
  }

  #update(messages: Message[] | undefined): void {
    if (messages === undefined) return;
    this.messages = messages;
    // The event of an abort is the last one.
    if (this.context.options.signal?.aborted === true) return;
    this.context.tell("messages_updated", { messages: [...messages] });
  }

  /** Stops a function that ends after an abort from starting more work. */
  #checkAborted(): void {
    this.context.options.signal?.throwIfAborted();
  }

  #tellToken(token: string): Promise<void> {
    this.#isShown = true;
    this.context.tell("token", { token });
    return this.show(token);
  }

  #tellRetry({ nextAttempt: attempt, maxAttempts, delayMs }: RunEventOf<"retry">): void {
    const { tell } = this.context;
    const { message: reason } = this.#failure!.error as Error;
    tell("status", { message: `LLM call failed, retrying (attempt ${attempt}/${maxAttempts})...` });
    tell("retry", { operation: "llm", attempt, maxAttempts, delayMs, reason });
  }
}
