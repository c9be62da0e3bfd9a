/** looplet: an LLM agent's loop for browsers and edge runtimes. */
import { agentOn } from "./agent.js";
import type { LoadEngine } from "./engine.js";
import type { Agent, AgentOptions, InputOf, InputSchema, OutputFormat } from "./types.js";
import { fetchParts, lacksParts, loadWasm } from "./wasm.js";
import { RunDriver } from "./driver.js";
import { instanceOf } from "./instance.js";

/**
 * Makes an agent: a model, its tools and its limits.
 *
 * @throws LoopletError `config_…`, for anything that the options say wrong
 */
export function createAgent<const S extends InputSchema>(
  options: AgentOptions<S> & { output: OutputFormat<S> },
): Agent<InputOf<S>>;
export function createAgent(options: AgentOptions): Agent<undefined>;
export function createAgent(options: AgentOptions): Agent {
  return agentOn(loadEngine, options);
}

const loadEngine: LoadEngine = async (needed) => {
  const wasm = await loadWasm(needed);
  // For runs that are under way: a new one looks by itself.
  if (wasm.parts !== undefined) instanceOf(wasm);
  return (configJson, host) => {
    try {
      return new RunDriver(wasm, configJson, host);
    } catch (error) {
      throw wasm.parts?.explain(error) ?? error;
    }
  };
};
loadEngine.lacks = lacksParts;
loadEngine.fetch = fetchParts;

export { awsSigV4 } from "./aws.js";
export { bedrock } from "./bedrock.js";
export { LoopletError, RunError, ToolError } from "./errors.js";
export { custom } from "./custom.js";
export { hasToolCall, iterationCount } from "./stopping.js";
export { anthropic, compatible, gemini, openai, openaiChat } from "./models.js";
export { handoff, subagent } from "./subagents.js";
export { tool } from "./tool.js";
export type * from "./types.js";
