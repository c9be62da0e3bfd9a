/** Checks what a page has sent as `RunAgentInput`. */
import { LoopletError } from "../../core/api/errors.js";
import { checkValue, isObject } from "../../core/options/check.js";
import type { AgUiInput } from "./types.js";

const ROLES = ["developer", "system", "assistant", "user", "tool", "activity", "reasoning"];

/** The most tools of a page. Each is compiled for the run. */
const MAX_TOOLS = 2000;

/** @throws LoopletError `config_…` */
export function checkedInput(input: unknown): AgUiInput {
  if (!isObject(input)) throw wrong("input", "needs an object: a RunAgentInput of AG-UI");
  const { threadId, runId, messages, tools, resume } = input as { [field: string]: unknown };
  checkValue(threadId, "threadId", "id");
  checkValue(runId, "runId", "id");
  if (!isListOf(messages, isMessage)) throw wrong("messages", "needs a list of messages with id and role");
  if (!isListOf(tools ?? [], isTool)) throw wrong("tools", "needs a list of tools with a name");
  if (((tools as unknown[] | undefined) ?? []).length > MAX_TOOLS)
    throw wrong("tools", `takes ${MAX_TOOLS} tools of a page at most`);
  if (!isListOf(resume ?? [], isResume))
    throw wrong(
      "resume",
      'needs a list of answers with interruptId and the status "resolved" or "cancelled"',
    );
  return input as unknown as AgUiInput;
}

type Fields = { readonly [field: string]: unknown };

function isListOf(value: unknown, isOne: (one: Fields) => boolean): boolean {
  return Array.isArray(value) && value.every((one) => isObject(one) && isOne(one as Fields));
}

function isMessage({ id, role, toolCalls, toolCallId, error, subagentRunId }: Fields): boolean {
  return (
    isId(id) &&
    ROLES.includes(role as string) &&
    isListOf(toolCalls ?? [], isCall) &&
    [toolCallId, error, subagentRunId].every((text) => text === undefined || typeof text === "string") &&
    (role !== "tool" || toolCallId !== undefined)
  );
}

function isId(id: unknown): boolean {
  return typeof id === "string" && id.trim() !== "" && !/\p{Surrogate}/u.test(id);
}

function isCall({ id, function: called }: Fields): boolean {
  const { name, arguments: text } = Object(called) as Fields;
  return [id, name, text].every((one) => typeof one === "string");
}

function isTool({ name, description }: Fields): boolean {
  return (
    typeof name === "string" && (typeof description === "string" || (description ?? undefined) === undefined)
  );
}

function isResume({ interruptId, status }: Fields): boolean {
  return typeof interruptId === "string" && (status === "resolved" || status === "cancelled");
}

function wrong(field: string, problem: string): LoopletError {
  return new LoopletError("config_wrong_type", field, problem);
}
