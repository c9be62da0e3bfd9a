/** What servers ask of the user in the middle of a call: checked, one after the other, and not without end. */
import { isObject } from "../options/check.js";
import { TASKS } from "./eras.js";
import { McpError } from "./errors.js";
import type { McpElicitation, McpElicitationAnswer, McpServerIdentity } from "./types.js";
import { wordsOf, type Fields } from "./wire.js";

/** The most questions of a call. */
export const MAX_QUESTIONS = 50;

/** The most characters of a question's words. */
const MAX_CHARS = 10_000;

/** The questions of one call. */
export class Questions {
  readonly #server: McpServerIdentity;
  readonly #tool: string;
  readonly #put: (request: McpElicitation) => PromiseLike<McpElicitationAnswer> | McpElicitationAnswer;
  #count = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    server: McpServerIdentity,
    tool: string,
    put: (request: McpElicitation) => PromiseLike<McpElicitationAnswer> | McpElicitationAnswer,
  ) {
    this.#server = server;
    this.#tool = tool;
    this.#put = put;
  }

  /**
   * Asks the user when the questions before are answered. `key` tells questions of a task apart.
   *
   * @throws McpError `input_rounds`, `rpc`
   */
  ask(params: unknown, key?: string): Promise<McpElicitationAnswer> {
    this.#count += 1;
    if (this.#count > MAX_QUESTIONS)
      throw new McpError(
        "input_rounds",
        `The tool ${this.#tool} asked more than ${MAX_QUESTIONS} questions.`,
      );
    const request = requestOf(params, this.#server, key);
    const answer = this.#last.then(() => this.#put(request));
    this.#last = answer.catch(() => {});
    return answer;
  }
}

/**
 * A question with the fields alone that it may have. The server's words about itself are none of them, so that nothing but
 * `server` says who asks.
 *
 * @throws McpError `rpc`
 */
function requestOf(params: unknown, server: McpServerIdentity, key: string | undefined): McpElicitation {
  const { message, mode, requestedSchema, url } = (isObject(params) ? params : {}) as Fields;
  const isPage = mode === "url";
  if (isPage && !(typeof url === "string" && /^https?:\/\//i.test(url)))
    throw new McpError(
      "rpc",
      "The MCP server asked for a visit to a page whose address is not one of the web.",
    );
  return {
    message: wordsOf(message ?? "").slice(0, MAX_CHARS),
    ...(isPage ? { mode: "url", url: url as string } : mode === "form" ? { mode } : {}),
    ...(!isPage && isObject(requestedSchema) ? { requestedSchema } : {}),
    server,
    // A process that comes later must not take an answer for that to another question in the same words.
    ...(key === undefined ? {} : { _meta: { [`${TASKS}/key`]: key } }),
  };
}
