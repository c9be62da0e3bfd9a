/**
 * One agent for all tabs of an origin. One tab at a time is the host, which holds a Web Lock. The others see the same
 * runs over a BroadcastChannel. When the host is closed, another tab acquires the lock and resumes the runs. A host
 * that does not answer, because its tab is frozen, loses the lock.
 */
import { LoopletError } from "../../core/api/errors.js";
import type { Agent } from "../../core/api/index.js";
import { checkOptions } from "../../core/kit/check.js";
import { reportUncaught } from "../../core/kit/runs.js";
import { lockManager } from "../../extras/stores/web-locks.js";
import { Connection } from "./connection.js";
import { AgentHost, type HostOptions } from "./host.js";
import type { Messaging } from "./links.js";
import { remoteAgent, type PageFunctionOptions, type RemoteAgent } from "./remote-agent.js";
import type { PageFunctions } from "./pages/functions.js";
import { HOST_TABLE, listenTo } from "./serve.js";

/** The options of `shareAgent`. */
export interface ShareOptions<A extends Agent<any, any> = Agent> extends HostOptions, PageFunctionOptions<A> {
  /** The name that the tabs share: of the channel and of the lock. Default `"looplet"`. */
  name?: string | undefined;
  /**
   * The interval of pings to the host while this page waits for something, in milliseconds. A host that misses three
   * of them is replaced. Default 2,000.
   */
  heartbeatMs?: number | undefined;
}

/** An agent that all tabs share. */
export type SharedAgent<A extends Agent<any, any> = Agent> = RemoteAgent<A> & {
  /** Whether this tab performs the runs. */
  readonly isHost: boolean;
};

/**
 * Shares an agent among the tabs of an origin. Each tab creates the same agent, with a store in the browser that has
 * leases, and uses the returned one. `disconnect` passes the runs to another tab and closes this tab's agent.
 *
 * @example
 * ```ts
 * import { anthropic, createAgent } from "looplet";
 * import { indexedDbStore } from "looplet/stores";
 * import { shareAgent } from "looplet/workers";
 *
 * const model = anthropic("claude-opus-5-5", { baseUrl: "/api/anthropic" });
 * const agent = shareAgent(createAgent({ model, store: indexedDbStore() }), { name: "chats" });
 * ```
 *
 * @throws LoopletError `config_…`, also if the browser has no Web Locks (outside of HTTPS and localhost)
 */
export function shareAgent<A extends Agent<any, any>>(
  agent: A,
  options: ShareOptions<A> = {},
): SharedAgent<A> {
  const {
    name = "looplet",
    heartbeatMs = 2000,
    tools,
    ...hosting
  } = checkOptions(options, "", { ...HOST_TABLE, name: "text", heartbeatMs: "count", tools: "any" });
  const locks = lockManager();
  if (locks === undefined) {
    const problem = "shareAgent needs Web Locks, which browsers have on pages of HTTPS and of localhost";
    throw new LoopletError("config_missing", "navigator.locks", problem);
  }
  const connection = new Connection(new BroadcastChannel(name), heartbeatMs);
  const isGone = new AbortController();
  let host: { readonly stop: () => void } | undefined;
  const stop = (): void => {
    host?.stop();
    host = undefined;
  };
  /** Is the host while this tab holds the lock. */
  const hold = async (options: LockOptions): Promise<void> => {
    try {
      await locks.request(name, options, () => {
        host ??= hostOn(name, agent as unknown as Agent, hosting);
        return new Promise<void>((letGo) => isGone.signal.addEventListener("abort", () => letGo()));
      });
    } catch (error) {
      stop();
      if (isGone.signal.aborted) return;
      // Another tab has stolen the lock, because this one did not answer.
      if (Object(error).name === "AbortError") void hold({ signal: isGone.signal });
      else reportUncaught(error);
    }
  };
  void hold({ signal: isGone.signal });
  connection.onSilence = () => {
    if (host === undefined) void hold({ steal: true });
  };
  const remote = remoteAgent(connection, tools as PageFunctions) as unknown as RemoteAgent<A>;
  const { disconnect } = remote;
  return Object.defineProperty(
    Object.assign(remote, {
      disconnect(): void {
        disconnect();
        stop();
        void agent
          .close({ recoverable: true })
          .catch(reportUncaught)
          .then(() => isGone.abort());
      },
    }),
    "isHost",
    { __proto__: null, get: () => host !== undefined } as PropertyDescriptor,
  ) as SharedAgent<A>;
}

function hostOn(name: string, agent: Agent, options: HostOptions): { readonly stop: () => void } {
  const channel = new BroadcastChannel(name);
  const host = new AgentHost(agent, options, true);
  listenTo(host, channel as Messaging);
  void host.wake();
  channel.postMessage({ looplet: "hello" });
  return {
    stop() {
      host.stop();
      channel.close();
    },
  };
}
