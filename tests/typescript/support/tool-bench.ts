/** One tool, called through `ToolCalls` with a double of the driver. */
import type { HostCallbacks } from "../../../src/typescript/core/host/driver.js";
import { ToolCalls } from "../../../src/typescript/core/tools/tool-calls.js";
import { knowTools } from "../../../src/typescript/core/tools/tool.js";
import type { Tool } from "../../../src/typescript/core/api/index.js";
import { FakeDriver, settled } from "./fake-driver.js";

export interface Bench {
  driver: FakeDriver;
  calls: ToolCalls;
  errors: unknown[];
  /** Starts call `id` of the tool and lets every promise settle. */
  call(input?: string, id?: number): Promise<void>;
  /** What the driver was told of call 1. */
  result(): unknown;
  /** What the driver was answered to the question about a call with `input`. */
  prepared(input: unknown): Promise<unknown>;
}

export function bench(options: Partial<Tool>): Bench {
  const driver = new FakeDriver("{}", "{}", {} as HostCallbacks);
  const errors: unknown[] = [];
  const known = knowTools({
    t: { description: "A tool", inputSchema: { type: "object" }, execute: () => "ok", ...options },
  });
  const calls = new ToolCalls(
    [known],
    () => driver,
    (error) => errors.push(error),
  );
  const invocation = { call: 1, toolCallId: "id-1", toolName: "t", iteration: 2, agent: 0, profile: 0 };
  return {
    driver,
    calls,
    errors,
    call: (input = "{}", id = 1) => {
      calls.call({ ...invocation, call: id, input: JSON.parse(input) as unknown });
      return settled();
    },
    result: () => driver.told("toolFinished").find(([id]) => id === 1)?.[1],
    prepared: async (input) => {
      return { prepared: await calls.prepare([{ ...invocation, call: 0, input }]) };
    },
  };
}
