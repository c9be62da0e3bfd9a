/**
 * The messages between a publisher, which has agents with recorded runs, and devtools on the same channel. All are
 * JSON, so that a `BroadcastChannel`, a `MessagePort` and a stream of lines can transport them.
 */
import type { JournalEntry, QuestionAnswer } from "../../../core/api/index.js";
import { isObject } from "../../../core/kit/check.js";
import {
  isCount,
  isInput,
  isProcess,
  isTooDeep,
  type LoopInput,
  type LoopProcess,
} from "../../replay/loop-file.js";

/** The number of the protocol. Messages with another one are dropped. */
export const PROTOCOL = 1;

/** A process of a run without its inputs. */
export type LoopHead = Omit<LoopProcess, "inputs">;

/** An agent with which devtools can continue a run. @beta */
export interface OfferedAgent {
  readonly name: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly string[];
}

/** A change with which a run continues. All fields may be absent. @beta */
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

/** A message of a publisher. */
export type Told =
  | { readonly type: "source"; readonly name: string; readonly agents: readonly OfferedAgent[] }
  | {
      readonly type: "process";
      readonly run: string;
      /** The index of the process in its run. */
      readonly process: number;
      readonly head: LoopHead;
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

/** What devtools ask. A `request` gets a `reply` with its number. Every publisher greets a `hello` to the source "". */
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

/** A message on the channel. `source` is the id of the publisher: the sender or the addressee. */
export type Message<T> = T & { readonly looplet: typeof PROTOCOL; readonly source: string };

/**
 * A channel between a publisher and devtools: a `BroadcastChannel`, a `MessagePort`, or a similar object.
 *
 * Contract: `postMessage` sends a JSON value, and does not wait.
 *
 * @beta
 */
export interface DevtoolsChannel {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  removeEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  /** A `MessagePort` needs it. */
  start?(): void;
}

/** The message of a publisher in an event's data; undefined for any other data. */
export function toldIn(data: unknown): Message<Told> | undefined {
  return isMessage(data, TOLD) ? (data as unknown as Message<Told>) : undefined;
}

/** The message of devtools in an event's data; undefined for any other data. */
export function askedIn(data: unknown): Message<Asked> | undefined {
  return isMessage(data, ASKED) ? (data as unknown as Message<Asked>) : undefined;
}

type Fields = { readonly [name: string]: unknown };
type Checks<T extends { readonly type: string }> = {
  readonly [type in T["type"]]: (fields: Fields) => boolean;
};

/** Whoever can reach a channel can write anything on it, so each field is looked at before it is used. */
const TOLD: Checks<Told> = {
  source: ({ name, agents }) => isText(name) && isList(agents, isOffered),
  process: ({ run, process, head, from }) =>
    isText(run) &&
    isCount(process) &&
    isObject(head) &&
    isProcess({ ...head, inputs: [] }) &&
    isMissingOr(from, isOrigin),
  inputs: ({ run, process, at, inputs }) =>
    isText(run) && isCount(process) && isCount(at) && isList(inputs, isInput),
  reply: ({ request, value, problem }) =>
    isNumber(request) && isMissingOr(value, isText) && isMissingOr(problem, isText),
  gone: () => true,
};

const ASKED: Checks<Asked> = {
  hello: () => true,
  export: ({ request, run }) => isNumber(request) && isText(run),
  fork: ({ request, agent, from, journal, changes }) =>
    isNumber(request) && isText(agent) && isOrigin(from) && isList(journal, isEntry) && isChanges(changes),
  // `run.answer` looks at the answer itself.
  answer: ({ request, run, questionId }) => isNumber(request) && isText(run) && isNumber(questionId),
  abort: ({ request, run }) => isNumber(request) && isText(run),
};

function isMessage(data: unknown, checks: Checks<Told> | Checks<Asked>): boolean {
  if (!isObject(data) || data["looplet"] !== PROTOCOL || !isText(data["source"])) return false;
  const { type } = data;
  const isKnown = isText(type) && Object.hasOwn(checks, type) && !isTooDeep(data);
  return isKnown && (checks as Checks<{ type: string }>)[type]!(data);
}

function isOffered(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { name, model, system, tools } = value;
  return isText(name) && isText(model) && isText(system) && isList(tools, isText);
}

function isChanges(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { model, system, without, options, told } = value;
  return (
    [model, system, told].every((text) => isMissingOr(text, isText)) &&
    isMissingOr(without, (names) => isList(names, isText)) &&
    isMissingOr(options, isObject)
  );
}

function isOrigin(value: unknown): boolean {
  return isObject(value) && isText(value["run"]) && isCount(value["step"]);
}

function isEntry(value: unknown): boolean {
  return isObject(value) && isNumber(value["seq"]) && isText(value["json"]);
}

function isList(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
}

function isMissingOr(value: unknown, isRight: (value: unknown) => boolean): boolean {
  return value === undefined || isRight(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isNumber(value: unknown): boolean {
  return Number.isSafeInteger(value);
}
