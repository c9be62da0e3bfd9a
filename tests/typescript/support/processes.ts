/**
 * One run with parallel calls, two approvals, a subagent that asks and a form, in processes over one store. A process
 * ends at an event, and another one goes on.
 */
import { createAgent, custom, subagent, tool, type Agent, type Message, type Store } from "looplet";
import { memoryStore } from "looplet/stores";
import type { Answers, OpenQuestion } from "looplet/ui";

export const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** A store of several processes. A process that has ended reaches it no more, and its leases have run out. */
export class ProcessStore {
  #nowMs = 0;
  readonly #kept = memoryStore({ now: () => this.#nowMs });
  /** Whether the process of now has ended. */
  isDead = { now: false };
  /** The store as the process of now has it. */
  store = this.#alive();

  end(): void {
    this.isDead.now = true;
    this.isDead = { now: false };
    this.#nowMs += 1_000_000;
    this.store = this.#alive();
  }

  #alive(): ReturnType<typeof memoryStore> {
    const { isDead } = this;
    const methods = (["append", "load", "lease", "pending", "delete"] as const).map((name) => [
      name,
      (...given: never[]): unknown =>
        isDead.now ? new Promise(() => {}) : (this.#kept[name] as (...given: never[]) => unknown)(...given),
    ]);
    return Object.fromEntries(methods) as ReturnType<typeof memoryStore>;
  }
}

/** A tool that takes a task. */
export const acts = (name: string, more: object = {}) =>
  tool({
    description: name,
    inputSchema: { type: "object" },
    replay: "safe",
    ...more,
    async execute() {
      await tick();
      return `${name} is done`;
    },
  });

/** A tool that asks with a form. */
export const form = tool({
  description: "form",
  inputSchema: { type: "object" },
  replay: "safe",
  async execute(_, { elicit }) {
    const { action } = await elicit({
      message: "How many?",
      requestedSchema: { type: "object", properties: { count: { type: "number" } } },
    });
    return `form: ${action}`;
  },
});

/** The processes over one store. */
export class World extends ProcessStore {
  /** How often each answer was asked for. */
  readonly #asked = new Map<string, number>();
  /** Events of all processes. */
  seen = 0;
  onEvent = (): void => {};

  agent(store: Store = this.store): Agent {
    const { isDead } = this;
    return createAgent({
      model: custom((request: Asked) => answer(request, this.#asked)),
      store,
      tools: {
        stock: acts("stock", { readOnly: true }),
        // A process that ends within it leaves a call whose outcome nobody knows.
        order: acts("order", { needsApproval: true, replay: "once" }),
        form,
        helper: subagent({
          description: "helps",
          tools: { dig: acts("dig", { readOnly: true }), pay: acts("pay", { needsApproval: true }) },
        }),
      },
      trace: () => ({
        onEvent: () => {
          if (isDead.now) return;
          this.seen += 1;
          this.onEvent();
        },
      }),
    });
  }
}

interface Asked {
  readonly messages: readonly Message[];
}

/**
 * Two rounds of parallel calls: one that finishes, two approvals and a subagent that asks; then a form. An answer
 * that is asked for again has other ids, as those of vendors have.
 */
async function* answer({ messages }: Asked, asked: Map<string, number>) {
  const calls = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_call"));
  const step = `${JSON.stringify(messages[0])} ${calls.length}`;
  const time = (asked.get(step) ?? 0) + 1;
  asked.set(step, time);
  const call = (id: string, name: string, input: object = {}) =>
    ({ type: "tool_call", id: time === 1 ? id : `${id}_${time}`, name, input }) as const;
  yield `Step ${calls.length}.`;
  await tick();
  if (JSON.stringify(messages[0]).includes("Dig for gold")) {
    if (calls.length === 0) yield call("dig1", "dig");
    if (calls.length === 0) yield call("pay1", "pay");
    return;
  }
  if (calls.length === 0) {
    yield call("stock1", "stock");
    yield call("help1", "helper", { prompt: "Dig for gold" });
    yield call("order1", "order");
    yield call("order2", "order");
  }
  if (calls.length === 4) yield call("form1", "form");
}

/** The answer of a person who allows everything. */
export function answerTo({ kind }: Pick<OpenQuestion, "kind">): Answers[keyof Answers] {
  if (kind === "permission") return { behavior: "allow" };
  return kind === "elicitation" ? { action: "accept", content: { count: 2 } } : { outcome: "run" };
}
