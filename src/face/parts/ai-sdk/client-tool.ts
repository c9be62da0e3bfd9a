/** A tool whose result comes from the page, by `addToolOutput` of `useChat`. */
import { ToolError } from "../../core/api/errors.js";
import type { InputSchema, ToolOptions } from "../../core/api/index.js";
import { tool } from "../../core/tools/tool.js";
import { CLIENT_CALL } from "./questions.js";

/**
 * A tool that the page of `useChat` answers: its call is a part in the state `input-available`, the stream ends, and
 * `addToolOutput` gives the result. The run waits for it, days if it must, and goes on where it is.
 *
 * @throws LoopletError `config_…` as `tool()`
 */
export function clientTool<S extends InputSchema>(
  options: Omit<ToolOptions<S>, "execute" | "kind">,
): ToolOptions<S, Promise<unknown>> {
  return tool({
    replay: "safe",
    ...options,
    execute: async (_input: unknown, { elicit }) => {
      const { action, content = {} } = await elicit({ message: CLIENT_CALL });
      if (action === "accept" && "output" in content) return content["output"];
      const message =
        action === "accept" ? String(content["errorText"]) : "The page did not answer this call.";
      throw new ToolError({ message });
    },
  } as ToolOptions<S, Promise<unknown>>);
}
