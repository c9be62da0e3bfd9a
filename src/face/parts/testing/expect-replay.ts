/** Runs as tests: a `.loop` file is played, and the first difference is an error. */
import { LoopletError } from "../../core/api/errors.js";
import type { Agent } from "../../core/api/index.js";
import { loadWasm } from "../../core/host/wasm.js";
import type { ToolInvocation } from "../../core/host/question.js";
import { checkOptions, describe } from "../../core/options/check.js";
import { madeOf, type Made } from "../../core/tools/made-agent.js";
import {
  readLoop,
  type Expected,
  type ExpectedRequest,
  type LoopFile,
  type LoopProcess,
} from "../replay/loop-file.js";
import { play, type Replay, type ReplayRequest } from "../replay/replay.js";
import { runTools } from "./run-tools.js";

/** Characters of an excerpt before and behind the difference. */
const BEFORE = 30;
const BEHIND = 60;

/** The options of {@link expectReplay}. */
export interface ExpectOptions {
  /**
   * The agent whose options the run gets in place of its own: its prompts, tools and models. It shows which request
   * they change. Default: the options in the file.
   */
  agent?: Pick<Agent, "run"> | undefined;
  /**
   * `"run"` calls the functions of the agent's tools too, one after the other, each with the input that it got in the
   * run, and compares what they return with the results in the file. The model's answers stay those of the file. It
   * needs `agent`. Default `"recorded"`: no function is called, and the results in the file count.
   */
  tools?: "recorded" | "run" | undefined;
}

/** The first difference between a replay and what it should be. */
export class ReplayDifference extends Error {
  override readonly name = "ReplayDifference";
  /** The number of the request that differs, from 1; undefined for a difference of something else. */
  readonly request: number | undefined;
  /** The first character that differs, from 0. */
  readonly at: number | undefined;
  /** The text around it, as it should be and as it is. */
  readonly expected: string;
  readonly actual: string;

  constructor(what: string, expected: string, actual: string, request?: number, at?: number) {
    super(`${what}\n  expected  ${expected}\n  actual    ${actual}`);
    this.expected = expected;
    this.actual = actual;
    this.request = request;
    this.at = at;
  }
}

/**
 * Plays the text of a `.loop` file and compares requests, outcome and text. Without `agent` it compares with what
 * {@link withExpectations} has added to the file; in a file without expectations it compares the outcome alone. With
 * `agent` it compares with the run in the file, and with `tools: "run"` the results of its tools as well.
 *
 * Rejects with a {@link ReplayDifference} that names the first difference, or with a `LoopletError` of code
 * `misuse_run_file`.
 */
export async function expectReplay(file: string, options: ExpectOptions = {}): Promise<Replay> {
  const read = readLoop(file);
  const wasm = await loadWasm();
  const { agent, tools } = checkOptions(options, "", { agent: "any", tools: ["recorded", "run"] });
  if (agent === undefined && tools === "run")
    throw new LoopletError("config_missing", "agent", 'is needed with tools: "run"');
  if (agent === undefined) {
    const played = whole(play(wasm, read));
    if (read.expected !== undefined) compare(requestsOf(read.expected), read.expected, played);
    else if (read.outcome !== undefined && !read.processes.some(({ lost }) => lost !== undefined))
      same("The outcome of the replay", read.outcome, outcomeOf(played));
    return played;
  }
  const before = whole(play(wasm, read));
  const invocations: ToolInvocation[] = [];
  const made = withAgent(read, agent);
  const played = whole(play(wasm, made.file, (call) => void invocations.push(call)));
  compare(before.requests, ends(before), played);
  if (tools === "run") {
    for await (const { invocation, expected, actual } of runTools(made, read, invocations))
      same(`The result of the call ${invocation.toolCallId} of ${invocation.toolName}`, expected, actual);
  }
  return played;
}

/**
 * The text of a `.loop` file with what its replay comes to today: the requests, the outcome and the text. Commit it,
 * and {@link expectReplay} fails when a new version of looplet makes other requests of this run.
 *
 * Rejects with a `LoopletError` of code `misuse_run_file`.
 */
export async function withExpectations(file: string): Promise<string> {
  const read = readLoop(file);
  const played = whole(play(await loadWasm(), read));
  const { processes, expected: _, ...head } = read;
  let last = "";
  const requests = played.requests.map(({ method, url, body }): ExpectedRequest => {
    const { start, end } = shared(last, body);
    last = body;
    return { method, url, start, end, body: body.slice(start, body.length - end) };
  });
  const expected: Expected = { requests, ...ends(played) };
  const written = processes.map(({ inputs, ...process }) => {
    const lines = inputs.map((input) => JSON.stringify(input)).join(",\n");
    return `${JSON.stringify(process).slice(0, -1)},\n"inputs":[\n${lines}\n]}`;
  });
  const start = `${JSON.stringify(head).slice(0, -1)},\n"processes":[${written.join(",\n")}]`;
  return `${start},\n"expected":${JSON.stringify(expected)}}\n`;
}

function compare(
  expected: readonly ReplayRequest[],
  end: Pick<Expected, "outcome" | "text">,
  played: Replay,
): void {
  for (const [index, request] of expected.entries())
    compareRequest(index + 1, request, played.requests[index]);
  const more = played.requests[expected.length];
  if (more !== undefined) {
    const number = expected.length + 1;
    throw new ReplayDifference(`Request ${number} is new.`, "none", start(more), number);
  }
  same("The outcome of the replay", end.outcome, outcomeOf(played));
  same("The text of the replay", end.text, ends(played).text);
}

function compareRequest(number: number, expected: ReplayRequest, actual: ReplayRequest | undefined): void {
  const name = `Request ${number}`;
  if (actual === undefined)
    throw new ReplayDifference(`${name} is missing.`, start(expected), "none", number);
  for (const part of ["method", "url", "body"] as const) {
    const [wanted, got] = [expected[part], actual[part]];
    if (wanted === got) continue;
    const { start: at } = shared(wanted, got);
    const what = `${name} differs in its ${part}, at character ${at}.`;
    throw new ReplayDifference(what, around(wanted, at), around(got, at), number, at);
  }
}

function same(what: string, expected: string | undefined, actual: string | undefined): void {
  if (expected === actual) return;
  const [wanted, got] = [expected ?? "none", actual ?? "none"];
  const { start: at } = shared(wanted, got);
  throw new ReplayDifference(`${what} differs.`, around(wanted, at), around(got, at), undefined, at);
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - BEFORE);
  const to = at + BEHIND;
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}

function start({ method, url, body }: ReplayRequest): string {
  return `${method} ${url} ${around(body, 0)}`;
}

/** The numbers of characters that two texts share at their beginnings and, beside that, at their ends. */
function shared(one: string, other: string): { start: number; end: number } {
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start++;
  let end = 0;
  while (end < most - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  return { start, end };
}

function requestsOf({ requests }: Expected): ReplayRequest[] {
  let last = "";
  return requests.map(({ method, url, start, end, body }) => {
    last = last.slice(0, start) + body + last.slice(last.length - end);
    return { method, url, body: last };
  });
}

function ends(played: Replay): Pick<Expected, "outcome" | "text"> {
  const { outcome, text } = played.at(played.steps.length - 1);
  return { outcome, text };
}

function outcomeOf(played: Replay): string | undefined {
  return ends(played).outcome;
}

/** A replay that has come to its end. */
function whole(played: Replay): Replay {
  if (played.lost === undefined) return played;
  const what = `looplet failed at input ${played.steps.length} of the file.`;
  throw new ReplayDifference(what, "no error", played.lost);
}

/** The file with the configuration of this agent, and what the agent was made of. */
function withAgent(file: LoopFile, agent: unknown): Made & { readonly file: LoopFile } {
  const made = madeOf(agent);
  if (made === undefined) {
    const problem = `needs an agent that createAgent has made, got ${describe(agent)}`;
    throw new LoopletError("config_wrong_type", "agent", problem);
  }
  const config = JSON.parse(made.config()) as LoopProcess["config"];
  const processes = file.processes.map((process) => {
    // The ids of effects count the saves of the journal.
    const { journal, trace } = process.config;
    return { ...process, config: { ...config, journal, trace } };
  });
  return { ...made, file: { ...file, processes } };
}
