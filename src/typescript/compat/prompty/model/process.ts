/** The answer of a provider into a text, the calls that it asks for, or the values of `outputs`. */
import type { Block } from "../../../core/api/index.js";
import { isMap } from "../file/frontmatter.js";
import { isAnswer, type Answer } from "./answer.js";
import type { Prompty, ToolCall } from "../types.js";

/** The key under which a structured result has its original JSON. */
export const StructuredResultSymbol: unique symbol = Symbol("StructuredResult");

/** The values of `outputs`. `result[StructuredResultSymbol]` is their JSON. */
export type StructuredResult = { [name: string]: unknown } & { readonly [StructuredResultSymbol]: string };

export type Processed = string | ToolCall[] | StructuredResult;

/** The text, the calls and the outputs of an answer, of whichever form. */
export function processResponse({ outputs }: Pick<Prompty, "outputs">, response: unknown): Processed {
  const { text, calls } = read(response);
  if (calls.length > 0) return calls;
  return outputs.length === 0 ? text : (structured(text) ?? text);
}

/** The text of an answer, also of one with calls. `null` without text. */
export function extractTextContent(response: unknown): string | null {
  return read(response).text || null;
}

/** The answer with another text. Its calls and all other parts are unchanged. */
export function withText(response: unknown, text: string): unknown {
  if (isAnswer(response)) {
    const content = replaced<Block>(response.message.content, isSaid, { type: "text", text });
    return { ...response, message: { ...response.message, content } };
  }
  if (!isMap(response)) return response;
  const { choices, output, content } = response as any;
  if (Array.isArray(choices)) {
    const [choice, ...others] = choices;
    return {
      ...response,
      choices: [{ ...choice, message: { ...choice?.message, content: text } }, ...others],
    };
  }
  if (Array.isArray(output)) {
    const message = { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
    return { ...response, output: replaced<any>(output, ({ type }) => type === "message", message) };
  }
  if (!Array.isArray(content)) return response;
  return {
    ...response,
    content: replaced<any>(content, ({ type }) => type === "text", { type: "text", text }),
  };
}

function isSaid({ type }: { type: string }): boolean {
  return type === "text" || type === "refusal";
}

/** The list with `by` in the place of the first item that fits; further items that fit are left out. */
function replaced<T extends { type: string }>(items: readonly T[], fits: (item: T) => boolean, by: T): T[] {
  const found = items.findIndex(fits);
  // A model's thinking stays before all else.
  const first = items.findIndex(({ type }) => !/thinking|reasoning/.test(type));
  const at = found >= 0 ? found : first >= 0 ? first : items.length;
  const [before, after] = [items.slice(0, at), items.slice(at)];
  return [...before, by, ...after.filter((item) => !fits(item))];
}

interface Read {
  text: string;
  calls: ToolCall[];
}

function read(response: unknown): Read {
  if (isAnswer(response)) return readAnswer(response);
  if (!isMap(response)) return { text: typeof response === "string" ? response : "", calls: [] };
  if (Array.isArray(response["choices"])) return readChat(response["choices"][0]);
  if (Array.isArray(response["output"])) return readResponses(response["output"]);
  return readAnthropic(Array.isArray(response["content"]) ? response["content"] : []);
}

function readAnswer({ message }: Answer): Read {
  const texts = message.content.map((block) =>
    block.type === "text" || block.type === "refusal" ? block.text : "",
  );
  const calls = message.content.flatMap((block) =>
    block.type === "tool_call"
      ? [{ id: block.id, name: block.name, arguments: block.inputText ?? jsonOf(block.input) }]
      : [],
  );
  return { text: texts.join(""), calls };
}

function readChat(choice: any): Read {
  const { content, refusal, tool_calls: calls } = choice?.message ?? {};
  return {
    text: content ?? refusal ?? "",
    calls: (calls ?? []).map(({ id, function: { name, arguments: text } }: any) => ({
      id,
      name,
      arguments: jsonOf(text),
    })),
  };
}

function readResponses(output: readonly any[]): Read {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return {
    text: parts.map(({ text, refusal }) => text ?? refusal ?? "").join(""),
    calls: output.flatMap(({ type, call_id: id, name, arguments: text }) =>
      type === "function_call" ? [{ id, name, arguments: jsonOf(text) }] : [],
    ),
  };
}

function readAnthropic(content: readonly any[]): Read {
  return {
    text: content.map(({ type, text }) => (type === "text" ? text : "")).join(""),
    calls: content.flatMap(({ type, id, name, input }) =>
      type === "tool_use" ? [{ id, name, arguments: jsonOf(input) }] : [],
    ),
  };
}

function jsonOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? {});
}

/** The JSON of an answer as an object that carries it; `undefined` for a text that is not JSON of an object. */
function structured(text: string): StructuredResult | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    return Object.defineProperty(value, StructuredResultSymbol, {
      __proto__: null,
      value: text,
    } as PropertyDescriptor) as StructuredResult;
  } catch {
    return undefined;
  }
}

/**
 * The JSON of a structured result, read again and checked by `validate`, which returns the value or throws.
 *
 * @throws SyntaxError for a result that is not JSON
 */
export function cast<T = unknown>(
  result: unknown,
  validate: (value: unknown) => T = (value) => value as T,
): T {
  const json = isMap(result) ? (result as StructuredResult)[StructuredResultSymbol] : result;
  return validate(typeof json === "string" ? JSON.parse(json) : result);
}
