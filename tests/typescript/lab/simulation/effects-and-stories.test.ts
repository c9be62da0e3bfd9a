import { expect, test } from "vitest";
import { anthropic, createAgent, tool, type Agent } from "looplet";
import { scripted } from "looplet/practice";
import { recorder } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import {
  neverAfter,
  neverTwice,
  recorded,
  simulate,
  type SimulatedRun,
  type SimulateOptions,
  type World,
} from "looplet/testing";

const TIMEOUT = 60_000;
const model = anthropic("claude-sonnet-4-6", { apiKey: "k" });
const inputSchema = {
  type: "object",
  properties: { cents: { type: "integer", minimum: 1 }, note: { type: "string" } },
  required: ["cents"],
} as const;

/** An agent that pays once for a call, whatever happens, and tells the effect under this name. */
const paying =
  (effect: string, { isIdempotent = true, isDown = 0 } = {}) =>
  (world: World): Agent => {
    const paid = world.kept("bank", () => new Set<string>());
    const pay = tool({
      description: "Pays",
      inputSchema,
      replay: "safe",
      async execute(_, { toolCallId }) {
        await world.sleep(100);
        if (world.chance("the bank is down", isDown)) throw new Error("The bank is down.");
        if (isIdempotent && paid.has(toolCallId)) return "paid before";
        paid.add(toolCallId);
        if (effect !== "") world.effect(effect, toolCallId);
        return "paid";
      },
    });
    return createAgent({ model, store: memoryStore(), timeouts: { toolMs: 60_000 }, tools: { pay } });
  };
const one = [{ toolCalls: [{ name: "pay", input: { cents: 5 } }] }, { text: "Done." }];
const CRASHES: SimulateOptions = {
  seeds: 150,
  world: { model: one, rates: { crash: 0.2 }, only: ["crash"] },
};
const messages = async (
  agent: Parameters<typeof simulate>[0],
  options: SimulateOptions,
): Promise<string[]> => {
  const { failures } = await simulate(agent, { ...CRASHES, onFailure: "return", ...options });
  return failures.map(({ message }) => message.replace(/toolu_\w+/, "toolu"));
};

test.each([
  ["pay", "pay"],
  ["pay", "p*"],
  ["payment", "pay*"],
  ["payment", "payment"],
])(
  "neverTwice judges a tool with effects by them: effect %s, name %s",
  { timeout: TIMEOUT },
  async (effect, name) => {
    expect(await messages(paying(effect), { invariants: [neverTwice(name)] })).toEqual([]);
    expect(
      await messages(paying(effect, { isIdempotent: false }), { invariants: [neverTwice(name)] }),
    ).toEqual([`${effect} toolu happened 2 times`]);
  },
);

test(
  "neverTwice counts the calls of a tool without effects of the name, also of other names",
  { timeout: TIMEOUT },
  async () => {
    for (const effect of ["", "payment"])
      expect(await messages(paying(effect), { invariants: [neverTwice("pay")] })).toEqual([
        "the call of pay toolu happened 2 times",
      ]);
  },
);

test(
  "neverTwice does not count the calls of a run in which the effect never happens",
  { timeout: TIMEOUT },
  async () => {
    const agent = paying("pay", { isDown: 0.5 });
    let seed = -1;
    const seeds: number[] = [];
    const note = ({ calls, effects }: SimulatedRun): void => {
      seed += 1;
      const ids = calls.map(({ toolCallId }) => toolCallId);
      if (new Set(ids).size < ids.length && effects.length === 0) seeds.push(seed);
    };
    await simulate(agent, { ...CRASHES, invariants: [note] });
    expect(seeds.length).toBeGreaterThan(0);
    const rest = [...Array(10).keys()].map((at) => at + 1000);
    const invariants = [neverTwice("pay")];
    expect(await messages(agent, { seeds: [...seeds, ...rest], invariants })).toEqual([]);
    // Where no run has the effect, the calls are all that is known.
    expect(await messages(agent, { seeds, invariants })).toHaveLength(1);
  },
);

test("neverAfter judges a tool with effects by them", async () => {
  // The tool `pay` is called after `close`, and refuses to pay.
  const agent = (world: World): Agent => {
    const bank = world.kept("bank", () => ({ isClosed: false }));
    const pay = (): string => {
      if (bank.isClosed) return "The account is closed.";
      world.effect("pay", "1");
      return "paid";
    };
    const close = (): string => {
      bank.isClosed = true;
      world.effect("close", "1");
      return "closed";
    };
    const schema = { type: "object", properties: {} } as const;
    const tools = {
      pay: tool({ description: "Pays", inputSchema: schema, execute: pay }),
      close: tool({ description: "Closes", inputSchema: schema, execute: close }),
    };
    return createAgent({ model, tools });
  };
  const calls = ["pay", "close", "pay"].map((name) => ({ toolCalls: [{ name, input: {} }] }));
  const world = { model: [...calls, { text: "Done." }], only: [] };
  expect(await messages(agent, { seeds: 2, world, invariants: [neverAfter("pay", "close")] })).toEqual([]);
});

const storyOf = async (
  agent: Parameters<typeof simulate>[0],
  world: NonNullable<SimulateOptions["world"]>,
): Promise<string> => {
  const wrong = (): string => "wrong";
  const { failures } = await simulate(agent, {
    seeds: 1,
    world: { only: [], ...world },
    invariants: [wrong],
    onFailure: "return",
    replay: [],
  });
  return failures[0]!.story;
};

test("a story shows every input whole, and says how many lines are left out", async () => {
  const note = "n".repeat(300);
  const rounds = [...Array(9).keys()].map((cents) => ({
    toolCalls: [{ name: "pay", input: { cents: cents + 1, note } }],
  }));
  const story = await storyOf(paying("payment"), { model: [...rounds, { text: "Done." }] });
  for (const { toolCalls } of rounds) expect(story).toContain(`pay(${JSON.stringify(toolCalls[0]!.input)})`);
  expect(story).toMatch(/\n {2}15 of 29 lines are left out: run\.happenings of the failure has all\n/);
});

test("a story of blocks shows their inputs, and a huge input says how long it is", async () => {
  const input = { cents: 7, note: "x".repeat(3000) };
  const blocks = [{ type: "tool-call", name: "pay", input: { cents: 6 } } as const];
  const story = await storyOf(paying(""), {
    model: [{ blocks }, { toolCalls: [{ name: "pay", input }] }, { text: "Done." }],
  });
  expect(story).toContain('answers with pay({"cents":6})');
  expect(story).toContain("… (1021 more characters)");
  expect(story).not.toContain("left out");
});

test("a story of recorded answers shows the inputs with the calls", async () => {
  const tools = { pay: tool({ description: "Pays", inputSchema, execute: () => "paid" }) };
  const agent = (fetch?: ReturnType<typeof scripted>): Agent =>
    createAgent({
      model: anthropic("claude-sonnet-4-6", { apiKey: "k", fetch }),
      tools,
      record: recorder(),
    });
  const run = agent(scripted(one)).run("Pay.");
  await run.result;
  const story = await storyOf(agent(), { model: recorded(run.export()) });
  expect(story).toContain('pay runs with {"cents":5}, as ');
});
