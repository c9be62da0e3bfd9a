/** The calls of one answer: looked up, read, bound, run. */
import type { HostAbortSignal } from "../../api/platform.js";
import { readArguments } from "./arguments.js";
import { ValueError } from "../errors.js";
import { stopwatch, type OnTurnEvent, type ToolErrorKind } from "./events.js";
import { getTool, getToolHandler, type ToolFunction, type ToolHandler } from "../registry.js";
import { StructuredResultSymbol } from "../model/process.js";
import type { Span } from "../tracer.js";
import type { Inputs, Prompty, PromptyHost, ToolCall, ToolDefinition, ToolResult } from "../types.js";

/** The decision of a guardrail; `rewrite` takes the place of what it looked at. */
export interface Verdict<T> {
  allowed: boolean;
  reason?: string;
  rewrite?: T;
}

export type ToolGuardrail = (name: string, args: any) => Verdict<object> | Promise<Verdict<object>>;

export interface RoundOptions {
  agent: Prompty;
  inputs: Inputs;
  host: PromptyHost;
  /** The functions of this turn. They win over registered ones. */
  functions: ReadonlyMap<string, ToolFunction>;
  /** Runs tools of kind `prompty`. */
  runPrompty: (tool: ToolDefinition, args: Inputs, span: Span) => Promise<unknown>;
  guardrail: ToolGuardrail | undefined;
  isParallel: boolean;
  signal: HostAbortSignal | undefined;
  tell: OnTurnEvent;
  /** Throws if the turn is cancelled. */
  checkCancelled: () => void;
}

/** A round with the results that there are, in the order of the calls, and the error that ends the turn. */
export interface Round {
  results: (ToolResult | undefined)[];
  error?: unknown;
}

/** Runs the calls of an answer. An error of a tool becomes its result; a missing handler and an abort end the round. */
export async function runCalls(
  calls: readonly ToolCall[],
  options: RoundOptions,
  span: Span,
): Promise<Round> {
  const results: (ToolResult | undefined)[] = calls.map(() => undefined);
  const one = async (call: ToolCall, at: number): Promise<void> => {
    options.checkCancelled();
    const { id, name } = call;
    const elapsed = stopwatch(options.host.clock);
    let errorKind: ToolErrorKind | undefined;
    const facts = { arguments: call.arguments };
    const result = await span.within(`execute_tool ${name}`, facts, async (span) => {
      const outcome = await runCall(call, options, span);
      errorKind = outcome.errorKind;
      return outcome.result;
    });
    results[at] = { tool_call_id: id, result };
    options.tell("tool_result", { name, result });
    options.tell("tool_call_complete", {
      id,
      name,
      success: errorKind === undefined,
      result,
      durationMs: elapsed(),
      ...(errorKind && { errorKind }),
    });
  };
  try {
    if (options.isParallel && calls.length > 1) {
      const settled = await Promise.allSettled(calls.map(one));
      const failed = settled.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
      if (failed !== undefined) throw failed.reason;
    } else for (const [at, call] of calls.entries()) await one(call, at);
    return { results };
  } catch (error) {
    return { results, error };
  }
}

interface Outcome {
  result: string;
  errorKind?: ToolErrorKind;
}

async function runCall(call: ToolCall, options: RoundOptions, span: Span): Promise<Outcome> {
  const { agent, inputs, host, tell } = options;
  const { name, arguments: text } = call;
  tell("tool_call_start", { name, arguments: text });
  const tool = agent.tools.find((tool) => tool.name === name);
  if (tool === undefined) throw new ValueError(`Tool not registered: ${name}`);
  const run = handlerOf(tool, options, span);
  const read = readArguments(text);
  if ("error" in read) {
    tell("error", { message: read.error });
    return { result: read.error, errorKind: "invalid_arguments" };
  }
  const { repairedBy } = read;
  if (repairedBy !== undefined)
    (host.logger ?? console).warn(`The arguments of ${name} were read by a fallback: ${repairedBy}`);
  try {
    const verdict = await permitted(call, read.args, options);
    if (verdict?.allowed === false)
      return { result: `Tool denied by guardrail: ${verdict.reason ?? ""}`, errorKind: "denied" };
    const args = { ...(verdict?.rewrite ?? read.args), ...bound(tool, inputs) };
    return { result: await executed(call, args, run, options) };
  } catch (error) {
    const message = `Error: Tool '${name}' failed: ${(error as Error | undefined)?.message ?? String(error)}`;
    tell("error", { message });
    return { result: message, errorKind: "exception" };
  }
}

/** Asks the guardrail whether a call may run. Without one nobody is asked. */
async function permitted(
  { id, name }: ToolCall,
  args: Inputs,
  { guardrail, tell }: RoundOptions,
): Promise<Verdict<object> | undefined> {
  if (guardrail === undefined) return undefined;
  const asked = { requestId: id, permission: name, toolCallId: id };
  tell("permission_requested", asked);
  const verdict = await guardrail(name, args);
  const { allowed, reason } = verdict;
  tell("permission_completed", { ...asked, approved: allowed, ...(reason !== undefined && { reason }) });
  return verdict;
}

/** Runs the function of a call; throws as it does. */
async function executed(
  { id: toolCallId, name: toolName }: ToolCall,
  args: Inputs,
  run: (args: Inputs) => unknown,
  { host, tell }: RoundOptions,
): Promise<string> {
  const elapsed = stopwatch(host.clock);
  let success = false;
  tell("tool_execution_start", { toolCallId, toolName, arguments: args });
  try {
    const text = textOfResult(await run(args));
    success = true;
    return text;
  } finally {
    tell("tool_execution_complete", { toolCallId, toolName, success, durationMs: elapsed() });
  }
}

/** The function of a tool's name, or the handler of its kind. @throws ValueError */
function handlerOf(tool: ToolDefinition, options: RoundOptions, span: Span): (args: Inputs) => unknown {
  const { agent, inputs, host, signal, functions, runPrompty } = options;
  const own = functions.get(tool.name) ?? getTool(tool.name);
  if (own !== undefined) return own;
  const handler: ToolHandler | undefined = getToolHandler(tool.kind);
  if (handler !== undefined) return (args) => handler(tool, args, agent, inputs, { host, signal });
  if (tool.kind === "prompty") return (args) => runPrompty(tool, args, span);
  throw new ValueError(`No handler registered for tool: ${tool.name} (kind: ${tool.kind})`);
}

/** The parameters that the inputs fill. */
function bound({ bindings = {} }: ToolDefinition, inputs: Inputs): Inputs {
  const given = Object.entries(bindings).filter(([, { input }]) => Object.hasOwn(inputs, input));
  return Object.fromEntries(given.map(([parameter, { input }]) => [parameter, inputs[input]]));
}

/** A text as it is, an object as JSON, nothing as an empty text. */
function textOfResult(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value ?? "");
  return (value as { [StructuredResultSymbol]?: string })[StructuredResultSymbol] ?? JSON.stringify(value);
}
