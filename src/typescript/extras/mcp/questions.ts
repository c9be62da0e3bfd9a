/** The questions that servers ask the user during a call: validated, one after another, and limited in number. */
import type { HostAbortSignal } from "../../core/api/platform.js";
import { readUrl } from "../../core/kit/http.js";
import { isObject } from "../../core/kit/check.js";
import { TASKS } from "./eras.js";
import { McpError } from "./errors.js";
import { shown } from "./listing.js";
import type { McpElicitation, McpElicitationAnswer, McpServerIdentity } from "./types.js";
import { wordsOf, type Fields } from "./wire.js";

/** The most questions of a call. */
export const MAX_QUESTIONS = 50;

/** The maximum number of characters of a question: of its text, its form, its page, and its key. */
const MAX_CHARS = 10_000;
const MAX_FORM_CHARS = 64 * 1024;
const MAX_URL_CHARS = 4096;
export const MAX_KEY_CHARS = 1000;

/** The call that the questions belong to. */
interface AskingCall {
  readonly signal: HostAbortSignal;
  /** A text of the server without the secrets of the request. */
  readonly clean: (text: string) => string;
}

/** The questions of one call. */
export class Questions {
  readonly #server: McpServerIdentity;
  readonly #tool: string;
  readonly #call: AskingCall;
  readonly #put: (request: McpElicitation) => PromiseLike<McpElicitationAnswer> | McpElicitationAnswer;
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    server: McpServerIdentity,
    tool: string,
    call: AskingCall,
    put: (request: McpElicitation) => PromiseLike<McpElicitationAnswer> | McpElicitationAnswer,
  ) {
    this.#server = server;
    this.#tool = tool;
    this.#call = call;
    this.#put = put;
  }

  /**
   * Asks the user after the previous questions are answered. `key` distinguishes the questions of a task.
   *
   * @throws McpError `input_rounds`, `rpc`
   */
  ask(params: unknown, key?: string): Promise<McpElicitationAnswer> {
    this.#count += 1;
    if (this.#count > MAX_QUESTIONS)
      throw new McpError(
        "input_rounds",
        `The tool ${shown(this.#tool)} asked more than ${MAX_QUESTIONS} questions.`,
      );
    const { message, ...more } = requestOf(params, this.#server, key);
    const request = { message: this.#call.clean(message), ...more };
    const answer = this.#last.then(() => untilAbort(this.#put(request), this.#call.signal));
    this.#last = answer.catch(() => {});
    return answer;
  }
}

/**
 * A question with only the allowed fields. Fields in which the server describes itself are dropped, so only `server`
 * says who asks.
 *
 * @throws McpError `rpc`
 */
function requestOf(params: unknown, server: McpServerIdentity, key: string | undefined): McpElicitation {
  const { message, mode, requestedSchema, url } = (isObject(params) ? params : {}) as Fields;
  const isPage = mode === "url";
  return {
    message: wordsOf(message ?? "").slice(0, MAX_CHARS),
    ...(isPage ? { mode: "url", url: pageOf(url) } : mode === "form" ? { mode } : {}),
    ...(!isPage && isObject(requestedSchema) ? { requestedSchema: formOf(requestedSchema) } : {}),
    server,
    // A later process must not use the answer for another question with the same text.
    ...(key === undefined ? {} : { _meta: { [`${TASKS}/key`]: key } }),
  };
}

/**
 * The address of a page as a browser reads it: the letters of a host that only look like others are written as they
 * are sent, and a name before the host, which could pass for the host, is refused.
 */
function pageOf(address: unknown): string {
  const read = typeof address === "string" ? readUrl(address) : undefined;
  const isPage =
    read !== undefined &&
    /^https?:\/\//i.test(address as string) &&
    /^https?:$/.test(read.protocol) &&
    read.username + read.password === "" &&
    read.href.length <= MAX_URL_CHARS;
  if (isPage) return read.href;
  throw new McpError(
    "rpc",
    "The MCP server asked the user to visit a page with an address that is not http or https.",
  );
}

function formOf(schema: Fields): Fields {
  // Words of a schema that is nested too deep are empty.
  const { length } = wordsOf(schema);
  if (length > 0 && length <= MAX_FORM_CHARS) return schema;
  throw new McpError(
    "rpc",
    `The MCP server asked a question with a form of more than ${MAX_FORM_CHARS} characters.`,
  );
}

/** An answer, unless the call ends first: your code may wait for a user who has left. */
function untilAbort<T>(answer: PromiseLike<T> | T, signal: HostAbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
    const leave = (): void => signal.removeEventListener("abort", end);
    Promise.resolve(answer).finally(leave).then(resolve, reject);
  });
}
