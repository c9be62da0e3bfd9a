/**
 * looplet: an LLM agent's loop for browsers and edge runtimes.
 *
 * The wing `core/` has what `createAgent` needs. This file joins its rooms to the engine, which makes all decisions.
 * `entry/` has a file for each kind of host. The other wings hold the package's subpaths.
 * `tests/typescript/rooms.test.ts` checks which wing may import which.
 */
import { agentOn } from "./agents/agent.js";
import type { NotOfAgent } from "./peer-names.js";
import type { LoadEngine } from "./host/engine.js";
import type { Agent, AgentOptions, InputOf, InputSchema, Tools } from "./api/index.js";
import { loadWasm } from "./host/wasm.js";
import { RunDriver } from "./host/driver.js";

/**
 * Makes an agent from a model, its tools and its limits.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 *
 * const agent = createAgent({
 *   model: anthropic("claude-opus-5-5", { apiKey: process.env.ANTHROPIC_API_KEY }),
 *   system: "You answer in one sentence.",
 *   limits: { maxIterations: 10, maxTotalTokens: 50_000 },
 * });
 * const { outcome, text } = await agent.run("Why is the sky blue?").result;
 * console.log(outcome, text);
 * ```
 *
 * @throws LoopletError `config_…`, for any wrong option
 */
export function createAgent<const T extends Tools, const S extends InputSchema = never>(
  options: AgentOptions<T, S> & NotOfAgent,
): Agent<T, [S] extends [never] ? undefined : InputOf<S>>;
export function createAgent(options: AgentOptions): Agent {
  return agentOn(loadEngine, options);
}

const loadEngine: LoadEngine = async () => {
  const wasm = await loadWasm();
  return (config, options, host) => new RunDriver(wasm, config, options, host);
};

export { awsSigV4 } from "./models/aws.js";
export { bedrock } from "./models/bedrock.js";
export { LoopletError, RunError, StoreConflict, ToolError } from "./api/errors.js";
export { custom } from "./models/custom.js";
export { hasToolCall, iterationCount } from "./options/stopping.js";
export { anthropic, compatible, gemini, openai, openaiChat } from "./models/models.js";
export { removeAllTools } from "./agents/handoff-filters.js";
export { handoff, subagent } from "./agents/subagents.js";
export { tool } from "./tools/tool.js";
export { vendorTool } from "./tools/vendor-tool.js";
export type * from "./api/index.js";
