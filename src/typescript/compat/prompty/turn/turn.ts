/** A turn: one turn of a conversation, with the tool calls that it takes. */
import { checkValue } from "../../../core/kit/check.js";
import { CancelledError } from "../errors.js";
import { load } from "../file/load.js";
import { invoke } from "../invoke.js";
import type { ToolFunction } from "../registry.js";
import { prepare, validateInputs } from "../template/prepare.js";
import { Span, spanned } from "../tracer.js";
import type { PromptInputs, Prompty, PromptyTool } from "../types.js";
import { applyBindings } from "./bindings.js";
import { checkMayRun, childPath, filesOf, offered } from "./children.js";
import { hooks, safeListener, stopwatch, type OnTurnEvent, type TurnEvents } from "./events.js";
import { TurnOnEngine } from "./on-engine.js";
import {
  MAX_ITERATIONS,
  MAX_LLM_RETRIES,
  type TurnContext,
  type TurnOptions,
  type TurnTools,
} from "./options.js";
import { streamed, type Play } from "./streamed.js";

/**
 * Runs a file or an agent: calls its model, runs the tools that it requests, and repeats until an answer has no
 * calls. `tools` are functions for this turn, in addition to the agent's tools.
 *
 * Resolves with the text of that answer, with a structured result if the agent has `outputs`, or with a
 * `PromptyStream`.
 *
 * Rejects with an `ExecuteError` when a model call has failed after all retries, a `CancelledError` after an abort, a
 * `GuardrailError`, a `ValueError` for a tool without a handler, an `Error` after `maxIterations`, and a
 * `LoopletError` `config_…` for a wrong option.
 */
export async function turn(
  pathOrAgent: string | Prompty,
  inputs: PromptInputs = {},
  tools: TurnTools = {},
  options: TurnOptions = {},
): Promise<unknown> {
  const { host = {}, turn: number } = options;
  const { maxIterations = MAX_ITERATIONS, maxLlmRetries = MAX_LLM_RETRIES } = options;
  checkValue(maxIterations, "maxIterations", "count");
  checkValue(maxLlmRetries, "maxLlmRetries", "count");
  checkValue(tools, "tools", "object");
  const name = number === undefined ? "turn" : `turn ${number}`;
  const span = options.span?.child(name) ?? Span.root(name, host.tracers);
  const play: Play = (show) =>
    spanned(span, { signature: "prompty.turn", inputs }, (span) =>
      played(pathOrAgent, inputs, tools, options, span, show),
    );
  return options.stream === true ? streamed(play, (items) => told(span, items)) : play(async () => {});
}

/** The same as {@link turn}, by the name of its asynchronous form. */
export const turnAsync = turn;

function told(span: Span, items: readonly string[]): void {
  const stream = span.child("PromptyStream");
  // A field with a name that sounds like a secret is only visible in the joined JSON text, not in its pieces.
  const text = items.join("");
  stream.set("result", /^\s*[{[]/.test(text) ? [text] : [...items]);
  stream.end();
}

async function played(
  pathOrAgent: string | Prompty,
  given: PromptInputs,
  tools: TurnTools,
  options: TurnOptions,
  span: Span,
  show: Parameters<Play>[0],
): Promise<unknown> {
  const { host = {}, maxIterations = MAX_ITERATIONS, signal, within = [], raw = false } = options;
  const listener = safeListener(options.onEvent);
  let isOver = false;
  const tell: OnTurnEvent = (type, data) => {
    // A function may still be running after the turn stopped waiting for it.
    if (!isOver) listener(type, data);
  };
  const elapsed = stopwatch(host.clock);
  let run: TurnOnEngine | undefined;
  const end = (status: TurnEvents["turn_end"]["status"], facts: { response?: unknown } = {}): void =>
    tell("turn_end", { iterations: run!.iterations, status, ...facts, durationMs: elapsed() });
  try {
    const loaded = typeof pathOrAgent === "string" ? await load(pathOrAgent, { host, signal }) : pathOrAgent;
    const { agent: own, functions } = withTools(loaded, tools);
    const agent = await offered(own, within, host, signal);
    const inputs = validateInputs(agent, given);
    const first = await span.within("prepare", {}, () => prepare(agent, inputs, host));
    const runChild: TurnContext["runPrompty"] = (...call) => runPrompty(...call, agent, options);
    const around = hooks(tell, host.clock);
    const context = { agent, inputs, options, host, functions, runPrompty: runChild, tell, around };
    run = new TurnOnEngine(first, context, show, span);
    tell("turn_start", { ...(agent.name && { agent: agent.name }), inputs, maxIterations });
    const { result, response } = await run.play();
    end("success", { response: result });
    tell("done", { response: result, messages: [...run.messages] });
    return raw ? response : result;
  } catch (thrown) {
    const error =
      signal?.aborted === true
        ? new CancelledError("The turn was cancelled", { cause: signal.reason })
        : thrown;
    const isCancelled = error instanceof CancelledError;
    if (isCancelled) tell("cancelled", { reason: error.cause });
    else tell("error", { message: (error as Error)?.message ?? String(error) });
    if (run === undefined) throw error;
    end(isCancelled ? "cancelled" : "error");
    // The error carries the conversation so far, with a result for each call.
    if (error instanceof Error && !("messages" in error)) Object.assign(error, { messages: run.messages });
    throw error;
  } finally {
    isOver = true;
  }
}

/** The functions of tools, and the agent with these tools. Their own fields override those of the file. */
function withTools(agent: Prompty, tools: TurnTools): Pick<TurnContext, "agent" | "functions"> {
  const functions = new Map<string, ToolFunction>();
  const declared = new Map(agent.tools.map((tool) => [tool.name, tool]));
  for (const [name, tool] of Object.entries(tools)) {
    const { execute, ...own } = typeof tool === "function" ? { execute: tool } : tool;
    functions.set(name, execute);
    declared.set(name, { kind: "function", ...declared.get(name), ...own, name });
  }
  return { agent: { ...agent, tools: [...declared.values()] }, functions };
}

/** Options of {@link executePromptyTool}. */
export interface PromptyToolOptions extends TurnOptions {
  /** The agent that has the tool. The tool's path is relative to its file. */
  agent?: Prompty | undefined;
}

/**
 * Runs the file of a tool of kind `prompty` with the model's arguments and the values that the tool binds to the
 * inputs of its agent: one model call with `mode: "single"` (default), or a turn with `mode: "agentic"`.
 *
 * Rejects with a `ValueError` for a path that leads out of the agent's folder, and as `invoke` and {@link turn}.
 */
export async function executePromptyTool(
  tool: PromptyTool,
  args: PromptInputs,
  parentInputs: PromptInputs = {},
  { agent, ...options }: PromptyToolOptions = {},
): Promise<unknown> {
  return runPrompty(tool, applyBindings(tool, args, parentInputs), options.span, agent ?? {}, options);
}

/** A tool of kind `prompty`: one model call, or a separate turn, in the span of its call. */
async function runPrompty(
  tool: PromptyTool,
  args: PromptInputs,
  span: Span | undefined,
  parent: Pick<Prompty, "path">,
  given: TurnOptions,
): Promise<unknown> {
  const { host = {}, within = [] } = given;
  const path = await childPath(tool, parent, within, host);
  const files = filesOf(parent, within);
  checkMayRun(path, files);
  // A file cannot leave the bounds of its parent's turn by having another file as its tool.
  const { onEvent: _, steering: _s, raw: _r, turn: _t, stream: _p, ...bounds } = given;
  const options = { ...bounds, span, within: files };
  return tool.mode === "agentic" ? turn(path, args, {}, options) : invoke(path, args, options);
}
