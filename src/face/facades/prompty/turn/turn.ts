/** The agent loop: one turn of a conversation, with the tool calls that it takes. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import { checkValue } from "../../../core/options/check.js";
import { getExecutor, getProcessor } from "../components.js";
import { checkMayRun, childPath, filesOf, offered } from "./children.js";
import { hooked, safeListener, stopwatch, type HookType, type OnTurnEvent, type Steering } from "./events.js";
import { isCalls, judgedInput, judgedOutput, messageOf, textParts, type Guardrails } from "./guardrails.js";
import { invoke, providerOf } from "../invoke.js";
import { load } from "../file/load.js";
import { callModel, cancellation } from "./model-call.js";
import { prepare, validateInputs } from "../template/prepare.js";
import { StructuredResultSymbol, textContent, withText } from "../model/process.js";
import type { ToolFunction } from "../registry.js";
import { PromptyStream } from "../model/stream.js";
import { runCalls, type RoundOptions } from "./tool-round.js";
import { Span } from "../tracer.js";
import { summarize, trim } from "./trim.js";
import type { PromptInputs, Message, Prompty, PromptyHost, PromptyTool } from "../types.js";

export interface TurnOptions {
  host?: PromptyHost | undefined;
  /** Model calls of the turn, a positive integer. Default 10. */
  maxIterations?: number | undefined;
  /** Attempts of each model call, the first among them. Default 3. */
  maxLlmRetries?: number | undefined;
  onEvent?: OnTurnEvent | undefined;
  signal?: HostAbortSignal | undefined;
  /** Characters of a conversation before a summary takes the place of its oldest messages. Default: no bound. */
  contextBudget?: number | undefined;
  /** Contract: summarises the messages that the budget drops. An empty text and an error mean the summary of looplet. */
  compaction?: ((messages: readonly Message[]) => string | Promise<string>) | undefined;
  guardrails?: Guardrails | undefined;
  steering?: Steering | undefined;
  /** Whether the calls of one answer run at the same time. Default false. */
  parallelToolCalls?: boolean | undefined;
  /** Whether to return the provider's last answer as it is. Default false. */
  raw?: boolean | undefined;
  /** The number of the turn, for the name of its span. */
  turn?: number | undefined;
  /** Whether to return a `PromptyStream` of the last answer's text. Default false. */
  stream?: boolean | undefined;
  /** @internal The span of a tool that this turn runs in. */
  span?: Span | undefined;
  /** @internal The files that lead to this turn. */
  within?: readonly string[] | undefined;
}

/** The functions of tools, each alone or with its definition for the model. */
export type TurnTools = {
  [name: string]: ToolFunction | (Partial<PromptyTool> & { execute: ToolFunction });
};

/**
 * Runs a file or an agent: asks its model, runs the tools that it asks for, and repeats until an answer has no calls.
 * `tools` are functions of this turn; they join the agent's tools.
 *
 * Resolves with the text of that answer, with a structured result if the agent has `outputs`, or with a
 * {@link PromptyStream}.
 *
 * Rejects with an `ExecuteError` when a model call has failed for good, a `CancelledError` after an abort, a
 * `GuardrailError`, a `ValueError` for a tool without a handler, an `Error` after `maxIterations`, and a
 * `LoopletError` `config_…` for a wrong option.
 */
export async function turn(
  pathOrAgent: string | Prompty,
  inputs: PromptInputs = {},
  tools: TurnTools = {},
  options: TurnOptions = {},
): Promise<unknown> {
  const { host = {}, stream = false, turn: number, maxIterations = 10, maxLlmRetries = 3 } = options;
  checkValue(maxIterations, "maxIterations", "count");
  checkValue(maxLlmRetries, "maxLlmRetries", "count");
  checkValue(tools, "tools", "object");
  const name = number === undefined ? "turn" : `turn ${number}`;
  const span = options.span?.child(name) ?? Span.root(name, host.tracers);
  span.set("signature", "prompty.turn");
  span.set("inputs", inputs);
  const texts = spannedTexts(span, loop(pathOrAgent, inputs, tools, options, span));
  const first = await texts.next();
  if (stream) return new PromptyStream(begun(first, texts), (items) => told(span, items));
  let next = first;
  while (next.done !== true) next = await texts.next();
  return next.value;
}

/** The same as {@link turn}, by the name of its asynchronous form. */
export const turnAsync = turn;

function told(span: Span, items: readonly string[]): void {
  const stream = span.child("PromptyStream");
  // The pieces of a JSON text show no field whose name sounds like a secret; together they do.
  const text = items.join("");
  stream.set("result", /^\s*[{[]/.test(text) ? [text] : [...items]);
  stream.end();
}

async function* spannedTexts(
  span: Span,
  texts: AsyncGenerator<string, unknown>,
): AsyncGenerator<string, unknown> {
  try {
    const result = yield* texts;
    span.set("result", result);
    return result;
  } catch (error) {
    span.set("error", String(error));
    throw error;
  } finally {
    span.end();
  }
}

async function* begun(
  first: IteratorResult<string, unknown>,
  texts: AsyncGenerator<string, unknown>,
): AsyncGenerator<string> {
  if (first.done === true) {
    // An answer that came whole is one piece.
    const { value } = first as { value: any };
    const text: unknown = value?.[StructuredResultSymbol] ?? value;
    if (typeof text === "string" && text !== "") yield text;
    return;
  }
  yield first.value;
  yield* texts;
}

/** What a turn begins with. A file or an input that is wrong is told like any other error of a turn. */
async function begin(
  pathOrAgent: string | Prompty,
  given: PromptInputs,
  tools: TurnTools,
  { host = {}, within = [], signal }: TurnOptions,
  span: Span,
  tell: OnTurnEvent,
  checkCancelled: () => void,
): Promise<{ agent: Prompty; inputs: PromptInputs; first: Message[] }> {
  try {
    const loaded = typeof pathOrAgent === "string" ? await load(pathOrAgent, { host, signal }) : pathOrAgent;
    const agent = await offered(merged(loaded, tools), within, host, signal);
    const inputs = validateInputs(agent, given);
    return { agent, inputs, first: await span.within("prepare", {}, () => prepare(agent, inputs, host)) };
  } catch (error) {
    checkCancelled();
    tell("error", { message: (error as Error)?.message ?? String(error) });
    throw error;
  }
}

async function* loop(
  pathOrAgent: string | Prompty,
  given: PromptInputs,
  tools: TurnTools,
  options: TurnOptions,
  span: Span,
): AsyncGenerator<string, unknown> {
  const { host = {}, maxIterations = 10, maxLlmRetries = 3, guardrails = {}, steering, signal } = options;
  const tell = safeListener(options.onEvent);
  const around = <T>(hookType: HookType, work: () => T | Promise<T>): Promise<T> =>
    hooked(hookType, { tell, clock: host.clock }, work);
  const elapsed = stopwatch(host.clock);
  const checkCancelled = cancellation(signal, tell);
  const { agent, inputs, first } = await begin(
    pathOrAgent,
    given,
    tools,
    options,
    span,
    tell,
    checkCancelled,
  );
  let messages = first;
  const update = (list: Message[]): void => {
    messages = list;
    tell("messages_updated", { messages: [...messages] });
  };
  const calling = {
    agent,
    host,
    signal,
    // Text that an output guardrail may refuse is not shown before.
    isStreaming: options.stream === true && guardrails.output === undefined,
    maxAttempts: maxLlmRetries,
    tell,
    checkCancelled,
  };
  const round: RoundOptions = {
    agent,
    inputs,
    host,
    functions: functionsOf(tools),
    runPrompty: (tool, args, span) => runPrompty(tool, args, agent, options, span),
    guardrail: guardrails.tool,
    isParallel: options.parallelToolCalls === true,
    signal,
    tell,
    checkCancelled,
  };
  let iteration = 0;
  const end = (status: "success" | "error" | "cancelled", facts: { response?: unknown } = {}): void =>
    tell("turn_end", { iterations: iteration, status, ...facts, durationMs: elapsed() });
  tell("turn_start", { ...(agent.name && { agent: agent.name }), inputs, maxIterations });
  try {
    for (;;) {
      if (iteration >= maxIterations) throw new Error(`Agent loop exceeded ${maxIterations} iterations`);
      checkCancelled();
      const steered = steering?.drain() ?? [];
      if (steered.length > 0) {
        const added = steered.map((value): Message => ({ role: "user", content: [{ kind: "text", value }] }));
        update([...messages, ...added]);
        tell("status", { message: `Injected ${steered.length} steering message(s)` });
      }
      await fit(messages, options, tell, update);
      const asked = await judgedInput(messages, guardrails, around);
      if (asked !== undefined) update(asked);
      checkCancelled();
      iteration++;
      const response = yield* heard(callModel(messages, calling, span), tell);
      const result = await span.within("Processor", {}, () =>
        getProcessor(providerOf(agent)).process(agent, response),
      );
      // No tool of an answer runs before the guardrail has allowed the answer.
      const message = messageOf(response, result);
      const rewrite = await judgedOutput(message, guardrails, around);
      if (isCalls(result)) {
        checkCancelled();
        if (iteration === 1) tell("status", { message: "Starting agent loop" });
        const { results, error } = await span.within("toolCalls", {}, (span) =>
          runCalls(result, round, span),
        );
        const closed = result.map(({ id }, at) => results[at] ?? { tool_call_id: id, result: NOT_RUN });
        const format = getExecutor(providerOf(agent)).formatToolMessages;
        const answer = rewrite === undefined ? response : withText(response, rewrite);
        const made = format(answer, result, closed, rewrite ?? textContent(response));
        // The event of an abort is the last one.
        if (signal?.aborted === true) messages = [...messages, ...made];
        else update([...messages, ...made]);
        if (error !== undefined) throw error;
        continue;
      }
      const final = rewrite ?? result;
      messages = [...messages, rewrite === undefined ? message : { ...message, content: textParts(rewrite) }];
      end("success", { response: final });
      tell("done", { response: final, messages: [...messages] });
      if (options.raw !== true) return final;
      return rewrite === undefined ? response : withText(response, rewrite);
    }
  } catch (error) {
    const isCancelled = signal?.aborted === true;
    if (!isCancelled) tell("error", { message: (error as Error)?.message ?? String(error) });
    end(isCancelled ? "cancelled" : "error");
    // The error carries the conversation so far, with a result for each call.
    if (error instanceof Error && !("messages" in error)) Object.assign(error, { messages });
    throw error;
  }
}

const NOT_RUN = "Error: The tool was not run";

async function* heard(
  texts: AsyncGenerator<string, unknown>,
  tell: OnTurnEvent,
): AsyncGenerator<string, unknown> {
  for (;;) {
    const { value, done } = await texts.next();
    if (done === true) return value;
    tell("token", { token: value });
    yield value;
  }
}

/** Replaces the oldest messages by a summary if the conversation is over its budget. */
async function fit(
  messages: readonly Message[],
  { contextBudget, compaction, host }: TurnOptions,
  tell: OnTurnEvent,
  update: (messages: Message[]) => void,
): Promise<void> {
  const trimmed = contextBudget === undefined ? undefined : trim(messages, contextBudget);
  if (trimmed === undefined) return;
  const { system, dropped, rest } = trimmed;
  let summary = "";
  if (compaction !== undefined) {
    tell("compaction_start", {});
    try {
      summary = await hooked("compaction", { tell, clock: host?.clock }, () => compaction(dropped));
      tell("compaction_complete", { removed: dropped.length, remaining: system.length + rest.length + 1 });
    } catch (error) {
      tell("compaction_failed", { message: (error as Error)?.message ?? String(error) });
    }
  }
  const value = `[Context summary: ${summary || summarize(dropped)}]`;
  update([...system, { role: "user", content: [{ kind: "text", value }] }, ...rest]);
}

function functionsOf(tools: TurnTools): ReadonlyMap<string, ToolFunction> {
  const pairs = Object.entries(tools).map(
    ([name, tool]) => [name, typeof tool === "function" ? tool : tool.execute] as const,
  );
  return new Map(pairs);
}

/** The agent with the tools of this turn. A tool that the file does not declare is declared by its own fields. */
function merged(agent: Prompty, tools: TurnTools): Prompty {
  const declared = new Map(agent.tools.map((tool) => [tool.name, tool]));
  for (const [name, tool] of Object.entries(tools)) {
    if (typeof tool === "function" && declared.has(name)) continue;
    const { execute: _, ...more } = typeof tool === "function" ? { execute: tool } : tool;
    declared.set(name, { kind: "function", ...declared.get(name), ...more, name });
  }
  return { ...agent, tools: [...declared.values()] };
}

/** A tool of kind `prompty`: one model call, or a turn of its own, in the span of its call. */
async function runPrompty(
  tool: PromptyTool,
  args: PromptInputs,
  parent: Prompty,
  given: TurnOptions,
  span: Span,
): Promise<unknown> {
  const { host = {}, signal, within = [], guardrails, maxIterations, maxLlmRetries } = given;
  const { contextBudget, compaction, parallelToolCalls } = given;
  const path = await childPath(tool, parent, within, host);
  const files = filesOf(parent, within);
  checkMayRun(path, files);
  const options = { host, span, signal, guardrails };
  if (tool.mode !== "agentic") return invoke(path, args, options);
  // A file cannot leave the bounds of its parent's turn by having another file as its tool.
  const bounds = { maxIterations, maxLlmRetries, contextBudget, compaction, parallelToolCalls };
  return turn(path, args, {}, { ...options, ...bounds, within: files });
}
