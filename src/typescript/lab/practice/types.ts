/** The vocabulary of the practice provider: the types that a user of `looplet/practice` writes and reads. */
import type {
  HostAbortSignal,
  HostRequest,
  HostRequestInit,
  HostResponse,
  HostUrl,
} from "../../core/api/platform.js";

/** The wire protocols that the practice provider speaks: all that a server of `looplet`'s models can speak. @beta */
export type Protocol =
  "anthropic-messages" | "openai-chat" | "openai-responses" | "gemini" | "bedrock-converse";

/** A function that can be used wherever `fetch` is expected. @beta */
export interface PracticeFetch {
  (input: string | HostRequest | HostUrl, init?: HostRequestInit): Promise<HostResponse>;
  /** Does nothing. The global `fetch` of Bun has it, and types want it there. */
  preconnect(): void;
}

/**
 * How the bytes of a response body are split into chunks.
 *
 * - `"event"`: one event per chunk.
 * - a number: chunks of that many bytes, at any position (also inside a UTF-8 sequence). At least 1.
 * - `"split"`: seeded random cuts of 1 to 64 bytes.
 *
 * @beta
 */
export type Chunking = "event" | "split" | number;

/**
 * Waits for `delayMs` milliseconds. Contract: resolves after the delay. Rejects with `signal.reason` as soon as
 * `signal` aborts, and then clears its timer.
 *
 * @beta
 */
export type Sleep = (delayMs: number, signal: HostAbortSignal) => Promise<void>;

/** A request as the practice provider received it. @beta */
export interface ReceivedRequest {
  /** The URL exactly as it was given to `fetch`. */
  url: string;
  /** Upper case. */
  method: string;
  /** Names in lower case. Holds the key that the caller sent: do not print it. */
  headers: Record<string, string>;
  /** The body as text. Empty without a body. */
  bodyText: string;
  /** The parsed body; `undefined` when it is not valid JSON. */
  body: any;
  /** The protocol by the path. `undefined` for any other path. */
  protocol: Protocol | undefined;
  /** The model's name, from the body or the path; empty when neither has one. */
  model: string;
  /** True when the body or the path asks for a streamed answer. */
  isStreaming: boolean;
}

/** An HTTP error that the provider answers with on request. @beta */
export interface ReplyFailure {
  /** HTTP status, for instance 429, 500 or 529. */
  status: number;
  /** Default: the vendor's own words for that status. */
  message?: string;
  /** Default: the vendor's own type for that status. */
  type?: string;
  /** OpenAI only. Default: the vendor's own code for that status, or null. */
  code?: string | null;
  /** Value of the `retry-after` header: seconds or an HTTP date. Default: none. */
  retryAfter?: string;
  /** More response headers. */
  headers?: Record<string, string>;
}

/** Faults inside a response whose head was fine. Each field is off by default. @beta */
export interface StreamFaults {
  /** An error event after this many events; `afterEvents` defaults to all but the terminal ones. The stream ends there. */
  error?: { type?: string; message?: string; afterEvents?: number };
  /** The stream fails with a `TypeError` after this many bytes, as when the network drops. */
  dropAfterBytes?: number;
  /** The stream fails in that way after this many events. */
  dropAfterEvents?: number;
  /** After this many events (`true`: all but the terminal ones) nothing more comes until the caller aborts. */
  stall?: boolean | number;
  /** The stream ends cleanly, but without the events that say that the answer is complete. */
  truncate?: boolean;
}

/** Token counts in neutral words; each protocol has its own names and sums. @beta */
export interface ReplyUsage {
  /** Prompt tokens that no cache took part in. Default: the estimate. */
  inputTokens?: number;
  /** All tokens of the answer, reasoning included. Default: the estimate. */
  outputTokens?: number;
  /** Prompt tokens read from a cache. Default: 0. */
  cacheReadTokens?: number;
  /** Prompt tokens written to a cache. Default: 0. */
  cacheWriteTokens?: number;
  /** The part of `outputTokens` that was reasoning. Default: 0. */
  reasoningTokens?: number;
}

/** A text that streams in pieces: a string is cut by the provider, an array gives the exact deltas. @beta */
export type Pieces = string | readonly string[];

/**
 * One block of an answer, in neutral words. `docs/tasks/testing.md` has a table of what each protocol makes of it.
 *
 * @beta
 */
export type ReplyBlock =
  | { type: "text"; text: Pieces }
  /**
   * OpenAI Chat has no such block: there it streams as `reasoning_content`, as compatible servers do. Gemini has the
   * signature on the call that follows, or on an empty text at the end.
   */
  | { type: "thinking"; text: Pieces; signature?: string }
  /** Anthropic, Bedrock, and Responses as a reasoning item without a summary; ignored by OpenAI Chat and Gemini. */
  | { type: "redacted-thinking"; data: string }
  /**
   * `argumentsText` is sent unchanged, also when it is not valid JSON; otherwise `input` is serialised. Default: no
   * arguments. Gemini, and Bedrock without streaming, have an object there, or a string for invalid JSON.
   */
  | { type: "tool-call"; id?: string; name: string; input?: unknown; argumentsText?: Pieces }
  /** OpenAI: the `refusal` field or part. Anthropic, Gemini and Bedrock: a text. */
  | { type: "refusal"; text: Pieces }
  /**
   * What the protocol sends: a content block of Anthropic, sent in `content_block_start`; a `delta` of OpenAI Chat or
   * Bedrock; an item of Responses; a part of Gemini.
   */
  | { type: "raw"; value: Record<string, unknown> };

/**
 * Why an answer ended. `"end"`, `"tool-calls"`, `"length"`, `"stop-sequence"`, `"refusal"` and `"pause"` are
 * translated into the vendor's term. Any other string is sent unchanged.
 *
 * @beta
 */
export type ReplyStopReason =
  "end" | "tool-calls" | "length" | "stop-sequence" | "refusal" | "pause" | (string & {});

/**
 * One answer, written neutrally: it is encoded for the protocol of the request that it answers, streamed or whole.
 * Order of the blocks: `thinking`, `text`, `toolCalls`; any other order is written with `blocks`.
 *
 * @beta
 */
export interface ScriptedTurn extends StreamFaults {
  /** A string is one delta; an array gives the exact deltas. */
  text?: Pieces;
  /** Reasoning, by default signed as `practice` signs where the protocol has signatures. */
  thinking?: { text: Pieces; signature?: string };
  /**
   * `argumentsText` is sent unchanged (also invalid JSON); otherwise `input` is serialised. Missing ids are
   * generated.
   */
  toolCalls?: readonly { id?: string; name: string; input?: unknown; argumentsText?: Pieces }[];
  /** All blocks in their exact order; the three fields above are ignored then. */
  blocks?: readonly ReplyBlock[];
  /** Default: `"tool-calls"` when there are calls, else `"end"`. */
  stopReason?: ReplyStopReason;
  /** The stop sequence that Anthropic reports; the others report none. Default: null. */
  stopSequence?: string;
  /** Missing counts are estimated: four bytes a token. */
  usage?: ReplyUsage;
  /** Default: that of the options. */
  chunks?: Chunking;
  /** Wait before each chunk, in milliseconds. Default: that of the options. */
  delayMs?: number;
  /** HTTP status. 400 and more answers with the vendor's error body, unless `body` is given. Default 200. */
  status?: number;
  /** Response headers, over the vendor's. */
  headers?: Record<string, string>;
  /** The raw response body instead of all of the above: a string unchanged, an object as JSON. */
  body?: string | Uint8Array | Record<string, unknown>;
  /** `fetch` itself rejects: with a `TypeError` of this message, or with this value. */
  reject?: string | Error;
  /** `fetch` itself never answers until the caller aborts. */
  hang?: boolean;
}
