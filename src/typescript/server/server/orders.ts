/** The words of clients: what they may order, and which methods a page may call. */
import { LoopletError } from "../../core/api/errors.js";
import type { Prompt, QuestionAnswer } from "../../core/api/run.js";
import { describe, describeWord, isObject } from "../../core/kit/check.js";
import { isPageId, PAGE_ID } from "../../extras/page-json.js";
import { answerFromPage, promptFromPage } from "../../extras/tools/from-page.js";
import { BadRequest, ofRequest } from "../workers/hosting/problems.js";

/** A client's order, in a request or in a WebSocket message. */
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

const OF_SESSION = "openChat readChat run compact reset taken saved".split(" ");
const OF_RUN = "result snapshot steer followUp withdraw answer claim unclaim abort compact saved".split(" ");

/** Methods that decide what a run may do and cost. */
const OF_TRUSTED = ["setPermissionMode", "addBudget"];

/** What a page may set for a run that it starts. The rest of a history is the session's. */
const OF_BEGINNING = ["id", "inputs", "instructions"];

/** An order that this client may give. @throws BadRequest */
export async function checkedOrder(given: unknown, isTrusted: boolean): Promise<Order> {
  const order = given as { readonly do?: unknown; readonly [field: string]: unknown };
  const wrong = (needed: string): never => {
    throw new BadRequest(`${named(order.do)} needs ${needed}`);
  };
  if (order.do === "run") {
    if (typeof order["prompt"] !== "string" && !Array.isArray(order["prompt"])) wrong('{ "prompt": "…" }');
    if (!isPageId(order["requestId"] ?? "r")) wrong(`${PAGE_ID} as its requestId`);
  } else if (order.do === "answer") {
    if (!isAnswer(order["questionId"], order["answer"])) wrong('{ "questionId": 1, "answer": {…} }');
  } else if (order.do === "abort") {
    if (!isReason(order["reason"])) wrong("a text as its reason");
  } else {
    throw new BadRequest(`There is no ${describeWord(order.do)}: use run, answer or abort.`);
  }
  if (isTrusted) return order as unknown as Order;
  return ofRequest((): Order => {
    if (order.do === "run") {
      const requestId = order["requestId"] as string | undefined;
      return { do: "run", prompt: promptFromPage(order["prompt"]), ...(requestId != null && { requestId }) };
    }
    if (order.do === "answer")
      return {
        do: "answer",
        questionId: order["questionId"] as number,
        answer: answerFromPage(order["answer"]),
      };
    return order as unknown as Order;
  });
}

/** A call that this page may make. @throws BadRequest */
export async function checkedCall(given: unknown, isTrusted: boolean): Promise<Call> {
  const { run, method, args, isAlone } = given as { readonly [name: string]: unknown };
  const wrong = (problem: string): never => {
    throw new BadRequest(`${named(method)} ${problem}`);
  };
  if (run !== undefined && typeof run !== "string") wrong("needs the id of a run, or no value");
  if (typeof method !== "string") wrong("is not the name of a method");
  if (!Array.isArray(args)) wrong("needs a list of arguments");
  // Extra arguments are dropped, so that only checked arguments are used.
  const all = (args as any[]).slice(0, run === undefined && method === "compact" ? 1 : 2);
  const [first, second] = all as unknown[];
  const known = run === undefined ? OF_SESSION : OF_RUN;
  const isForTrusted = run !== undefined && OF_TRUSTED.includes(method as string);
  if (isForTrusted && !isTrusted) wrong("is not for pages: call it on the server");
  if (!isForTrusted && !known.includes(method as string)) wrong("is not a method of this session");
  if (run === undefined && (method === "run" || method === "compact")) checkBeginning(all.at(-1), wrong);
  if (method === "reset" && !Array.isArray(first)) wrong("needs a list of messages");
  if (method === "taken" && !(Array.isArray(first) && first.every(isPageId))) wrong("needs a list of ids");
  if (method === "answer" && !isAnswer(first, second)) wrong("needs the id of a question, and an answer");
  if ((method === "claim" || method === "unclaim") && !(isQuestionId(first) && isPageId(second)))
    wrong("needs the id of a question, and the name of the page");
  if (method === "abort" && !isReason(first)) wrong("needs a text as its reason");
  if (method === "withdraw" && !isQuestionId(first)) wrong("needs the id of a message");
  const taken = isTrusted ? all : await ofRequest(() => argsFromPage(run !== undefined, String(method), all));
  return { run: run as string | undefined, method: String(method), args: taken, isAlone: isAlone === true };
}

/** The arguments that a page may give. @throws LoopletError */
function argsFromPage(isOfRun: boolean, method: string, [first, second]: readonly any[]): readonly any[] {
  switch (method) {
    case "run":
      return [promptFromPage(first), second];
    case "steer":
    case "followUp":
      return [promptFromPage(first), requestIdOf(second)];
    case "answer":
      return [first, answerFromPage(second), WAITS_FOR_FUNCTIONS];
    case "compact":
      return [isOfRun ? instructionsOf(first) : first];
    default:
      return [first, second];
  }
}

/** The third argument of `answer`: the agent's function that handles the question decides before the page does. */
export const WAITS_FOR_FUNCTIONS = true;

/** @throws LoopletError */
function requestIdOf(given: unknown): { readonly requestId?: string } {
  const { requestId } = Object(given) as { readonly requestId?: unknown };
  if (requestId === undefined || requestId === null) return {};
  if (isPageId(requestId)) return { requestId: requestId as string };
  throw new LoopletError("misuse_invalid_argument", "requestId", `needs ${PAGE_ID}`);
}

/** @throws LoopletError */
function instructionsOf(given: unknown): { readonly instructions?: string } {
  const { instructions } = Object(given) as { readonly instructions?: unknown };
  if (instructions === undefined || instructions === null) return {};
  if (typeof instructions === "string" && instructions.trim() !== "") return { instructions };
  throw new LoopletError("misuse_invalid_argument", "instructions", "needs a text");
}

function checkBeginning(given: unknown, wrong: (problem: string) => never): void {
  const options = Object(given) as { readonly [name: string]: unknown };
  for (const [name, value] of Object.entries(options))
    if (!OF_BEGINNING.includes(name) && !(Array.isArray(value) && value.length === 0) && value !== null)
      wrong(
        `accepts no ${name} from pages: the server stores the history. Open a chat with agent.openChat(id)`,
      );
  if (!isPageId(options["id"])) wrong(`needs the id of the run, ${PAGE_ID}`);
  const { inputs, instructions } = options;
  if (inputs != null && (!isObject(inputs) || Array.isArray(inputs))) wrong("needs an object as its inputs");
  if (instructions != null && (typeof instructions !== "string" || instructions.trim() === ""))
    wrong("needs a text as its instructions");
}

/** A word of a client in a message. */
function named(word: unknown): string {
  return typeof word === "string" ? word.slice(0, 64) : describe(word);
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
