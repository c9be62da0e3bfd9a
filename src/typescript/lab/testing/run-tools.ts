/** The tools of an agent, run with the inputs of a recorded run. */
import {
  returnedJson,
  type ToolInvocation,
  type ToolReturn,
  type Driver,
  type Returned,
} from "../../core/kit/engine.js";
import type { Made } from "../../core/kit/runs.js";
import { ToolCalls } from "../../core/kit/tools.js";
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
  { options, sets }: Made,
  file: LoopFile,
  invocations: readonly ToolInvocation[],
): AsyncGenerator<ToolRun> {
  const results = resultsIn(file);
  for (const invocation of invocations) {
    const result = results.get(invocation.call);
    if (result === undefined) continue;
    const toolRun = { ...options.toolCalls, inputs: options.inputs };
    const returned = await new Promise<ToolReturn>((resolve) => {
      const driver = { ...SILENT, toolFinished: (_: number, result: ToolReturn) => resolve(result) };
      new ToolCalls(
        sets,
        () => driver as unknown as Driver,
        () => {},
        toolRun,
      ).call({ ...invocation, input: structuredClone(invocation.input) });
    });
    yield {
      invocation,
      expected: JSON.stringify(result),
      actual: JSON.stringify(JSON.parse(returnedJson(returned))),
    };
  }
}

/** The name of a call's result, for a person. */
export function resultOf({ toolCallId, toolName }: ToolInvocation): string {
  return `The result of the call ${toolCallId} of ${toolName}`;
}

/** The results of a file's calls, by their numbers. */
export function resultsIn(file: LoopFile): Map<number, Returned> {
  const results = new Map<number, Returned>();
  for (const { input } of file.processes.flatMap(({ inputs }) => inputs)) {
    const json = "json" in input ? (input.json as { toolFinished?: { call: number; result: Returned } }) : {};
    if (json.toolFinished !== undefined) results.set(json.toolFinished.call, json.toolFinished.result);
  }
  return results;
}

/** A driver that nobody listens to. A tool that asks a person gets an error. */
const SILENT: Partial<Driver> = {
  toolProgress() {},
  toolCheckpoint() {},
  withholds: () => false,
  toolAsks() {
    throw new Error("Nobody answers the questions of tools in expectReplay.");
  },
};
