/**
 * The messages between pages and the host of an agent. All are plain JSON, because extension ports transport nothing
 * else. A page has a name, and so does each lifetime of a host. When a page notices another host, it repeats
 * everything that it still waits for. Pages of one channel receive each other's messages, and ignore them.
 */
import { randomUuid } from "../../extras/random-uuid.js";
import { LoopletError, RunError } from "../../core/api/errors.js";
import type {
  LoopletErrorCode,
  Message,
  ModelUsage,
  RunErrorCode,
  RunResult,
  SubagentMemory,
} from "../../core/api/index.js";

/** The object that a page calls a method of: the agent, a chat, or a run, which may belong to a chat. */
export interface Target {
  readonly run?: string;
  readonly chat?: string;
}

/**
 * A page calls a method. It repeats the call with the same number if another host takes its place before the reply.
 */
export interface Call {
  readonly looplet: "call";
  readonly from: string;
  readonly number: number;
  readonly target: Target;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** A page pings its host. */
export interface Ping {
  readonly looplet: "ping";
  readonly from: string;
}

/** A message of a host: to one page, or to all of them. */
export type Told = { readonly looplet: "told"; readonly host: string; readonly to?: string } & (
  | {
      readonly type: "pong";
      /** The host does not know the page. The page must follow its runs again. */
      readonly isNew: boolean;
    }
  | { readonly type: "reply"; readonly number: number; readonly value?: unknown; readonly error?: Thrown }
  | { readonly type: "entry"; readonly follower: number; readonly cursor: string; readonly entry: LogEntry }
  | { readonly type: "chat"; readonly chat: string; readonly state: ChatState }
);

/** What a page receives of a run: an event, or the end. */
export type LogEntry = { readonly event: unknown } | RunEnd;

/** The end of a run. */
export type RunEnd = { readonly result: RunResult } | { readonly thrown: Thrown };

/** The state of a chat when a run starts or ends. */
export interface ChatState {
  readonly messages: readonly Message[];
  readonly subagents: readonly SubagentMemory[];
  readonly usage: ModelUsage | null;
  /** As `chat.isWhole`. Hosts of older versions do not have it. */
  readonly isWhole?: boolean;
  /** The run under way. */
  readonly run: string | null;
}

/** An error on its way to a page. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly field?: string;
  readonly problem?: string;
  readonly result?: RunResult;
}

export function thrown(error: unknown): Thrown {
  const { name, message, code, field, problem, result } = Object(error) as Partial<Thrown>;
  const more = { code, field, problem, result } as Partial<Thrown>;
  return { name: name ?? "Error", message: message ?? String(error), ...more };
}

/** The error again, of its class if it is one of looplet. */
export function errorOf({ name, message, code, field, problem, result }: Thrown): Error {
  if (name === "LoopletError")
    return new LoopletError(code as LoopletErrorCode, field ?? "", problem ?? message);
  if (name === "RunError") return new RunError(code as RunErrorCode, message, result!);
  return Object.assign(new Error(message), { name });
}

/** A name for a page or for a life of a host. */
export function randomName(): string {
  return randomUuid();
}
