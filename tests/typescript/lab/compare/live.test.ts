// Recorded runs that begin again with another agent, whose tools and people answer from the recording.
import { beforeAll, describe, expect, it } from "vitest";
import { anthropic, createAgent, subagent, tool, ToolError, type Agent, type AgentOptions } from "looplet";
import {
  compare,
  junitReport,
  modelAsJudge,
  textReport,
  type CompareOptions,
  type ComparedVerdict,
} from "looplet/compare";
import { scripted, type ScriptedTurn as Turn } from "looplet/practice";
import { recorder } from "looplet/replay";
import { memoryStore } from "looplet/stores";

type Fetch = ReturnType<typeof scripted>;

const city = { type: "object", properties: { city: { type: "string" } } } as const;
const weather = (city: string) => ({ toolCalls: [{ name: "weather", input: { city } }] });
const book = (city: string) => ({ toolCalls: [{ name: "book", input: { city } }] });
const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });

/** Calls of tools that were made, by their names. */
type Made = string[];

function agentOf(
  turns: readonly Turn[],
  made: Made = [],
  more: Partial<AgentOptions> = {},
): Agent & { asked: Fetch } {
  const asked = scripted([...turns]);
  const noted = (name: string) => (input: object) => {
    made.push(`${name} ${JSON.stringify(input)}`);
    if (name === "fail")
      throw new ToolError({ code: "closed", message: "It is closed.", hint: "Try tomorrow." });
    return name === "weather" ? { rain: made.length } : `done ${made.length}`;
  };
  const agent = createAgent({
    model: anthropic("test", {
      fetch: asked,
      price: { inputUsdPerMillion: 1_000, outputUsdPerMillion: 1_000 },
    }),
    tools: {
      weather: tool({ description: "Weather", readOnly: true, inputSchema: city, execute: noted("weather") }),
      book: tool({ description: "Books", inputSchema: city, execute: noted("book") }),
      fail: tool({ description: "Fails", inputSchema: city, execute: noted("fail") }),
    },
    retry: { maxRetries: 0 },
    ...more,
  });
  return Object.assign(agent, { asked });
}

async function recorded(
  turns: readonly Turn[],
  more: Partial<AgentOptions> = {},
  prompt = "Go.",
): Promise<string> {
  const run = agentOf(turns, [], { record: recorder(), ...more }).run(prompt);
  await run.result;
  return run.export();
}

async function one(file: string, agent: Agent, options: CompareOptions = {}) {
  const report = await compare([file], agent, { live: { maxRequests: 20 }, ...options });
  return { ...report.runs[0]!, report };
}

const verdictOf = async (before: readonly Turn[], after: readonly Turn[]): Promise<ComparedVerdict> =>
  (await one(await recorded(before), agentOf(after))).verdict;

// An unoptimised engine takes seconds to compile.
beforeAll(async () => void (await recorded([{ text: "Hi." }])), 60_000);

describe("a live comparison", () => {
  it("says whether a run is equal, tells it in other words or decides otherwise", async () => {
    const before = [weather("Paris"), { text: "It rains." }];
    expect(await verdictOf(before, before)).toBe("equal");
    expect(await verdictOf(before, [weather("Paris"), { text: "Rain." }])).toBe("other words");
    expect(await verdictOf(before, [weather("Rome"), { text: "It rains." }])).toBe("another decision");
    expect(await verdictOf(before, [{ text: "It rains." }])).toBe("another decision");
    expect(await verdictOf(before, [weather("Paris"), { status: 400 }])).toBe("another decision");
  });

  it("sends the recorded prompt and history with the new options", async () => {
    const run = agentOf([{ text: "Hi." }], [], { record: recorder(), system: "Old." }).run("Now?", {
      messages: [
        { role: "user", content: [{ type: "text", text: "Before?" }] },
        { role: "assistant", content: [{ type: "text", text: "Yes." }] },
      ],
    });
    await run.result;
    const agent = agentOf([{ text: "Hi." }], [], { system: "New." });
    expect(await one(run.export(), agent)).toMatchObject({ verdict: "equal", changed: ["system"] });
    const body = JSON.stringify(agent.asked.requests[0]!.body);
    for (const text of ["New.", "Before?", "Yes.", "Now?"]) expect(body).toContain(text);
    expect(body).not.toContain("Old.");
  });

  it("answers equal calls from the file, in their order and whatever the order of keys, and makes none", async () => {
    const two = { properties: { a: { type: "number" }, b: { type: "number" } }, type: "object" } as const;
    let count = 0;
    const tools = { count: tool({ description: "Counts", inputSchema: two, execute: () => ++count }) };
    const turns = (first: object, second: object) => [
      call("count", first),
      call("count", second),
      { text: "Done." },
    ];
    const file = await recorded(turns({ a: 1, b: 2 }, { b: 2, a: 1 }), { tools });
    expect(count).toBe(2);
    const agent = agentOf(turns({ b: 2, a: 1 }, { a: 1, b: 2 }), [], { tools });
    expect((await one(file, agent)).verdict).toBe("equal");
    expect(count).toBe(2);
    expect(JSON.stringify(agent.asked.requests[2]!.body)).toMatch(/"content":"1".*"content":"2"/);
  });

  it("answers with recorded errors as with results", async () => {
    const turns = [call("fail", {}), { text: "Closed." }];
    const made: Made = [];
    const agent = agentOf(turns, made);
    expect((await one(await recorded(turns), agent)).verdict).toBe("equal");
    expect(made).toEqual([]);
    expect(JSON.stringify(agent.asked.requests[1]!.body)).toContain("It is closed.");
  });

  it("stops at a write that was not recorded, and never makes it", async () => {
    const made: Made = [];
    const run = await one(
      await recorded([book("Paris"), { text: "Booked." }]),
      agentOf([book("Paris"), book("Rome"), { text: "Booked." }], made),
    );
    expect(run).toMatchObject({
      verdict: "stopped",
      why: 'It asked for something that was not recorded: book {"city":"Rome"}.',
      firstDifference: { kind: "call", number: 2 },
      isFailed: true,
    });
    expect(made).toEqual([]);
  });

  it("stops at a second call where one was recorded", async () => {
    const made: Made = [];
    const file = await recorded([book("Paris"), { text: "Booked." }]);
    expect(
      (await one(file, agentOf([book("Paris"), book("Paris"), { text: "Booked." }], made))).verdict,
    ).toBe("stopped");
    expect(made).toEqual([]);
  });

  it("makes a call that was not recorded if it only reads", async () => {
    const made: Made = [];
    const file = await recorded([weather("Paris"), { text: "Rain." }]);
    const run = await one(file, agentOf([weather("Paris"), weather("Rome"), { text: "Rain." }], made));
    expect(run.verdict).toBe("another decision");
    expect(made).toEqual(['weather {"city":"Rome"}']);
  });

  it("answers the tools of subagents too", async () => {
    let booked = 0;
    const family = (turns: readonly Turn[], inner: readonly Turn[]) => ({
      turns,
      tools: {
        helper: subagent({
          description: "Helps",
          model: anthropic("inner", { fetch: scripted([...inner]) }),
          tools: {
            book: tool({ description: "Books", inputSchema: city, execute: () => `booked ${++booked}` }),
          },
        }),
      },
    });
    const outer = [call("helper", { prompt: "Book." }), { text: "Done." }];
    const before = family(outer, [book("Paris"), { text: "Booked." }]);
    const file = await recorded(before.turns, { tools: before.tools });
    expect(booked).toBe(1);
    const same = family(outer, [book("Paris"), { text: "Booked." }]);
    expect((await one(file, agentOf(same.turns, [], { tools: same.tools }))).verdict).toBe("equal");
    const other = family(outer, [book("Rome"), { text: "Booked." }]);
    const run = await one(file, agentOf(other.turns, [], { tools: other.tools }));
    expect(run.why).toContain('book {"city":"Rome"}');
    expect(booked).toBe(1);
  });

  it("gives people's approvals and answers again, and stops where there are none", async () => {
    const ask = { message: "Which class?" };
    const tools = {
      weather: tool({
        description: "Weather",
        inputSchema: city,
        readOnly: true,
        needsApproval: true,
        execute: async (
          _: object,
          { elicit }: { elicit: (asked: typeof ask) => Promise<{ action: string }> },
        ) => (await elicit(ask)).action,
      }),
    };
    const turns = [weather("Paris"), { text: "Fine." }];
    const run = agentOf(turns, [], { record: recorder(), tools }).run("Go.", {
      onEvent(event) {
        if (event.type !== "question") return;
        run.answer(
          event.questionId,
          event.question === "permission" ? { behavior: "allow" } : { action: "accept" },
        );
      },
    });
    await run.result;
    const file = run.export();
    expect((await one(file, agentOf(turns, [], { tools }))).verdict).toBe("equal");
    const other = await one(file, agentOf([weather("Rome"), { text: "Fine." }], [], { tools }));
    expect(other).toMatchObject({
      verdict: "stopped",
      why: "It asked whether weather may run, and no answer was recorded.",
    });
  });

  it("says again what people said while the run was under way", async () => {
    const run = agentOf([{ text: "One." }, { text: "Two." }], [], { record: recorder() }).run("Go.");
    run.followUp("And then?");
    await run.result;
    const agent = agentOf([{ text: "One." }, { text: "Two." }]);
    expect((await one(run.export(), agent)).verdict).toBe("equal");
    expect(JSON.stringify(agent.asked.requests[1]!.body)).toContain("And then?");
  });

  it("leaves a run alone that was aborted, and one that begins in its middle", async () => {
    const run = agentOf([{ hang: true }], [], { record: recorder() }).run("Go.", {
      onEvent: ({ type }) => type === "attempt-start" && run.abort("enough"),
    });
    await run.result;
    const agent = agentOf([]);
    expect(await one(run.export(), agent)).toMatchObject({
      verdict: "stopped",
      why: "The recorded run was aborted.",
    });
    expect(agent.asked.requests).toEqual([]);
  });

  it("fails for a file whose prompt no run can begin with, and the others go on", async () => {
    const file = await recorded([{ text: "Hi." }], {}, "Go.");
    const empty = file.replace('"text":"Go."', '"text":" "');
    expect(empty).not.toBe(file);
    const { runs } = await compare([empty, file], agentOf([{ text: "Hi." }]), { live: { maxRequests: 9 } });
    expect(runs.map(({ verdict }) => verdict)).toEqual(["failed", "equal"]);
    expect(runs[0]!.why).toContain("cannot begin again");
  });

  it("plays a run of two processes from its beginning", async () => {
    const store = memoryStore();
    const turns = [weather("Paris"), { text: "It rains." }];
    const record = recorder();
    const first = agentOf([turns[0]!, { hang: true }], [], { store, record });
    const run = first.run("Go.", {
      id: "one",
      onEvent: ({ type, iteration }) => {
        if (type === "attempt-start" && iteration === 2) void first.close({ recoverable: true });
      },
    });
    await run.result;
    const again = agentOf([turns[1]!], [], { store, record: recorder() }).resume("one");
    expect((await again.result).outcome).toBe("completed");
    const [head, tail] = [run.export(), again.export()].map(
      (text) => JSON.parse(text) as { processes: unknown[] },
    );
    const both = JSON.stringify({ ...tail, processes: [...head!.processes, ...tail!.processes] });
    expect((await one(both, agentOf(turns))).verdict).toBe("equal");
    const rest = await one(again.export(), agentOf(turns));
    expect(rest).toMatchObject({ verdict: "stopped", why: "The file begins in the middle of the run." });
  });

  it("neither keeps nor traces what it asks", async () => {
    const noted: string[] = [];
    const turns = [{ text: "Hi." }];
    const agent = agentOf(turns, [], {
      store: { append: () => void noted.push("append"), load: () => undefined },
      trace: () => ({ onEvent: () => void noted.push("trace") }),
      onFailure: "throw",
    });
    expect((await one(await recorded(turns), agent)).verdict).toBe("equal");
    expect(noted).toEqual([]);
  });
});

describe("the budget", () => {
  const turns = [weather("Paris"), { text: "It rains." }];
  const three = async () => Array<string>(3).fill(await recorded(turns));
  const repeated = [...turns, ...turns, ...turns];

  it("is required, and its bounds are checked", async () => {
    const files = await three();
    await expect(compare(files, agentOf(turns), { live: {} })).rejects.toThrow("live: needs a bound");
    await expect(compare(files, agentOf(turns), { live: { maxUsd: 0 } })).rejects.toThrow(
      "live.maxUsd: needs a positive",
    );
    await expect(compare(files, agentOf(turns), { live: { maxusd: 1 } as never })).rejects.toThrow("maxusd");
    const both = compare(files, agentOf(turns), { live: { maxUsd: 1 }, tools: "run" });
    await expect(both).rejects.toThrow('tools: cannot be "run" with live');
  });

  it("of requests ends before the next one is sent", async () => {
    const agent = agentOf(repeated);
    const report = await compare(await three(), agent, { live: { maxRequests: 3 } });
    expect(report.runs.map(({ verdict }) => verdict)).toEqual(["equal", "stopped", "stopped"]);
    expect(report.runs[1]!.why).toBe("The budget is spent.");
    expect(agent.asked.requests.length).toBe(3);
    expect(report.spent.requests).toBe(3);
  });

  it.each([
    ["tokens", { maxTokens: 250 }],
    ["money", { maxUsd: 0.25 }],
  ])("of %s ends the comparison, and the report says what was spent", async (_, live) => {
    const usage = { inputTokens: 90, outputTokens: 10 };
    const agent = agentOf(repeated.map((turn) => ({ ...turn, usage })));
    const report = await compare(await three(), agent, { live });
    expect(report.runs.map(({ verdict }) => verdict)).toEqual(["equal", "stopped", "stopped"]);
    const { requests, tokens, usd } = report.spent;
    expect(requests).toBe(3);
    expect(tokens).toBeGreaterThanOrEqual(250);
    expect(usd).toBeCloseTo(tokens / 1000);
    expect(textReport(report)).toContain(`3  ${tokens} tokens, ${usd.toFixed(4)} US dollars`);
    expect(junitReport(report)).toContain("The budget is spent.");
  });
});

describe("a model as judge", () => {
  const turns = [{ text: "It rains." }];
  const judgeOf = (...answers: Turn[]) => {
    const fetch = scripted(answers);
    const model = anthropic("judge", { fetch, price: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } });
    return { fetch, judge: modelAsJudge(model, "Is it the same?") };
  };
  const said = (pass: boolean) => ({ text: JSON.stringify({ pass, note: "It says so." }) });

  it("sees both runs, and spends from the same budget", async () => {
    const { fetch, judge } = judgeOf(said(true), said(false));
    const file = await recorded(turns);
    const agent = agentOf([{ text: "Rain." }, { text: "Sun." }]);
    const report = await compare([file, file], agent, { live: { maxRequests: 9 }, judges: { judge } });
    expect(report.runs.map(({ judges }) => judges["judge"])).toEqual([
      { pass: true, note: "It says so." },
      { pass: false, note: "It says so." },
    ]);
    const body = JSON.stringify(fetch.requests[0]!.body);
    for (const text of ["Is it the same?", "It rains.", "Rain."]) expect(body).toContain(text);
    expect(report.spent.requests).toBe(4);
    expect(report.isFailed).toBe(true);
  });

  it("does not pass when the budget is spent, and needs one", async () => {
    const { fetch, judge } = judgeOf(said(true));
    const file = await recorded(turns);
    const report = await compare([file], agentOf(turns), { live: { maxRequests: 1 }, judges: { judge } });
    expect(report.runs[0]!.judges["judge"]).toEqual({ pass: false, note: "The budget is spent." });
    expect(fetch.requests).toEqual([]);
    await expect(compare([file], agentOf(turns), { judges: { judge } })).rejects.toThrow(
      "live: is needed by a judge",
    );
  });
});
