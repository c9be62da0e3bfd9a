/** What a policy asks of a run, and what the inputs and outputs of a replay say about it. */
import type { Agent } from "../../core/api/index.js";
import { isObject } from "../../core/kit/check.js";
import { internalsOf } from "../../core/kit/runs.js";
import type { LoopFile, LoopInput } from "../replay/loop-file.js";
import type { ReplayMoment } from "../replay/playback.js";
import type { Replay } from "../replay/replay.js";
import { namePattern } from "../../extras/tools/name-pattern.js";

/**
 * What must have been true of a run. A field that is not set requires nothing. In names `*` matches any text.
 *
 * @beta
 */
export interface RunPolicy {
  /**
   * Each call of these tools was allowed by an answer to a question about it: by a user, or by the agent's
   * `canUseTool`. A rule does not count.
   */
  approved?: readonly string[] | undefined;
  /** No other tool was called. */
  tools?: readonly string[] | undefined;
  /**
   * The permissions and the limits of the run and of its subagents were those of this agent, each tool wanted an
   * approval if this agent's does (by a function too), and nothing has changed them while it ran.
   */
  agent?: Pick<Agent, "run"> | undefined;
  /** The run has not cost more US dollars, as far as vendors have reported it. An unknown cost breaks this. */
  maxUsd?: number | undefined;
  /** The tokens of input and output together, subagents included. An answer without a report breaks this. */
  maxTokens?: number | undefined;
  /** The model calls of the run's own agent. */
  maxIterations?: number | undefined;
  /** The calls of tools that ran. */
  maxToolCalls?: number | undefined;
}

/** What is wrong, as text. Undefined if the run complies with the policy. */
export type Finding = string | undefined;

/** A run that was played again. */
export interface Played {
  readonly replay: Replay;
  readonly end: ReplayMoment;
  readonly file: LoopFile;
}

/** The calls of these tools that ran without an answer that allows them. */
export function unapproved({ replay }: Played, patterns: readonly string[]): Finding {
  const fits = patterns.map((pattern) => namePattern(pattern, "policy.approved"));
  const asked = new Map<number, string>();
  const allowed = new Set<string>();
  for (const { input, events, calls } of replay.steps) {
    const answer = answerIn(input);
    const key = answer && asked.get(answer.question);
    if (key !== undefined && answer!.allows) allowed.add(key);
    for (const event of events) {
      const { agentPath } = event;
      // A vendor may use the id of a call again.
      if (event.type === "tool-call") allowed.delete(`${agentPath} ${event.toolCallId}`);
      if (event.type === "question" && event.question === "permission")
        asked.set(event.questionId, `${agentPath} ${event.data.toolCallId}`);
    }
    for (const { agentPath, toolCallId, toolName } of calls)
      if (fits.some((isIt) => isIt(toolName)) && !allowed.has(`${agentPath} ${toolCallId}`))
        return `the call ${toolCallId} of ${toolName} ran, and no answer had allowed it`;
  }
  return undefined;
}

interface Changing {
  readonly updatedPermissions?: readonly object[] | null;
  /** A hook's: limits that are raised. */
  readonly limits?: object | null;
}

interface Answered {
  readonly question: number;
  readonly allows: boolean;
  /** What it has changed, in words. */
  readonly changes: Finding;
}

/** An answer, which may have readings of its texts around it. */
interface AnswerJson {
  readonly permission?: Changing & { readonly behavior?: string };
  readonly hook?: Changing;
  readonly read?: { readonly answer?: AnswerJson };
}

function answerIn({ input }: LoopInput): Answered | undefined {
  const answered = "json" in input ? (Object(input.json) as { answered?: unknown }).answered : undefined;
  if (!isObject(answered)) return undefined;
  const { question, answer } = answered as { question: number; answer?: AnswerJson };
  const { permission, hook } = answer?.read?.answer ?? answer ?? {};
  const given = [permission, hook];
  const isChanged = given.some((one) => (one?.updatedPermissions?.length ?? 0) > 0);
  const isRaised = given.some((one) => one?.limits != null);
  const changes = isChanged ? "has changed the permissions" : isRaised ? "has raised limits" : undefined;
  return { question, allows: permission?.behavior === "allow", changes };
}

/** A call of a tool that is not in the list. */
export function foreignCall({ replay }: Played, patterns: readonly string[]): Finding {
  const fits = patterns.map((pattern) => namePattern(pattern, "policy.tools"));
  for (const { calls } of replay.steps)
    for (const { toolName } of calls)
      if (!fits.some((isIt) => isIt(toolName))) return `${toolName} was called, which is not in the list`;
  return undefined;
}

/** A limit that the run has exceeded. */
export function overspent({ replay, end }: Played, policy: RunPolicy): Finding {
  const { maxUsd, maxTokens, maxIterations, maxToolCalls } = policy;
  const { iterations } = end;
  const calls = callsIn(replay);
  const isReported = replay.steps.every(({ events }) =>
    events.every((event) => event.type !== "iteration-finish" || event.usage != null),
  );
  const usage = isReported ? end.usage : null;
  const usd = usage?.costNanoUsd == null ? undefined : usage.costNanoUsd / 1e9;
  const tokens = usage === null ? undefined : usage.inputTokens + usage.outputTokens;
  if (maxUsd !== undefined && (usd === undefined || usd > maxUsd))
    return usd === undefined ? "the cost of the run is unknown" : `the run has cost ${usd} US dollars`;
  if (maxTokens !== undefined && (tokens === undefined || tokens > maxTokens))
    return tokens === undefined ? "the tokens of the run are unknown" : `the run has used ${tokens} tokens`;
  if (maxIterations !== undefined && iterations > maxIterations) return `${iterations} iterations began`;
  if (maxToolCalls !== undefined && calls > maxToolCalls) return `${calls} calls ran`;
  return undefined;
}

/** The calls that ran. One that ran again in another process counts once. */
function callsIn({ steps }: Replay): number {
  const ran = new Set<string>();
  let count = 0;
  for (const { events, calls } of steps) {
    for (const event of events)
      // A vendor may use the id of a call again.
      if (event.type === "tool-call") ran.delete(`${event.agentPath} ${event.toolCallId}`);
    for (const { agentPath, toolCallId } of calls) {
      if (!ran.has(`${agentPath} ${toolCallId}`)) count += 1;
      ran.add(`${agentPath} ${toolCallId}`);
    }
  }
  return count;
}

/** Inputs that change what a run may do or cost. */
const CHANGES = { setMode: "the permission mode was set", addBudget: "limits were raised" } as const;

/** A difference between the options in force and those of the agent. */
export function otherPolicy({ file, replay }: Played, agent: Pick<Agent, "run">): Finding {
  const wanted = inForce(JSON.parse(internalsOf(agent)!.config()) as Config);
  for (const { config } of file.processes) {
    const found = inForce(config);
    for (const name of Object.keys({ ...wanted, ...found }))
      if (JSON.stringify(found[name]) !== JSON.stringify(wanted[name]))
        return `${name} were ${shown(found[name])}, and the agent has ${shown(wanted[name])}`;
  }
  for (const [at, { input }] of replay.steps.entries()) {
    const json = "json" in input.input ? (Object(input.input.json) as object) : {};
    for (const [name, words] of Object.entries(CHANGES)) if (name in json) return `${words} at step ${at}`;
    const changes = answerIn(input)?.changes;
    if (changes !== undefined) return `an answer ${changes} at step ${at}`;
  }
  return undefined;
}

interface Config {
  readonly permissions?: unknown;
  readonly limits?: unknown;
  readonly tools?: readonly ToolJson[];
  /** The agents of tools. The `profile` of a tool is their position here, starting at 1. */
  readonly agents?: readonly Config[];
}

interface ToolJson {
  readonly name: string;
  readonly needsApproval?: boolean;
  /** A function of the tool says of each call whether it wants an approval. */
  readonly mayNeedApproval?: boolean;
  readonly agent?: { readonly profile?: number } | null;
}

/** The part of a configuration that says what a run and its agents may do and cost. */
function inForce(config: Config): { readonly [name: string]: unknown } {
  const agents = config.agents ?? [];
  const tools = [config, ...agents].flatMap(({ tools = [] }) => tools);
  return Object.assign(
    rulesOf(config, ""),
    ...agents.map((agent, at) => {
      const behind = tools.find((tool) => tool.agent?.profile === at + 1)?.name ?? String(at + 1);
      return rulesOf(agent, ` of the agent ${behind}`);
    }),
  ) as { [name: string]: unknown };
}

function rulesOf({ permissions, limits, tools = [] }: Config, whose: string): { [name: string]: unknown } {
  const names = (asks: (tool: ToolJson) => boolean | undefined): string[] =>
    tools
      .filter((tool) => asks(tool) === true)
      .map(({ name }) => name)
      .sort();
  const byFunction = names(({ mayNeedApproval }) => mayNeedApproval);
  const asked = "tools that want an approval";
  return {
    [`permissions${whose}`]: permissions,
    [`limits${whose}`]: limits,
    [`${asked}${whose}`]: names(({ needsApproval }) => needsApproval),
    ...(byFunction.length > 0 && { [`${asked} by a function${whose}`]: byFunction }),
  };
}

function shown(value: unknown): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}
