/** The tools of an agent, run with the inputs of a recorded run. */
import type { Input, ToolInvocation } from "../../core/kit/engine.js";
import { runTool } from "../../core/kit/run-tool.js";
import type { AgentInternals } from "../../core/kit/runs.js";
import type { LoopFile } from "../replay/loop-file.js";

/** A call, its result in the file, and its result now, both as JSON. */
export interface ToolRun {
  readonly invocation: ToolInvocation;
  readonly expected: string;
  readonly actual: string;
}

/**
 * Runs the tools for these calls, one after the other and in their order. A call without a result in the file,
 * because the run was aborted or its process ended, is left out.
 */
export async function* runTools(
  { options, sets }: AgentInternals,
  file: LoopFile,
  invocations: readonly ToolInvocation[],
): AsyncGenerator<ToolRun> {
  const results = resultsIn(file);
  for (const invocation of invocations) {
    const result = results.get(invocation.call);
    if (result === undefined) continue;
    const toolRun = { ...options.toolCalls, inputs: options.inputs };
    const actual = await runTool(sets, invocation, toolRun);
    yield {
      invocation,
      expected: JSON.stringify(result),
      actual: JSON.stringify(JSON.parse(actual)),
    };
  }
}

/** A readable name for the result of a call. */
export function resultOf({ toolCallId, toolName }: ToolInvocation): string {
  return `The result of the call ${toolCallId} of ${toolName}`;
}

/** The result of a call, as a `.loop` file has it. */
export type RecordedResult = Extract<Input, { toolFinished: unknown }>["toolFinished"]["result"];

/** The results of a file's calls, by their numbers. */
export function resultsIn(file: LoopFile): Map<number, RecordedResult> {
  const results = new Map<number, RecordedResult>();
  for (const { input } of file.processes.flatMap(({ inputs }) => inputs)) {
    const json =
      "json" in input ? (input.json as { toolFinished?: { call: number; result: RecordedResult } }) : {};
    if (json.toolFinished !== undefined) results.set(json.toolFinished.call, json.toolFinished.result);
  }
  return results;
}
