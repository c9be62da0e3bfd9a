/** Steps and amounts as people read them. */
import type { RunEvent } from "../../../core/api/index.js";
import type { ReplayStep } from "../../replay/playback.js";

/** A duration in milliseconds: "12 ms", "3.4 s", "2 min 5 s". */
export function lasting(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** US dollars: "$0.0075", "$1.50". */
export function dollars(usd: number): string {
  return `$${usd >= 1 ? usd.toFixed(2) : usd.toFixed(4)}`;
}

/** Whether more followed from a step than a piece of a text. */
export function isTelling({ events, requests, calls, questions }: ReplayStep): boolean {
  return events.some(({ type }) => !isPiece(type)) || requests.length + calls.length + questions.length > 0;
}

const isPiece = (type: string): boolean => type.endsWith("-delta") || type === "usage";

const INPUTS: { readonly [name: string]: string } = {
  prompt: "Prompt",
  steer: "Steer",
  followUp: "Follow-up",
  handedOver: "Next iteration can start",
  head: "Response starts",
  end: "Response ends",
  networkFailed: "Network fails",
  notSent: "Request is not sent",
  requestFailed: "Request fails",
  toolFinished: "Tool finishes",
  toolProgress: "Tool reports progress",
  toolAsks: "Tool asks the user",
  toolCheckpoint: "Tool saves a checkpoint",
  answered: "Answer",
  saved: "Store has saved the entries",
  due: "A timer has fired",
  cancel: "Abort",
  resume: "Run resumes in another process",
  pickUp: "Run resumes in another process",
  recover: "Run resumes in a fresh engine",
};

/** The kind of a step's input in a few words. */
export function inputName({ input }: ReplayStep): string {
  const told = input.input;
  if (!("json" in told)) return "Piece of the response";
  const name = nameOf(told.json);
  return INPUTS[name] ?? name;
}

function nameOf(json: unknown): string {
  if (typeof json === "string") return json;
  return Object.keys((json ?? {}) as object)[0] ?? "";
}

/** What followed from a step in a few words; empty if nothing did. */
export function followed({ events, calls, requests }: ReplayStep): string {
  const told = events.filter(({ type }) => !isPiece(type)).map(eventName);
  const names = [...new Set([...told, ...calls.map(({ toolName }) => `runs ${toolName}`)])];
  if (requests.length > 0) names.unshift("request");
  if (names.length > 0) return names.slice(0, 4).join(", ");
  return events
    .map((event) => ("text" in event && typeof event.text === "string" ? event.text : ""))
    .join("")
    .slice(0, 80);
}

function eventName(event: RunEvent): string {
  switch (event.type) {
    case "tool-call":
      return `calls ${event.toolName}`;
    case "tool-result":
      return `result of ${event.toolName}`;
    case "tool-error":
      return `error of ${event.toolName}`;
    case "question":
      return `asks ${event.question}${event.data === undefined ? "" : ` of ${event.data.toolName}`}`;
    case "iteration-start":
      return `iteration ${event.iteration}`;
    case "finish":
      return event.outcome.outcome;
    case "retry":
      return `retry ${event.nextAttempt}: ${event.error.code}`;
    case "warning":
      return `warning: ${event.code}`;
    default:
      return event.type;
  }
}
