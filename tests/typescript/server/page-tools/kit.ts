import { afterEach, beforeEach, vi } from "vitest";
import { createAgent, custom, type Agent, type Tool } from "looplet";
import { pageTool, type PageToolOptions } from "looplet/tools";
import { Kit } from "../../support/worker-kit.js";

type Options = Partial<PageToolOptions<{ type: "object" }>>;

/** An agent whose model calls the tools that a prompt names, and then says what they gave. */
export class PageKit extends Kit {
  readonly #tools: { readonly [name: string]: Options };
  readonly #options: object;
  /** The results and errors of the last calls, as the model reads them. */
  results: string[] = [];

  constructor(tools: { readonly [name: string]: Options } = { locate: {} }, options: object = {}) {
    super();
    this.#tools = tools;
    this.#options = options;
  }

  override agent(): Agent {
    const model = custom(async function* (this: void, { messages }) {
      const [first] = messages.at(-1)!.content;
      if (first?.type === "text") {
        for (const [at, name] of first.text.split(" ").entries())
          yield { type: "tool_call", id: `c${messages.length}-${at}`, name, input: { at } };
        return;
      }
      const texts = messages
        .at(-1)!
        .content.flatMap((block) => (block.type === "tool_result" ? block.content : []));
      told.push(...texts.map((block) => (block.type === "text" ? block.text : block.type)));
      yield "Done.";
    });
    this.results = [];
    const told = this.results;
    const tools: { [name: string]: Tool } = {};
    for (const [name, options] of Object.entries(this.#tools))
      tools[name] = pageTool({ description: name, inputSchema: { type: "object" }, ...options });
    return createAgent({ model, tools, store: this.store, ...this.#options });
  }
}

/** A function of a page that notes its calls and waits until one settles them. */
export class PageWork {
  readonly calls: {
    input: any;
    signal: AbortSignal;
    give: (value: unknown) => void;
    fail: (error: Error) => void;
  }[] = [];

  readonly run = (input: any, { signal }: { signal: AbortSignal }): Promise<unknown> =>
    new Promise((give, fail) => this.calls.push({ input, signal, give, fail }));

  get signals(): boolean[] {
    return this.calls.map(({ signal }) => signal.aborted);
  }
}

/** Each test of the file has timers of its own, which go on with the real ones. */
export function virtualTime(): void {
  beforeEach(
    () =>
      void vi.useFakeTimers({
        shouldAdvanceTime: true,
        toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"],
      }),
  );
  afterEach(() => void vi.useRealTimers());
}
