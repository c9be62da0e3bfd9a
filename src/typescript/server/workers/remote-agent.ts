/** An agent as a page sees it that is in a worker or in another page: each method is a message to its host. */
import type {
  Agent,
  Chat,
  SavedChat,
  PendingOptions,
  PendingRun,
  Prompt,
  ResumeOptions,
  RunBound,
  RunListeners,
  RunOptions,
  RunResult,
} from "../../core/api/index.js";
import { LoopletError } from "../../core/api/errors.js";
import type { HostAbortSignal, HostUrl } from "../../core/api/platform.js";
import { Conversation, isOnlySummary, promptOf, type OnlySummary } from "../../core/kit/runs.js";
import { checkOptions, checkValue, isObject, noAgentMethods } from "../../core/kit/check.js";
import { PENDING_TABLE, RESUME_TABLE, RUN_TABLE } from "../../core/kit/tables.js";
import { Connection, type AgentLink } from "./connection.js";
import { Address, type AddressFetch, type AddressHeaders } from "./http/address.js";
import { HttpConnection } from "./http/http-connection.js";
import { isWindow, type AgentEndpoint } from "./links.js";
import { checkFunctions, PageCalls, type PageFunctions } from "./pages/functions.js";
import { randomName, type ChatState } from "./protocol.js";
import { ChatOfHost } from "./remote-chat.js";
import { withAsked, type KnownHistory } from "./received-run.js";
import { RemoteRun, type RunTarget } from "./remote-run.js";

/** What a page gives to the agent. */
export interface PageFunctionOptions<A extends Agent<any, any> = Agent> {
  /**
   * Functions of this page for the agent's page tools, by tool name. They run the calls of all runs and chats that
   * the page follows, even if another page started them. Default: none.
   */
  tools?: PageFunctions<A> | undefined;
}

/** The options of `connectAgent`. */
export interface ConnectOptions<A extends Agent<any, any> = Agent> extends PageFunctionOptions<A> {
  /**
   * The interval of pings to the host while this page waits for something, in milliseconds. Browsers stop a service
   * worker after 30 seconds without messages. Default 5,000.
   */
  heartbeatMs?: number | undefined;
}

/** The options of `connectAgent` with the address of a server. */
export interface AddressOptions<A extends Agent<any, any> = Agent> extends PageFunctionOptions<A> {
  /** Headers of each request, such as `authorization`, or a function that returns them. Default: none. */
  headers?: AddressHeaders | undefined;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: AddressFetch | undefined;
  /**
   * The time without data after which a stream counts as broken, in milliseconds. The server sends a keep-alive every
   * 15 seconds. Default 45,000.
   */
  heartbeatMs?: number | undefined;
  /**
   * The number of attempts of a call while the server is unreachable or busy, before the call fails: a positive
   * integer, or `null` to retry until the server is back or `disconnect` is called. The delays between attempts grow
   * from 0.5 to 10 seconds. Event streams always reconnect. Calls of a current run, such as an answer, are sent until
   * the server accepts them. Default 8, which is up to 36 seconds.
   */
  maxAttempts?: number | null | undefined;
}

/** The options of `attach`. */
export interface AttachOptions extends RunListeners<any, any> {
  /** The `cursor` after which events are sent. Default: all events. */
  after?: string | undefined;
  /** The chat of the run. A server needs it for a run that this page has not seen. Default: a run without a chat. */
  chat?: string | undefined;
  /** A signal that aborts the run. */
  signal?: HostAbortSignal | undefined;
}

/** What a run of a remote agent has in addition. */
export interface Followed {
  /** An opaque cursor after the last event that this page received. Undefined before the first. */
  readonly cursor: string | undefined;
}

/** A chat of a store that several pages may have opened. */
export type RemoteChat<C extends Chat<any, any> = Chat> = Omit<C, "run" | "compact" | "current"> & {
  readonly current: (ReturnType<C["run"]> & Followed) | undefined;
  run(...args: Parameters<C["run"]>): ReturnType<C["run"]> & Followed;
  compact(...args: Parameters<C["compact"]>): ReturnType<C["run"]> & Followed;
  /** Resolves with the ids for which `hasTaken` is true at the host. */
  taken(requestIds: readonly string[]): Promise<string[]>;
  /**
   * Calls `listener` with the current run and with each later one, no matter which page started it. Returns a
   * function that unsubscribes.
   */
  onRun(listener: (run: ReturnType<C["run"]> & Followed) => void): () => void;
  /**
   * Calls `listener` when the chat's messages have changed without a run: another page rewound or deleted the chat.
   * Returns a function that unsubscribes.
   */
  onReset(listener: () => void): () => void;
};

/** What every remote agent has in addition. */
interface Remote<R> {
  /**
   * Follows the run with this id: in progress, cut off, or ended. The page gets exactly the events after `after`. If
   * the host has deleted some of these events, the page gets a `snapshot` instead.
   */
  attach(id: string, options?: AttachOptions): R & Followed;
  /** Disconnects from the host. Its runs continue there. This page's runs end here with an error. */
  disconnect(): void;
  /**
   * Calls `listener` with true when the server of an address becomes unreachable and is retried, and with false when
   * it is reached again. Returns a function that unsubscribes. It is never called for a worker.
   */
  onReconnecting(listener: (isReconnecting: boolean) => void): () => void;
}

/**
 * A remote agent. It has the methods of the agent `A`, and can be used in place of one. The differences:
 *
 * - `outcome` and `result` come from the host. If it cannot be reached, or does not end an aborted run within a
 *   second, the run ends here with everything that has arrived. The host gets the abort when it is reached again.
 * - `run.answer`, `run.addBudget` and `withdraw` return what the page knows. The events report the actual effect.
 * - The id of a queued message is 0 until the host has accepted it.
 * - The result of a run of a chat has the chat's messages at the time it arrives, which may include later runs.
 * - `resume` takes the id of a run and no entries, because a page cannot declare what was allowed in a run.
 * - `setModel`, `export` and a chat's `hasTaken` throw (use `taken`). `resumePending` takes no `filter` and no
 *   `stopped`, and `pending` no `filter`: they belong to the host.
 */
export type RemoteAgent<A extends Agent<any, any> = Agent> = Omit<A, "run" | "resume" | "openChat"> &
  Remote<ReturnType<A["run"]>> & {
    run(...args: Parameters<A["run"]>): ReturnType<A["run"]> & Followed;
    resume(run: string, options?: Parameters<A["resume"]>[1]): ReturnType<A["run"]> & Followed;
    openChat(...args: Parameters<A["openChat"]>): Promise<RemoteChat<Awaited<ReturnType<A["openChat"]>>>>;
  };

/**
 * Connects to an agent that a worker or another page serves with `serveAgent`. Listeners and signals stay in this
 * page. Options and answers are sent as JSON.
 *
 * @example
 * ```ts
 * import { connectAgent } from "looplet/workers";
 *
 * const agent = connectAgent("/api/agent");
 * const chat = await agent.openChat("order-7");
 * const { text } = await chat.run("Where is my order?").result;
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function connectAgent<A extends Agent<any, any> = Agent>(
  endpoint: AgentEndpoint,
  options?: ConnectOptions<A>,
): RemoteAgent<A>;
/**
 * Connects to the agent at an address: that of `handler` of `looplet/server`, or of a Worker that routes `…/<name>/…`
 * to the `AgentObject` of this name. A chat is the session with its id, and a run without a chat is its own session.
 * The differences from an agent in a worker:
 *
 * - `pending`, `bound` and `close` belong to the server. So do histories: `agent.chat()` has one run.
 * - `resumePending` resumes the runs that this tab followed when its page was closed, each after its last event.
 *
 * @throws LoopletError `config_…`
 */
export function connectAgent<A extends Agent<any, any> = Agent>(
  address: string | HostUrl,
  options?: AddressOptions<A>,
): RemoteAgent<A>;
export function connectAgent(
  endpoint: AgentEndpoint | string | HostUrl,
  options: ConnectOptions | AddressOptions = {},
): RemoteAgent {
  if (typeof endpoint === "string" || endpoint instanceof URL) return agentAt(String(endpoint), options);
  const { heartbeatMs = 5000, tools } = checkOptions(options, "", { heartbeatMs: "count", tools: "any" });
  return remoteAgent(new Connection(checkedEndpoint(endpoint as AgentEndpoint), heartbeatMs), tools);
}

function agentAt(url: string, options: AddressOptions): RemoteAgent {
  const table = {
    headers: "any",
    fetch: "function",
    heartbeatMs: "count",
    maxAttempts: "count64?",
    tools: "any",
  } as const;
  const { headers, fetch, heartbeatMs = 45_000, maxAttempts = 8, tools } = checkOptions(options, "", table);
  if (/[?#]/.test(url))
    throw new LoopletError("config_invalid_value", "address", "needs to end with its path");
  if (headers !== undefined && typeof headers !== "function") checkValue(headers, "headers", "object");
  const address = new Address(url, headers, fetch);
  return remoteAgent(new HttpConnection(address, heartbeatMs, maxAttempts ?? Infinity), tools);
}

function checkedEndpoint(endpoint: AgentEndpoint): AgentEndpoint {
  const isNone = isObject(endpoint) && isWindow(endpoint);
  const isOne = typeof endpoint === "function" || (isObject(endpoint) && !isNone && isEndpoint(endpoint));
  if (isOne) return endpoint;
  const problem = isNone
    ? "is a window, to which frames of every origin can post; connect to a MessagePort that the other page hands over"
    : "needs the address of a server, a Worker, a SharedWorker, navigator.serviceWorker, a MessagePort, a BroadcastChannel, or a function that returns a port";
  throw new LoopletError("config_wrong_type", "endpoint", problem);
}

function isEndpoint(value: object): boolean {
  return "addEventListener" in value || "port" in value;
}

/**
 * The agent at the other end of a connection. `tools` are functions of this page.
 *
 * @throws LoopletError
 */
export function remoteAgent(connection: AgentLink, tools?: PageFunctions): RemoteAgent {
  if (tools !== undefined) checkFunctions(tools);
  const calls = tools && new PageCalls(connection, tools);
  const heard = (target: RunTarget, { onEvent, ...options }: RunOptions): RunOptions => ({
    ...options,
    onEvent(event) {
      calls!.hear(target, event);
      onEvent?.(event);
    },
  });
  const follow = (
    target: RunTarget,
    options: RunOptions,
    place: { readonly after?: string | undefined; readonly isFromHere?: boolean } = {},
    onEnd?: (result: RunResult | undefined) => void,
    history?: Partial<KnownHistory>,
  ): RemoteRun => {
    const own = calls === undefined ? options : heard(target, options);
    const run = new RemoteRun(connection, target, own, place.after, place.isFromHere, onEnd, history);
    connection.follow(run);
    return run;
  };
  /** Makes the host start a run, and follows it. */
  const begin = (
    id: string,
    options: RunOptions,
    method: string,
    args: readonly unknown[],
    onEnd?: (result: RunResult | undefined) => void,
    history?: Partial<KnownHistory>,
  ): RemoteRun => {
    const begun = connection.call({}, method, ...args);
    const run = follow({ run: id }, options, {}, onEnd, history);
    begun.catch((error: unknown) => run.fail(error));
    return run;
  };
  const start = (
    prompt: Prompt | OnlySummary,
    options: RunOptions,
    onEnd?: (result: RunResult | undefined) => void,
  ): RemoteRun => {
    const { id = newId(), messages, subagents, agent, chatUsage, inputs } = options;
    if (isOnlySummary(prompt)) {
      const history = defined({ messages, subagents, usage: chatUsage });
      return begin(
        id,
        options,
        "compact",
        [history, { id, instructions: prompt.onlySummary || undefined }],
        onEnd,
      );
    }
    const sent = defined({ id, messages, subagents, agent, chatUsage, inputs });
    const asked = promptOf(prompt, options);
    const known = { ...defined({ subagents, chatUsage }), messages: withAsked(messages, asked) };
    return begin(id, options, "run", [asked, sent], onEnd, known as Partial<KnownHistory>);
  };
  const remote: RemoteAgent = {
    run: (prompt, given = {}) => start(prompt, checkOptions(given, "", RUN_TABLE)),
    resume(run: string, given: ResumeOptions = {}) {
      checkValue(run, "run", "id");
      const { takeOver, ...options } = checkOptions(given, "", RESUME_TABLE);
      const id = options.id ?? run;
      return begin(id, options, "resume", [run, defined({ id, takeOver })]);
    },
    async pending(given = {}) {
      checkOptions(given, "", {});
      return (await connection.call({}, "pending")) as PendingRun[];
    },
    async resumePending(given: PendingOptions = {}) {
      const { filter: _, stopped: __, ...table } = PENDING_TABLE;
      const options = checkOptions(given, "", table);
      const runs = (await connection.call({}, "resumePending")) as RunTarget[];
      return runs.map((target) => follow(target, options));
    },
    close: (options = {}) => connection.call({}, "close", options),
    bound: (prompt, options = {}): Promise<RunBound> => connection.call({}, "bound", prompt, options),
    chat(history = {}): Chat {
      const onEnd = (end: (result: RunResult) => void, options: RunOptions) => {
        let isTold = false;
        const empty = { messages: [], subagents: [], chatUsage: null, ...options, iterations: 0 };
        return (result: RunResult | undefined): void => {
          // A run that this page stopped may end a second time at its host, after later runs of the chat.
          if (!isTold) end(result ?? (empty as unknown as RunResult));
          isTold = true;
        };
      };
      return new Conversation(
        (prompt, options, end) => start(prompt, options, onEnd(end, options)),
        history,
        () => {},
      );
    },
    async openChat(id, given = {}) {
      const { takeOver, ...options } = checkOptions(given, "", RESUME_TABLE);
      const state = (await connection.call({}, "openChat", id, defined({ takeOver }))) as ChatState;
      return new ChatOfHost(
        connection,
        id,
        state,
        options,
        (run, options, isFromHere, onEnd, history) =>
          follow({ run, chat: id }, options, { isFromHere }, onEnd, history),
        newId,
      );
    },
    readChat: (id, { transcripts } = {}): Promise<SavedChat | undefined> =>
      connection.call({}, "readChat", id, { transcripts }),
    attach(id, given = {}) {
      const table = { ...RESUME_TABLE, after: "text", chat: "text" } as const;
      const { after, chat, ...options } = checkOptions(given, "", table);
      return follow({ run: id, ...(chat && { chat }) }, options, { after });
    },
    disconnect() {
      calls?.close();
      connection.close();
    },
    onReconnecting: (listener) => connection.onReconnecting?.(listener) ?? ((): void => {}),
  };
  return Object.setPrototypeOf(remote, noAgentMethods()) as RemoteAgent;
}

function newId(): string {
  return `run_${randomName()}`;
}

/** The options that are set: JSON has no `undefined`. */
function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
