/** Runs as tests: a `.loop` file is played, and the first difference is an error. */
import { LoopletError } from "../../core/api/errors.js";
import type { Agent } from "../../core/api/index.js";
import { loadWasm, type ToolInvocation } from "../../core/kit/engine.js";
import { checkOptions } from "../../core/kit/check.js";
import { harmless, oneLine } from "../replay/harmless.js";
import { readLoop, type Expected, type ExpectedRequest } from "../replay/loop-file.js";
import type { SentRequest } from "../replay/playback.js";
import { play, type Replay } from "../replay/replay.js";
import {
  endDifference,
  ends,
  requestDifference,
  shared,
  textDifference,
  withAgent,
  type Difference,
  type Ending,
} from "./differences.js";
import { resultOf, runTools } from "./run-tools.js";

/** The options of {@link expectReplay}. @beta */
export interface ExpectOptions {
  /**
   * The agent with the options that the run gets instead of its own: its prompts, tools and models. It shows which
   * request they change. Default: the options in the file.
   */
  agent?: Pick<Agent, "run"> | undefined;
  /**
   * `"run"` calls the functions of the agent's tools too, one after the other, each with the input that it got in the
   * run, and compares what they return with the results in the file. The model's answers stay those of the file. It
   * needs `agent`. Default `"recorded"`: no function is called, and the results in the file count.
   */
  tools?: "recorded" | "run" | undefined;
}

/** The first difference between a replay and what it should be. @beta */
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
    super(`${oneLine(what)}\n  expected  ${excerpt(expected)}\n  actual    ${excerpt(actual)}`);
    this.expected = expected;
    this.actual = actual;
    this.request = request;
    this.at = at;
  }
}

/**
 * Plays the text of a `.loop` file and compares requests, outcome and text. Without `agent` it compares with what
 * {@link withExpectations} has added to the file; in a file without expectations it compares only the outcome. With
 * `agent` it compares with the run in the file, and with `tools: "run"` the results of its tools as well.
 *
 * Rejects with a {@link ReplayDifference} that names the first difference, or with a `LoopletError` of code
 * `misuse_run_file`.
 *
 * @beta
 */
export async function expectReplay(file: string, options: ExpectOptions = {}): Promise<Replay> {
  const read = readLoop(file);
  const wasm = await loadWasm();
  const { agent, tools } = checkOptions(options, "", { agent: "any", tools: ["recorded", "run"] });
  if (agent === undefined && tools === "run")
    throw new LoopletError("config_missing", "agent", 'is needed with tools: "run"');
  if (agent === undefined) {
    const played = whole(play(wasm, read));
    if (read.expected !== undefined) compare(expectedRequests(read.expected), read.expected, played);
    else if (read.outcome !== undefined && !read.processes.some(({ lost }) => lost !== undefined))
      check(textDifference("The outcome of the replay", read.outcome, ends(played).outcome));
    return played;
  }
  const before = whole(play(wasm, read));
  const invocations: ToolInvocation[] = [];
  const made = withAgent(read, agent);
  const played = whole(play(wasm, made.file, { onCall: (call) => void invocations.push(call) }));
  compare(before.requests, ends(before), played);
  if (tools === "run") {
    for await (const { invocation, expected, actual } of runTools(made, read, invocations))
      check(textDifference(resultOf(invocation), expected, actual));
  }
  return played;
}

/**
 * The text of a `.loop` file with what its replay comes to today: the requests, the outcome and the text. Commit it,
 * and {@link expectReplay} fails when a new version of looplet makes other requests of this run.
 *
 * Rejects with a `LoopletError` of code `misuse_run_file`.
 *
 * @beta
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

/** A part of a text on one line, with its ends of lines as code has them. */
function excerpt(text: string): string {
  return harmless(text.replaceAll("\n", "\\n").replaceAll("\r", "\\r"));
}

/** @throws ReplayDifference */
function check(difference: Difference | undefined): void {
  if (difference === undefined) return;
  const { what, expected, actual, request, at } = difference;
  throw new ReplayDifference(what, expected, actual, request, at);
}

function compare(expected: readonly SentRequest[], end: Ending, played: Replay): void {
  check(requestDifference(expected, played.requests));
  check(endDifference(end, ends(played)));
}

/** The requests that a file expects, each with its whole body. */
export function expectedRequests({ requests }: Expected): SentRequest[] {
  let last = "";
  return requests.map(({ method, url, start, end, body }) => {
    last = last.slice(0, start) + body + last.slice(last.length - end);
    return { method, url, body: last };
  });
}

/** A replay that has reached its end. */
export function whole(played: Replay): Replay {
  if (played.lost === undefined) return played;
  const what = `looplet failed at input ${played.steps.length} of the file.`;
  throw new ReplayDifference(what, "no error", played.lost);
}
