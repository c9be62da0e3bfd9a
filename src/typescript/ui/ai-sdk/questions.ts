/** The ids of questions, and their answers in a message of `useChat`. */
import type { QuestionAnswer } from "../../core/api/index.js";
import { pageAnswer } from "../../extras/tools/page-call.js";
import { isCall, type UiChunk, type UIMessageLike, type UiPart } from "./types.js";

/** The id of a question for the AI SDK: the run's id and the question's number. */
export function approvalIdOf(runId: string, questionId: number): string {
  return `${runId}:${questionId}`;
}

/**
 * Splits an approval id into the run and the number of the question. Undefined for an id that looplet did not make.
 */
export function questionOf(approvalId: string): { runId: string; questionId: number } | undefined {
  const at = approvalId.lastIndexOf(":");
  const questionId = Number(approvalId.slice(at + 1));
  return at < 0 || !Number.isInteger(questionId) || questionId < 0
    ? undefined
    : { runId: approvalId.slice(0, at), questionId };
}

/** The user's answers in a message. */
export interface UiAnswers {
  /** By the ids of the approvals. */
  readonly approvals: ReadonlyMap<string, QuestionAnswer>;
  /** The results of client tools, by the ids of the calls. */
  readonly outputs: ReadonlyMap<string, QuestionAnswer>;
}

/** The answers in a message: `addToolApprovalResponse` and `addToolOutput` write them there. */
export function answersIn({ parts }: UIMessageLike): UiAnswers {
  const calls = (parts as UiPart[]).filter(isCall);
  const answered = calls.filter(({ state }) => state === "approval-responded");
  return {
    approvals: new Map(answered.map(({ approval }) => [approval!.id, permissionOf(approval!)])),
    outputs: new Map(calls.flatMap((part) => outputOf(part).map((answer) => [part.toolCallId!, answer]))),
  };
}

function permissionOf({ approved, reason }: NonNullable<UiPart["approval"]>): QuestionAnswer {
  if (approved === true) return { behavior: "allow" };
  return { behavior: "deny", message: reason ?? "The user said no." };
}

function outputOf({ state, output, errorText, preliminary }: UiPart): QuestionAnswer[] {
  if (state === "output-error") return [pageAnswer({ error: errorText ?? "It failed." })];
  const isDone = state === "output-available" && preliminary !== true;
  return isDone ? [pageAnswer({ output: output ?? null })] : [];
}

const WAITING = "data-waiting";

/** The part that lists the calls that wait for the page. */
export function waitingPart(toolCallIds: string[]): UiChunk {
  return { type: WAITING, id: "looplet", data: { toolCallIds } };
}

/**
 * For `sendAutomaticallyWhen` of `useChat`: whether the user has answered every call that the run waits for. The
 * functions of `ai` for that also wait for the other calls of the step, which continue only after the answer.
 */
export function isAnswered({ messages }: { messages: readonly UIMessageLike[] }): boolean {
  const parts: UiPart[] = messages.at(-1)?.parts ?? [];
  const waiting = parts.find(({ type }) => type === WAITING)?.data as { toolCallIds: string[] } | undefined;
  const answered = (id: string): boolean =>
    parts.some(
      ({ toolCallId, state = "" }) => toolCallId === id && /^(approval-responded|output-)/.test(state),
    );
  return (waiting?.toolCallIds.length ?? 0) > 0 && waiting!.toolCallIds.every(answered);
}
