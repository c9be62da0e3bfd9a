/** The words of clients: what they may order, and which methods a page may call. */
import type { Prompt, QuestionAnswer } from "../../core/api/run.js";
import { isObject } from "../../core/options/check.js";
import { BadRequest } from "../workers/hosting/problems.js";

/** What a client asks for, in a request or in a message of a WebSocket. */
export type Order =
  | { readonly do: "run"; readonly prompt: Prompt; readonly requestId?: string }
  | { readonly do: "answer"; readonly questionId: number; readonly answer: QuestionAnswer }
  | { readonly do: "abort"; readonly reason?: string };

/** A method that a page calls: of the session, or of its run `run`. */
export interface Call {
  readonly run: string | undefined;
  readonly method: string;
  readonly args: readonly any[];
  /** The run has no chat in the page. */
  readonly isAlone: boolean;
}

const OF_SESSION = "openChat readChat run compact reset saved".split(" ");
const OF_RUN = "result snapshot steer followUp withdraw answer claim unclaim abort compact saved".split(" ");

/** Methods that decide what a run may do and cost. */
const OF_TRUSTED = ["setPermissionMode", "addBudget"];

/** What a page may say of a run that it begins. The rest of a history is that of the session. */
const OF_BEGINNING = ["id", "inputs", "instructions"];

/** An order that has what it needs. @throws BadRequest */
export function checkedOrder(given: unknown): Order {
  const order = given as { readonly do?: unknown; readonly [field: string]: unknown };
  const wrong = (needed: string): never => {
    throw new BadRequest(`${String(order.do)} needs ${needed}`);
  };
  if (order.do === "run") {
    if (typeof order["prompt"] !== "string" && !Array.isArray(order["prompt"])) wrong('{ "prompt": "…" }');
    if (!isId(order["requestId"] ?? "r")) wrong("a text of whole letters as its requestId");
  } else if (order.do === "answer") {
    if (!isAnswer(order["questionId"], order["answer"])) wrong('{ "questionId": 1, "answer": {…} }');
  } else if (order.do === "abort") {
    if (!isReason(order["reason"])) wrong("a text as its reason");
  } else {
    throw new BadRequest(`There is no "${String(order.do)}": use run, answer or abort.`);
  }
  return order as unknown as Order;
}

/** A call that this page may make. @throws BadRequest */
export function checkedCall(given: unknown, isTrusted: boolean): Call {
  const { run, method, args, isAlone } = given as { readonly [name: string]: unknown };
  const wrong = (problem: string): never => {
    throw new BadRequest(`${String(method)} ${problem}`);
  };
  if (run !== undefined && typeof run !== "string") wrong("needs the id of a run, or none");
  if (!Array.isArray(args)) wrong("needs a list of arguments");
  const [first, second] = args as unknown[];
  const known = run === undefined ? OF_SESSION : OF_RUN;
  const isForTrusted = run !== undefined && OF_TRUSTED.includes(method as string);
  if (isForTrusted && !isTrusted) wrong("is not for pages: call it on the server");
  if (!isForTrusted && !known.includes(method as string)) wrong("is not a method of this session");
  if (run === undefined && (method === "run" || method === "compact"))
    checkBeginning((args as unknown[]).at(-1), wrong);
  if (method === "reset" && !Array.isArray(first)) wrong("needs a list of messages");
  if (method === "answer" && !isAnswer(first, second)) wrong("needs the id of a question, and an answer");
  if ((method === "claim" || method === "unclaim") && !(isQuestionId(first) && isId(second)))
    wrong("needs the id of a question, and the name of the page");
  if (method === "abort" && !isReason(first)) wrong("needs a text as its reason");
  return {
    run: run as string | undefined,
    method: method as string,
    args: args as any[],
    isAlone: isAlone === true,
  };
}

function checkBeginning(given: unknown, wrong: (problem: string) => never): void {
  const options = Object(given) as { readonly [name: string]: unknown };
  for (const [name, value] of Object.entries(options))
    if (!OF_BEGINNING.includes(name) && !(Array.isArray(value) && value.length === 0) && value !== null)
      wrong(`takes no ${name} from pages: the server keeps the history. Open a chat with agent.openChat(id)`);
  if (!isId(options["id"])) wrong("needs the id of the run, a text of whole letters");
}

function isId(id: unknown): boolean {
  return typeof id === "string" && id.trim() !== "" && !/\p{Surrogate}/u.test(id);
}

function isAnswer(questionId: unknown, answer: unknown): boolean {
  return isQuestionId(questionId) && isObject(answer);
}

/** The engine counts questions in 32 bits. */
function isQuestionId(questionId: unknown): boolean {
  return typeof questionId === "number" && questionId >>> 0 === questionId;
}

function isReason(reason: unknown): boolean {
  return reason === undefined || typeof reason === "string";
}
