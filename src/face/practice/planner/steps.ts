/**
 * The tasks of a prompt as tool calls: which piece goes to which tool with which input, what waits for what, what is done,
 * what failed and is worth one more try. Everything is worked out anew from the conversation at each request, so the
 * planner keeps no state of its own.
 */
import type { ToolSpec } from "../conversation.js";
import { canonical, isObject, parseJson } from "../json.js";
import { findArithmetic, findNumbers } from "./arithmetic.js";
import { splitClauses } from "./clauses.js";
import { correctInput } from "./correct.js";
import { delegated } from "./delegate.js";
import type { DoneCall, Episode } from "./episode.js";
import { fillInput, type Source } from "./fill.js";
import { kindOf, type Kind } from "./kinds.js";
import { bestMatch, candidateOf, type Candidate } from "./match.js";
import { findPlaces, findZones } from "./places.js";
import { flatten } from "./show.js";
import { stems } from "./words.js";

/** One call that the prompt asks for. */
export interface Step {
  tool: ToolSpec;
  text: string;
  input: Record<string, unknown>;
  /** `"ready"`: to be called now. `"waiting"`: for a result. */
  state: "ready" | "waiting" | "done" | "failed";
  /** The last result, when it is done or failed. */
  result: DoneCall | undefined;
  /** True when `input` is a second try after an error with a hint. */
  isRetry: boolean;
}

/** All steps, and the pieces of the prompt that no tool is for. */
export interface Steps {
  steps: Step[];
  unmatched: string[];
}

/** Works out the steps of `episode` with `tools`. */
export function planSteps(episode: Episode, tools: readonly ToolSpec[]): Steps {
  const candidates = tools.map(candidateOf);
  const steps: Step[] = [];
  const unmatched: string[] = [];
  const calls = [...episode.calls];
  // What "it" is: the steps of the task before; what "then" waits for: all since the last "then".
  let before: Step[] = [];
  let batch: Step[] = [];
  for (const prompt of episode.prompts) {
    const { tasks, rest } = tasksOf(prompt, candidates);
    unmatched.push(...rest);
    for (const task of tasks) {
      const isDependent = steps.length > 0 && (task.isAfter || refersBack(task.text));
      const needed = task.isAfter ? batch : before;
      const isBlocked = isDependent && needed.some(({ state }) => state === "ready" || state === "waiting");
      const previous = isDependent && !isBlocked ? needed : [];
      const group = fanOut(task).map((text): Step => {
        const source: Source = { text, prompt, ...previousOf(previous) };
        const input = isBlocked ? {} : (toldTo(task, source) ?? fillInput(task.tool, source));
        if (isBlocked)
          return { tool: task.tool, text, input, state: "waiting", result: undefined, isRetry: false };
        return settle(
          { tool: task.tool, text, input, state: "ready", result: undefined, isRetry: false },
          calls,
          source,
        );
      });
      const fresh = group.filter(
        (step) =>
          step.state === "waiting" ||
          !steps.some(
            (other) => other.tool === step.tool && canonical(other.input) === canonical(step.input),
          ),
      );
      steps.push(...fresh);
      if (fresh.length > 0) {
        before = fresh;
        batch = isDependent ? fresh : [...batch, ...fresh];
      }
    }
  }
  return { steps, unmatched };
}

/** A step for a tool that has to be called whatever the prompt says. */
export function forcedStep(
  episode: Episode,
  tools: readonly ToolSpec[],
  name: string | undefined,
): Step | undefined {
  const text = episode.prompts.join("\n");
  const named = name === undefined ? undefined : tools.find((tool) => tool.name === name);
  const tool = named ?? bestMatch(tools.map(candidateOf), text)?.tool ?? tools[0];
  if (!tool) return undefined;
  const input = fillInput(tool, { text, prompt: text, previous: undefined, previousNumber: undefined });
  return { tool, text, input, state: "ready", result: undefined, isRetry: false };
}

interface Task {
  tool: ToolSpec;
  text: string;
  isAfter: boolean;
  /** What an agent is told. */
  prompt?: string;
}

// An agent begins with nothing but its prompt: what "it" is, it must be told.
function toldTo({ prompt, text }: Task, { previous }: Source): Record<string, unknown> | undefined {
  if (prompt === undefined) return undefined;
  return { prompt: previous !== undefined && refersBack(text) ? `${prompt}: ${previous}` : prompt };
}

function tasksOf(prompt: string, candidates: readonly Candidate[]): { tasks: Task[]; rest: string[] } {
  const tasks: Task[] = [];
  const rest: string[] = [];
  let isJoinable = false;
  for (const clause of splitClauses(prompt)) {
    const last = tasks.at(-1);
    const isSentence = !/[\p{L},]/u.test(clause.joint);
    const agent = delegated(
      candidates.map(({ tool: one }) => one),
      clause.text,
    );
    if (agent) {
      tasks.push({ ...agent, text: clause.text, isAfter: clause.isAfter });
      isJoinable = true;
      continue;
    }
    const tool =
      bestMatch(candidates, clause.text)?.tool ??
      (last && clause.isAfter ? chainedTool(clause.text, last, candidates) : undefined);
    if (tool) {
      tasks.push({ tool, text: clause.text, isAfter: clause.isAfter });
      isJoinable = true;
    } else if (last && isJoinable && !isSentence) {
      last.text += clause.joint + clause.text;
    } else if (last && findPlaces(clause.text).length > 0 && stems(clause.text).size <= 2) {
      last.text += ` and ${clause.text}`;
    } else {
      rest.push(clause.text);
      isJoinable = false;
    }
  }
  return { tasks, rest };
}

// "Then times 3" is arithmetic only because arithmetic came before.
function chainedTool(text: string, last: Task, candidates: readonly Candidate[]): ToolSpec | undefined {
  const isArithmetic = candidates.some(
    ({ tool, concepts }) => tool === last.tool && concepts.has("arithmetic"),
  );
  const isOperation = /\b(?:plus|add|minus|subtract|times|multiply|divided?)\b.*\d/i.test(text);
  return isArithmetic && isOperation ? last.tool : undefined;
}

function refersBack(text: string): boolean {
  return /\b(?:it|that result|this result|the results?|the answers?|the sum|the product|save (?:that|this)|add (?:that|this))\b/i.test(
    text.replace(/\b(?:is it|it is|it's|will it|does it)\b/gi, ""),
  );
}

/** One text per call: "the weather in Paris and London" is two calls of a tool that takes one city. */
function fanOut({ tool, text, prompt }: Task): string[] {
  if (prompt !== undefined) return [text];
  const properties = Object.entries<any>(
    isObject(tool.schema["properties"]) ? tool.schema["properties"] : {},
  );
  const kinds = properties
    .filter(([, { type }]) => type === "string" || type === undefined)
    .map(([name, schema]) => kindOf(name, schema ?? {}));
  const count = (kind: Kind) => kinds.filter((other) => other === kind).length;
  if (count("place") === 1) {
    const places = findPlaces(text);
    if (places.length > 1) return places.map((place) => keepOne(text, places, place));
  }
  if (count("zone") === 1) {
    const places = findPlaces(text).filter((place) => findZones(`in ${place}`).length > 0);
    if (places.length > 1) return places.map((place) => keepOne(text, places, place));
  }
  if (count("expression") === 1) {
    const found = findArithmetic(text);
    if (found.length > 1) return found.map(({ expression }) => expression);
  }
  return [text];
}

function keepOne(text: string, places: readonly string[], kept: string): string {
  const others = places.filter((place) => place !== kept);
  const rest = others.reduce(
    (left, place) =>
      left.replace(new RegExp(`(?:\\s*,|\\s+and)?(?:\\s+(?:in|for|at))?\\s+${place}\\b`, "i"), ""),
    text,
  );
  return findPlaces(rest).includes(kept) ? rest : `${rest} in ${kept}`;
}

function previousOf(steps: readonly Step[]): Pick<Source, "previous" | "previousNumber"> {
  const results = steps.flatMap(({ result, tool, input }) => (result ? [{ result, tool, input }] : []));
  if (results.length === 0) return { previous: undefined, previousNumber: undefined };
  const texts = results.map(({ result, tool, input }) => flatten(tool.name, input, result.text));
  return { previous: texts.join("; "), previousNumber: numberIn(results.at(-1)?.result.text ?? "") };
}

function numberIn(text: string): number | undefined {
  const value = parseJson(text);
  if (typeof value === "number") return value;
  if (isObject(value)) {
    const numbers = Object.values(value).filter((member) => typeof member === "number");
    const named =
      value["result"] ?? value["value"] ?? value["answer"] ?? (numbers.length === 1 ? numbers[0] : undefined);
    if (Number.isFinite(Number(named)) && named !== undefined) return Number(named);
  }
  return findNumbers(text).at(-1);
}

/** Looks the step up among the calls that were made, and decides about one more try. */
function settle(step: Step, calls: DoneCall[], source: Source): Step {
  const result = take(calls, step);
  if (!result) return step;
  if (!result.isError) return { ...step, state: "done", result };
  const input = correctInput(step.tool, step.input, result.text, source);
  if (!input) return { ...step, state: "failed", result };
  const retry: Step = { ...step, input, isRetry: true };
  const second = take(calls, retry);
  if (!second) return { ...retry, result };
  return { ...retry, state: second.isError ? "failed" : "done", result: second };
}

function take(calls: DoneCall[], step: Step): DoneCall | undefined {
  const wanted = canonical(step.input);
  const at = calls.findIndex(({ name, input }) => name === step.tool.name && canonical(input) === wanted);
  return at < 0 ? undefined : calls.splice(at, 1)[0];
}
