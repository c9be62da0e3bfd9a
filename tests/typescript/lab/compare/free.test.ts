// Recorded runs played with the options of another agent.
import { describe, expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  gemini,
  openai,
  openaiChat,
  tool,
  type Agent,
  type AgentOptions,
  type Model,
} from "looplet";
import {
  compare,
  exact,
  expectSame,
  junitReport,
  markdownReport,
  schema,
  textReport,
  toolSequence,
} from "looplet/compare";
import { scripted } from "looplet/practice";
import { recorder } from "looplet/replay";

type Changes = Partial<AgentOptions> & { text?: string; description?: string; rain?: unknown };

function agentOf(
  model: Model,
  { text: _, description = "Weather of a city", rain = true, ...more }: Changes = {},
): Agent {
  return createAgent({
    model,
    system: "You are brief.\nYou are kind.",
    tools: {
      weather: tool({
        description,
        inputSchema: { type: "object", properties: { city: { type: "string" } } },
        execute: () => ({ rain }),
      }),
    },
    record: recorder(),
    ...more,
  });
}

const turns = (text = "It rains.") => [
  { toolCalls: [{ name: "weather", input: { city: "Paris" } }] },
  { text },
];
const claude = (text?: string): Model => anthropic("claude-test", { fetch: scripted(turns(text)) });
const changed = (changes: Changes): Agent => agentOf(claude(), changes);

async function recorded(model = claude(), changes: Changes = {}): Promise<string> {
  const run = agentOf(model, changes).run("Umbrella?");
  expect((await run.result).outcome).toBe("completed");
  return run.export();
}

async function one(agent: Agent, file?: string) {
  const { runs } = await compare([file ?? (await recorded())], agent);
  return runs[0]!;
}

describe("a run under a change", () => {
  it("is equal if nothing changes, and says so in a sentence", async () => {
    const report = await compare([{ name: "a.loop", text: await recorded() }], changed({}));
    expect(report.runs).toEqual([
      {
        name: "a.loop",
        verdict: "equal",
        why: "",
        changed: [],
        judges: {},
        isFailed: false,
        usage: null,
        usd: 0,
      },
    ]);
    expect(textReport(report)).toMatch(/^Of 1 run 1 equal\.\n/);
    expect(() => expectSame(report)).not.toThrow();
  });

  it("shows the line of the system prompt that differs, and the option behind it", async () => {
    const run = await one(changed({ system: "You are brief.\nYou are strict." }));
    expect(run).toMatchObject({
      verdict: "another request",
      isFailed: true,
      changed: ["system"],
      firstDifference: {
        kind: "request",
        what: expect.stringMatching(/^Request 1 differs at character \d+: system prompt\.$/) as string,
        number: 1,
        parts: ["system prompt"],
        diff: "- You are kind.\n+ You are strict.",
      },
    });
  });

  it.each([
    [
      "a tool's description",
      { description: "Rain" },
      "tool `weather`: description",
      "- Weather of a city\n+ Rain",
    ],
    ["an option", { maxOutputTokens: 100 }, "option `max_tokens`", "- 8192\n+ 100"],
  ])("names %s", async (_, changes, part, diff) => {
    expect((await one(changed(changes))).firstDifference).toMatchObject({ parts: [part], diff });
  });

  it("names a tool that is new and one that is missing", async () => {
    const time = tool({ description: "Time", inputSchema: { type: "object" }, execute: () => 1 });
    const run = await one(changed({ tools: { time } }));
    expect(run.firstDifference?.parts).toEqual(["tool `weather` is missing", "tool `time` is new"]);
    expect(run.changed).toEqual(["tools.weather", "tools.time"]);
  });

  it("names the message and the tool whose result reaches the model in another form", async () => {
    const run = await one(changed({ toolCalls: { maxResultChars: 5 } }));
    expect(run.firstDifference).toMatchObject({
      number: 2,
      parts: ["message 3 (user): result of `weather`"],
    });
    expect(run.changed).toEqual(["toolCalls"]);
  });

  it.each([
    ["Chat Completions", openaiChat, "message 4 (tool): result of `weather`"],
    ["Responses", openai, "message 3 (function_call_output): result of `weather`"],
    ["Gemini", gemini, "message 3 (user)"],
  ] as const)("names parts of %s", async (_, vendor, result) => {
    const file = await recorded(vendor("test", { fetch: scripted(turns()) }));
    const asked = (changes: Changes): Agent => agentOf(vendor("test", { fetch: scripted([]) }), changes);
    const parts = async (changes: Changes) => (await one(asked(changes), file)).firstDifference?.parts;
    expect(await parts({ system: "Other." })).toEqual(["system prompt"]);
    expect(await parts({ description: "Rain" })).toEqual(["tool `weather`: description"]);
    expect(await parts({ toolCalls: { maxResultChars: 5 } })).toEqual([result]);
  });

  it("names the address of another model first", async () => {
    const run = await one(agentOf(openaiChat("gpt-test", { fetch: scripted([]) })));
    expect(run.firstDifference?.parts[0]).toBe("address");
    expect(run.firstDifference?.diff).toContain("+ POST https://api.openai.com/v1/chat/completions");
  });

  it("calls a call that is not made any more another decision, before the request that follows from it", async () => {
    const run = await one(changed({ permissions: { mode: "plan" } }));
    expect(run).toMatchObject({
      verdict: "another decision",
      firstDifference: { kind: "call", what: 'Call 1 is missing: weather({"city":"Paris"}).' },
    });
  });

  it("calls another outcome another decision, and not the request that does not come any more", async () => {
    const run = await one(changed({ limits: { maxIterations: 1 } }));
    expect(run.verdict).toBe("another decision");
    expect(run.firstDifference?.what).toBe("The run is stopped, and was completed.");
  });

  it("says which function would have to answer where the file has no answer", async () => {
    const run = await one(changed({ hooks: { PreToolUse: [{ hooks: [() => ({})] }] } }));
    expect(run.verdict).toBe("stopped");
    expect(run.why).toBe(
      `The file has no answer of the agent's function at the point PreToolUse: compare with hooks: "run".`,
    );
  });

  it("runs the tools if it shall, and shows the result that differs", async () => {
    const agent = changed({ rain: false });
    const file = await recorded();
    expect((await one(agent, file)).verdict).toBe("equal");
    const { runs } = await compare([file], agent, { tools: "run" });
    expect(runs[0]).toMatchObject({
      verdict: "another request",
      firstDifference: {
        kind: "result",
        number: 1,
        diff: expect.stringContaining('+     "rain": false') as string,
      },
    });
  });

  it("takes an agent for each run", async () => {
    const ids: string[] = [];
    const report = await compare([await recorded(), await recorded()], ({ id }) => {
      ids.push(id);
      return changed(ids.length === 1 ? {} : { system: "Other." });
    });
    expect(report.runs.map(({ verdict }) => verdict)).toEqual(["equal", "another request"]);
    expect(report.runs.map(({ name }) => name)).toEqual(ids);
  });

  it("lets the caller allow a verdict", async () => {
    const report = await compare([await recorded()], changed({ system: "Other." }), {
      allow: ["another request"],
    });
    expect(report.isFailed).toBe(false);
  });
});

describe("files and arguments that are wrong", () => {
  const hostile = [
    "",
    "{}",
    '{"loop":1',
    '{"loop":99,"looplet":"9.0.0"}',
    '{"__proto__":{"loop":1}}',
    "[".repeat(9999),
  ];

  it("make a failed run each, and the others go on", async () => {
    const file = await recorded();
    const cut = JSON.parse(file) as { processes: { inputs: unknown[] }[] };
    cut.processes[0]!.inputs[3] = { random: "x", after: 0, input: { json: {} } };
    const report = await compare([...hostile, JSON.stringify(cut), file], changed({}));
    const verdicts = report.runs.map(({ verdict }) => verdict);
    expect(verdicts).toEqual([...Array<string>(hostile.length + 1).fill("failed"), "equal"]);
    for (const run of report.runs.slice(0, -1)) expect(run.why).not.toBe("");
    expect(report.isFailed).toBe(true);
  });

  it("are named", async () => {
    const file = await recorded();
    await expect(compare(file as never, {} as never)).rejects.toThrow("runs: needs an array");
    await expect(compare([7 as never], changed({}))).rejects.toThrow("runs[0]: needs a text");
    await expect(compare([file], {} as never)).rejects.toThrow("agent: needs an agent");
    await expect(compare([file], changed({}), { allow: ["same" as never] })).rejects.toThrow(
      "allow: needs some of",
    );
    await expect(compare([file], changed({}), { judges: { a: () => 7 } })).rejects.toThrow(
      "judges.a: needs to return",
    );
    expect(() => textReport(7 as never)).toThrow("report: needs what compare has returned");
  });
});

describe("judges", () => {
  const answers = { type: "object", properties: { rain: { type: "boolean" } }, required: ["rain"] } as const;

  it("see both runs, and count against the change", async () => {
    const report = await compare([await recorded()], changed({}), {
      judges: {
        exact,
        toolSequence,
        short: (before, after) => after.text.length <= before.text.length,
        score: () => 0.4,
        broken: () => {
          throw new Error("no idea");
        },
      },
    });
    expect(report.runs[0]!.judges).toEqual({
      exact: { pass: true },
      toolSequence: { pass: true },
      short: { pass: true },
      score: { pass: false, score: 0.4 },
      broken: { pass: false, note: "no idea" },
    });
    expect(report.judges["exact"]).toMatchObject({ runs: 1, of: 1, share: 1 });
    expect(report.isFailed).toBe(true);
    expect(textReport(report)).toContain("Judge broken: no idea");
  });

  it("check an answer against a schema as looplet does", async () => {
    const judged = async (text: string) => {
      const { runs } = await compare([await recorded(claude(text))], agentOf(claude(text)), {
        judges: { form: schema(answers) },
      });
      return runs[0]!.judges["form"]!;
    };
    expect(await judged('{"rain":true}')).toEqual({ pass: true });
    expect(await judged('{"rain":"yes"}')).toMatchObject({
      pass: false,
      note: expect.stringContaining("rain") as string,
    });
    expect((await judged("It rains.")).pass).toBe(false);
  });
});

describe("written reports", () => {
  it("say shares with Wilson's interval", async () => {
    const file = await recorded();
    const report = await compare(Array<string>(10).fill(file), changed({}));
    // Wilson's interval for 10 of 10 is 72.2 % to 100 %.
    expect(textReport(report)).toContain("equal  10  100.0 % (72.2–100.0)");
    expect(report.verdicts.equal).toMatchObject({ runs: 10, of: 10, share: 1 });
  });

  it("have one line for each kind of difference, with the number of runs and their names", async () => {
    const [short, long] = [await recorded(), await recorded(claude(), { text: "another" })];
    const names = [...Array(12).keys()].map((at) => `run ${at + 1}`);
    const runs = names.map((name, at) => ({ name, text: at % 2 === 0 ? short : long }));
    const other = await recorded(claude(), { description: "Old words" });
    const report = await compare(
      [...runs, { name: "other", text: other }, "{}"],
      changed({ system: "New." }),
    );
    expect(report.kinds).toEqual([
      { verdict: "failed", count: 1, runs: [13] },
      { verdict: "another request", count: 12, runs: [...Array(12).keys()] },
      { verdict: "another request", count: 1, runs: [12] },
    ]);
    const lines = `${names.slice(0, 10).join(", ")} and 2 more: 12 runs, another request\n  Request 1 differs`;
    const text = textReport(report);
    expect(text.split("Request 1 differs")).toHaveLength(3);
    expect(text).toContain(lines.replace("\\n", "\n"));
    expect(text).toContain("\nother: another request\n");
    expect(markdownReport(report)).toContain("and 2 more: 12 runs, another request**");
    expect(junitReport(report).match(/<testcase/g)).toHaveLength(14);
  });

  it("group runs that differ in the same part at other places, and runs that a judge does not pass", async () => {
    const files = [await recorded(), await recorded(claude("It rains a lot."))];
    const described = await compare(files, changed({ description: "New words" }));
    expect(described.kinds.map(({ runs }) => runs)).toEqual([[0, 1]]);
    const judged = await compare(files, changed({}), { judges: { never: () => false } });
    expect(judged.kinds.map(({ verdict, count }) => [verdict, count])).toEqual([["equal", 2]]);
  });

  it("keep names and texts of a stranger out of the marks around them", async () => {
    const name = 'a<b>&"*|`.loop';
    const text = await recorded();
    const report = await compare([{ name, text }], changed({ system: "```\n<!--\u0000]]>" }));
    const markdown = markdownReport(report);
    expect(markdown).toContain('**a\\<b\\>&"\\*|`.loop: another request**');
    expect(markdown).toContain("````diff\n");
    const junit = junitReport(report);
    expect(junit).toContain('name="a&lt;b&gt;&amp;&quot;*|`.loop"');
    expect(junit).toContain('<failure type="another request"');
    expect(junit).not.toMatch(/<!--|\u0000|]]>/);
    expect(() => expectSame(report)).toThrow("another request");
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });
});
