/** The steps of a replay in a few words, and what is open behind them. */
import type { RunEvent, RunEventOf } from "looplet";
import type { ReplayMoment, ReplayStep } from "looplet/replay";
import { counted } from "../../words/amount.js";

/** A step that more followed from than a piece of a text. */
export function isTelling({ events, requests, calls, questions }: ReplayStep): boolean {
  const isMore = events.some(({ type }) => !type.endsWith("-delta") && type !== "usage");
  return isMore || requests.length + calls.length + questions.length > 0;
}

const inputs: Record<string, string> = {
  prompt: "The prompt",
  steer: "A steer",
  followUp: "A follow-up",
  handedOver: "The next iteration may begin",
  head: "The response begins",
  end: "The response ends",
  networkFailed: "The network fails",
  toolFinished: "A tool has finished",
  toolProgress: "A tool reports progress",
  toolAsks: "A tool asks a person",
  toolCheckpoint: "A tool keeps a state",
  answered: "A question is answered",
  saved: "The store has a save",
  due: "A time is up",
  cancel: "The run is aborted",
  resume: "The run goes on in another process",
};

/** What came in, in a few words, and what followed from it. */
export function nameOf({ input, events, calls }: ReplayStep): string {
  const kind = kindOf(input.input);
  const followed = [...new Set(events.map(titleOf))].slice(0, 3).join(", ");
  const called = calls.map(({ toolName }) => `calls ${toolName}`).join(", ");
  const more = [followed, called].filter(Boolean).join(" · ");
  return more === "" ? kind : `${kind} → ${more}`;
}

function titleOf(event: RunEvent): string {
  return event.type === "question" ? `asks ${questionOf(event)}` : event.type;
}

function questionOf({ question, data }: RunEventOf<"question">): string {
  return data ? `${question} of ${data.toolName}` : question;
}

function kindOf(input: ReplayStep["input"]["input"]): string {
  if (!("json" in input)) return "A piece of the response";
  const { json } = input;
  const name = typeof json === "string" ? json : (Object.keys(json as object)[0] ?? "");
  return inputs[name] ?? name;
}

/** Requests, calls and questions that nobody has answered behind the last of these steps. */
export function openEffects(
  { outcome, toolCalls }: ReplayMoment,
  steps: readonly ReplayStep[],
): { requests: number; lines: string[] } {
  if (outcome !== undefined) return { requests: 0, lines: [] };
  let requests = 0;
  const questions = new Map<number, string>();
  for (const { input, requests: sent, events } of steps) {
    const json = "json" in input.input ? input.input.json : undefined;
    if (typeof json === "object" && json !== null && ("end" in json || "networkFailed" in json))
      requests -= 1;
    requests += sent.length;
    for (const event of events) {
      if (event.type === "question")
        questions.set(event.questionId, `A question waits: ${questionOf(event)}`);
      else if (event.type === "answered") questions.delete(event.questionId);
    }
  }
  const calls = toolCalls
    .filter(({ output }) => output === null)
    .map(({ toolName }) => `${toolName} has no result yet`);
  const asked = requests > 0 ? [`${counted(requests, "request")} under way`] : [];
  return { requests, lines: [...asked, ...calls, ...questions.values()] };
}
