/**
 * The AI SDK's chunks and messages as far as looplet reads and writes them, so that the public types need no peer:
 * `ui-message-stream/ui-message-chunks` and `ui/ui-messages` of `ai` 5.0.277, 6.0.325 and 7.0.173 (2026-11-26).
 */
import { LoopletError } from "../../core/api/errors.js";
import type { Failure, Usage } from "../../core/api/event.js";
import { describe, isObject } from "../../core/kit/check.js";
import type { HostByteStream } from "../../core/api/platform.js";
import { isTooDeep, isWhole, TOO_DEEP } from "../../extras/page-json.js";

/** A chunk of the UI message stream, version 1. */
export type UiChunk =
  | { type: "start"; messageId?: string; messageMetadata?: unknown }
  | { type: "start-step" | "finish-step" | "reset-step" }
  | ({ type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; id: string } & Marked)
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | { type: "tool-input-start"; toolCallId: string; toolName: string; dynamic?: boolean }
  | { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
  | ({ type: "tool-input-available" } & Called)
  | ({ type: "tool-input-error"; errorText: string } & Called)
  | { type: "tool-approval-request"; toolCallId: string; approvalId: string }
  | { type: "tool-approval-response"; approvalId: string; approved: boolean; reason?: string }
  | { type: "tool-output-available"; toolCallId: string; output: unknown; preliminary?: boolean }
  | { type: "tool-output-error"; toolCallId: string; errorText: string }
  | { type: "tool-output-denied"; toolCallId: string }
  | ({ type: "file"; url: string; mediaType: string } & Marked)
  | { type: `data-${string}`; id?: string; data: unknown; transient?: boolean }
  | { type: "message-metadata"; messageMetadata: unknown }
  | { type: "abort"; reason?: string }
  | { type: "error"; errorText: string }
  | { type: "finish"; finishReason?: UiFinishReason; messageMetadata?: unknown };

export type UiFinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";

/** Provider metadata by provider. looplet's own is under `looplet`. */
export type UiMetadata = { [vendor: string]: { [field: string]: any } };

interface Marked {
  providerMetadata?: UiMetadata;
}

interface Called extends Marked {
  toolCallId: string;
  toolName: string;
  input: unknown;
  dynamic?: boolean;
}

/** A message of `useChat`: a `UIMessage` of the AI SDK. */
export interface UIMessageLike {
  id: string;
  role: "system" | "user" | "assistant";
  metadata?: unknown;
  /** Any array of parts, because each major version of the AI SDK and each app adds types. */
  parts: any[];
}

/** A part of a message, by the fields that looplet reads. */
export interface UiPart {
  type: string;
  id?: string;
  text?: string;
  state?: string;
  providerMetadata?: UiMetadata;
  callProviderMetadata?: UiMetadata;
  resultProviderMetadata?: UiMetadata;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  output?: unknown;
  errorText?: string;
  preliminary?: boolean;
  approval?: { id: string; approved?: boolean; reason?: string };
  mediaType?: string;
  url?: string;
  filename?: string;
  data?: unknown;
}

/** The platform's `ReadableStream`. Its chunks are `any`, so that it fits the types of each version of the AI SDK. */
export type UiStream = HostByteStream;

/** The fields of parts that must be strings if present. */
const TEXTS = ["text", "id", "toolCallId", "toolName", "errorText", "mediaType", "url", "filename", "state"];

/**
 * Checks what a page has sent as the messages of `useChat`.
 *
 * @throws LoopletError `misuse_invalid_argument`
 */
export function checkMessages(messages: unknown): void {
  if (!Array.isArray(messages))
    throw wrong("messages", `needs an array of UI messages, got ${describe(messages)}`);
  if (isTooDeep(messages)) throw wrong("messages", TOO_DEEP);
  for (const [at, message] of (messages as readonly unknown[]).entries()) {
    const { id = "", role, parts } = Object(message) as Partial<UIMessageLike>;
    const field = `messages[${at}]`;
    const isKnown = role === "system" || role === "user" || role === "assistant";
    if (!isKnown || typeof id !== "string" || !Array.isArray(parts))
      throw wrong(field, "needs { id, role, parts }, the form of useChat");
    if (!isWhole(id)) throw wrong(`${field}.id`, "needs whole letters");
    for (const [place, part] of (parts as readonly unknown[]).entries()) {
      const problem = problemOf(part);
      if (problem !== undefined) throw wrong(`${field}.parts[${place}]`, problem);
    }
  }
}

function problemOf(given: unknown): string | undefined {
  const part = Object(given) as UiPart & { readonly [field: string]: unknown };
  if (!isObject(given) || typeof part.type !== "string") return "needs an object with a type";
  const text = TEXTS.find((name) => part[name] != null && typeof part[name] !== "string");
  if (text !== undefined) return `needs a text as its ${text}`;
  const marks = MARKS.find((name) => part[name] != null && !isMarks(part[name]));
  if (marks !== undefined) return `needs an object of objects as its ${marks}`;
  if (part.type === "data-looplet" && !isObject(part.data)) return "needs a block of looplet as its data";
  if (!isCall(part)) return undefined;
  if (part.state !== "input-streaming" && typeof part.toolCallId !== "string")
    return "needs a text as its toolCallId";
  const { approval } = part;
  const isNeeded = part.state === "approval-responded" || approval != null;
  if (!isNeeded) return undefined;
  const { id, reason } = Object(approval) as Partial<NonNullable<UiPart["approval"]>>;
  const isFine = typeof id === "string" && (reason == null || typeof reason === "string");
  return isFine ? undefined : "needs an approval with an id";
}

/** The fields of parts that hold provider metadata. */
const MARKS = ["providerMetadata", "callProviderMetadata", "resultProviderMetadata"];

function isMarks(value: unknown): boolean {
  return isObject(value) && (value["looplet"] === undefined || isObject(value["looplet"]));
}

function wrong(field: string, problem: string): LoopletError {
  return new LoopletError("misuse_invalid_argument", field, problem);
}

/** Whether a part is a tool call, by a tool with a known name or not. */
export function isCall(part: UiPart): boolean {
  return part.type.startsWith("tool-") || part.type === "dynamic-tool";
}

/** The name of the tool that a part calls. */
export function toolNameOf(part: UiPart): string {
  return part.type === "dynamic-tool" ? (part.toolName ?? "") : part.type.slice("tool-".length);
}

/** What looplet has written into the vendors' data of a part. */
export function notesOf(part: UiPart): { [field: string]: any } {
  const { providerMetadata, callProviderMetadata, resultProviderMetadata } = part;
  return {
    ...resultProviderMetadata?.["looplet"],
    ...callProviderMetadata?.["looplet"],
    ...providerMetadata?.["looplet"],
  };
}

/** The options of `uiStream`. */
export interface UiStreamOptions {
  /**
   * The oldest major version of `ai` that reads the stream. 5 has no approvals: a question about a call is a
   * `data-question` part. 6 adds approval chunks. 7 adds `reset-step` and `tool-approval-response`. An HTTP reader
   * ends the stream at an unknown chunk. Default 6: only an approval writes a chunk that 5 does not know.
   */
  version?: 5 | 6 | 7 | undefined;
  /** The id of the message. Default: the id of the run. With events only, the reader chooses an id. */
  messageId?: string | undefined;
  /**
   * Whether the blocks of an attempt are held back until it is over. Then a failed attempt leaves nothing in `ai` 5
   * and 6, but text does not stream. Default false: void parts have `{ looplet: { void: true } }` in their
   * `providerMetadata`, and `fromUIMessages` omits them.
   */
  holdAttempts?: boolean | undefined;
  /**
   * Whether the stream stays open while the run waits for an approval or a client tool. Use it for a page that sends
   * answers in another way, not for `useChat`. Default false.
   */
  staysOpen?: boolean | undefined;
  /**
   * Contract: returns metadata to merge into the message's metadata, or `undefined`. Called after each model call
   * with the usage of the run so far. Default: `{ usage, costUsd }`.
   */
  metadata?: ((usage: Usage) => unknown) | undefined;
  /** Contract: returns the error text for the reader. Default: `failure.message`, which contains no key. */
  onError?: ((failure: Failure) => string) | undefined;
}
