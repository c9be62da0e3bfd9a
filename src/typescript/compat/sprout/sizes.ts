/** An agent in two sizes: the usual one, and a small one for tests that cost little. */
import { filled, mergeOptions, type Variables } from "../presets/index.js";
import { agentLoop } from "./agent-loop.js";
import type { AgentLoopOptions, AgentLoopResult } from "./types.js";

type Size = Omit<AgentLoopOptions, "userMessage" | "initialMessage"> & {
  /** The user's message. `{{name}}` is replaced by a value of `run` or of `variables`. */
  prompt: string;
  /** Values for `{{name}}` in `systemPrompt` and `prompt`. */
  variables?: Variables | undefined;
};

export interface SizedOptions extends Size {
  /** What changes in small mode: any option, and values of variables. */
  small?: Partial<Size> | undefined;
}

/** Values for `{{name}}`, and whether the run is a small one. Default of `small`: false. */
export interface SizedRun {
  small?: boolean | undefined;
  signal?: AgentLoopOptions["signal"];
  callbacks?: AgentLoopOptions["callbacks"];
  [name: string]: unknown;
}

export interface SizedAgent {
  /** Runs `agentLoop` with the options of the size that was asked for. */
  run(inputs?: SizedRun): Promise<AgentLoopResult>;
}

/**
 * An agent with a template for its prompt: `topicAgent.run({ topicNodeId, userId, small: true })`. A `{{name}}`
 * without a value stays in the text.
 */
export function defineAgent(options: SizedOptions): SizedAgent {
  const { small: changes = {}, ...usual } = options;
  return {
    async run({ small = false, signal, callbacks, ...inputs } = {}) {
      const size = small ? (mergeOptions(usual as object, changes as object) as Size) : usual;
      const { prompt, variables: _, ...loop } = size;
      const own = small ? changes.variables : undefined;
      const values = { ...usual.variables, ...own, ...textsOf(inputs) };
      return agentLoop({
        ...loop,
        ...(signal === undefined ? {} : { signal }),
        ...(callbacks === undefined ? {} : { callbacks }),
        systemPrompt: filled(loop.systemPrompt, values),
        userMessage: filled(prompt, values),
      });
    },
  };
}

/** Inputs as text: an object is written as JSON. */
function textsOf(inputs: { readonly [name: string]: unknown }): Variables {
  const texts = Object.entries(inputs).map(([name, value]) => [
    name,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
  return Object.fromEntries(texts) as Variables;
}
