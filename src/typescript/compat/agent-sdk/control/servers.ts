/** The servers of a query: those of the options, and others in their place. */
import type { McpClient } from "../../../extras/mcp/index.js";
import { serversOf } from "../agents/definition.js";
import { checkServers, reach, type McpServers, type Reached } from "../mcp.js";
import type { PlainOptions } from "../options/options.js";
import type { McpSetServersResult } from "../types.js";

const NONE: Reached = { statuses: [], tools: [], clients: [], errors: {} };

export class Servers {
  reached: Reached = NONE;
  /** The agents' own servers. They do not change. */
  ofAgents: Reached = NONE;
  /** Other servers than the agent has: the next turn gets an agent with theirs. */
  isOutdated = false;
  readonly #options: PlainOptions;
  /** Those that count. */
  #current: McpServers;
  /** Those that were switched off. */
  readonly #off = new Map<string, McpServers[string]>();
  /** Connections to replaced servers, which calls of the turn under way may need. */
  readonly #retired: McpClient[] = [];

  constructor(options: PlainOptions) {
    this.#options = options;
    this.#current = options.mcpServers ?? {};
  }

  /** The servers that count. */
  get current(): McpServers {
    return this.#current;
  }

  async begin(): Promise<void> {
    const { agents, mcpServers } = this.#options;
    [this.reached, this.ofAgents] = await Promise.all([
      this.#reach(this.#current),
      this.#reach(serversOf(agents, mcpServers)),
    ]);
  }

  async set(servers: McpServers): Promise<McpSetServersResult> {
    checkServers({ ...servers, ...serversOf(this.#options.agents, servers) });
    const [before, now] = [this.#current, servers].map(Object.keys) as [string[], string[]];
    const reached = await this.#reach(servers);
    this.#retired.push(...this.reached.clients);
    this.reached = reached;
    this.#current = servers;
    this.isOutdated = true;
    return {
      added: now.filter((name) => !before.includes(name)),
      removed: before.filter((name) => !now.includes(name)),
      errors: reached.errors,
    };
  }

  async reconnect(name: string): Promise<void> {
    if (!Object.hasOwn(this.#current, name)) throw unknown(name);
    const { errors } = await this.set(this.#current);
    if (Object.hasOwn(errors, name))
      throw new Error(`query: the server "${name}" is not reached: ${errors[name]}`);
  }

  async toggle(name: string, enabled: boolean): Promise<void> {
    const { [name]: own, ...others } = this.#current;
    const server = own ?? this.#off.get(name);
    if (server === undefined) throw unknown(name);
    if (enabled === (own !== undefined)) return;
    this.#off.set(name, server);
    await this.set(enabled ? { ...others, [name]: server } : others);
  }

  /** Ends the connections to replaced servers. */
  async retire(): Promise<void> {
    await closed(this.#retired.splice(0));
  }

  async close(): Promise<void> {
    await closed([...this.#retired, ...this.reached.clients, ...this.ofAgents.clients]);
  }

  #reach(servers: McpServers): Promise<Reached> {
    const { onElicitation, abortController, host: { mcpFetch: fetch } = {} } = this.#options;
    return reach(servers, { onElicitation, fetch, signal: abortController?.signal });
  }
}

async function closed(clients: readonly McpClient[]): Promise<void> {
  await Promise.all(clients.map((client) => client.close()));
}

const unknown = (name: string): Error => new Error(`query: there is no server "${name}" in mcpServers.`);
