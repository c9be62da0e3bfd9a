/** Checks what a page has sent as `RunAgentInput`. */
import { LoopletError } from "../../core/api/errors.js";
import { checkValue, describe, isObject } from "../../core/kit/check.js";
import { PAGE_NAMES, inputJsonSchema } from "../../core/kit/tools.js";
import { isPageId, isTooDeep, PAGE_ID, TOO_DEEP } from "../../extras/page-json.js";
import type { AgUiInput, AgUiMessage, AgUiTool } from "./types.js";

const ROLES = ["developer", "system", "assistant", "user", "tool", "activity", "reasoning"];

/** The roles whose content is a text, or a list of parts. */
const WRITTEN = ["assistant", "user", "tool"];

/** The most tools of a page. Each is compiled for the run. */
const MAX_TOOLS = 2000;

type Fields = { readonly [field: string]: unknown };

/**
 * The input that a page sent, without the fields that are null. Some clients write null for a field that they omit.
 *
 * @throws LoopletError `config_…`
 */
export function checkedInput(given: unknown): AgUiInput {
  if (!isObject(given)) throw wrong("input", "needs an object: a RunAgentInput of AG-UI");
  if (isTooDeep(given)) throw wrong("input", TOO_DEEP);
  const input = withoutNull(given);
  const { threadId, runId, messages, tools = [], resume = [] } = input;
  for (const [field, id] of Object.entries({ threadId, runId })) {
    checkValue(id, field, "id");
    if (!isPageId(id)) throw wrong(field, `needs ${PAGE_ID}`);
  }
  if (!isListOf(messages, isMessage)) throw wrong("messages", "needs a list of messages with id and role");
  if (!isListOf(tools, isTool)) throw wrong("tools", "needs a list of tools with a name");
  if (tools.length > MAX_TOOLS) throw wrong("tools", `takes ${MAX_TOOLS} tools of a page at most`);
  if (!isListOf(resume, isResume))
    throw wrong(
      "resume",
      'needs a list of answers with interruptId and the status "resolved" or "cancelled"',
    );
  const read = { ...input, messages: messages.map((one, at) => messageOf(one, `messages[${at}]`)) };
  if (tools.length > 0) Object.assign(read, { tools: tools.map((one, at) => toolOf(one, `tools[${at}]`)) });
  return read as unknown as AgUiInput;
}

function isListOf(value: unknown, isOne: (one: Fields) => boolean): value is readonly Fields[] {
  return Array.isArray(value) && value.every((one) => isObject(one) && isOne(one as Fields));
}

function isMessage({ id, role, toolCalls, toolCallId, error, subagentRunId }: Fields): boolean {
  return (
    isPageId(id) &&
    ROLES.includes(role as string) &&
    isListOf(toolCalls ?? [], isCall) &&
    [toolCallId, error, subagentRunId].every((text) => (text ?? undefined) === undefined || isText(text)) &&
    (role !== "tool" || isText(toolCallId))
  );
}

/** @throws LoopletError `config_wrong_type` */
function messageOf(given: Fields, field: string): AgUiMessage {
  const message = withoutNull(given);
  const { role, content } = message;
  const isWritten = content === undefined || isText(content) || isListOf(content, ({ type }) => isText(type));
  if (WRITTEN.includes(role as string) && !isWritten)
    throw wrong(`${field}.content`, `needs a text or a list of parts, got ${describe(content)}`);
  return message as unknown as AgUiMessage;
}

/** @throws LoopletError `config_…` */
function toolOf(given: Fields, field: string): AgUiTool {
  const { name, parameters, ...rest } = withoutNull(given);
  const [names, words] = PAGE_NAMES;
  if (!names.test(name as string)) throw wrong(`${field}.name`, `needs ${words}`);
  // Some pages omit the type of an object, or the whole schema.
  const schema = { type: "object", ...(isObject(parameters) && withoutNull(parameters)) };
  if (isObject(parameters) || parameters === undefined) inputJsonSchema(schema, `${field}.parameters`);
  else throw wrong(`${field}.parameters`, `needs a JSON Schema of an object, got ${describe(parameters)}`);
  return { ...rest, name, parameters: schema } as unknown as AgUiTool;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isCall({ id, function: called }: Fields): boolean {
  const { name, arguments: text } = Object(called) as Fields;
  return [id, name, text].every(isText);
}

function isTool({ name, description }: Fields): boolean {
  return isText(name) && ((description ?? undefined) === undefined || isText(description));
}

function isResume({ interruptId, status }: Fields): boolean {
  return isText(interruptId) && (status === "resolved" || status === "cancelled");
}

function withoutNull(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function wrong(field: string, problem: string): LoopletError {
  return new LoopletError("config_wrong_type", field, problem);
}
