/**
 * `createAgent`: checks every option at once and returns an agent, which is a configuration without state.
 *
 * The room `agents/` owns the configuration of a run's agents: the one that is started, its subagents and its
 * handoffs. It never runs them: the engine does. Users call `createAgent`, `subagent` and `handoff`.
 *
 * `createAgent` checks the options, collects the agents behind its tools, and writes their configuration as JSON,
 * once. Wrong options throw a `LoopletError`. A configuration that only the engine can refuse fails each run.
 */
import { addAgents, type AgentList } from "./agent-list.js";
import type { ChatJournal } from "../run/saving/chat-journal.js";
import { Conversation, type StartRun } from "../chat/chat.js";
import { openChat, readChat } from "../chat/open-chat.js";
import {
  checkOptions,
  checkValue,
  checkWords,
  describe,
  describeReturned,
  joined,
  jsonOf,
  placesIn,
  type OptionPlaces,
} from "../options/check.js";
import { CHAT_ELSEWHERE, KNOWN_ELSEWHERE } from "../options/elsewhere.js";
import { noAgentMethods } from "../options/peer-methods.js";
import { checkWindow, sharedInstructionsOf } from "../options/context.js";
import type { LoadEngine } from "../host/engine.js";
import { LoopletError } from "../api/errors.js";
import { HOST_CLOCK } from "../clock.js";
import { RUN_EVENTS, RUN_LIMITS, RUN_OPTIONS, RUN_RECOVERY } from "../generated/tables.js";
import { guardrailFunctions } from "../hooks/guardrails.js";
import { failureTracers, hookFunctions, sessionEndCaller } from "../hooks/hooks.js";
import type { AgentParts, LiveAgent } from "../run/agent-parts.js";
import { attachInternals } from "../tools/agent-internals.js";
import { ModelList } from "../models/model-list.js";
import type { ModelConfig } from "../models/models.js";
import {
  agentTable,
  given,
  group,
  HTTP_MODEL_TABLE,
  PENDING_TABLE,
  RESUME_TABLE,
  RUN_TABLE,
} from "../options/options.js";
import { iterationFunctions } from "../hooks/preparing.js";
import { fallbackConfig, profileConfig } from "./profile.js";
import { checkedHistory, content, runConfig, speakerAt, type OnlySummary } from "../run/prompt.js";
import { boundOf } from "./bound.js";
import { EngineRun } from "../run/run.js";
import { loaded, tailOf } from "../run/temporary-run.js";
import { timedStore } from "../run/saving/timed-store.js";
import { pendingRuns, takePending, type Resumed, type StopsOf } from "../run/source.js";
import { tracersOf } from "../run/tracing.js";
import { knowTools, type ToolSet } from "../tools/tool.js";
import { toolRunConfig } from "../options/tool-options.js";
import type {
  Agent,
  AgentOptions,
  Clock,
  Prompt,
  Recorder,
  RunOptions,
  RunResult,
  SessionSource,
  Store,
} from "../api/index.js";
import type { Config } from "../generated/input.js";
import { checkRuleNames, permissionConfig } from "../options/permissions.js";

/** Makes an agent whose runs take place in the engine that `load` returns. */
export function agentOn(load: LoadEngine, given: AgentOptions): Agent {
  const options = checkOptions(given, "", agentTable(), elsewhere);
  let parts = partsOf(options);
  const open = new Set<EngineRun>();
  let isClosed = false;
  const begin = (
    prompt: Prompt | OnlySummary,
    options: RunOptions,
    end: (result: RunResult) => void,
    session?: SessionSource,
    resumed?: Resumed,
    chat?: ChatJournal,
  ): EngineRun => {
    if (isClosed)
      throw new LoopletError("misuse_agent_closed", "", "this agent was closed; make another one");
    const onEnd = (result: RunResult): void => {
      open.delete(run);
      end(result);
    };
    const run = new EngineRun(parts, prompt, options, load, onEnd, session, resumed, chat);
    open.add(run);
    return run;
  };
  /** Ends the session when its only run ends, unless another process continues the run. */
  const beginAlone = (
    prompt: Prompt,
    options: RunOptions,
    session?: SessionSource,
    resumed?: Resumed,
  ): EngineRun => {
    const end = ({ outcome }: RunResult): void => {
      if (!run.isSuspended) parts.endSession(outcome);
    };
    const run = begin(prompt, options, end, session, resumed);
    return run;
  };
  const startIn =
    (kept?: ChatJournal): StartRun =>
    (prompt, run, onEnd, session, resumed) =>
      begin(prompt, resumed === undefined ? checkRunOptions(run) : run, onEnd, session, resumed, kept);
  const readStops = async (): Promise<StopsOf> => {
    const open = await loaded(load);
    return (entries) => {
      const { isOver = false, stops = 0 } = tailOf(parts, open, entries) ?? {};
      return isOver && stops === 0 ? undefined : stops;
    };
  };
  const agent: Agent = {
    run(prompt, given = {}) {
      const run = checkRunOptions(given);
      return beginAlone(prompt, run, run.messages?.length ? "resume" : "startup");
    },
    resume(run, given = {}) {
      const isKey = typeof run === "string";
      const options = checkOptions(given, "", RESUME_TABLE, RUN_ELSEWHERE);
      if (isKey && parts.store === undefined) {
        const problem = "a run is resumed by its id from a store, or from its entries";
        throw new LoopletError("config_missing", "store", problem);
      }
      if (!isKey && !Array.isArray(run)) {
        const problem = `needs the id of a run or its entries, got ${describe(run)}`;
        throw new LoopletError("misuse_invalid_argument", "run", problem);
      }
      if (isKey) checkValue(run, "run", "id");
      const { takeOver, afterEvent } = options;
      const resumed = isKey
        ? { key: run, takeOver, afterEvent }
        : { key: options.id ?? parts.ids(), entries: run, afterEvent };
      return beginAlone("", options, undefined, resumed);
    },
    async pending(given = {}) {
      const { filter = () => true } = checkOptions(given, "", { filter: "function" });
      return pendingRuns(parts.store, filter, await readStops());
    },
    async resumePending(given = {}) {
      const {
        filter = () => true,
        stopped = false,
        ...options
      } = checkOptions(given, "", PENDING_TABLE, RUN_ELSEWHERE);
      const runs: EngineRun[] = [];
      const isOurs = (id: string): boolean => !isClosed && filter(id);
      const pending = takePending(parts.store, parts.clock, isOurs, await readStops(), stopped);
      for await (const resumed of pending) runs.push(beginAlone("", options, undefined, resumed));
      return runs;
    },
    async close(given = {}) {
      const { recoverable = false } = checkOptions(given, "", { recoverable: "boolean" });
      isClosed = true;
      const runs = [...open];
      for (const run of runs) {
        if (recoverable) run.suspend(CLOSED);
        else run.abort(CLOSED);
      }
      await Promise.allSettled(runs.flatMap((run) => [run.result, run.saved()]));
    },
    async bound(prompt, given = {}) {
      const { messages, subagents, agent } = checkOptions(given, "", BOUND_TABLE);
      const history = checkedHistory({ messages, subagents } as Pick<RunOptions, "messages" | "subagents">);
      const asked = jsonOf(content(prompt, "prompt"), "prompt");
      const first = speakerAt(parts.speakers, agent);
      return boundOf(parts.config(), asked, runConfig(history, {}, undefined, first));
    },
    chat(given = {}) {
      const chat = checkOptions(
        given,
        "",
        { messages: "any", subagents: "any", usage: "any" },
        CHAT_ELSEWHERE,
      );
      return new Conversation(startIn(), chat, parts.endSession);
    },
    openChat: (id, given = {}) => openChat(parts, load, startIn, id, given),
    readChat: (id, options = {}) => readChat(parts, load, id, options),
  };
  const again = (other: AgentOptions): Agent => agentOn(load, other);
  const living: LiveAgent = { read: () => parts, renew: (other) => void (parts = other), open };
  Object.setPrototypeOf(agent, noAgentMethods());
  return attachInternals(agent, { options, config: parts.config, sets: parts.sets, again, living });
}

const CLOSED = "the agent was closed";

function partsOf(options: AgentOptions): AgentParts {
  const { clock } = options;
  if (clock !== undefined) checkOptions(clock, "clock", CLOCK_TABLE);
  const { limits, permissions, toolCalls } = options;
  const durable = joined(options.durable);
  checkWords(limits?.onLimit, "limits.onLimit", ["result", "throw"]);
  checkWords(durable.onSaveFailed, "durable.onSaveFailed", ["stop", "continue"]);
  const random = options.random === undefined ? Math.random : checkedRandom(options.random);
  const tools = knowTools(options.tools, toolCalls);
  const models = new ModelList(options);
  const { maxOutputTokens } = options;
  const asked = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  const model = joined(models.add(options.model, "model", tools), asked);
  checkWindow(options.context?.window, model, "");
  const fallbackModels = fallbackConfig(options, "", models, tools)?.map((config) => joined(config, asked));
  const guards = guardrailFunctions(options);
  const root = rootConfig(options, model, fallbackModels, tools);
  const list: AgentList = {
    options,
    models,
    root,
    sets: [tools],
    profiles: [options],
    speakers: ["root"],
    configs: [],
  };
  addAgents(list, { model, profile: 0, speaker: "root", field: "tools", depth: 0, level: 0 }, tools);
  const names = list.sets.flatMap((set) => [...set.keys()]);
  // Your function may answer calls of tools that are not described, so any rule may name one.
  const ruledTools = typeof toolCalls?.onUnknownTool === "function" ? undefined : names;
  if (ruledTools !== undefined) checkRuleNames(permissions, ruledTools);
  const functions = [...hookFunctions(options, names), ...guards, ...iterationFunctions(options)];
  const config = {
    ...root,
    hooks: functions.length === 0 ? undefined : functions.map(({ config }) => config),
    agents: list.configs.length === 0 ? undefined : list.configs,
  };
  const written = JSON.stringify(config);
  return {
    models,
    asked,
    tools,
    sets: list.sets,
    config: configWriter(written, options),
    clock: clock ?? HOST_CLOCK,
    now: clock === undefined ? undefined : checkedNow(clock),
    random,
    ids: options.ids === undefined ? () => randomId(random) : checkedIds(options.ids),
    permissions: joined(permissions),
    ruledTools,
    profiles: list.profiles,
    speakers: list.speakers,
    finishing: options,
    toolRun: joined(toolCalls, { inputs: options.inputs, steps: options.steps }),
    tracing: options,
    functions,
    failureTracers: failureTracers(options),
    endSession: sessionEndCaller(options),
    store: checkedStore(options.store, clock ?? HOST_CLOCK),
    durable,
    record: checkedRecorder(options.record),
  };
}

/** A store may be an instance of a class, so its methods are looked up and not read as options. */
function checkedStore(store: Store | undefined, clock: Clock): Store | undefined {
  if (store === undefined) return undefined;
  const needed = [
    "append",
    "load",
    ...(store?.lease === undefined ? [] : (["lease", "pending"] as const)),
  ] as const;
  for (const name of needed) {
    if (typeof (store as Partial<Store> | null)?.[name] !== "function")
      throw new LoopletError(
        "config_wrong_type",
        "store",
        `needs a method ${name}, as the stores of looplet/stores have`,
      );
  }
  return timedStore(store, clock);
}

function checkedRecorder(record: Recorder | undefined): Recorder | undefined {
  if (record === undefined || typeof record === "function") return record;
  const problem = `needs recorder() of looplet/replay, got ${describe(record)}`;
  throw new LoopletError("config_wrong_type", "record", problem);
}

function checkRunOptions(given: RunOptions): RunOptions {
  const run = checkOptions(given, "", RUN_TABLE, RUN_ELSEWHERE);
  const history = checkedHistory(run);
  const { signal } = run;
  if (
    signal !== undefined &&
    typeof (signal as Partial<AbortSignal> | null)?.addEventListener !== "function"
  ) {
    const hint = (signal as unknown) instanceof AbortController ? "; give it controller.signal" : "";
    const problem = `needs an AbortSignal, got ${describe(signal)}${hint}`;
    throw new LoopletError("config_wrong_type", "signal", problem);
  }
  return joined(run, history);
}

function rootConfig(
  options: AgentOptions,
  model: ModelConfig,
  fallbackModels: readonly ModelConfig[] | undefined,
  tools: ToolSet,
): Config {
  const { system, sharedInstructions } = options;
  const { maxSubagentDepth } = joined(options.limits);
  if (maxSubagentDepth !== undefined && maxSubagentDepth > 8) {
    throw new LoopletError(
      "config_invalid_value",
      "limits.maxSubagentDepth",
      `needs 1 to 8, got ${maxSubagentDepth}`,
    );
  }
  const { limits, toolCalls, ...profile } = profileConfig(options, "", tools);
  return joined({
    model,
    system: system === "" ? undefined : system,
    sharedInstructions: typeof sharedInstructions === "function" ? undefined : sharedInstructionsOf(options),
    tools: [...tools.values()].map(({ config }) => config),
    limits: group({ ...limits, ...given(options.limits, RUN_LIMITS) }),
    fallbackModels,
    permissions: permissionConfig(options.permissions),
    ...profile,
    toolCalls: group({ ...toolCalls, ...toolRunConfig(options.toolCalls) }),
    events: group({
      prefix: options.record !== undefined || undefined,
      ...given(options.events, RUN_EVENTS),
    }),
    durable: group(given(options.durable, RUN_RECOVERY)),
    ...given(options, RUN_OPTIONS),
    trace: tracersOf(options).length > 0 || undefined,
    journal: options.store !== undefined || options.record !== undefined || undefined,
  });
}

/** Writes everything once per agent but the shared instructions, if your function gives them. */
function configWriter(written: string, options: AgentOptions): AgentParts["config"] {
  if (typeof options.sharedInstructions !== "function") return () => written;
  return () => {
    const told = sharedInstructionsOf(options);
    return told === undefined
      ? written
      : `${written.slice(0, -1)},"sharedInstructions":${JSON.stringify(told)}}`;
  };
}

const BOUND_TABLE = { messages: "any", subagents: "any", agent: "text" } as const;

const CLOCK_TABLE = { now: "function!", setTimer: "function!", clearTimer: "function!" } as const;

/** An id of 16 letters and digits, about 80 bits. */
function randomId(random: () => number): string {
  const digits = Array.from({ length: 16 }, () => Math.floor(random() * 32).toString(32));
  return `run_${digits.join("")}`;
}

/**
 * Reads the clock. A value that is not a time counts as no time passed. The error is reported once, because the clock
 * is read at every input.
 */
function checkedNow(clock: Clock): () => number {
  let isTold = false;
  return () => {
    const now: unknown = clock.now();
    if (typeof now === "number" && now >= 0 && now < 2 ** 53) return now;
    const got = describeReturned(now);
    if (isTold) return NaN;
    isTold = true;
    throw new LoopletError(
      "config_invalid_value",
      "clock.now",
      `needs to return milliseconds since 1970, got ${got}`,
    );
  };
}

/**
 * Reads your source of random numbers. A value outside [0, 1) would make a jitter negative or an id repeat. The error
 * is reported once, because a number is drawn at every input.
 */
function checkedRandom(random: () => number): () => number {
  let isTold = false;
  return () => {
    const drawn: unknown = random();
    if (typeof drawn === "number" && drawn >= 0 && drawn < 1) return drawn;
    const got = describeReturned(drawn);
    if (isTold) return Math.random();
    isTold = true;
    throw new LoopletError(
      "config_invalid_value",
      "random",
      `needs to return numbers from 0 to below 1, got ${got}`,
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
      `needs to return a text that is not empty, got ${id === "" ? "an empty one" : describeReturned(id)}`,
    );
  };
}

/** Options that belong to a run or a model, and where to write them. */
function elsewhere(): OptionPlaces {
  const toRun = Object.keys(RUN_TABLE).map((name) => [name, `give it to agent.run(prompt, { ${name} })`]);
  const toModel = Object.keys(HTTP_MODEL_TABLE).map((name) => [
    name,
    `give it to the model: anthropic(name, { ${name} })`,
  ]);
  const name = "an agent has none; give it to subagent(agent, { name, description })";
  return { ...KNOWN_ELSEWHERE, ...(Object.fromEntries([...toRun, ...toModel]) as OptionPlaces), name };
}

const RUN_ELSEWHERE = (): OptionPlaces => ({
  ...KNOWN_ELSEWHERE,
  ...placesIn(agentTable(), (place) => `give it to createAgent({ ${place} })`),
  detached: "give it to run.events({ detached: true })",
  stream: "every run streams: use onText, or for await (const event of run)",
});
