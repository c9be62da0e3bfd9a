/** Serves an agent to pages: from a dedicated, a shared or a service worker, over a port, or from an extension. */
import { LoopletError } from "../../core/api/errors.js";
import type { Agent } from "../../core/api/index.js";
import { checkOptions, isObject } from "../../core/kit/check.js";
import { AgentHost, type HostOptions } from "./host.js";
import { isWindow, type ExtensionPort, type Messaging } from "./links.js";

/** `chrome.runtime` of an extension, as far as looplet uses it. */
export interface ExtensionRuntime {
  readonly onConnect: { addListener(listener: (port: any) => void): void };
}

/** The options of `serveAgent`. */
export interface ServeOptions extends HostOptions {
  /**
   * The other end of the pages' channel: a `MessagePort`, a `BroadcastChannel`, or `chrome.runtime` of an extension.
   * Default: the worker itself. A window is refused, because frames of every origin can post to it.
   */
  on?: Messaging | ExtensionRuntime | undefined;
}

/** An agent that is served. */
export interface ServedAgent {
  /** Resolves when no run is under way: for `waitUntil` of an event that woke the worker. */
  idle(): Promise<void>;
}

export const HOST_TABLE = { store: "any", keepRuns: "count" } as const;

/**
 * Serves an agent to the pages that call `connectAgent`. Call it immediately when the script starts, because the
 * event that woke a service worker is only dispatched to listeners that exist by then. With a `store`, unfinished
 * runs resume.
 *
 * @example
 * ```ts
 * // worker.js, for a page with `connectAgent(new Worker("worker.js", { type: "module" }))`
 * import { anthropic, createAgent } from "looplet";
 * import { serveAgent } from "looplet/workers";
 *
 * serveAgent(createAgent({ model: anthropic("claude-opus-5-5", { baseUrl: "/api/anthropic" }) }));
 * ```
 *
 * @throws LoopletError `config_…`
 */
export function serveAgent(agent: Agent<any, any>, options: ServeOptions = {}): ServedAgent {
  const { on = globalThis as unknown as Messaging, ...host } = checkOptions(options, "", {
    ...HOST_TABLE,
    on: "any",
  });
  if (!isObject(on)) throw new LoopletError("config_wrong_type", "on", NEEDED);
  if (isWindow(on)) {
    const problem =
      "is a window, to which frames of every origin can post; give a MessagePort that is handed to one page, or call serveAgent in a worker";
    throw new LoopletError("config_invalid_value", "on", problem);
  }
  // An origin has one shared worker of a name, and one service worker of a scope.
  const isOnly = isExtension(on) || "clients" in on || "onconnect" in on;
  const served = new AgentHost(agent as Agent, host, isOnly);
  listen(served, on);
  void served.wake();
  return { idle: () => served.idle() };
}

const NEEDED =
  "needs a MessagePort, a BroadcastChannel or chrome.runtime; without it, call serveAgent in a worker";

function listen(host: AgentHost, on: object): void {
  if (isExtension(on)) on.onConnect.addListener((port: ExtensionPort) => listenToPort(host, port));
  else if (!isMessaging(on)) throw new LoopletError("config_wrong_type", "on", NEEDED);
  else if ("clients" in on) on.addEventListener("message", (event) => answer(host, event));
  else if ("onconnect" in on)
    on.addEventListener("connect", (event: { ports: readonly Messaging[] }) =>
      listenTo(host, event.ports[0]!),
    );
  else listenTo(host, on);
}

function isExtension(on: object): on is ExtensionRuntime {
  return isObject((on as Partial<ExtensionRuntime>).onConnect);
}

function isMessaging(on: object): on is Scope {
  return typeof (on as Partial<Messaging>).addEventListener === "function";
}

/** Where messages arrive. The scope of a shared worker gets ports instead. */
interface Scope extends Messaging {
  addEventListener(type: "message" | "connect", listener: (event: any) => void): void;
}

export function listenTo(host: AgentHost, port: Messaging): void {
  port.addEventListener("message", ({ data }: { data: unknown }) => {
    void host.hear(data, (told) => port.postMessage(told));
  });
  port.start?.();
}

interface ServiceWorkerMessage {
  readonly data: unknown;
  readonly source: { postMessage(message: unknown): void } | null;
  waitUntil(work: Promise<unknown>): void;
}

/** The browser keeps the worker alive while an event is being handled, for up to five minutes. */
function answer(host: AgentHost, event: ServiceWorkerMessage): void {
  const heard = host.hear(event.data, (told) => event.source?.postMessage(told));
  event.waitUntil(heard.then(() => host.idle()));
}

function listenToPort(host: AgentHost, port: ExtensionPort): void {
  const pages = new Set<string>();
  port.onMessage.addListener((message: unknown) => {
    const { from } = Object(message) as { from?: string };
    if (from !== undefined) pages.add(from);
    void host.hear(message, (told) => port.postMessage(told));
  });
  port.onDisconnect.addListener(() => {
    for (const page of pages) host.leave(page);
  });
}
