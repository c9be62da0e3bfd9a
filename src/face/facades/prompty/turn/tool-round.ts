/** The calls of one answer: looked up, read, bound, run. */
import type { HostAbortSignal } from "../../../core/api/platform.js";
import { readArguments } from "./arguments.js";
import { ValueError } from "../errors.js";
import { stopwatch, type OnTurnEvent, type ToolErrorKind } from "./events.js";
import type { ToolGuardrail, Verdict } from "./guardrails.js";
import { getTool, getToolHandler, type ToolFunction, type ToolHandler } from "../registry.js";
import { readResult, type ReadResult } from "./tool-result.js";
import type { Span } from "../tracer.js";
import type { PromptInputs, Prompty, PromptyHost, ToolCall, PromptyTool, ToolResult } from "../types.js";

export interface RoundOptions {
  agent: Prompty;
  inputs: PromptInputs;
  host: PromptyHost;
  /** The functions of this turn. They win over registered ones. */
  functions: ReadonlyMap<string, ToolFunction>;
  /** Runs tools of kind `prompty`. */
  runPrompty: (tool: PromptyTool, args: PromptInputs, span: Span) => Promise<unknown>;
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
    let outcome: Outcome | undefined;
    const facts = { arguments: call.arguments };
    await span.within(`execute_tool ${name}`, facts, async (span) => {
      outcome = await runCall(call, options, span);
      return outcome.parts ?? outcome.result;
    });
    const { result, parts, errorKind } = outcome!;
    const rich = parts === undefined ? {} : { parts };
    results[at] = { tool_call_id: id, result, ...rich };
    options.tell("tool_result", { name, result, ...rich });
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

interface Outcome extends Pick<ToolResult, "result" | "parts"> {
  errorKind?: ToolErrorKind;
}

async function runCall(call: ToolCall, options: RoundOptions, span: Span): Promise<Outcome> {
  const { inputs, host, tell } = options;
  const { name, arguments: text } = call;
  tell("tool_call_start", { name, arguments: text });
  const tool = toolOf(name, options);
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
    // The guardrail judges the arguments that the function gets. A file's own bindings are among them.
    const asked = { ...read.args, ...bound(tool, inputs) };
    const verdict = await permitted(call, asked, options);
    if (verdict?.allowed === false)
      return { result: `Tool denied by guardrail: ${verdict.reason ?? ""}`, errorKind: "denied" };
    const args = { ...(verdict?.rewrite ?? asked) };
    const { text, parts, isError = false } = await executed(call, args, run, options);
    return {
      result: text,
      ...(parts === undefined ? {} : { parts }),
      ...(isError ? { errorKind: "exception" } : {}),
    };
  } catch (error) {
    const message = `Error: Tool '${name}' failed: ${(error as Error | undefined)?.message ?? String(error)}`;
    tell("error", { message });
    return { result: message, errorKind: "exception" };
  }
}

/** Asks the guardrail whether a call may run. Without one nobody is asked. */
async function permitted(
  { id, name }: ToolCall,
  args: PromptInputs,
  { guardrail, tell }: RoundOptions,
): Promise<Verdict<object> | undefined> {
  if (guardrail === undefined) return undefined;
  const asked = { requestId: id, permission: name, toolCallId: id };
  tell("permission_requested", asked);
  const verdict = await guardrail(name, args);
  const { reason } = verdict;
  const allowed = verdict.allowed === true;
  tell("permission_completed", { ...asked, approved: allowed, ...(reason !== undefined && { reason }) });
  return { ...verdict, allowed };
}

/** Runs the function of a call; throws as it does. */
async function executed(
  { id: toolCallId, name: toolName }: ToolCall,
  args: PromptInputs,
  run: (args: PromptInputs) => unknown,
  { host, tell }: RoundOptions,
): Promise<ReadResult> {
  const elapsed = stopwatch(host.clock);
  let success = false;
  tell("tool_execution_start", { toolCallId, toolName, arguments: args });
  try {
    const result = readResult(await run(args));
    success = result.isError !== true;
    return result;
  } finally {
    tell("tool_execution_complete", { toolCallId, toolName, success, durationMs: elapsed() });
  }
}

/** The tool of the agent, or one that the program has registered by its name alone. @throws ValueError */
function toolOf(name: string, { agent, functions }: RoundOptions): PromptyTool {
  const declared = agent.tools.find((tool) => tool.name === name);
  if (declared !== undefined) return declared;
  if (functions.has(name) || getTool(name) !== undefined) return { name, kind: "function" };
  throw new ValueError(`Tool not registered: ${name}`);
}

/** Kinds of the specification that need a handler of the program. */
const UNBUILT = ["mcp", "openapi"];

/** The function of a tool's name, or the handler of its kind. @throws ValueError */
function handlerOf(tool: PromptyTool, options: RoundOptions, span: Span): (args: PromptInputs) => unknown {
  const { agent, inputs, host, signal, functions, runPrompty } = options;
  const own = functions.get(tool.name) ?? getTool(tool.name);
  if (own !== undefined) return own;
  const handler: ToolHandler | undefined = getToolHandler(tool.kind);
  if (handler !== undefined) return (args) => handler(tool, args, agent, inputs, { host, signal });
  if (tool.kind === "prompty") return (args) => runPrompty(tool, args, span);
  const advice = UNBUILT.includes(tool.kind)
    ? `; looplet/prompty does not implement this kind: registerToolHandler("${tool.kind}", …) adds it`
    : "";
  throw new ValueError(`No handler registered for tool: ${tool.name} (kind: ${tool.kind})${advice}`);
}

/** The parameters that the inputs fill. */
function bound({ bindings = {} }: PromptyTool, inputs: PromptInputs): PromptInputs {
  const given = Object.entries(bindings).filter(([, { input }]) => Object.hasOwn(inputs, input));
  return Object.fromEntries(given.map(([parameter, { input }]) => [parameter, inputs[input]]));
}
