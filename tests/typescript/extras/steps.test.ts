import { describe, expect, it } from "vitest";
import { anthropic, createAgent, custom, gemini, subagent, tool } from "looplet";
import type { Fetch, RunResult } from "looplet";
import { scripted } from "looplet/practice";
import { inSteps, type Step } from "looplet/steps";

/** A durable engine: it keeps what steps return, and can lose the process after a number of them. */
class Engine {
  readonly kept = new Map<string, string>();
  readonly effects: string[] = [];
  /** The names of the steps in each life. */
  lives: string[][] = [];

  /** One life of `work`; undefined if it was lost after `steps` new ones. */
  async live<T>(work: (step: Step) => Promise<T>, steps = Infinity): Promise<T | undefined> {
    const names: string[] = [];
    this.lives.push(names);
    let left = steps;
    let lose = (): void => {};
    const lost = new Promise<undefined>((resolve) => (lose = () => resolve(undefined)));
    const step: Step = async (name, perform) => {
      expect(names, "each step has a name of its own").not.toContain(name);
      names.push(name);
      const kept = this.kept.get(name);
      if (kept !== undefined) return kept;
      if (left-- <= 0) {
        lose();
        return new Promise(() => {});
      }
      const value = await perform();
      this.kept.set(name, value);
      return value;
    };
    return Promise.race([work(step), lost]);
  }
}

const turns = (fetch: Fetch, effects: string[], name: string): Fetch => {
  return async (url, init) => {
    const body = new TextDecoder().decode(init.body);
    effects.push(`${name} ${body.length}`);
    return fetch(url, init);
  };
};

const inputSchema = { type: "object", properties: { n: { type: "number" } } };

/** A run with two tools beside each other, a refused request, and two subagents beside each other. */
function run(step: Step, effects: string[]): Promise<RunResult> {
  const add = tool({
    description: "Adds",
    inputSchema,
    readOnly: true,
    execute: (input) => {
      const { n } = input as { n: number };
      effects.push(`add ${n}`);
      if (n === 2) throw new Error("not two");
      return { sum: n + 1 };
    },
  });
  const helper = subagent({
    description: "Helps",
    model: custom(({ messages }) => {
      effects.push("helper");
      return `helped ${JSON.stringify(messages[0]!.content)}`;
    }),
  });
  let refused = effects.some((effect) => effect.startsWith("refused"));
  const vendor = turns(
    async (url, init) => {
      const { messages } = JSON.parse(new TextDecoder().decode(init.body));
      if (messages.length === 3 && !refused) {
        refused = true;
        effects.push("refused");
        return { status: 529, headers: { "retry-after": "0" }, body: "{}" };
      }
      const calls = [
        [
          { id: "a", name: "add", input: { n: 1 } },
          { id: "b", name: "add", input: { n: 2 } },
        ],
        [
          { id: "c", name: "helper", input: { prompt: "one" } },
          { id: "d", name: "helper", input: { prompt: "two" } },
        ],
      ][(messages.length - 1) / 2];
      return scripted([calls === undefined ? { text: "All done." } : { toolCalls: calls }])(url, init);
    },
    effects,
    "asked",
  );
  const agent = createAgent({
    ...inSteps("order-1", step),
    model: anthropic("test", { fetch: vendor, apiKey: "key" }),
    tools: { add, helper },
    retry: { maxRetries: 1, delaysMs: [0], jitterMs: 0 },
  });
  return agent.run("Go.").result;
}

/** The result without its times. */
const told = (result: RunResult): string =>
  JSON.stringify(result, (name, value: unknown) => (/durationMs/i.test(name) ? 0 : value));

describe("a run whose effects are steps", () => {
  it("comes to the same end in a life that begins after any of them, and makes each effect once", async () => {
    const whole = new Engine();
    const end = await whole.live((step) => run(step, whole.effects));
    expect(end).toMatchObject({ id: "order-1", outcome: "completed", text: "All done.", iterations: 3 });
    expect(whole.lives[0]).toHaveLength(8);
    for (let steps = 0; steps < 8; steps++) {
      const engine = new Engine();
      expect(await engine.live((step) => run(step, engine.effects), steps)).toBe(undefined);
      const again = await engine.live((step) => run(step, engine.effects));
      expect(told(again!), `after ${steps}`).toEqual(told(end!));
      expect(engine.effects.sort(), `after ${steps}`).toEqual(whole.effects.sort());
      expect(engine.lives[1]!.sort()).toEqual(whole.lives[0]!.sort());
    }
  });

  it("gives calls the same ids in each life, whose vendor has none", async () => {
    const engine = new Engine();
    const work = async (step: Step): Promise<RunResult> => {
      const fetch = scripted([{ toolCalls: [{ name: "add", input: { n: 1 } }] }, { text: "Done." }]);
      const add = tool({ description: "Adds", inputSchema, execute: () => "added" });
      const model = gemini("test", { fetch, apiKey: "key" });
      return createAgent({ ...inSteps("order-2", step), model, tools: { add } }).run("Go.").result;
    };
    await engine.live(work, 2);
    const end = await engine.live(work);
    expect(end).toMatchObject({ outcome: "completed", text: "Done." });
    expect(engine.lives[1]!.slice(0, 2)).toEqual(engine.lives[0]!.slice(0, 2));
  });

  it("tells the model when the engine gives a step up", async () => {
    const step: Step = async (name, work) => {
      if (name.startsWith("add")) throw new Error("no more tries");
      return work();
    };
    const effects: string[] = [];
    const { toolCalls } = await run(step, effects);
    expect(toolCalls[0]).toMatchObject({ isError: true, output: { message: "no more tries" } });
    expect(effects).not.toContain("add 1");
  });

  it("keeps answers that are no text", async () => {
    const bytes = Uint8Array.of(0, 255, 128, 10);
    const { steps } = inSteps("order-3", (_, work) => work());
    for (const body of [
      bytes,
      new Blob([bytes]).stream(),
      (async function* () {
        yield bytes;
      })(),
    ]) {
      const answer = await steps.fetch(async () => ({
        status: 200,
        headers: [
          ["a", "b"],
          ["content-length", "4"],
        ],
        body,
      }))("https://model.test", {
        method: "GET",
        headers: new Headers(),
        signal: new AbortController().signal,
        redirect: "manual",
      });
      expect(answer).toEqual({ status: 200, headers: [["a", "b"]], body: bytes });
    }
  });
});

describe("an answer in a step", () => {
  const asked = async (fetch: Fetch): Promise<RunResult> => {
    const agent = createAgent({
      ...inSteps("x", (_, work) => work()),
      model: anthropic("claude-sonnet-4-6", { apiKey: "key-of-a-test", fetch }),
      retry: { maxRetries: 0 },
    });
    return agent.run("Go").result;
  };

  it("of a fetch that has followed a redirect is refused", async () => {
    const script = scripted([{ text: "Forged." }]);
    const result = await asked(async (url, init) => {
      const response = new Response((await script(url, init)).body as BodyInit);
      const from = { redirected: { value: true }, url: { value: "https://evil.test/" } };
      return Object.defineProperties(response, from);
    });
    expect(result).toMatchObject({ outcome: "failed", error: { code: "redirected" } });
  });

  it("that has no end is read for 64 MiB, and is cancelled", async () => {
    const chunk = new Uint8Array(1024 * 1024);
    let sent = 0;
    let isCancelled = false;
    const body = new ReadableStream({
      pull: (controller) => {
        controller.enqueue(chunk);
        sent += 1;
      },
      cancel: () => void (isCancelled = true),
    });
    const result = await asked(async () => new Response(body));
    expect(result).toMatchObject({ outcome: "failed", error: { code: "network" } });
    expect([sent < 70, isCancelled]).toEqual([true, true]);
  });
});
