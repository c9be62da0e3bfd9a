/** What a policy asks of a run, and what the inputs and outputs of a replay say about it. */
import type { Agent } from "../../core/api/index.js";
import { isObject } from "../../core/options/check.js";
import { madeOf } from "../../core/tools/made-agent.js";
import type { LoopFile, LoopInput } from "../replay/loop-file.js";
import type { ReplayMoment } from "../replay/playback.js";
import type { Replay } from "../replay/replay.js";
import { namePattern } from "../tools/name-pattern.js";

/** What must have held in a run. Each field that is left out asks for nothing. In names `*` stands for any text. */
export interface RunPolicy {
  /**
   * Each call of these tools was allowed by an answer to a question about it: of a person, or of the agent's
   * `canUseTool`. A rule is no answer.
   */
  approved?: readonly string[] | undefined;
  /** No other tool was called. */
  tools?: readonly string[] | undefined;
  /**
   * The permissions and the limits of the run were those of this agent, each of its tools wanted an approval if this
   * agent's does, and nothing has changed them while it ran.
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

/** What is wrong, in words; nothing if the run has kept to the policy. */
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
}

interface Answered {
  readonly question: number;
  readonly allows: boolean;
  /** Whether it has changed the permissions. */
  readonly changes: boolean;
}

function answerIn({ input }: LoopInput): Answered | undefined {
  const answered = "json" in input ? (Object(input.json) as { answered?: unknown }).answered : undefined;
  if (!isObject(answered)) return undefined;
  const { question, answer } = answered as {
    question: number;
    answer?: { permission?: Changing & { behavior?: string }; hook?: Changing };
  };
  const changed = (answer?.permission ?? answer?.hook)?.updatedPermissions?.length ?? 0;
  return { question, allows: answer?.permission?.behavior === "allow", changes: changed > 0 };
}

/** A call of a tool that is not in the list. */
export function foreignCall({ replay }: Played, patterns: readonly string[]): Finding {
  const fits = patterns.map((pattern) => namePattern(pattern, "policy.tools"));
  for (const { calls } of replay.steps)
    for (const { toolName } of calls)
      if (!fits.some((isIt) => isIt(toolName))) return `${toolName} was called, which is not in the list`;
  return undefined;
}

/** A bound that the run has gone beyond. */
export function overspent({ replay, end }: Played, policy: RunPolicy): Finding {
  const { maxUsd, maxTokens, maxIterations, maxToolCalls } = policy;
  const { usage, iterations } = end;
  const calls = callsIn(replay);
  const usd = usage?.costNanoUsd == null ? undefined : usage.costNanoUsd / 1e9;
  const tokens = usage === null ? undefined : usage.inputTokens + usage.outputTokens;
  if (maxUsd !== undefined && (usd === undefined || usd > maxUsd))
    return usd === undefined ? "nobody has told what the run has cost" : `the run has cost ${usd} US dollars`;
  if (maxTokens !== undefined && (tokens === undefined || tokens > maxTokens))
    return tokens === undefined
      ? "nobody has told the tokens of the run"
      : `the run has used ${tokens} tokens`;
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
  const wanted = inForce(JSON.parse(madeOf(agent)!.config()) as Config);
  for (const { config } of file.processes) {
    const found = inForce(config);
    for (const name of Object.keys({ ...wanted, ...found }))
      if (JSON.stringify(found[name]) !== JSON.stringify(wanted[name]))
        return `${name} were ${shown(found[name])}, and the agent has ${shown(wanted[name])}`;
  }
  for (const [at, { input }] of replay.steps.entries()) {
    const json = "json" in input.input ? (Object(input.input.json) as object) : {};
    for (const [name, words] of Object.entries(CHANGES)) if (name in json) return `${words} at step ${at}`;
    if (answerIn(input)?.changes === true) return `an answer has changed the permissions at step ${at}`;
  }
  return undefined;
}

interface Config {
  readonly permissions?: unknown;
  readonly limits?: unknown;
  readonly tools?: readonly { readonly name: string; readonly needsApproval?: boolean }[];
}

/** The part of a configuration that says what a run may do and cost. */
function inForce({ permissions, limits, tools = [] }: Config): { readonly [name: string]: unknown } {
  const asking = tools.filter(({ needsApproval }) => needsApproval === true).map(({ name }) => name);
  return { permissions, limits, "tools that want an approval": asking.sort() };
}

function shown(value: unknown): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}
