/**
 * The tasks of a prompt as tool calls: which piece goes to which tool with which input, what waits for what, and what
 * is done. Everything is computed from the conversation at each request, so the planner has no state.
 */
import type { PastCall, ToolSpec } from "../conversation.js";
import { isObject, parseJson } from "../json.js";
import { flatten } from "./answer.js";
import { fillInput, type Source } from "./fill.js";
import { bestMatch, isAgent, propertiesOf } from "./match.js";
import { findNumbers, kindOf, operatorIn, valuesOf } from "./values.js";
import { stems } from "./words.js";

/** A call with its result. */
export interface DoneCall extends PastCall {
  text: string;
  isError: boolean;
}

/** One call that the prompt asks for. */
export interface Step {
  tool: ToolSpec;
  input: Record<string, unknown>;
  /** Whether it needs a result that does not exist yet. */
  isWaiting: boolean;
  result: DoneCall | undefined;
}

/** All steps of `prompts` with `tools`, and the pieces of the prompts that no tool is for. */
export function planSteps(prompts: readonly string[], tools: readonly ToolSpec[], done: readonly DoneCall[]) {
  const calls = [...done];
  const tasks = prompts.flatMap((prompt) => tasksOf(prompt, tools, done));
  const steps: Step[] = [];
  // "It" is the result of the task before; "then" waits for all that was asked for since the last "then".
  let [before, batch]: [Step[], Step[]] = [[], []];
  for (const { tool, text, isAfter } of tasks) {
    if (!tool) continue;
    const isDependent = isAfter || refersBack(text);
    const needed = isAfter ? batch : isDependent ? before : [];
    const isWaiting = needed.some(({ result }) => !result);
    const group = textsFor(tool, text).map((text): Step => {
      const input = isWaiting ? {} : fillInput(tool, { ...resultOf(needed, refersBack(text)), text });
      const at = calls.findIndex((call) => keyOf(call.name, call.input) === keyOf(tool.name, input));
      return { tool, input, isWaiting, result: isWaiting || at < 0 ? undefined : calls.splice(at, 1)[0] };
    });
    const known = steps.map((step) => keyOf(step.tool.name, step.input));
    const fresh = group.filter(({ input }) => isWaiting || !known.includes(keyOf(tool.name, input)));
    steps.push(...fresh);
    if (fresh.length > 0) [before, batch] = [fresh, isDependent ? fresh : [...batch, ...fresh]];
  }
  return { steps, unmatched: tasks.filter(({ tool }) => !tool).map(({ text }) => text) };
}

/** Equal for equal inputs, whatever the order of their properties. */
const keyOf = (name: string, input: unknown) => name + JSON.stringify(Object.entries(Object(input)).sort());

/** A step for a tool that has to be called whatever the prompt says. */
export function forcedStep(text: string, tools: readonly ToolSpec[]): Step | undefined {
  const tool = bestMatch(tools, text) ?? tools[0];
  return tool && { tool, input: fillInput(tool, { text }), isWaiting: false, result: undefined };
}

/** The result of a call that the planner would not have made itself, for instance of another model. */
export function strayStep(result: DoneCall, tools: readonly ToolSpec[]): Step {
  const unknown = { name: result.name, description: "", schema: {} };
  const tool = tools.find(({ name }) => name === result.name) ?? unknown;
  return { tool, input: isObject(result.input) ? result.input : {}, isWaiting: false, result };
}

interface Task {
  /** `undefined`: no tool is for this. */
  tool: ToolSpec | undefined;
  text: string;
  isAfter: boolean;
}

const THEN = "(?:then|after that|afterwards|finally|next)\\b,?\\s+";
const LEAD = new RegExp(`^(?:and\\s+)?${THEN}`, "i");
const DEEDS = "list|show|add|save|calculate|search|look|find|read|tell|what|how|ask|multiply|divide|subtract";
const JOINT = new RegExp(
  `((?<=[.!?])\\s+|\\s*[;\\n]+\\s*|,?\\s+(?:and|also|as well as)\\s+(?:also\\s+)?(?=\\S)|,?\\s+(?=${THEN})|,\\s+(?=(?:${DEEDS})\\b))`,
  "i",
);

/** Cuts a prompt into its smallest pieces, and puts those that no tool is for back to the piece before. */
function tasksOf(prompt: string, tools: readonly ToolSpec[], done: readonly DoneCall[]): Task[] {
  const tasks: Task[] = [];
  // Nothing is cut inside quotes.
  const hidden = prompt.replace(/"[^"\n]+"|“[^”\n]+”/g, (quote) => quote.replace(/\s/g, "\uE000"));
  const pieces = hidden.split(JOINT).map((piece) => piece.replaceAll("\uE000", " "));
  for (let at = 0; at < pieces.length; at += 2) {
    const [joint = "", piece = ""] = [pieces[at - 1], pieces[at]];
    const isAfter = LEAD.test(piece);
    const text = piece.replace(LEAD, "").trim();
    const last = tasks.at(-1);
    // "Then times 3" is arithmetic only because arithmetic came before.
    const isChained = (isAfter || refersBack(text)) && operatorIn(text) !== undefined && /\d/.test(text);
    const tool = bestMatch(tools, text) ?? (isChained ? last?.tool : undefined);
    const isDone = done.some(({ name }) => stems(name).every((word) => stems(text).includes(word)));
    if (text === "" || (!tool && isDone)) continue;
    const isSentence = at === 0 || !/[\p{L},]/u.test(joint);
    if (tool || !last?.tool || isSentence) tasks.push({ tool, text, isAfter });
    else last.text += `${joint}${text}`;
  }
  return tasks;
}

const BACK =
  /\b(?:(?:that|this|the) (?:results?|answers?|sum|product)|(?:save|add|store|note|by|to|of|with|from|multiply|divide) (?:it|that|this|them))\b/i;
const refersBack = (text: string) => BACK.test(text);

/** One text per call: "the weather in Paris and London" is two calls of a tool that takes one city. */
function textsFor(tool: ToolSpec, text: string): string[] {
  if (isAgent(tool)) return [text];
  const kinds = Object.entries(propertiesOf(tool)).map(([name, schema]) => kindOf(name, schema ?? {}));
  const isSingle = (kind: string) => kinds.indexOf(kind) === kinds.lastIndexOf(kind);
  const kind = kinds.find((one) => /^(?:place|zone|expression)$/.test(one) && isSingle(one));
  const values = kind === undefined ? [] : valuesOf(kind, text);
  if (values.length < 2) return [text];
  if (kind === "expression") return values;
  // The words around the values are for all of them.
  const without = (left: string, value: string) => left.replace(new RegExp(value, "i"), "");
  const rest = values.reduce(without, text);
  return values.map((value) => `${rest} in ${value}`);
}

/** The results that a step builds on, in one line, if they are meant, and the last number in them. */
export function resultOf(steps: readonly Step[], isMeant: boolean): Omit<Source, "text"> {
  const lines = steps.filter(({ result }) => result).map(flatten);
  const last = steps.at(-1)?.result?.text ?? "";
  const value = parseJson(last);
  const named = isObject(value) ? (value["result"] ?? value["value"]) : value;
  const previousNumber = typeof named === "number" ? named : findNumbers(last).at(-1);
  return lines.length === 0 ? {} : { ...(isMeant && { previous: lines.join("; ") }), previousNumber };
}
