/** Runs a tool outside of a run, for a check of a recorded run. */
import type { ToolInvocation } from "../generated/model.js";
import { returnedJson } from "../host/driver.js";
import type { Driver } from "../host/engine.js";
import type { ToolReturn } from "../host/question.js";
import { ToolCalls, type ToolRunOptions } from "../tools/tool-calls.js";
import type { ToolSet } from "../tools/tool.js";

/** Calls the tool of an invocation. Resolves with the JSON of its result, as the engine would read it. */
export async function runTool(
  sets: readonly ToolSet[],
  invocation: ToolInvocation,
  options: ToolRunOptions,
): Promise<string> {
  const returned = await new Promise<ToolReturn>((resolve) => {
    const driver = { ...SILENT, toolFinished: (_: number, result: ToolReturn) => resolve(result) };
    new ToolCalls(
      sets,
      () => driver as unknown as Driver,
      () => {},
      options,
    ).call({ ...invocation, input: structuredClone(invocation.input) });
  });
  return returnedJson(returned);
}

/** A driver without a run: it ignores progress and checkpoints. A tool that asks the user gets an error. */
const SILENT: Partial<Driver> = {
  toolProgress() {},
  toolCheckpoint() {},
  withholds: () => false,
  toolAsks() {
    throw new Error("Nobody answers the questions of tools in expectReplay.");
  },
};
