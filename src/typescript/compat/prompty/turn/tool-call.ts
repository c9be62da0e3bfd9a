/** A call of an answer: looked up, read, bound, run. */
import { isErrorObject } from "../../../core/kit/check.js";
import { ValueError } from "../errors.js";
import { getTool, getToolHandler, type ToolHandler } from "../registry.js";
import type { Span } from "../tracer.js";
import type { PromptInputs, PromptyTool, ToolCall, ToolResult } from "../types.js";
import { argumentsError, resilientJsonParse } from "./arguments.js";
import { applyBindings, findToolDefinition } from "./bindings.js";
import { stopwatch, type ToolErrorKind } from "./events.js";
import type { Verdict } from "./guardrails.js";
import type { TurnContext } from "./options.js";
import { readResult, type ReadResult } from "./tool-result.js";

/** Runs a call. An error of a tool is a result. @throws ValueError for a tool without a handler */
export async function runCall(call: ToolCall, context: TurnContext, span: Span): Promise<ToolResult> {
  const { id, name } = call;
  const elapsed = stopwatch(context.host.clock);
  let outcome: Outcome | undefined;
  await span.within(`execute_tool ${name}`, { arguments: call.arguments }, async (span) => {
    outcome = await outcomeOf(call, context, span);
    return outcome.parts ?? outcome.result;
  });
  const { errorKind, ...result } = outcome!;
  context.tell("tool_result", { name, ...result });
  context.tell("tool_call_complete", {
    id,
    name,
    success: errorKind === undefined,
    result: result.result,
    durationMs: elapsed(),
    ...(errorKind && { errorKind }),
  });
  return { tool_call_id: id, ...result };
}

interface Outcome extends Pick<ToolResult, "result" | "parts"> {
  errorKind?: ToolErrorKind;
}

async function outcomeOf(call: ToolCall, context: TurnContext, span: Span): Promise<Outcome> {
  const { inputs, host, tell } = context;
  const { name, arguments: text } = call;
  tell("tool_call_start", { name, arguments: text });
  const tool = toolOf(name, context);
  const run = handlerOf(tool, context, span);
  const written = resilientJsonParse(text, { logger: host.logger, toolName: name });
  if (written === null) {
    const result = argumentsError(text);
    tell("error", { message: result });
    return { result, errorKind: "invalid_arguments" };
  }
  try {
    // The guardrail judges the arguments that the function gets. A file's own bindings are among them.
    const asked = applyBindings(tool, written, inputs);
    const verdict = await permitted(call, asked, context);
    if (verdict?.allowed === false)
      return { result: `Tool denied by guardrail: ${verdict.reason ?? ""}`, errorKind: "denied" };
    const args = { ...(verdict?.rewrite ?? asked) };
    const { isError = false, ...read } = await executed(call, args, run, context);
    return isError ? { ...read, errorKind: "exception" } : read;
  } catch (error) {
    const { message: words = String(error), name: kind } = (error ?? {}) as Partial<Error>;
    const message = `Error: Tool '${name}' failed: ${words || kind}`;
    tell("error", { message });
    return { result: message, errorKind: "exception" };
  }
}

/** Asks the guardrail whether a call may run. Without a guardrail it may. */
async function permitted(
  { id, name }: ToolCall,
  args: PromptInputs,
  { options: { guardrails, signal }, tell }: TurnContext,
): Promise<Verdict<object> | undefined> {
  if (guardrails?.tool === undefined) return undefined;
  const asked = { requestId: id, permission: name, toolCallId: id };
  tell("permission_requested", asked);
  const verdict = await guardrails.tool(name, args);
  const { reason } = verdict;
  const allowed = verdict.allowed === true;
  tell("permission_completed", { ...asked, approved: allowed, ...(reason !== undefined && { reason }) });
  signal?.throwIfAborted();
  return { ...verdict, allowed };
}

/** Runs the function of a call; throws as it does. */
async function executed(
  { id: toolCallId, name: toolName }: ToolCall,
  args: PromptInputs,
  run: (args: PromptInputs) => unknown,
  { host, tell }: TurnContext,
): Promise<ReadResult> {
  const elapsed = stopwatch(host.clock);
  let success = false;
  tell("tool_execution_start", { toolCallId, toolName, arguments: args });
  try {
    const value = await run(args);
    // A returned error counts as thrown, as in `createAgent`.
    if (isErrorObject(value)) throw value;
    const result = readResult(value);
    success = result.isError !== true;
    return result;
  } finally {
    tell("tool_execution_complete", { toolCallId, toolName, success, durationMs: elapsed() });
  }
}

/** The tool of the agent, or one that the program has registered only by name. @throws ValueError */
function toolOf(name: string, { agent, functions }: TurnContext): PromptyTool {
  const declared = findToolDefinition(agent, name);
  if (declared !== null) return declared;
  if (functions.has(name) || getTool(name) !== undefined) return { name, kind: "function" };
  throw new ValueError(`Tool not registered: ${name}`);
}

/** Kinds of the specification that need a handler of the program. */
const UNBUILT = ["mcp", "openapi"];

/** The function of a tool's name, or the handler of its kind. @throws ValueError */
function handlerOf(tool: PromptyTool, context: TurnContext, span: Span): (args: PromptInputs) => unknown {
  const { agent, inputs, options, host, functions, runPrompty } = context;
  const own = functions.get(tool.name) ?? getTool(tool.name);
  if (own !== undefined) return own;
  const handler: ToolHandler | undefined = getToolHandler(tool.kind);
  if (handler !== undefined) {
    const { signal } = options;
    return (args) => handler(tool, args, agent, inputs, { host, signal });
  }
  if (tool.kind === "prompty") return (args) => runPrompty(tool, args, span);
  const advice = UNBUILT.includes(tool.kind)
    ? `; looplet/prompty does not implement this kind: registerToolHandler("${tool.kind}", …) adds it`
    : "";
  throw new ValueError(`No handler registered for tool: ${tool.name} (kind: ${tool.kind})${advice}`);
}
