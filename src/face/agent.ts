/** `createAgent`: checks every option at once and gives an agent, which is a configuration without state. */
import { addAgents } from "./agent-list.js";
import { Conversation } from "./chat.js";
import { checkOptions, checkWord, describe } from "./check.js";
import { contextConfig, instructionsOf } from "./context.js";
import type { LoadEngine } from "./engine.js";
import { LoopletError } from "./errors.js";
import { guardrailFunctions } from "./guardrails.js";
import { hearers, hookFunctions } from "./hooks.js";
import type { HostFunction } from "./host-functions.js";
import { checkFinish } from "./finishing.js";
import { ModelList } from "./model-list.js";
import type { ModelConfig } from "./models.js";
import { agentTable, HTTP_MODEL_TABLE, RUN_TABLE, scalarTable } from "./options.js";
import { permissionConfig } from "./permissions.js";
import { iterationFunctions } from "./preparing.js";
import { checkHistory } from "./prompt.js";
import { EngineRun } from "./run.js";
import { steerConfig } from "./steering.js";
import { stopConfig } from "./stopping.js";
import { tracersOf } from "./tracing.js";
import { outputConfig } from "./structured-output.js";
import { knowTools, type ToolSet } from "./tool.js";
import { inputsJson, toolRunConfig } from "./tool-options.js";
import type {
  Agent,
  AgentOptions,
  Clock,
  ContextOptions,
  FailureCode,
  FinishOptions,
  Inputs,
  Model,
  OutputFormat,
  PermissionOptions,
  Prompt,
  RetryPolicy,
  RunOptions,
  RunResult,
  StopOptions,
  ToolRunOptions,
  TraceOptions,
  Tracer,
} from "./types.js";

/** What a run goes on from. */
export type History = Pick<RunOptions, "messages" | "subagents">;

/** What the runs of an agent share. */
export interface AgentParts {
  readonly models: ModelList;
  /** What wins over the options of a model. */
  readonly asked: { readonly maxOutputTokens?: number };
  readonly tools: ToolSet;
  /** The same, and those of the other agents, by profile. */
  readonly sets: readonly ToolSet[];
  /** The engine's configuration as JSON, with the history of one run. */
  readonly config: (history: History, inputs: Inputs) => string;
  readonly clock: Clock;
  /** The clock's own, if there is one. */
  readonly now: (() => number) | undefined;
  readonly random: () => number;
  readonly ids: () => string;
  readonly permissions: PermissionOptions;
  readonly stopping: StopOptions;
  readonly output: OutputFormat | undefined;
  readonly context: ContextOptions;
  readonly finishing: FinishOptions;
  readonly toolRun: ToolRunOptions;
  readonly tracing: TraceOptions & Pick<AgentOptions, "model">;
  /** In the engine's order. */
  readonly functions: readonly HostFunction[];
  /** Hooks that nothing waits for. */
  readonly hearers: readonly Tracer[];
}

/** An agent whose runs take place in the engine that `load` gives. */
export function agentOn(load: LoadEngine, options: AgentOptions): Agent {
  const parts = partsOf(options);
  load.fetch?.(parts.models.needed);
  const start = (prompt: Prompt, run: RunOptions, onEnd?: (result: RunResult) => void): EngineRun => {
    checkRunOptions(run);
    return new EngineRun(parts, prompt, run, load, onEnd);
  };
  return {
    run(prompt, run = {}) {
      return start(prompt, run);
    },
    chat(chat = {}) {
      checkOptions(chat, "", { messages: "any", subagents: "any" });
      return new Conversation(start, chat);
    },
  };
}

function partsOf(options: AgentOptions): AgentParts {
  checkOptions(options, "", agentTable(), elsewhere());
  const { timeouts, retry, clock } = options;
  if (timeouts !== undefined) checkOptions(timeouts, "timeouts", scalarTable("timeouts"));
  if (retry !== undefined) checkRetry(retry);
  if (clock !== undefined) checkOptions(clock, "clock", CLOCK_TABLE);
  checkFinish(options);
  const random = options.random === undefined ? Math.random : checkedRandom(options.random);
  const tools = knowTools(options.tools, options.toolHandlers);
  const models = new ModelList(options);
  const { maxOutputTokens } = options;
  const asked = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  const model = { ...models.add(options.model, "model", tools), ...asked };
  const fallbackModels = fallbacks(options).map((fallback, index) => ({
    ...models.add(fallback, `fallbackModels[${index}]`, tools),
    ...asked,
  }));
  const guards = guardrailFunctions(options);
  const root = rootConfig(options, model, fallbackModels, tools);
  const list = { options, models, root, sets: [tools], configs: [] as object[] };
  addAgents(list, { model, profile: 0, field: "tools", depth: 0, level: 0 }, tools);
  const names = list.sets.flatMap((set) => [...set.keys()]);
  const functions = [...hookFunctions(options, names), ...guards, ...iterationFunctions(options)];
  return {
    models,
    asked,
    tools,
    sets: list.sets,
    config: configWriter(
      {
        ...root,
        hooks: functions.length === 0 ? undefined : functions.map(({ config }) => config),
        agents: list.configs.length === 0 ? undefined : list.configs,
      },
      options,
    ),
    clock: clock ?? HOST_CLOCK,
    now: clock === undefined ? undefined : checkedNow(clock),
    random,
    ids: options.ids === undefined ? () => randomId(random) : checkedIds(options.ids),
    permissions: options,
    stopping: options,
    output: options.output,
    context: options,
    finishing: options,
    toolRun: options,
    tracing: options,
    functions,
    hearers: hearers(options),
  };
}

function fallbacks({ fallbackModels = [] }: AgentOptions): readonly Model[] {
  if (Array.isArray(fallbackModels)) return fallbackModels;
  throw new LoopletError(
    "config_wrong_type",
    "fallbackModels",
    `needs an array of models, got ${describe(fallbackModels)}`,
  );
}

/** A limit that nothing could ever reach is a mistake. */
function costLimit(maxUsd: number | undefined): number | undefined {
  if (maxUsd === undefined) return undefined;
  if (maxUsd <= 0) {
    throw new LoopletError("config_invalid_value", "maxUsd", `must be more than 0, got ${maxUsd}`);
  }
  return Math.round(maxUsd * 1e9);
}

function checkRunOptions(run: RunOptions): void {
  checkOptions(run, "", RUN_TABLE, RUN_ELSEWHERE);
  checkHistory(run);
  const { signal } = run;
  if (
    signal !== undefined &&
    typeof (signal as Partial<AbortSignal> | null)?.addEventListener !== "function"
  ) {
    throw new LoopletError("config_wrong_type", "signal", `needs an AbortSignal, got ${describe(signal)}`);
  }
}

function rootConfig(
  options: AgentOptions,
  model: ModelConfig,
  fallbackModels: readonly ModelConfig[],
  tools: ToolSet,
): { [name: string]: unknown } {
  const { system, maxIterations, maxTotalTokens, maxToolRounds, maxToolCalls } = options;
  const maxCostNanoUsd = costLimit(options.maxUsd);
  const { onMaxTokens, strictStopReason } = options;
  const { timeouts, retry, toolExecution, maxToolConcurrency, joinDeltas } = options;
  const { instructions } = options;
  const { maxSubagentDepth } = options;
  if (maxSubagentDepth !== undefined && maxSubagentDepth > 8) {
    throw new LoopletError(
      "config_invalid_value",
      "maxSubagentDepth",
      `needs 1 to 8, got ${maxSubagentDepth}`,
    );
  }
  return {
    model,
    system: system === "" ? undefined : system,
    instructions: typeof instructions === "function" ? undefined : instructionsOf(options),
    tools: [...tools.values()].map(({ config }) => config),
    limits: { maxIterations, maxTotalTokens, maxCostNanoUsd, maxToolRounds, maxToolCalls, maxSubagentDepth },
    timeouts,
    retry,
    fallbackModels: fallbackModels.length === 0 ? undefined : fallbackModels,
    permissions: permissionConfig(options),
    ...stopConfig(options, tools),
    context: contextConfig(options),
    output: outputConfig(options.output, options.maxStructuredOutputRetries),
    toolExecution,
    maxToolConcurrency,
    onMaxTokens,
    strictStopReason,
    ...steerConfig(options),
    ...toolRunConfig(options),
    joinDeltas,
    trace: tracersOf(options).length > 0 || undefined,
  };
}

/** Everything but the history and what is made for each run is written once per agent. */
function configWriter(config: object, options: AgentOptions): AgentParts["config"] {
  const isFunction = typeof options.instructions === "function";
  const written = JSON.stringify(config);
  return ({ messages, subagents }, inputs) => {
    const told = isFunction ? instructionsOf(options) : undefined;
    const fixed =
      told === undefined ? written : `${written.slice(0, -1)},"instructions":${JSON.stringify(told)}}`;
    const values = inputsJson(inputs);
    const start = values === undefined ? fixed : `${fixed.slice(0, -1)},"inputs":${values}}`;
    return withList(withList(start, "messages", messages), "subagents", subagents);
  };
}

function withList(config: string, field: string, list: readonly unknown[] | undefined): string {
  if (list === undefined || list.length === 0) return config;
  try {
    return `${config.slice(0, -1)},"${field}":${JSON.stringify(list)}}`;
  } catch {
    throw new LoopletError(
      "config_invalid_value",
      field,
      "holds something that JSON cannot (a cycle or a bigint)",
    );
  }
}

function checkRetry(retry: RetryPolicy): void {
  checkOptions(retry, "retry", { ...scalarTable("retry"), on: "texts" });
  for (const [index, code] of (retry.on ?? []).entries()) checkWord(code, `retry.on[${index}]`, RETRYABLE);
}

/** Others will not go away. */
const RETRYABLE: readonly FailureCode[] = [
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "timeout",
  "malformed_stream",
];

const CLOCK_TABLE = { now: "function!", setTimer: "function!", clearTimer: "function!" } as const;

const HOST_CLOCK: Clock = {
  now: () => Date.now(),
  setTimer: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/** 16 letters and digits, about 80 bits. */
function randomId(random: () => number): string {
  const digits = Array.from({ length: 16 }, () => Math.floor(random() * 32).toString(32));
  return `run_${digits.join("")}`;
}

/** What is no time counts as no time passed. Told once: the clock is read at every input. */
function checkedNow(clock: Clock): () => number {
  let isTold = false;
  return () => {
    const now: unknown = clock.now();
    if (typeof now === "number" && now >= 0 && now < 2 ** 53) return now;
    if (isTold) return NaN;
    isTold = true;
    throw new LoopletError(
      "config_invalid_value",
      "clock.now",
      `needs to return milliseconds since 1970, got ${describe(now)}`,
    );
  };
}

/** Outside [0, 1) a jitter would be negative or an id minted twice. Told once: it is drawn at every input. */
function checkedRandom(random: () => number): () => number {
  let isTold = false;
  return () => {
    const drawn: unknown = random();
    if (typeof drawn === "number" && drawn >= 0 && drawn < 1) return drawn;
    if (isTold) return Math.random();
    isTold = true;
    throw new LoopletError(
      "config_invalid_value",
      "random",
      `needs to return numbers from 0 to below 1, got ${describe(drawn)}`,
    );
  };
}

function checkedIds(ids: () => string): () => string {
  return () => {
    const id: unknown = ids();
    if (typeof id === "string" && id !== "") return id;
    throw new LoopletError(
      "config_invalid_value",
      "ids",
      `needs to return a text that is not empty, got ${id === "" ? "an empty one" : describe(id)}`,
    );
  };
}

/** Options that belong to the run or to the model, and where to write them. */
function elsewhere(): { [name: string]: string } {
  const toRun = Object.keys(RUN_TABLE).map((name) => [name, `give it to agent.run(prompt, { ${name} })`]);
  const toModel = Object.keys(HTTP_MODEL_TABLE).map((name) => [
    name,
    `give it to the model: anthropic(name, { ${name} })`,
  ]);
  return Object.fromEntries([...toRun, ...toModel]) as { [name: string]: string };
}

const RUN_ELSEWHERE = {
  system: "give it to createAgent({ system })",
  tools: "give it to createAgent({ tools })",
  maxIterations: "give it to createAgent({ maxIterations })",
  detached: "give it to run.events({ detached: true })",
};
