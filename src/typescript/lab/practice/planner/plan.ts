/**
 * The planner of `practice`: reads a conversation and decides what a helpful model would answer. Deterministic and
 * without state: equal conversations give equal plans.
 */
import type { Conversation, PastCall, Plan } from "../conversation.js";
import { withoutDirective } from "../directive.js";
import { isObject, parseJson } from "../json.js";
import { flatten, writeAnswer } from "./answer.js";
import { fillInput, fillValue } from "./fill.js";
import { forcedStep, planSteps, resultOf, strayStep, type DoneCall, type Step } from "./steps.js";
import { summaryOf, talk } from "./talk.js";
import { unable } from "./unable.js";

/** Rounds after which the planner answers with what it has, so that a loop always ends. */
const MAX_ROUNDS = 8;

/** The answer to `conversation`: tool calls, or a text, or both. */
export function plan(conversation: Conversation): Plan {
  const { tools, choice } = conversation;
  const summary = summaryOf(conversation);
  if (summary !== undefined) return { thinking: "The user wants a summary.", text: summary, calls: [] };
  const { prompts, calls, rounds, others } = episodeOf(conversation);
  const text = prompts.join("\n");
  const isForced = choice.type === "any" || choice.type === "tool";
  const callable = tools.filter(({ name }) =>
    choice.type === "tool" ? name === choice.name : choice.type !== "none",
  );
  const closing = callable.find(({ description }) => CLOSING.test(description));
  const own = callable.filter((tool) => tool !== closing);
  const { steps, unmatched } = planSteps(prompts, own, calls);
  const ready = steps.filter(({ isWaiting, result }) => !isWaiting && !result);
  const forced = isForced && !closing && ready.length === 0 ? forcedStep(text, own) : undefined;
  const next = forced ? [forced] : rounds < MAX_ROUNDS || isForced ? ready : [];
  const now = next.slice(0, conversation.isParallel ? undefined : 1);
  if (now.length > 0) return callPlan(now, steps, rounds === 0 && !isForced);

  const answered = steps.some(({ result }) => result) ? steps : calls.map((call) => strayStep(call, tools));
  const records = answered.flatMap(({ input, result }) => {
    const value = parseJson(result?.text ?? "");
    return [{ ...input, ...(isObject(value) ? value : {}) }];
  });
  const source = { text, ...resultOf(answered, true), records };
  const isTaken = calls.some(({ name, isError }) => name === closing?.name && !isError);
  if (closing && (isForced || !isTaken)) {
    const step = { tool: closing, input: fillInput(closing, source), isWaiting: false, result: undefined };
    return callPlan([step], answered, false);
  }
  const thinking = `${notes(answered)}Now I can answer.`;
  const schema = schemaIn(conversation) ?? conversation.outputSchema;
  if (schema) {
    const filled = fillValue({ name: "answer", description: "", schema }, source);
    return { thinking, text: JSON.stringify(filled), calls: [] };
  }
  const regret = unable([...others, ...conversation.others]);
  const isTold = answered.length > 0;
  const words = isTold ? writeAnswer(answered, unmatched) : talk(text, conversation);
  return {
    thinking: isTold ? thinking : "No tool fits this prompt, so I answer in words.",
    text: regret === "" ? words : `${words}\n\n${regret}`,
    calls: [],
  };
}

/** How a tool is described that takes the answer itself. */
const CLOSING = /\bthe final answer\b/i;

const AGAIN = /^.*\b(?:fits|matches) this schema: (?=\{)/s;

/** The schema that the last prompt asks an answer to fit, when an answer before did not. */
function schemaIn({ said }: Conversation): Record<string, any> | undefined {
  const last = said.filter(({ role }) => role === "user").at(-1)?.text ?? "";
  return AGAIN.test(last) ? parseJson(last.replace(AGAIN, "")) : undefined;
}

function callPlan(now: readonly Step[], all: readonly Step[], hasPreface: boolean): Plan {
  const calls = now.map(({ tool, input }) => ({ name: tool.name, input }));
  const names = calls.map(({ name, input }) => `${name}(${JSON.stringify(input)})`).join(" and ");
  const tools = [...new Set(calls.map(({ name }) => `\`${name}\``))]
    .join(", ")
    .replace(/, (?=[^,]*$)/, " and ");
  const count = all.length > 1 ? `${all.length} things` : "one thing";
  return {
    thinking: `${notes(all)}The prompt asks for ${count}. Next I call ${names}.`,
    text: hasPreface ? `Let me use ${tools}.` : "",
    calls,
  };
}

/** One line per result. */
const notes = (steps: readonly Step[]) =>
  steps.map((step) => (step.result ? `${flatten(step)}\n` : "")).join("");

const CONTINUE =
  /^(?:please |yes,? |ok(?:ay)?,? )?(?:go (?:on|ahead)|continue|proceed|do it)(?: please| now)?[.! ]*$/i;

/** The current question and the work on it: the part of a conversation since the last finished answer. */
function episodeOf({ said }: Conversation): {
  prompts: string[];
  calls: DoneCall[];
  rounds: number;
  others: string[];
} {
  const isEnd = said.map((entry) => entry.role === "assistant" && entry.calls.length === 0);
  const start = isEnd.lastIndexOf(true) + 1;
  const since = said.slice(start);
  // Calls that a stop left undone: "Go on" makes them again, another prompt drops them.
  const lastUndone = since.map(isUndone).lastIndexOf(true);
  const isLeft = promptsIn(since.slice(lastUndone + 1)).some((prompt) => !CONTINUE.test(prompt));
  const own = lastUndone >= 0 && isLeft ? since.slice(lastUndone + 1) : since.filter((one) => !isUndone(one));
  const asked = own.flatMap((entry): PastCall[] => (entry.role === "assistant" ? entry.calls : []));
  const calls = own.flatMap((entry): DoneCall[] => {
    const call = entry.role === "tool" ? asked.find(({ id }) => id === entry.callId) : undefined;
    if (entry.role !== "tool" || !call) return [];
    return [{ ...call, text: entry.text, isError: entry.isError || Boolean(parseJson(entry.text)?.error) }];
  });
  // "Go on" repeats the question before: what is left of it after a limit, all of it after a plan.
  const isAsking = (prompt: string) => !CONTINUE.test(prompt) && !AGAIN.test(prompt);
  const told = promptsIn(own);
  const before = promptsIn(said.slice(0, start)).filter(isAsking).slice(-1);
  const asking = told.filter(isAsking);
  const goingOn = told.length > 0 && before.length > 0 ? before : told;
  const rounds = own.filter(({ role }) => role === "assistant").length;
  const others = own.flatMap((entry) => (entry.role === "assistant" ? [] : (entry.others ?? [])));
  return { prompts: asking.length > 0 ? asking : goingOn, calls, rounds, others };
}

/** Whether the result says that the run ended before the call did. */
function isUndone(entry: Conversation["said"][number]): boolean {
  return entry.role === "tool" && /^(?:cancelled|not_run)$/.test(parseJson(entry.text)?.code);
}

/** UTF-16 units of a prompt that are read from its beginning, and as many from its end: pasted documents would be slow. */
const MAX_HALF = 2000;

function promptsIn(said: Conversation["said"]): string[] {
  const texts = said.flatMap((entry) => (entry.role === "user" ? [withoutDirective(entry.text)] : []));
  const cut = (text: string) => `${text.slice(0, MAX_HALF)}\n${text.slice(-MAX_HALF)}`;
  const read = texts.map((text) => (text.length > 2 * MAX_HALF ? cut(text) : text));
  return read.map((text) => text.replace(/[^\S\n]+/g, " ").trim()).filter((text) => text !== "");
}
