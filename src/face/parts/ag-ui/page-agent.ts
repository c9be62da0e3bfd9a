/** An agent of AG-UI in the page: its requests reach the agent of looplet without HTTP. */
import { LoopletError } from "../../core/api/errors.js";
import { answer } from "./handler.js";
import { Threads, type AgUiAgents, type AgUiThreadOptions } from "./threads.js";

/** The class `HttpAgent` of `@ag-ui/client`, as far as looplet uses it. */
export type HttpAgentClass<A, C> = new (config: C) => A;

export interface AgUiAgentOptions<A, C> extends AgUiThreadOptions {
  /** The class of your `@ag-ui/client`. Required. */
  HttpAgent: HttpAgentClass<A, C>;
  /** What the class takes besides, such as `agentId`, `threadId` and `initialMessages`. Default: nothing. */
  config?: Omit<C, "url" | "fetch" | "headers"> | undefined;
}

/**
 * An agent of AG-UI, an `AbstractAgent`, that runs in this page. It is an `HttpAgent` whose `fetch` is the agent of
 * looplet. `abortRun` aborts the run.
 *
 * @throws LoopletError `config_missing`
 */
export function agUiAgent<A, C extends object>(
  agent: AgUiAgents,
  { HttpAgent, config, ...options }: AgUiAgentOptions<A, C>,
): A {
  if (typeof HttpAgent !== "function")
    throw new LoopletError("config_missing", "HttpAgent", "needs the class HttpAgent of @ag-ui/client");
  const threads = new Threads(agent, options);
  const fetch = async (_url: string, { body, signal }: RequestInit): Promise<Response> =>
    answer(threads, String(body), "", signal);
  return new HttpAgent({ ...config, url: "looplet:", fetch } as unknown as C);
}
