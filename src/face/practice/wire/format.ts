/**
 * A wire format as a row of plain functions. `anthropic.ts` and `openai-chat.ts` are the rows; another protocol is one
 * file more, with its request reader and its reply writer, and one entry in `../exchange.ts`.
 */
import type { Conversation } from "../conversation.js";
import type { Failure, ReceivedRequest } from "../types.js";
import type { Reply } from "./reply.js";

/** A protocol of a vendor, with the vendor's own words for its errors. */
export interface WireFormat {
  /** Fits the end of the paths of its requests. */
  path: RegExp;
  /** Prefix and length of the ids that the vendor mints. */
  ids: { request: Minted; reply: Minted; call: Minted };
  /** Words of the longest delta. */
  deltaWords: number;
  /** How the vendor streams a call without arguments. */
  emptyArguments: "" | "{}";
  /** The reason why the vendor refuses the request, or `undefined`. */
  check(request: ReceivedRequest, strictness: Strictness): Refusal | undefined;
  /** The key that the request brings. */
  keyOf(headers: Record<string, string>): string | undefined;
  /** Reads a body that `check` has accepted. */
  read(body: any): Conversation;
  /** The whole stream as its events; those of `ending` say that the answer is complete. */
  stream(reply: Reply, body: any): { events: string[]; ending: string[] };
  /** The body of a response that is not streamed. */
  whole(reply: Reply): object;
  /** The body of a response that is an error, and the data of an error inside a stream. */
  error(problem: Problem, requestId: string): object;
  /** Blanks that indent the body of an error. */
  errorIndent: number;
  /** `data` as a server-sent event. */
  frame(data: object): string;
  /** Response headers beside the content type. */
  headers(requestId: string, status: number): Record<string, string>;
  /** Type, message and code for each status; 400 and 500 stand in for those that are missing. */
  errors: { [status: number]: readonly [type: string, message: string, code?: string] };
  /** Status of the error inside a stream whose words are left open. */
  streamErrorStatus: number;
  /** The words for a request without a key. */
  noKey: Refusal;
  unknownModel(model: string): Refusal;
}

type Minted = readonly [prefix: string, length: number];

/** How strict a check is. */
export interface Strictness {
  /** Refuse two messages of one role in a row (Anthropic's older rule; today it joins them). Default true. */
  areRolesAlternating?: boolean;
  /** Refuse thinking blocks whose signature the practice provider did not make. */
  areSignaturesOurs: boolean;
}

/** A request that is refused before any answer. `param` exists in OpenAI's bodies only. */
export interface Refusal extends Failure {
  param?: string | undefined;
}

/** The words of an error, complete. */
export interface Problem {
  type: string;
  message: string;
  param: string | null;
  code: string | null;
}

/** Fills what `refusal` leaves open with the vendor's own words for its status. */
export function problemOf({ errors }: WireFormat, refusal: Refusal): Problem {
  const words = errors[refusal.status] ?? errors[refusal.status >= 500 ? 500 : 400];
  const [type = "api_error", message = "Error", code = null] = words ?? [];
  return {
    type: refusal.type ?? type,
    message: refusal.message ?? message,
    param: refusal.param ?? null,
    code: refusal.code === undefined ? code : refusal.code,
  };
}

/** The data line of a server-sent event, with the empty line behind it. */
export const sse = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
