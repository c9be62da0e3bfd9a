import { expect, test } from "vitest";
import { anthropic, createAgent, custom, gemini, openai, openaiChat, tool, type Agent } from "looplet";
import { scripted } from "looplet/practice";
import { recorder } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import {
  chaos,
  endsAs,
  endsWithin,
  expectReplay,
  neverTwice,
  recorded,
  simulate,
  SimulationFailure,
  type SimulatedRun,
  type SimulateOptions,
  type World,
} from "looplet/testing";

const model = anthropic("claude-sonnet-4-6", { apiKey: "sk-ant-the-real-key" });
const inputSchema = {
  type: "object",
  properties: { cents: { type: "integer", minimum: 1 } },
  required: ["cents"],
} as const;
const script = (rounds: number) => [
  ...Array.from({ length: rounds }, () => ({ toolCalls: [{ name: "charge", input: { cents: 5 } }] })),
  { text: "Done." },
];

/** An agent that charges; `replay` says what becomes of a charge that was under way. */
const charging = (replay: "once" | "safe", store = true): Agent =>
  createAgent({
    model,
    ...(store && { store: memoryStore() }),
    timeouts: { toolMs: 60_000 },
    tools: {
      charge: tool({ description: "Charges", inputSchema, replay, execute: ({ cents }) => `${cents} paid` }),
    },
  });

/** The records of the runs. */
async function played(
  agent: Parameters<typeof simulate>[0],
  options: SimulateOptions = {},
): Promise<SimulatedRun[]> {
  const runs: SimulatedRun[] = [];
  const keep = (run: SimulatedRun): void => void runs.push(run);
  await simulate(agent, {
    onFailure: "return",
    ...options,
    invariants: [...(options.invariants ?? []), keep],
  });
  return runs;
}

async function failureOf(
  agent: Parameters<typeof simulate>[0],
  options: SimulateOptions,
): Promise<SimulationFailure> {
  const error: unknown = await simulate(agent, options).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(SimulationFailure);
  return error as SimulationFailure;
}

const CRASHES: SimulateOptions = {
  seeds: 200,
  world: { model: script(1), only: ["crash"] },
  invariants: [neverTwice("charge")],
};

test("a charge that runs again after a crash is found, shrunk and told", async () => {
  const failure = await failureOf(charging("safe"), CRASHES);
  expect(failure.choices).toHaveLength(1);
  expect(failure.message).toBe(failure.story);
  const lines = failure.story.split("\n").filter((line) => !line.includes('the model answers "Done."'));
  const told = [
    /^neverTwice\("charge"\) is broken: the call of charge toolu_\w+ happened 2 times$/,
    /^ {2}seed \d+, (shrunk from \d+ choices to )?1( choices)?$/,
    /^ {2}1 {6}0 ms {2}the model asks for charge\(\{"cents":5\}\)$/,
    /^ {2}2 .*charge runs, as toolu_/,
    /^ {2}. .*the process crashes /,
    /^ {2}. .*process 2 resumes the run$/,
    /^ {2}. .*charge runs once more, as toolu_/,
    /^ {2}. .*the run ends as completed$/,
    /^ {2}Play it again: simulate\(agent, \{ world, invariants, replay: \[\{"at":".*","pick":1\}\] \}\)$/,
  ];
  expect(lines).toEqual(told.map((line) => expect.stringMatching(line)));
});

test("a tool that runs once is charged once, whatever happens", async () => {
  const { failures, runs } = await simulate(charging("once"), {
    seeds: 60,
    invariants: [neverTwice("charge")],
  });
  expect([failures, runs]).toEqual([[], 60]);
});

test("the choices of a failure play it again, and its file is a run that replays", async () => {
  const { choices, file } = await failureOf(charging("safe"), CRASHES);
  const again = await failureOf(charging("safe"), { ...CRASHES, replay: choices });
  expect([again.choices, again.seed]).toEqual([choices, undefined]);
  const { steps, at } = await expectReplay(file!);
  expect(at(steps.length - 1)).toMatchObject({ outcome: "completed", text: "Done." });
});

test("equal seeds play equal runs, and other seeds other ones", async () => {
  const digest = async (seeds: number | number[]) =>
    (await simulate(charging("once"), { seeds, onFailure: "return" })).digest;
  const first = await digest(25);
  expect(await digest(25)).toBe(first);
  expect(await digest([...Array(25).keys()])).toBe(first);
  expect(await digest([25])).not.toBe(await digest([26]));
});

test("with onFailure return each broken invariant has its first failure, and all seeds are played", async () => {
  const always = function always() {
    throw new Error("it is Monday");
  };
  const { failures, runs } = await simulate(charging("safe"), {
    ...CRASHES,
    invariants: [always, neverTwice("charge")],
    onFailure: "return",
  });
  expect(runs).toBe(200);
  expect(
    failures.map(({ invariant, message }) => [invariant, message.replace(/toolu_\w+/, "toolu")]),
  ).toEqual([
    ["always", "it is Monday"],
    ['neverTwice("charge")', "the call of charge toolu happened 2 times"],
  ]);
  expect([failures[0]!.seed, failures[0]!.choices]).toEqual([0, []]);
});

test("a tool waits in virtual time", async () => {
  const sleeping = (world: World): Agent =>
    createAgent({
      model,
      tools: {
        charge: tool({
          description: "Charges",
          inputSchema,
          execute: () => world.sleep(86_400_000 / 2).then(() => "paid"),
        }),
      },
    });
  const [run] = await played(sleeping, { seeds: [1], world: { model: script(2), only: [] } });
  expect(run!.outcome).toBe("completed");
  expect(run!.elapsedMs).toBeGreaterThan(86_400_000);
  expect(run!.calls.map(({ startedMs, endedMs }) => endedMs! - startedMs)).toEqual([43_200_000, 43_200_000]);
});

test("a tool that does real work for some turns of the event loop is waited for", async () => {
  const working = createAgent({
    model,
    timeouts: { toolMs: 1000 },
    tools: {
      charge: tool({
        description: "Charges",
        inputSchema,
        async execute() {
          for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
          return "paid";
        },
      }),
    },
  });
  const [run] = await played(working, { seeds: [1], world: { model: script(1), only: [] } });
  expect(run!.calls).toMatchObject([{ isError: false, output: '"paid"' }]);
});

test("an agent without a store has one process, and one with a store has several", async () => {
  const processes = async (store: boolean, world = {}) =>
    (await played(charging("once", store), { seeds: 40, world })).map(({ processes }) => processes.length);
  expect(Math.max(...(await processes(false)))).toBe(1);
  expect(Math.max(...(await processes(true)))).toBeGreaterThan(2);
  expect(Math.max(...(await processes(false, { crashes: true })))).toBeGreaterThan(2);
  expect(Math.max(...(await processes(true, { crashes: false })))).toBe(1);
});

test("a process that stood still does nothing behind the one that has gone on", async () => {
  const world = { model: script(2), only: ["freeze"] as const, rates: { freeze: 0.1 } };
  const runs = await played(charging("once"), { seeds: 60, world, invariants: [neverTwice("charge")] });
  const frozen = runs.filter(({ processes }) => processes.length > 1);
  expect(frozen.length).toBeGreaterThan(10);
  // Three deaths in a row stop a run.
  expect(new Set(frozen.map(({ outcome }) => outcome))).toEqual(new Set(["completed", "stopped"]));
});

test("stand-ins take the place of functions, for all tools or by name", async () => {
  let charged = 0;
  const agent = createAgent({
    model,
    tools: { charge: tool({ description: "Charges", inputSchema, execute: () => ++charged }) },
  });
  const options = { seeds: [1], world: { model: script(1), only: [] } } as const;
  for (const tools of ["standIns", { charge: "standIn" }] as const) {
    const [run] = await played(agent, { ...options, world: { ...options.world, tools } });
    expect(run!.calls[0]!.output).toBe('"Done by a stand-in."');
  }
  expect(charged).toBe(0);
  await played(agent, options);
  expect(charged).toBe(1);
});

test.each([
  ["Anthropic", model],
  ["OpenAI Responses", openai("gpt-5", { apiKey: "k" })],
  ["Chat Completions", openaiChat("gpt-5", { apiKey: "k" })],
  ["Gemini", gemini("gemini-2.5-pro", { apiKey: "k" })],
  ["a function in the process", custom(() => "never asked")],
])("chaos speaks the protocol of the agent's own model: %s", async (_, model) => {
  const tools = { charge: tool({ description: "Charges", inputSchema, execute: () => "paid" }) };
  const runs = await played(createAgent({ model, tools, timeouts: { toolMs: 1000 } }), {
    seeds: 30,
    onFailure: "throw",
  });
  expect(runs.flatMap(({ calls }) => calls).length).toBeGreaterThan(10);
  expect(new Set(runs.map(({ outcome }) => outcome))).toContain("completed");
});

test("a request that no protocol of looplet makes is refused with its address", async () => {
  const program = (world: World): Promise<unknown> =>
    world.fetch("https://api.test/other", { method: "POST" } as never);
  await expect(simulate(program, { seeds: 1 })).rejects.toThrow(
    "world.model: cannot answer a request to https://api.test/other",
  );
});

test("the answers of a recorded run are the turns of a model", async () => {
  const agent = (fetch?: ReturnType<typeof scripted>): Agent =>
    createAgent({
      model: anthropic("claude-sonnet-4-6", { apiKey: "k", fetch }),
      tools: { charge: tool({ description: "Charges", inputSchema, execute: () => "paid" }) },
      record: recorder(),
    });
  const run = agent(scripted(script(2))).run("Go on.");
  await run.result;
  const model = recorded(run.export());
  expect(model).toHaveLength(3);
  const [simulated] = await played(agent(), { seeds: [1], world: { model, only: [] } });
  expect(simulated!.calls.map(({ input }) => input)).toEqual([{ cents: 5 }, { cents: 5 }]);
  expect(simulated!.results[0]!.text).toBe("Done.");
  expect(() => recorded("{}")).toThrow(/no `?\.loop`? file|is no/);
});

test("what the real network would have got is never sent, and the record has no key", async () => {
  const fetch = () => Promise.reject(new Error("the network was reached"));
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "sk-ant-the-real-key", fetch }),
  });
  const [run] = await played(agent, { seeds: [1], world: { only: [] } });
  expect(run!.outcome).toBe("completed");
  expect(JSON.stringify(run!.requests)).not.toContain("the-real-key");
});

test("a program is simulated by the platform that the world gives it", async () => {
  const program = async (world: World): Promise<void> => {
    const agent = createAgent({ model, fetch: world.fetch, ...world.platform });
    const { text } = await agent.run("Hello").result;
    world.effect("said", text);
  };
  const [run] = await played(program, { seeds: [1], world: { only: [] } });
  expect(run).toMatchObject({ outcome: "over", effects: [{ name: "said", key: "Done." }] });
});

test("what outlives a process is kept by name, and a new process makes the agent anew", async () => {
  const counting = (world: World): Agent => {
    const made = world.kept("made", () => ({ times: 0 }));
    world.effect("made", String(++made.times));
    expect(made.times).toBe(world.process);
    return charging("once");
  };
  const runs = await played(counting, { seeds: 30 });
  for (const { effects, processes } of runs)
    expect(effects.map(({ key }) => key)).toEqual(processes.map(({ number }) => String(number)));
});

test("a failure that does not come again when it is played alone is said to outlive its run", async () => {
  let runs = 0;
  const { story, seed } = await failureOf(charging("once"), {
    invariants: [() => (++runs === 3 ? "the third run fails" : undefined)],
  });
  expect(seed).toBe(2);
  expect(story).toContain("It holds if only this run is played: some state of your code survives a run.");
});

test("a run that never ends is told from one that waits for a person who never answers", async () => {
  const tools = {
    charge: tool({ description: "Charges", inputSchema, needsApproval: true, execute: () => "paid" }),
  };
  const agent = createAgent({ model, tools });
  const world = { model: script(1), rates: { noAnswer: 1, toolHangs: 1, deny: 0, lateAnswer: 0 } };
  const [waiting] = await played(agent, { seeds: [1], world: { ...world, only: ["noAnswer"] } });
  expect(waiting!.outcome).toBe("waiting");
  const failure = await failureOf(agent, { seeds: [1], world: { ...world, only: ["toolHangs"] } });
  expect(failure.message).toMatch(/^ends\(\) is broken: nothing happens any more, and the run has not ended/);
});

test("endsWithin and endsAs say what a run took and how it ended", async () => {
  const world = { model: script(3), only: [] as const };
  const message = async (invariant: ReturnType<typeof endsAs>) =>
    (await failureOf(charging("once"), { seeds: 1, world, invariants: [invariant] })).how;
  expect(await message(endsWithin({ iterations: 3 }))).toBe("iteration 4 began");
  expect(await message(endsWithin({ ms: 100 }))).toEqual(expect.stringMatching(/^the run took \d+ ms$/));
  expect(await message(endsAs("failed"))).toBe("the run ends as completed");
  const { failures } = await simulate(charging("once"), {
    seeds: 1,
    world,
    invariants: [endsWithin({ iterations: 4, ms: 200_000 }), endsAs("completed")],
  });
  expect(failures).toEqual([]);
});

test("wrong options say what to do", async () => {
  const agent = charging("once");
  const message = (options: object, subject: unknown = agent) =>
    simulate(subject as Agent, options).then(
      () => "nothing",
      (error: Error) => error.message.split("\n")[0],
    );
  expect(await message({ seed: 1 })).toContain("seed: no such option; did you mean seeds?");
  expect(await message({ seeds: 0 })).toBe(
    "seeds: needs a positive whole number, or an array of whole numbers, got the number 0",
  );
  expect(await message({ world: { rates: { crash: 2 } } })).toBe(
    "world.rates.crash: needs a number from 0 to 1, got the number 2",
  );
  expect(await message({ world: { only: ["crashes"] } })).toContain(
    "world.only: needs names of refused, overloaded,",
  );
  expect(await message({ invariants: [1] })).toContain("invariants[0]: needs a function or an invariant");
  expect(await message({ replay: [1] })).toContain("replay: needs the choices of a failure");
  expect(await message({}, {})).toContain("agent: needs an agent that createAgent has made");
  expect(await message({ seeds: 50, invariants: [neverTwice("chrage")] })).toBe(
    'invariants: neverTwice("chrage") names "chrage", which is not a tool of the agent, and not an effect that a run has reported',
  );
  expect(() => chaos({ calls: 0.95 })).toThrow("calls: and illegal need to be 0.9 or less together");
});
