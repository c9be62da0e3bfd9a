/**
 * What a page may send to a remote agent: text and media, and answers to questions. Every host of an agent for
 * untrusted pages reads their prompts, answers and results only here. A field that is not listed here is refused, so
 * a new field reaches no vendor and no permission until this file names it.
 */
import { LoopletError } from "../../core/api/errors.js";
import type { Block, ContentBlock, Message, Prompt, QuestionAnswer } from "../../core/api/index.js";
import { describe, isObject } from "../../core/kit/check.js";
import { richResult } from "../../core/kit/tools.js";
import { isTooDeep, TOO_DEEP } from "../page-json.js";
import { isVendorHost } from "../vendor-hosts.js";

type Fields = { readonly [field: string]: unknown };

/** The fields of each block. `vendor` is not among them: it has fields that go to the vendor as they are. */
const BLOCKS: { readonly [type: string]: readonly string[] } = {
  text: ["type", "text"],
  media: ["type", "mediaType", "data", "url", "name"],
};

/**
 * A prompt, a steer or a follow-up of a page: a text, or blocks of text and media.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function promptFromPage(prompt: unknown, field = "prompt"): Prompt {
  if (typeof prompt === "string") return prompt;
  if (!Array.isArray(prompt)) throw wrong(field, `needs a text or a list of blocks, got ${describe(prompt)}`);
  return prompt.map((block: unknown, at) => blockFromPage(block, `${field}[${at}]`));
}

/** @throws LoopletError `misuse_invalid_argument` */
export function blockFromPage(block: unknown, field: string): ContentBlock {
  const { type, text, mediaType, data, url, name } = own(block);
  const fields = typeof type === "string" && Object.hasOwn(BLOCKS, type) ? BLOCKS[type]! : undefined;
  if (fields === undefined)
    throw wrong(field, "needs a block of type text or media; a page cannot send other types");
  refuseOthers(block as object, fields, field);
  if (type === "text") {
    if (typeof text !== "string") throw wrong(field, 'needs { "type": "text", "text": "…" }');
    return { type: "text", text };
  }
  const isOne = (typeof data === "string") !== (typeof url === "string");
  if (typeof mediaType !== "string" || !isOne || (name != null && typeof name !== "string"))
    throw wrong(field, 'needs { "type": "media", "mediaType": "…" } with "data" or "url"');
  const named = typeof name === "string" ? { name } : {};
  if (typeof data === "string") return { type: "media", mediaType, data, ...named };
  return { type: "media", mediaType, url: addressFromPage(url as string, `${field}.url`), ...named };
}

/**
 * The address of a file that the vendor fetches: one on the web. A vendor's own address (`gs://`, `s3://`, its API)
 * or the id of a file names what other users of the key have stored there.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function addressFromPage(address: string, field: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  if (url?.protocol === "data:" || (isWeb && !isVendorHost(url.hostname))) return address;
  throw wrong(field, "needs an address of the web (https:), or data; pages name no files at the vendor");
}

/**
 * The history that a page sends to an agent without one: messages, calls and results. Provider blocks and provider
 * fields are dropped, because they can refer to what others have stored there, and can act as system instructions.
 *
 * @throws LoopletError `misuse_invalid_argument` for a value that is not a list, is nested too deep, or has an
 * address of a vendor's files or of a bucket
 */
export function historyFromPage<M extends Message = Message>(messages: unknown, field = "messages"): M[] {
  if (!Array.isArray(messages)) throw wrong(field, `needs a list of messages, got ${describe(messages)}`);
  if (isTooDeep(messages)) throw wrong(field, TOO_DEEP);
  return messages.map((message: M, at) =>
    isObject(message)
      ? { ...message, content: plainBlocks(message.content, `${field}[${at}].content`) }
      : message,
  );
}

function plainBlocks(blocks: readonly Block[], field: string): Block[] {
  // The engine reports other errors in a history.
  if (!Array.isArray(blocks)) return blocks as never;
  return (blocks as readonly Block[]).flatMap((block, at): Block[] => {
    if (!isObject(block)) return [block];
    const { vendor: _, ...plain } = block as Block & { readonly vendor?: unknown };
    if (plain.type === "raw") return [];
    if (plain.type === "media" && typeof plain.url === "string")
      addressFromPage(plain.url, `${field}[${at}].url`);
    if (plain.type !== "tool_result") return [plain as Block];
    return [{ ...plain, content: plainBlocks(plain.content, `${field}[${at}].content`) } as Block];
  });
}

/** The allowed fields of each answer, by the field and value that identify its kind. */
const ANSWERS: { readonly [kind: string]: { readonly [value: string]: readonly string[] } } = {
  behavior: { allow: ["updatedInput"], deny: ["message", "interrupt"] },
  outcome: { done: ["output"], run: [], fail: ["message"] },
  action: { accept: ["content"], decline: [], cancel: [] },
};

/**
 * The answer of a page to a question: yes, optionally with another input; no; a form; or the outcome of a call. It
 * changes no rule and no permission mode.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function answerFromPage(answer: unknown, field = "answer"): QuestionAnswer {
  const given = own(answer);
  const kinds = Object.keys(ANSWERS).filter((kind) => Object.hasOwn(given, kind));
  const [kind] = kinds;
  const values = ANSWERS[kind ?? ""] ?? {};
  const value = given[kind ?? ""];
  if (kinds.length !== 1 || typeof value !== "string" || !Object.hasOwn(values, value))
    throw wrong(field, 'needs { "behavior": "allow" | "deny" }, { "action": … } or { "outcome": … }');
  refuseOthers(given, [kind!, ...values[value]!], field);
  const read: { [name: string]: unknown } = { [kind!]: value };
  for (const name of values[value]!) {
    const told = given[name];
    if (told === undefined || told === null) continue;
    if (!isOfType(told, TYPES[name])) throw wrong(`${field}.${name}`, `needs ${TYPES[name]!}`);
    read[name] = told;
  }
  return read as unknown as QuestionAnswer;
}

/** The types of the fields of answers. The `output` of a call may be any value. */
const TYPES: { readonly [name: string]: string } = {
  updatedInput: "an object",
  content: "an object",
  message: "a text",
  interrupt: "true or false",
};

function isOfType(value: unknown, type: string | undefined): boolean {
  if (type === "an object") return isObject(value) && !Array.isArray(value);
  if (type === "a text") return typeof value === "string";
  return type === undefined || typeof value === "boolean";
}

/**
 * The result of a page for a tool. Blocks of text, and media by their data, are blocks for the model. Any other value
 * is JSON for the model, also one that looks like a vendor's block or names an address.
 */
export function resultFromPage(output: unknown): unknown {
  const rich = richResult(output);
  if (rich === undefined) return output;
  const isPlain = rich.content.every(
    (block) =>
      (block.type === "text" && block.vendor === undefined) ||
      (block.type === "media" && block.data !== undefined && block.vendor === undefined),
  );
  if (isPlain) return output;
  return { content: [{ type: "text", text: JSON.stringify(output) }], isError: rich.isError };
}

/** An object's own fields. Empty for other values. */
function own(value: unknown): Fields {
  return isObject(value) && !Array.isArray(value) ? { __proto__: null, ...(value as Fields) } : {};
}

/** @throws LoopletError `misuse_invalid_argument` */
function refuseOthers(value: object, fields: readonly string[], field: string): void {
  for (const [name, one] of Object.entries(value)) {
    const isNothing = one === undefined || one === null || (Array.isArray(one) && one.length === 0);
    if (!isNothing && !fields.includes(name))
      throw wrong(field, `accepts no ${name.slice(0, 64)} from pages; send ${fields.join(", ")}`);
  }
}

function wrong(field: string, problem: string): LoopletError {
  return new LoopletError("misuse_invalid_argument", field, problem);
}
