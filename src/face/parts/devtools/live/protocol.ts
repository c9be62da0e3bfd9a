/**
 * The messages between a publisher, which has agents whose runs are recorded, and devtools on the same channel. All
 * of them are JSON, so that a `BroadcastChannel`, a `MessagePort` and a stream of lines carry them alike.
 */
import type { JournalEntry, QuestionAnswer } from "../../../core/api/index.js";
import { isObject } from "../../../core/options/check.js";
import type { LoopInput, LoopProcess } from "../../replay/loop-file.js";

/** The number of the protocol. Messages with another one are dropped. */
export const PROTOCOL = 1;

/** A process of a run without its inputs. */
export type LoopHead = Omit<LoopProcess, "inputs">;

/** An agent from which devtools may let a run go on. */
export interface OfferedAgent {
  readonly name: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly string[];
}

/** A change with which a run goes on. All of them may be absent. */
export interface ForkChanges {
  /** The name of another model of the same vendor. */
  readonly model?: string | undefined;
  readonly system?: string | undefined;
  /** Names of tools that the model does not get. */
  readonly without?: readonly string[] | undefined;
  /** Options of `createAgent` that are JSON, such as `limits`. */
  readonly options?: { readonly [name: string]: unknown } | undefined;
  /** A message that the model gets with its next request. */
  readonly told?: string | undefined;
}

/** The run, and the step of it, that a run was forked from. */
export interface ForkedFrom {
  readonly run: string;
  readonly step: number;
}

/** What a publisher tells. */
export type Told =
  | { readonly type: "source"; readonly name: string; readonly agents: readonly OfferedAgent[] }
  | {
      readonly type: "process";
      readonly run: string;
      /** The index of the process in its run. */
      readonly process: number;
      readonly head: LoopHead;
      readonly inputs: readonly LoopInput[];
      readonly from?: ForkedFrom | undefined;
    }
  | {
      readonly type: "inputs";
      readonly run: string;
      readonly process: number;
      /** The index of the first of these inputs in its process. */
      readonly at: number;
      readonly inputs: readonly LoopInput[];
    }
  | { readonly type: "reply"; readonly request: number; readonly value?: string; readonly problem?: string }
  | { readonly type: "gone" };

/** What devtools ask. A `request` gets a `reply` with its number. */
export type Asked =
  | { readonly type: "hello" }
  | { readonly type: "export"; readonly request: number; readonly run: string }
  | {
      readonly type: "fork";
      readonly request: number;
      readonly agent: string;
      readonly from: ForkedFrom;
      readonly journal: readonly JournalEntry[];
      readonly changes: ForkChanges;
    }
  | {
      readonly type: "answer";
      readonly request: number;
      readonly run: string;
      readonly questionId: number;
      readonly answer: QuestionAnswer;
    }
  | { readonly type: "abort"; readonly request: number; readonly run: string };

/** A message as it stands on the channel. `source` is the publisher's id: the sender's, or the addressee's. */
export type Message<T> = T & { readonly looplet: typeof PROTOCOL; readonly source: string };

/**
 * A way between a publisher and devtools: a `BroadcastChannel`, a `MessagePort`, or an object like one.
 *
 * Contract: `postMessage` hands over a value of JSON, and does not wait.
 */
export interface DevtoolsChannel {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  removeEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  /** A `MessagePort` needs it. */
  start?(): void;
}

/** The message of the other side in an event's data; undefined for any other data. */
export function messageIn<T extends { readonly type: string }>(data: unknown): Message<T> | undefined {
  if (!isObject(data) || data["looplet"] !== PROTOCOL) return undefined;
  const isNamed = typeof data["type"] === "string" && typeof data["source"] === "string";
  return isNamed ? (data as unknown as Message<T>) : undefined;
}
