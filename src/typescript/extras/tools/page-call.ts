/**
 * A call of a tool that a page runs, as a question of a run and its answers. The question is an elicitation: every
 * stream contains it, every way of answering accepts its answer, and a journal stores both. A page that is about to
 * run the call claims it with an answer first. The next question names that page, so that no other page runs the
 * call.
 */
import type { ElicitationAnswer, ElicitationRequest, RunEvent } from "../../core/api/index.js";

/** `onElicitation` of the agent is not called for addresses of this scheme. */
const MARK = "looplet:page-call";

/** The question of a call: for any page, or for the result of the page that has claimed it. */
export function pageRequest(page?: string): ElicitationRequest {
  const url = page === undefined ? MARK : `${MARK}?page=${encodeURIComponent(page)}`;
  return { message: "A page runs this tool.", url };
}

/** Whether a tool's question is for the code of a page, and not for the user. */
export function isPageCall({ url }: ElicitationRequest): boolean {
  return url === MARK || url?.startsWith(`${MARK}?`) === true;
}

/** A question of a run for the code of a page. */
export interface PageCall {
  readonly questionId: number;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
  /** The page that has claimed the call. */
  readonly page: string | undefined;
}

/** The page call in an event. Undefined for any other event. */
export function pageCallOf(event: RunEvent): PageCall | undefined {
  if (event.type !== "question" || event.question !== "elicitation" || !isPageCall(event.data.request))
    return undefined;
  const { toolName, toolCallId, input, request } = event.data;
  const [, page] = request.url!.split("?page=");
  const { questionId } = event;
  return {
    questionId,
    toolName,
    toolCallId,
    input,
    page: page === undefined ? undefined : decodeURIComponent(page),
  };
}

/** The outcome of a call. Exactly one field is set. A result of `undefined` sets none. */
export interface PageAnswer {
  readonly output?: unknown;
  /** The call has failed, in words for the model. */
  readonly error?: string;
  /** The page of this name is about to run the call. */
  readonly claim?: string;
  /** The page of this name, which claimed the call, has disconnected. */
  readonly left?: string;
}

export function pageAnswer(content: PageAnswer): ElicitationAnswer {
  return { action: "accept", content: { ...content } };
}
