/**
 * A wire format as a row of plain functions. `anthropic.ts` and `openai-chat.ts` are the rows; another protocol is one
 * file more, with its request reader and its reply writer, and one entry in `../exchange.ts`.
 */
import type { Conversation } from "../conversation.js";
import type { Failure, Protocol, ReceivedRequest } from "../types.js";
import type { Reply } from "./reply.js";

/** A protocol of a vendor, with the vendor's own words for what goes wrong. */
export interface WireFormat {
  protocol: Protocol;
  /** Fits the end of the paths of its requests. */
  path: RegExp;
  /** Prefix and length of the ids that the vendor mints. */
  ids: { request: Minted; reply: Minted; call: Minted };
  /** Words of the longest delta. */
  deltaWords: number;
  /** How the vendor streams a call without arguments. */
  emptyArguments: "" | "{}";
  /** The reason why the vendor refuses the request, or `undefined`. */
  check(request: ReceivedRequest, rules: Rules): Rejection | undefined;
  /** The key that the request brings. */
  keyOf(headers: Record<string, string>): string | undefined;
  /** Reads a body that `check` has accepted. */
  read(body: any): Conversation;
  /** The whole stream as its events; those of `ending` say that the answer is complete. */
  stream(reply: Reply, body: any): { events: string[]; ending: string[] };
  /** The body of a response that is not streamed. */
  whole(reply: Reply): object;
  /** An error inside a stream. */
  errorEvent(type: string, message: string, requestId: string): string;
  /** The body of a response that is an error, as JSON text. */
  errorBody(error: Required<Rejection>, requestId: string): string;
  /** Response headers beside the content type. */
  headers(requestId: string, status: number): Record<string, string>;
  /** Type, message and code for each status; 400 and 500 stand in for those that are missing. */
  errors: { [status: number]: readonly [type: string, message: string, code?: string] };
  /** Status of the error inside a stream whose words are left open. */
  streamErrorStatus: number;
  /** The words for a request without a key. */
  noKey: Rejection;
  unknownModel(model: string): Rejection;
}

type Minted = readonly [prefix: string, length: number];

/** How strict a check is. */
export interface Rules {
  /** Refuse two messages of one role in a row (Anthropic's older rule; today it joins them). Default true. */
  areRolesAlternating?: boolean;
  /** Refuse thinking blocks whose signature the practice provider did not make. */
  areSignaturesOurs: boolean;
}

/** A request that is refused before any answer. `param` and `code` exist in OpenAI's bodies only. */
export interface Rejection {
  status: number;
  type: string;
  message: string;
  param?: string | null;
  code?: string | null;
}

/** A rule of a check: whether the request breaks it, and then the vendor's words, `param` and `code`. */
export type Rule = readonly [isBroken: unknown, message: string, param?: string, code?: string];

/** The rejection of the first rule that is broken. */
export function firstBroken(rules: readonly Rule[]): Rejection | undefined {
  const [, message, param, code] = rules.find(([isBroken]) => isBroken) ?? [];
  return message === undefined ? undefined : illegal(message, param, code);
}

/** An illegal request: status 400, `invalid_request_error`. */
export function illegal(message: string, param: string | null = null, code: string | null = null): Rejection {
  return { status: 400, type: "invalid_request_error", message, param, code };
}

/** Fills what `failure` leaves open with the vendor's own words for its status. */
export function rejectionOf({ errors }: WireFormat, failure: Failure): Rejection {
  const words = errors[failure.status] ?? errors[failure.status >= 500 ? 500 : 400];
  const [type = "api_error", message = "Error", code = null] = words ?? [];
  return {
    status: failure.status,
    type: failure.type ?? type,
    message: failure.message ?? message,
    code: failure.code === undefined ? code : failure.code,
  };
}
