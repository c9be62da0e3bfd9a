/**
 * Presets: options that make `createAgent` behave as the loop that they are named after. Take one and override any
 * option: `createAgent(mergeOptions(presets.sprout.agent, { model: anthropic("…", { ...presets.sprout.model, apiKey
 * }), tools }))`.
 */
import { checkValue, describe, joined, withFieldPrefix } from "../../core/kit/check.js";
import { LoopletError } from "../../core/api/errors.js";
import { mergeOptions } from "./merge-options.js";
import type {
  Agent,
  AgentOptions,
  Chat,
  HttpModelOptions,
  Prompt,
  Run,
  RunOptions,
  WordToolError,
} from "../../core/api/index.js";

export { mergeOptions } from "./merge-options.js";
export { agentSdkCanUseTool, agentSdkHooks } from "./agent-sdk-hooks.js";
export type * from "./agent-sdk-hooks.js";

export interface Preset {
  /** Options for `createAgent`. */
  readonly agent: Omit<AgentOptions, "model" | "tools" | "system">;
  /** Options for the model. */
  readonly model: Pick<HttpModelOptions, "effort" | "promptCaching">;
  /** The model that the preset's source names. */
  readonly modelName?: string;
}

export type PresetName = "default" | "sprout" | "claudeAgentSdk" | "guide" | "production" | "prompty";

/** `limits.maxIterations` for a loop without a bound: the greatest number that the option accepts. */
const UNBOUNDED = 4_294_967_295;

/** The error texts in which each source reports a failed call to the model, for `toolCalls.wordError`. */
export const toolErrorWords = {
  /** `{"error":message}` */
  sprout: ({ code, message }, { toolName }) => {
    const error = code === "unknown_tool" ? `Unknown tool: ${toolName}` : message || "Tool execution failed";
    return JSON.stringify({ error });
  },
  /** Only the message. */
  claudeAgentSdk: ({ message }) => message,
  guide: ({ message }) => `Error: ${message}`,
  production: ({ message }) => `error: ${message}`,
  /** `Error: Tool 'name' failed: message`, and `Error: message` for a call that did not run. */
  prompty: ({ code, message }, { toolName }) => {
    // The text of a denial says itself who denied the call.
    if (code === "denied") return message;
    return NOT_RUN.includes(code) ? `Error: ${message}` : `Error: Tool '${toolName}' failed: ${message}`;
  },
} satisfies { readonly [name in PresetName]?: WordToolError };

/** Codes of calls that did not run. */
const NOT_RUN = [
  "invalid_json",
  "invalid_input",
  "unknown_tool",
  "early_answer",
  "cut_off",
  "call_limit",
  "not_run",
  "cancelled",
  "save_failed",
];

export const presets: {
  readonly [name in PresetName]: Preset & (name extends "sprout" ? { readonly modelName: string } : unknown);
} = {
  /** The behaviour of `createAgent` without options: bounded, safe, resumable, never throws. */
  default: { agent: {}, model: {} },
  /** Sprout's agent loop. */
  sprout: {
    agent: {
      limits: { maxIterations: 15, repeat: false },
      maxOutputTokens: 8000,
      retry: { maxRetries: 3, on: ["rate_limit"], jitterMs: 0, respectRetryAfter: false },
      toolCalls: { execution: "sequential", wordError: toolErrorWords.sprout },
      context: { compaction: false },
    },
    model: {},
    modelName: "claude-opus-4-20250514",
  },
  /** The Claude Agent SDK's loop. Its number of retries is not documented; it was observed to make ten attempts. */
  claudeAgentSdk: {
    agent: {
      limits: { maxIterations: UNBOUNDED },
      permissions: { mode: "default" },
      retry: { maxRetries: 9 },
      toolCalls: { wordError: toolErrorWords.claudeAgentSdk, tellUpdatedInput: false },
    },
    model: { effort: "high" },
  },
  /** The loop of the guide "How to implement an agent loop". */
  guide: {
    agent: {
      limits: { maxIterations: UNBOUNDED, repeat: false },
      retry: { maxRetries: 0 },
      toolCalls: { execution: "parallel", wordError: toolErrorWords.guide },
      context: { compaction: false, pruning: { by: "looplet" } },
    },
    model: {},
  },
  /** The production article's loop; add `trace: traceRows(sink)` of `looplet/trace`. */
  production: {
    agent: {
      limits: { maxIterations: 50 },
      toolCalls: { execution: "parallel" },
      answers: { strictStopReason: true },
      context: { compaction: false },
    },
    model: {},
  },
  /** The loop of Prompty's specification, section 9. */
  prompty: {
    agent: {
      limits: { maxIterations: 10, repeat: false, onLimit: "throw" },
      maxOutputTokens: 4096,
      retry: { maxModelCallRetries: 2 },
      toolCalls: { execution: "sequential", wordError: toolErrorWords.prompty, onUnknownTool: "throw" },
      context: { compaction: false },
      onCancel: "throw",
      onRefusal: "throw",
      onFailure: "throw",
    },
    model: {},
  },
};

/** `limits.maxIterations` of the agents that the sources describe. */
export const iterationPresets = {
  topic: 15,
  subconcept: 15,
  refinement: 15,
  tutor: 5,
  grading: 10,
  builder: 50,
  router: 12,
} as const;

/** Values that replace `{{name}}` in texts. */
export interface Variables {
  readonly [name: string]: string | number;
}

/** The changes of a variant: any option, merged as `mergeOptions` does, and values of variables. */
export type Variant = Partial<AgentOptions> & { variables?: Variables };

export interface AgentVariantsOptions<V extends string> extends AgentOptions {
  /** Values for `{{name}}` in `system` and in prompts that are strings. */
  variables?: Variables | undefined;
  /** Other sizes of this agent, by name. */
  variants?: { readonly [name in V]: Variant } | undefined;
}

export interface VariantRunOptions<V extends string> extends RunOptions {
  variant?: V | undefined;
  /** Whether to use the variant `small`. */
  small?: boolean | undefined;
}

export interface AgentVariants<V extends string> {
  run(prompt: Prompt, options?: VariantRunOptions<V>): Run;
  chat(options?: Pick<VariantRunOptions<V>, "variant" | "small" | "messages">): Chat;
}

/**
 * An agent in several sizes: `agentVariants(createAgent, { …, variants: { small: { limits: { maxIterations: 3 },
 * variables: { count: "1-2" } } } })`, then `agent.run(prompt, { small: true })`. A `{{name}}` without a value stays
 * in the text.
 *
 * @throws LoopletError `config_…`; in `run` and `chat` for an unknown variant
 */
export function agentVariants<V extends string>(
  createAgent: (options: AgentOptions) => Agent,
  options: AgentVariantsOptions<V>,
): AgentVariants<V> {
  if (typeof createAgent !== "function")
    throw new TypeError("agentVariants(createAgent, options) needs createAgent of the entry that you import");
  checkValue(options, "options", "object");
  const { variables = {}, variants, ...base } = joined(options);
  checkVariables(variables, "variables");
  if (variants !== undefined) checkValue(variants, "variants", "object");
  const made = new Map<string, { agent: Agent; values: Variables }>();
  const make = (name: string): { agent: Agent; values: Variables } => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const variant: Variant | undefined =
      name === "" ? {} : Object.hasOwn(variants ?? {}, name) ? variants![name as V] : undefined;
    if (variant === undefined) {
      const known = Object.keys(variants ?? {}).join(", ") || "none";
      throw new LoopletError("config_invalid_value", "variant", `there is no "${name}"; there are: ${known}`);
    }
    checkValue(variant, `variants.${name}`, "object");
    const { variables: own, ...changes } = joined(variant);
    checkVariables(own, `variants.${name}.variables`);
    const values = { ...variables, ...own };
    const merged = mergeOptions(base, changes);
    const system = typeof merged.system === "string" ? { system: filled(merged.system, values) } : {};
    const create = (): Agent => createAgent({ ...merged, ...system } as AgentOptions);
    // The base has been checked, so any error is in the variant's own options.
    const one = { agent: name === "" ? create() : withFieldPrefix(`variants.${name}`, create), values };
    made.set(name, one);
    return one;
  };
  // Every variant is created here, so that its errors are thrown immediately.
  for (const name of ["", ...Object.keys(variants ?? {})]) make(name);
  const sized = (
    size: Pick<VariantRunOptions<V>, "variant" | "small">,
  ): { agent: Agent; values: Variables } => {
    checkValue(size, "options", "object");
    const { variant, small = false } = joined(size);
    if (variant !== undefined) checkValue(variant, "variant", "text");
    checkValue(small, "small", "boolean");
    return make(variant ?? (small ? "small" : ""));
  };
  return {
    run(prompt, options = {}) {
      const { agent, values } = sized(options);
      const { variant: _, small: __, ...run } = options;
      return agent.run(typeof prompt === "string" ? filled(prompt, values) : prompt, run);
    },
    chat(options = {}) {
      const { agent } = sized(options);
      const { variant: _, small: __, ...chat } = options;
      return agent.chat(chat);
    },
  };
}

/** @throws LoopletError `config_…` */
function checkVariables(variables: Variables | undefined, field: string): void {
  if (variables === undefined) return;
  checkValue(variables, field, "object");
  for (const [name, value] of Object.entries(variables) as [string, unknown][]) {
    if (typeof value !== "string" && typeof value !== "number")
      throw new LoopletError(
        "config_wrong_type",
        `${field}.${name}`,
        `needs a text or a number, got ${describe(value)}`,
      );
  }
}

/** The text with `{{name}}` replaced by its value; one without a value stays. @internal */
export function filled(text: string, values: Variables): string {
  return text.replace(/\{\{\s*(\w+)\s*\}\}/g, (written, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : written,
  );
}
