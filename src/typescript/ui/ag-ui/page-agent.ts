/** An agent of AG-UI in the page: its requests reach the agent of looplet without HTTP. */
import { LoopletError } from "../../core/api/errors.js";
import { answer } from "./handler.js";
import { Threads, type AgUiAgents, type AgUiThreadOptions } from "./threads.js";

/** The class `HttpAgent` of `@ag-ui/client`, as far as looplet uses it. */
export type HttpAgentClass<A, C> = new (config: C) => A;

export interface AgUiAgentOptions<A, C> extends AgUiThreadOptions {
  /** The class of your `@ag-ui/client`. Required. */
  HttpAgent: HttpAgentClass<A, C>;
  /** Other options of the class, such as `agentId`, `threadId` and `initialMessages`. Default: none. */
  config?: Omit<C, "url" | "fetch" | "headers"> | undefined;
}

/**
 * An AG-UI agent (an `AbstractAgent`) that runs in this page. It is an `HttpAgent` with a `fetch` that calls the
 * looplet agent. `abortRun` aborts the run. `connectAgent` loads the conversation from the agent's store, with the
 * run that is in progress or waits for answers.
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
  const fetchOf =
    (isConnecting: boolean) =>
    async (_url: string, { body, signal }: RequestInit): Promise<Response> =>
      answer(threads, String(body), "", signal, isConnecting);
  const configOf = (isConnecting: boolean): C =>
    ({ ...config, url: "looplet:", fetch: fetchOf(isConnecting) }) as unknown as C;
  const connecting = new HttpAgent(configOf(true)) as unknown as Runs;
  class PageAgent extends (HttpAgent as unknown as new (config: C) => object) {
    // `connectAgent` calls it; that of `HttpAgent` throws (`@ag-ui/client` 1.0.0).
    protected connect(input: unknown): unknown {
      return connecting.run(input);
    }
  }
  return new PageAgent(configOf(false)) as unknown as A;
}

interface Runs {
  run(input: unknown): unknown;
}
