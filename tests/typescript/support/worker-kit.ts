import { afterEach } from "vitest";
import { createAgent, custom, tool } from "looplet";
import type { Agent, Store } from "looplet";
import { connectAgent, serveAgent, type AgentEndpoint, type RemoteAgent } from "looplet/workers";
import { memoryStore } from "looplet/stores";

/** An agent whose model waits for `go()` before each answer, and whose tool asks first. */
export class Kit {
  #now = 0;
  /** What outlives the workers. */
  readonly #kept: Store = memoryStore({ now: () => this.#now });
  store: Store = this.#kept;
  readonly effects: string[] = [];
  #go: (() => void)[] = [];

  agent(options: object = {}): Agent {
    const model = custom(async function* (this: void, { messages }) {
      const last = messages.at(-1)!;
      const [asked] = last.content;
      if (asked?.type === "text" && asked.text === "Pay.")
        return yield { type: "tool_call", id: `c${messages.length}`, name: "pay", input: {} };
      for (const word of ["one ", "two ", "three"]) yield word;
      yield { type: "usage", inputTokens: 1, outputTokens: 3 };
    });
    const pay = tool({
      description: "Pays",
      inputSchema: { type: "object" },
      needsApproval: true,
      replay: "safe",
      execute: async (_, { toolCallId }) => {
        this.effects.push(toolCallId);
        await new Promise<void>((go) => this.#go.push(go));
        return "paid";
      },
    });
    return createAgent({ model, tools: { pay }, store: this.store, ...options });
  }

  /** The process is dead: it reaches no store any more, and its leases run out. The next one has a store. */
  live(): void {
    let isDead = false;
    const alive = async (work: () => unknown): Promise<unknown> =>
      isDead ? new Promise(() => {}) : await work();
    const store = Object.fromEntries(
      (["append", "load", "lease", "pending", "delete"] as const).map((name) => [
        name,
        (...args: any[]) => alive(() => (this.#kept[name] as any)(...args)),
      ]),
    );
    this.store = store as unknown as Store;
    this.#die();
    this.#die = () => {
      isDead = true;
      this.#now += 100_000;
      this.#go = [];
    };
  }
  #die: () => void = () => {};

  /** Resolves when a tool waits. */
  async effect(): Promise<void> {
    while (this.#go.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  /** Lets the tools go on that wait. */
  go(): void {
    for (const go of this.#go.splice(0)) go();
  }
}

export const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

/** A worker that can be killed: its pages then speak with the one that `serve` makes next. */
export class Place {
  #listeners = new Set<(event: { data: unknown }) => void>();
  #port: MessagePort | undefined;

  serve(agent: Agent, options: object = {}): void {
    const { port1, port2 } = new MessageChannel();
    this.#port?.close();
    this.#port = port1;
    port1.onmessage = ({ data }) => this.#listeners.forEach((listener) => listener({ data }));
    serveAgent(agent, { on: port2 as any, ...options });
    ends.push(() => port1.close());
  }

  kill(): void {
    this.#port?.close();
    this.#port = undefined;
  }

  get endpoint(): AgentEndpoint {
    return {
      postMessage: (message: unknown) => this.#port?.postMessage(message),
      addEventListener: (_: string, listener: any) => void this.#listeners.add(listener),
      removeEventListener: (_: string, listener: any) => void this.#listeners.delete(listener),
    };
  }

  connect(heartbeatMs = 20): RemoteAgent {
    const agent = connectAgent(this.endpoint, { heartbeatMs });
    ends.push(() => agent.disconnect());
    return agent;
  }
}
