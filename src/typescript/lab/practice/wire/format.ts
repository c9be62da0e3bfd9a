/**
 * A wire format as a row of plain functions. Each other file in this folder is a row, with its request reader and its
 * answer writer; `../exchange.ts` lists the rows. A writer creates plain data, and the row's `frame` encodes it.
 */
import type { Conversation } from "../conversation.js";
import type { ReplyFailure, ReceivedRequest } from "../types.js";
import type { Reply } from "./reply.js";

/** A protocol of a vendor, with the vendor's own words for its errors. */
export interface WireFormat {
  /**
   * Matches the end of the paths of its requests. Its groups `model` and `method` are read from the path, if present.
   */
  path: RegExp;
  /** Prefix and length of the ids that the vendor mints. */
  ids: { request: Minted; reply: Minted; call: Minted };
  /** Words of the longest delta. */
  deltaWords: number;
  /** How the vendor streams a call without arguments. */
  emptyArguments: "" | "{}";
  /** The reason why the vendor refuses the request, or `undefined`. */
  check(request: ReceivedRequest, strictness: Strictness): Refusal | undefined;
  /** Reads a body that `check` has accepted. */
  read(body: any): Conversation;
  /** The whole stream as its events; those of `ending` say that the answer is complete. */
  stream(reply: Reply, body: any): { events: WireEvent[]; ending: WireEvent[] };
  /** The body of a response that is not streamed. */
  whole(reply: Reply, body: any): object;
  /** The body of a response that is an error. */
  error(problem: Problem, requestId: string): object;
  /** The data of an error inside a stream, if they are not those of `error`. */
  streamError?(problem: Problem): object;
  /** Blanks that indent the body of an error. */
  errorIndent: number;
  /** An event as it is sent; `index` counts the events of the stream. */
  frame(data: object, index: number): string | Uint8Array;
  /** The content type of a stream. */
  streamType: string;
  /** Response headers in addition to the content type. `errorType` is that of an error response. */
  headers(requestId: string, status: number, errorType: string): Record<string, string>;
  /** Type, message and code for each status. 400 and 500 are the fallbacks for missing ones. */
  errors: { [status: number]: readonly [type: string, message: string, code?: string] };
  /** Status of an error inside a stream that has no text. */
  streamErrorStatus: number;
  /** The words for a request without a key, and with a wrong one. */
  noKey: Refusal;
  wrongKey: Refusal;
  unknownModel(model: string): Refusal;
}

type Minted = readonly [prefix: string, length: number];

/** An event of a stream: the data that `frame` frames, or a text that is framed already. */
export type WireEvent = string | object;

/** How strict a check is. */
export interface Strictness {
  /** Refuse two messages of one role in a row (Anthropic's older rule; today it joins them). Default true. */
  areRolesAlternating?: boolean;
  /** Whether to refuse thinking blocks with a signature that the practice provider did not make. */
  areSignaturesOurs: boolean;
}

/** A request that is refused before any answer. `param` exists in OpenAI's bodies only. */
export interface Refusal extends ReplyFailure {
  param?: string | undefined;
}

/** The words of an error, complete. */
export interface Problem {
  status: number;
  type: string;
  message: string;
  param: string | null;
  code: string | null;
}

/** Fills what `refusal` leaves open with the vendor's own words for its status. */
export function problemOf({ errors }: WireFormat, refusal: Refusal): Problem {
  const { status, param = null } = refusal;
  const words = errors[status] ?? errors[status >= 500 ? 500 : 400];
  const [type = "api_error", message = "Error", code = null] = words ?? [];
  return {
    status,
    type: refusal.type ?? type,
    message: refusal.message ?? message,
    param,
    code: refusal.code === undefined ? code : refusal.code,
  };
}

export const EVENT_STREAM = "text/event-stream; charset=utf-8";

/** The data line of a server-sent event, followed by an empty line. */
export const sse = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

/** A server-sent event that is named by the type of its data. */
export const typedSse = (data: { type?: string }) => `event: ${data.type}\n${sse(data)}`;
