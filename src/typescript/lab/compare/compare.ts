/** `compare`: recorded runs under a change, each with a verdict. */
import { LoopletError } from "../../core/api/errors.js";
import type { Agent, AgentOptions } from "../../core/api/index.js";
import { type ToolInvocation, loadWasm, type LoadedWasm } from "../../core/kit/engine.js";
import type { AgentInternals } from "../../core/kit/runs.js";
import { checkOptions, describe, isObject } from "../../core/kit/check.js";
import { readLoop, type LoopFile } from "../replay/loop-file.js";
import type { ReplayRequest } from "../replay/playback.js";
import { play } from "../replay/replay.js";
import { withAgent } from "../testing/differences.js";
import { ReplayDifference, whole } from "../testing/expect-replay.js";
import { Budget, type LiveOptions } from "./budget.js";
import { changedOptions } from "./changed-options.js";
import { endOf, playedWith } from "./free.js";
import { judged, type Judge, type JudgeTools } from "./judges.js";
import { askedLive, SPENT } from "./live.js";
import { Recording } from "./recording.js";
import { rerun } from "./rerun.js";
import { reportOf, VERDICTS, type ComparedRun, type CompareReport, type ComparedVerdict } from "./report.js";
import { underThisVersion } from "./version.js";

/**
 * A recorded run: the text of its `.loop` file, with a name for the report. Default name: the id in the file.
 *
 * @beta
 */
export type RecordedRun = string | { readonly name: string; readonly text: string };

/** The agent with the change, or a function that makes it for each run. @beta */
export type Change = Pick<Agent, "run"> | ((file: LoopFile) => Pick<Agent, "run">);

/** The options of {@link compare}. @beta */
export interface CompareOptions {
  /** `"run"` calls the functions of the tools too, as in `expectReplay`. Not with `live`. Default `"recorded"`. */
  tools?: "recorded" | "run" | undefined;
  /**
   * `"run"` calls the functions of the agent around the tools: hooks, guardrails, `prepareIteration`, `canUseTool`
   * and so on, in a run that begins again and gets the recorded answers of models. Not with `tools: "run"` or `live`,
   * which calls them in any case. Default `"recorded"`: their recorded answers count.
   */
  hooks?: "recorded" | "run" | undefined;
  /**
   * Calls the models of the changed agent, with its own `fetch`, up to this limit. Each run starts again with the
   * recorded prompt. Equal calls get the recorded results in order, and the user's messages and answers are repeated.
   * A call that was not recorded runs if its tool is read-only; otherwise the run is `stopped`. The last answer may
   * exceed `maxUsd` and `maxTokens`. Default: no model is called.
   */
  live?: LiveOptions | undefined;
  /**
   * Your judges, by their names in the report. A run that a judge does not pass counts against the change. Default:
   * none.
   */
  judges?: { readonly [name: string]: Judge } | undefined;
  /** The verdicts that do not count against the change. Default: `equal` and `other words`. */
  allow?: readonly ComparedVerdict[] | undefined;
}

/**
 * Plays recorded runs with the options of another agent, and reports the effect on each. Without `live` nothing is
 * sent and no tool runs: the recorded answers and results are used, up to the first request that differs. A file that
 * cannot be played is a run with the verdict `failed`.
 *
 * Without a change, the runs are compared with this version of looplet: each file must contain the requests that
 * another version made, which `withExpectations` of `looplet/testing` adds to it. `tools`, `hooks`, `live` and
 * `judges` need an agent.
 *
 * Rejects with a `LoopletError`: `config_…` for wrong options, `misuse_invalid_argument` for runs or a change of a
 * wrong type.
 *
 * @beta
 */
export async function compare(
  runs: Iterable<RecordedRun> | AsyncIterable<RecordedRun>,
  change?: Change,
  options: CompareOptions = {},
): Promise<CompareReport> {
  const { tools, hooks, live, judges = {}, allow = ALLOWED } = checkOptions(options, "", OPTION_TABLE);
  checkAllowed(allow);
  if (live !== undefined && tools === "run")
    throw new LoopletError(
      "config_invalid_value",
      "tools",
      'cannot be "run" with live, which answers from the file',
    );
  if (hooks === "run" && (live !== undefined || tools === "run"))
    throw new LoopletError("config_invalid_value", "hooks", 'cannot be "run" with live or with tools: "run"');
  if (change === undefined)
    for (const name of ["tools", "hooks", "live", "judges"] as const)
      if (options[name] !== undefined)
        throw new LoopletError("config_invalid_value", name, "needs an agent as the change");
  const budget = live === undefined ? undefined : new Budget(live);
  const wasm = await loadWasm();
  const compared: ComparedRun[] = [];
  for await (const run of iterated(runs)) {
    const { name, text } = named(run, compared.length);
    compared.push(await comparedRun(wasm, name, text, change, { tools, hooks, budget, judges, allow }));
  }
  return reportOf(compared, budget?.spent ?? { requests: 0, tokens: 0, usd: 0 });
}

const OPTION_TABLE = {
  tools: ["recorded", "run"],
  hooks: ["recorded", "run"],
  live: "object",
  judges: "object",
  allow: "texts",
} as const;

const ALLOWED: readonly ComparedVerdict[] = ["equal", "other words"];

function checkAllowed(allow: readonly ComparedVerdict[]): void {
  const wrong = allow.find((verdict) => !VERDICTS.includes(verdict));
  if (wrong === undefined) return;
  const words = VERDICTS.map((verdict) => `"${verdict}"`).join(", ");
  throw new LoopletError("config_invalid_value", "allow", `needs some of ${words}, got ${describe(wrong)}`);
}

interface Comparing {
  readonly tools: "recorded" | "run" | undefined;
  readonly hooks: "recorded" | "run" | undefined;
  readonly budget: Budget | undefined;
  readonly judges: { readonly [name: string]: Judge };
  readonly allow: readonly ComparedVerdict[];
}

async function comparedRun(
  wasm: LoadedWasm,
  name: string | undefined,
  text: string,
  change: Change | undefined,
  { tools, hooks, budget, judges, allow }: Comparing,
): Promise<ComparedRun> {
  const free = { judges: {}, changed: [], usage: null, usd: 0, isFailed: true };
  let file: LoopFile;
  try {
    file = readLoop(text);
  } catch (error) {
    return { ...free, name: name ?? "unreadable", verdict: "failed", why: problemOf(error) };
  }
  const called = name ?? file.id;
  const made = change && withAgent(file, typeof change === "function" ? change(file) : change);
  const changed = made ? changedOptions(file.processes[0]!.config, made.file.processes[0]!.config) : [];
  try {
    if (made === undefined) {
      const { after: _, ...found } = underThisVersion(wasm, file);
      return { ...free, ...found, name: called, isFailed: !allow.includes(found.verdict) };
    }
    const calls: ToolInvocation[] = [];
    const sent = new Map<number, ReplayRequest>();
    const onCall = (call: ToolInvocation): void => void calls.push(call);
    const onRequest = (request: ReplayRequest): void => void sent.set(request.number, request);
    const played = whole(play(wasm, file, { onCall, onRequest }));
    const before = endOf(played);
    const recording = new Recording(file, played, calls, boundIn(made));
    const { after, ...found } =
      budget !== undefined
        ? await askedLive(made, recording, before, budget)
        : hooks === "run"
          ? await rerun(made, recording, before, sent, file)
          : await playedWith(wasm, made, played, before, tools === "run");
    const isJudged = found.verdict !== "stopped";
    const judgements = isJudged ? await judged(judges, before, after, judgeTools(made, budget)) : {};
    const isFailed = !allow.includes(found.verdict) || Object.values(judgements).some(({ pass }) => !pass);
    return { ...free, ...found, name: called, changed, judges: judgements, isFailed };
  } catch (error) {
    if (!isOfTheFile(error)) throw error;
    return { ...free, name: called, changed, verdict: "failed", why: problemOf(error) };
  }
}

/** The fields that `bindings` fill in the input of a tool, whichever agent of the run has it. */
function boundIn({ sets }: AgentInternals): (toolName: string) => readonly string[] {
  return (toolName) => sets.flatMap((set) => Object.keys(set.get(toolName)?.options.bindings ?? {}));
}

function judgeTools({ again, options: { fetch } }: AgentInternals, budget: Budget | undefined): JudgeTools {
  const agent = (options: AgentOptions): Agent => again({ fetch, ...options });
  return {
    agent,
    async ask(options, prompt) {
      if (budget === undefined)
        throw new LoopletError(
          "config_missing",
          "live",
          "is needed by a judge that asks a model: it is the budget",
        );
      if (budget.isSpent) throw new Error(SPENT);
      const run = agent({ ...options, limits: budget.limits(options.limits) }).run(prompt, {
        onEvent: ({ type }) => {
          if (type === "attempt-start" && !budget.request()) run.abort(SPENT);
        },
      });
      const result = await run.result;
      budget.take(result.usage, result.costUsd);
      return result;
    },
  };
}

function isOfTheFile(error: unknown): boolean {
  return (
    error instanceof ReplayDifference || (error instanceof LoopletError && error.code === "misuse_run_file")
  );
}

function problemOf(error: unknown): string {
  return error instanceof LoopletError ? error.problem : String((error as Error).message);
}

function iterated(runs: Iterable<RecordedRun> | AsyncIterable<RecordedRun>): typeof runs {
  const isIterable = isObject(runs) && (Symbol.iterator in runs || Symbol.asyncIterator in runs);
  if (isIterable || Array.isArray(runs)) return runs;
  const problem = `needs an array of texts of .loop files, or another iterable of them, got ${describe(runs)}`;
  throw new LoopletError("misuse_invalid_argument", "runs", problem);
}

function named(run: unknown, index: number): { readonly name: string | undefined; readonly text: string } {
  if (typeof run === "string") return { name: undefined, text: run };
  const { name, text } = (isObject(run) ? run : {}) as { name?: unknown; text?: unknown };
  if (typeof name === "string" && typeof text === "string") return { name, text };
  const problem = `needs a text, or { name, text }, got ${describe(run)}`;
  throw new LoopletError("misuse_invalid_argument", `runs[${index}]`, problem);
}
