/**
 * Translates a run's questions to AG-UI interrupts, and their answers back. The payload of an approval has the fields
 * that AG-UI recommends: <https://docs.ag-ui.com/concepts/interrupts>, "Approve with edits" (2026-11-26).
 */
import { LoopletError } from "../../core/api/errors.js";
import type { QuestionAnswer, RunEventOf } from "../../core/api/index.js";
import { isObject } from "../../core/kit/check.js";
import { answerFromPage } from "../../extras/tools/from-page.js";
import { isPageCall } from "../../extras/tools/page-call.js";
import type { AgUiInterrupt, AgUiResume } from "./types.js";

/** A question that looplet does not answer itself. */
export type Asked = RunEventOf<"question"> & { readonly data: object };

export function isAsked(event: RunEventOf<"question">): event is Asked {
  return event.data !== undefined;
}

/** Whether the page answers the question by running one of its own tools. */
export function isOfPage(asked: Asked): boolean {
  return asked.question === "elicitation" && isPageCall(asked.data.request);
}

export function interruptOf(asked: Asked, id: string, subagentRunId: string | undefined): AgUiInterrupt {
  const { toolCallId, toolName, input, reason } = asked.data;
  const looplet = { question: asked.question, toolName, input };
  const common = { id, toolCallId, ...(subagentRunId === undefined ? {} : { subagentRunId }) };
  switch (asked.question) {
    case "permission":
      return {
        ...common,
        reason: "tool_call",
        message: reason || `May ${toolName} run?`,
        responseSchema: APPROVAL,
        metadata: { looplet },
      };
    case "elicitation": {
      const { message, requestedSchema, mode, url } = asked.data.request;
      return {
        ...common,
        reason: "input_required",
        message,
        ...(requestedSchema === undefined ? {} : { responseSchema: requestedSchema }),
        metadata: { looplet: { ...looplet, ...(mode === undefined ? {} : { mode }), ...(url && { url }) } },
      };
    }
    case "reconcile":
      return {
        ...common,
        reason: "looplet:reconcile",
        message: `Was ${toolName} done? ${reason}`,
        responseSchema: RECONCILIATION,
        metadata: { looplet },
      };
  }
}

const APPROVAL = {
  type: "object",
  properties: {
    approved: { type: "boolean" },
    editedArgs: { type: "object", description: "The arguments in place of the model's" },
    message: { type: "string", description: "The reason of a denial, for the model" },
  },
  required: ["approved"],
};

const RECONCILIATION = {
  type: "object",
  properties: {
    outcome: { enum: ["done", "run", "fail"] },
    output: { description: "The result of the call, for done" },
    message: { type: "string", description: "The reason, for fail" },
  },
  required: ["outcome"],
};

/**
 * The answer that a page has given, in the form of `run.answer`.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function answerOf({ question }: Asked, { interruptId, status, payload }: AgUiResume): QuestionAnswer {
  const isCancelled = status === "cancelled";
  if (question === "elicitation") {
    if (isCancelled) return { action: "cancel" };
    if (payload === undefined || payload === null) return { action: "accept" };
    if (isObject(payload)) return { action: "accept", content: payload as { [field: string]: unknown } };
    throw wrong(interruptId, "an object with the fields of the form");
  }
  if (question === "reconcile") {
    if (isCancelled) return { outcome: "fail", message: CANCELLED };
    const said = answerFromPage(payload, "resume");
    if ("outcome" in said) return said;
    throw wrong(
      interruptId,
      '{ outcome: "done", output }, { outcome: "run" } or { outcome: "fail", message }',
    );
  }
  if (isCancelled) return { behavior: "deny", message: CANCELLED };
  const { approved, editedArgs, message } = Object(payload) as { [field: string]: unknown };
  if (approved === true) {
    if (editedArgs === undefined) return { behavior: "allow" };
    if (isObject(editedArgs)) return { behavior: "allow", updatedInput: editedArgs };
  }
  if (approved === false)
    return typeof message === "string" ? { behavior: "deny", message } : { behavior: "deny" };
  throw wrong(interruptId, "{ approved: true, editedArgs? } or { approved: false, message? }");
}

const CANCELLED = "the user cancelled it";

function wrong(interruptId: string, needed: string): LoopletError {
  return new LoopletError(
    "misuse_invalid_argument",
    "resume",
    `needs ${needed} as payload for ${interruptId}`,
  );
}
