// Recorded runs whose agent has other hooks: its functions run, and recorded answers come in place of models.
import { beforeAll, expect, it } from "vitest";
import { anthropic, createAgent, subagent, tool, type Agent, type AgentOptions } from "looplet";
import { compare } from "looplet/compare";
import { scripted, type ScriptedTurn } from "looplet/practice";
import { recorder } from "looplet/replay";

const city = { type: "object", properties: { city: { type: "string" } } } as const;
const TURNS: ScriptedTurn[] = [
  { toolCalls: [{ name: "weather", input: { city: "Paris" } }] },
  { text: "It rains." },
];

/** The calls that the tool has got. */
let called = 0;

function agentOf(turns: readonly ScriptedTurn[], more: Partial<AgentOptions> = {}): Agent {
  return createAgent({
    model: anthropic("test", { fetch: scripted([...turns]) }),
    tools: {
      weather: tool({
        description: "Weather",
        readOnly: true,
        inputSchema: city,
        execute: () => `rain ${++called}`,
      }),
    },
    ...more,
  });
}

async function recorded(turns = TURNS, more: Partial<AgentOptions> = {}): Promise<string> {
  const run = agentOf(turns, { record: recorder(), ...more }).run("Go.");
  expect((await run.result).outcome).toBe("completed");
  return run.export();
}

async function one(file: string, more: Partial<AgentOptions>) {
  called = 0;
  const { runs } = await compare([file], agentOf([], more), { hooks: "run" });
  expect(called).toBe(0);
  return runs[0]!;
}

const before = (hook: (fact: { toolName: string }) => object): Partial<AgentOptions> => ({
  hooks: { PreToolUse: [{ hooks: [hook as never] }] },
});

// An unoptimised engine takes seconds to compile.
beforeAll(async () => void (await recorded()), 60_000);

it("a hook that changes nothing leaves a run equal", async () => {
  const seen: string[] = [];
  const hooks = before(({ toolName }) => {
    seen.push(toolName);
    return {};
  });
  expect(await one(await recorded(), hooks)).toMatchObject({ verdict: "equal", changed: ["hooks"] });
  expect(seen).toEqual(["weather"]);
});

it("a hook that adds a text for the model shows in the next request", async () => {
  const hooks = {
    hooks: { PostToolUse: [{ hooks: [() => ({ additionalContext: "It is late." })] }] },
  } as unknown as Partial<AgentOptions>;
  const run = await one(await recorded(), hooks);
  expect(run).toMatchObject({ verdict: "another request", firstDifference: { kind: "request", number: 2 } });
  expect(run.firstDifference!.diff).toContain("It is late.");
});

it("a hook whose code has changed is called again, and its old answer does not count", async () => {
  const file = await recorded(
    TURNS,
    before(() => ({})),
  );
  const denied = before(() => ({ decision: "deny", reason: "Not today." }));
  const { runs } = await compare([file], agentOf([], denied));
  expect(runs[0]!.verdict).toBe("equal");
  const run = await one(file, denied);
  expect(run.verdict).toBe("another request");
  expect(run.firstDifference!.parts).toEqual(["message 3 (user): result of `weather`"]);
  expect(run.firstDifference!.diff).toContain("Not today.");
});

it("a changed prompt is found as in any other comparison", async () => {
  const run = await one(await recorded(TURNS, { system: "Old." }), { ...before(() => ({})), system: "New." });
  expect(run.firstDifference).toMatchObject({ number: 1, parts: ["system prompt"], diff: "- Old.\n+ New." });
});

it("failed attempts come again without their waits", async () => {
  const turns: ScriptedTurn[] = [{ status: 529 }, { text: "It ra", dropAfterEvents: 3 }, ...TURNS];
  const file = await recorded(turns, { retry: { delaysMs: [0], jitterMs: 0 } });
  const slow = { ...before(() => ({})), retry: { baseMs: 3_600_000, maxMs: 7_200_000 } };
  expect((await one(file, slow)).verdict).toBe("equal");
});

it("answers go to the subagents that got them", async () => {
  const tools = (turns: readonly ScriptedTurn[]) => ({
    helper: subagent({ description: "Helps", model: anthropic("inner", { fetch: scripted([...turns]) }) }),
  });
  const call = { toolCalls: [{ name: "helper", input: { prompt: "Help." } }] };
  const file = await recorded([call, { text: "Done." }], { tools: tools([{ text: "Helped." }]) });
  expect((await one(file, { ...before(() => ({})), tools: tools([]) })).verdict).toBe("equal");
});

it("a request that does not come any more is missing, unless the end says it", async () => {
  const stopping = { hooks: { Stop: [{ hooks: [() => ({ decision: "block", reason: "Go on." })] }] } };
  const file = await recorded([...TURNS.slice(0, 1), { text: "It rains." }]);
  const run = await one(file, stopping as unknown as Partial<AgentOptions>);
  expect(run).toMatchObject({ verdict: "another request", firstDifference: { what: "Request 3 is new." } });
  const short = await one(file, { ...before(() => ({})), limits: { maxIterations: 1 } });
  expect(short.verdict).toBe("another decision");
});

it("they exclude the other ways to run", async () => {
  const file = await recorded();
  const both = compare([file], agentOf([]), { hooks: "run", tools: "run" });
  await expect(both).rejects.toThrow('hooks: cannot be "run" with live or with tools: "run"');
});
