/** Finds request bodies of one conversation that do not begin with the previous one. */
import { LoopletError } from "../../core/api/errors.js";
import { isObject } from "../../core/kit/check.js";
import type { TranscriptProblem, TranscriptProtocol } from "./index.js";

type Body = { readonly [field: string]: unknown };

/** How a protocol writes a body: the field of its messages, and the fields before them in the order of the prompt. */
interface Form {
  readonly messages: string;
  readonly head: readonly string[];
  /** True for a block or an item that has signed reasoning. */
  isReasoning(block: Body): boolean;
}

const isEncrypted = ({ type, encrypted_content: proof }: Body): boolean =>
  type === "reasoning" && typeof proof === "string";

const FORMS: { readonly [protocol: string]: Form } = {
  anthropic: {
    messages: "messages",
    head: ["tools", "system"],
    isReasoning: ({ type, signature }) =>
      type === "redacted_thinking" || (type === "thinking" && typeof signature === "string"),
  },
  "openai-chat": { messages: "messages", head: ["tools"], isReasoning: () => false },
  "openai-responses": { messages: "input", head: ["tools", "instructions"], isReasoning: isEncrypted },
};

/** True for an array of request bodies, and false for a history. */
export function areBodies(given: readonly unknown[], protocol: string): given is readonly Body[] {
  const form = FORMS[protocol];
  const [first] = given;
  if (form === undefined || !isObject(first) || "role" in first || "type" in first) return false;
  return "model" in first || form.messages in first;
}

/**
 * The positions where a body does not begin with the one before it, and the signed reasoning after them.
 *
 * @throws LoopletError `config_wrong_type` for a body without its messages
 */
export function brokenPrefixes(bodies: readonly Body[], protocol: TranscriptProtocol): TranscriptProblem[] {
  const form = FORMS[protocol]!;
  const problems: TranscriptProblem[] = [];
  let before: Parts | undefined;
  for (const [index, body] of bodies.entries()) {
    const path = `requests[${index}]`;
    const now = partsOf(body, form, path);
    if (!continuesEarlier(body)) {
      if (before !== undefined) problems.push(...broken(before, now, form, path));
      before = now;
    } else before = undefined;
  }
  return problems;
}

/** Whether a body has only what is new, because the vendor stores the rest. */
function continuesEarlier({ previous_response_id: earlier, thread }: Body): boolean {
  return (earlier !== undefined && earlier !== null) || (isObject(thread) && thread["type"] === "continue");
}

interface Parts {
  readonly model: unknown;
  /** The fields before the messages as comparable texts. */
  readonly head: readonly string[];
  readonly messages: readonly Body[];
  /** The messages as comparable texts without signed reasoning, which may be omitted. */
  readonly texts: readonly string[];
}

function partsOf(body: Body, form: Form, path: string): Parts {
  const given = isObject(body) ? body[form.messages] : undefined;
  // A single text is the whole input of a Responses request.
  const list = typeof given === "string" ? [{ role: "user", content: given }] : given;
  if (!Array.isArray(list) || !list.every(isObject))
    throw new LoopletError("config_wrong_type", `${path}.${form.messages}`, "needs an array of messages");
  const messages = list as readonly Body[];
  return {
    model: body["model"],
    head: form.head.map((field) => textOf(body[field], field)),
    messages,
    texts: messages.map((message) => textOf(withoutReasoning(message, form))),
  };
}

function* broken(before: Parts, now: Parts, form: Form, path: string): Generator<TranscriptProblem> {
  const texts = visible(now.texts);
  const had = visible(before.texts);
  const same = had.findIndex(({ text }, at) => text !== texts[at]?.text);
  const field = form.head.find((_, at) => before.head[at] !== now.head[at]);
  const isOther = before.model !== now.model;
  if (!isOther && field === undefined && same < 0) return;
  const ahead = now.head.slice(0, field === undefined ? undefined : form.head.indexOf(field));
  const shared = isOther ? [] : field !== undefined ? ahead : [...ahead, ...texts.slice(0, same).map(textIn)];
  const all = lengthOf([...now.head, ...texts.map(textIn)]);
  const lost = Math.round((all - lengthOf(shared)) / BYTES_PER_TOKEN);
  const at = texts[same]?.at ?? now.messages.length;
  const place = isOther ? "model" : (field ?? `${form.messages}[${at}]`);
  const what = `is not what the request before had, so about ${lost} tokens are read again instead of from the cache`;
  yield { path: `${path}.${place}`, code: "broken_prefix", message: what };
  // Another model has its own rules for reasoning, and only what follows a difference depends on it.
  if (field === undefined && same < 0) return;
  const from = field === undefined ? at : 0;
  for (const [index, message] of now.messages.entries()) {
    if (index < from) continue;
    const where = `${path}.${form.messages}[${index}]`;
    for (const block of reasoningIn(message, form, where))
      yield {
        path: block,
        code: "stale_reasoning",
        message:
          "was made after another beginning: a model that compares it refuses the request or drops this",
      };
  }
}

/** Messages with content, and their places. */
function visible(texts: readonly string[]): { text: string; at: number }[] {
  return texts.map((text, at) => ({ text, at })).filter(({ text }) => text !== "");
}

const textIn = ({ text }: { text: string }): string => text;

/** The bytes of a token, as the engine estimates. */
const BYTES_PER_TOKEN = 3.5;

function lengthOf(texts: readonly string[]): number {
  const encoder = new TextEncoder();
  return texts.reduce((sum, text) => sum + encoder.encode(text).length, 0);
}

/** The places of signed reasoning in a message or an item. */
function reasoningIn(message: Body, form: Form, path: string): string[] {
  if (form.isReasoning(message)) return [path];
  const { content } = message;
  if (!Array.isArray(content)) return [];
  return content.flatMap((block, at) =>
    isObject(block) && form.isReasoning(block) ? [`${path}.content[${at}]`] : [],
  );
}

/** The message without signed reasoning. Undefined if it contains nothing else. */
function withoutReasoning(message: Body, form: Form): Body | undefined {
  if (form.isReasoning(message)) return undefined;
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const rest = content.filter((block) => !isObject(block) || !form.isReasoning(block));
  return rest.length === 0 && content.length > 0 ? undefined : { ...message, content: rest };
}

/**
 * A value as a text that is equal for equal values: fields sorted by name, without cache markers, and string content
 * as one text block.
 */
function textOf(value: unknown, field = ""): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string" && (field === "content" || field === "system"))
    return textOf([{ type: "text", text: value }]);
  if (Array.isArray(value)) return `[${value.map((one) => textOf(one)).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([name, one]) => name !== "cache_control" && one !== undefined);
  const sorted = fields.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([name, one]) => `${JSON.stringify(name)}:${textOf(one, name)}`).join(",")}}`;
}
