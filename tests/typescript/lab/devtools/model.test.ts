// The model of devtools: what was under way and when, states behind steps in any order, searches, and edited inputs.
import { beforeAll, describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, handoff, subagent, tool, type Agent } from "looplet";
import { publish } from "looplet/devtools/publish";
import { scripted, type ScriptedStep } from "looplet/practice";
import { fork, recorder, redact, replay } from "looplet/replay";
import { expectReplay } from "looplet/testing";
import { loadWasm } from "../../../../src/typescript/core/host/wasm.js";
import { attempted, laneOrder, openAt } from "../../../../src/typescript/lab/devtools/model/effects.js";
import { budgetsAt } from "../../../../src/typescript/lab/devtools/model/budgets.js";
import { Lab } from "../../../../src/typescript/lab/devtools/model/lab.js";
import { OpenedRun } from "../../../../src/typescript/lab/devtools/model/opened-run.js";
import { Search } from "../../../../src/typescript/lab/devtools/model/search.js";
import { readLoop, type LoopProcess } from "../../../../src/typescript/lab/replay/loop-file.js";
import { Playback } from "../../../../src/typescript/lab/replay/playback.js";

const model = anthropic("m", { apiKey: "k" });
const sent: string[] = [];
let file: string;

function agentWith(answers: ReturnType<typeof scripted>, done: string[] = []): Agent {
  const acts = (name: string, output: unknown, more: { readOnly?: boolean; needsApproval?: boolean }) =>
    tool({
      description: name,
      inputSchema: { type: "object" },
      ...more,
      execute: () => (done.push(name), output),
    });
  const digger = createAgent({ model, tools: { dig: acts("dig", "gold", { readOnly: true }) } });
  return createAgent({
    model,
    record: recorder(),
    limits: { maxIterations: 9 },
    tools: {
      order: acts("order", { sum: 20 }, { readOnly: true }),
      refund: acts("refund", "Refunded", { needsApproval: true }),
      digger: subagent(digger, { description: "digs" }),
    },
    fetch: (url, init) => {
      sent.push(new TextDecoder().decode(init.body as Uint8Array));
      return answers(url, init as never) as Promise<Response>;
    },
  });
}

/** An agent with a subagent and an agent to hand off to, each with a model of its own. */
function team(name: string, [root, sub, next]: readonly (readonly ScriptedStep[])[]): Agent {
  const made = (more: string, turns: readonly ScriptedStep[]) =>
    anthropic(name + more, { apiKey: "k", fetch: scripted(turns) });
  const dig = tool({
    description: "digs",
    inputSchema: { type: "object" },
    readOnly: true,
    execute: () => 1,
  });
  const helper = createAgent({ model: made("-sub", sub!), tools: { dig } });
  const billing = createAgent({ model: made("-next", next!), tools: { dig } });
  return createAgent({
    model: made("", root!),
    record: recorder(),
    tools: {
      helper: subagent(helper, { description: "digs" }),
      billing: handoff(billing, { name: "billing", description: "bills" }),
    },
  });
}

beforeAll(async () => {
  const agent = agentWith(
    scripted([
      { status: 529, error: { type: "overloaded_error", message: "busy" } },
      { text: ["Let me lo", "ok."], toolCalls: [{ id: "a", name: "order", input: {} }] },
      { toolCalls: [{ id: "b", name: "refund", input: {} }] },
      { toolCalls: [{ id: "c", name: "digger", input: { prompt: "Dig." } }] },
      { toolCalls: [{ id: "d", name: "dig", input: {} }] },
      { text: "Gold." },
      { text: "All is paid." },
    ]),
  );
  vi.useFakeTimers();
  const run = agent.run("Pay.", {
    onEvent: (event) => {
      if (event.type === "question" && event.question === "permission")
        run.answer(event.questionId, { behavior: "allow" });
    },
  });
  while (run.outcome === undefined) await vi.advanceTimersByTimeAsync(100);
  vi.useRealTimers();
  expect((await run.result).text).toBe("All is paid.");
  file = run.export();
});

async function opened(text = file): Promise<OpenedRun> {
  const run = new OpenedRun({ key: "k", id: "i", name: "n" }, await loadWasm());
  for (const { inputs, ...head } of readLoop(text).processes) {
    run.begin(head);
    run.add(inputs);
  }
  return run;
}

describe("an opened run", () => {
  it("has a lane for the models of each agent and for each tool, those of an agent together", async () => {
    const { effects } = await opened();
    const named = laneOrder(effects.lanes).map((at) => {
      const { agentPath, toolName } = effects.lanes[at]!;
      return `${agentPath} ${toolName ?? "models"}`;
    });
    expect(named).toEqual([
      "root models",
      "root order",
      "root refund",
      "root/digger models",
      "root/digger dig",
    ]);
  });

  it("shows the lanes of an agent together, whichever came first", () => {
    const lanes = [
      { agentPath: "root", toolName: undefined },
      { agentPath: "root/digger", toolName: undefined },
      { agentPath: "root", toolName: "order" },
    ];
    expect(laneOrder(lanes)).toEqual([0, 2, 1]);
  });

  it("names the models of a fork, also of a subagent that was under way and after a handoff", async () => {
    const call = (name: string, input: object = {}) => ({ toolCalls: [{ id: name, name, input }] });
    const run = team("old", [
      [call("helper", { prompt: "Dig." }), call("billing")],
      [call("dig"), { text: "Gold." }],
      [call("dig"), { text: "Paid." }],
    ]).run("Go.");
    expect((await run.result).text).toBe("Paid.");
    const { steps } = await replay(run.export());
    const first = new Set<string>();
    for (let at = 1; at < steps.length; at += 4) {
      const entries = await fork(run.export(), at);
      if (entries.length === 0) continue;
      const answers = [{ text: "One." }, { text: "Two." }];
      const again = team("new", [answers, answers, answers]).resume(entries);
      await again.result;
      const { effects } = await opened(again.export());
      const models = effects.all.filter(({ kind }) => kind === "model");
      for (const { name } of models) expect(name).toMatch(/^new/);
      const { lane, name } = models[0]!;
      first.add(`${effects.lanes[lane]!.agentPath} ${name}`);
    }
    expect([...first]).toEqual(["root new", "root/helper new-sub", "root new-next"]);
  });

  it("knows what was under way behind each step, and how it ended", async () => {
    const { effects, steps } = await opened();
    const told = effects.all.map(({ kind, name, failed }) => [kind, name, failed].filter(Boolean).join(" "));
    expect(told).toEqual([
      "model m overloaded",
      "wait attempt 2 after overloaded",
      "model m",
      "tool order",
      "model m",
      "question permission",
      "tool refund",
      "model m",
      "model m",
      "tool dig",
      "model m",
      "model m",
    ]);
    expect(effects.all.every(({ from, to }) => to !== undefined && to >= from)).toBe(true);
    expect(openAt(effects.all, steps.length - 1)).toEqual([]);
    const { from } = effects.all.find(({ kind }) => kind === "question")!;
    expect(openAt(effects.all, from).map(({ kind }) => kind)).toEqual(["question"]);
    const order = effects.all.find(({ name }) => name === "order")!;
    expect(attempted(effects.all, order.to!)).toBe(order);
  });

  it("has the state behind each step, in any order, as a replay has it", async () => {
    const run = await opened();
    const { at, steps } = await replay(file);
    const order = [...steps.keys()].sort((one, other) => ((one * 7919) % 101) - ((other * 7919) % 101));
    for (const step of order) expect(run.moment(step)).toEqual(at(step));
    expect(run.requestBefore(0)).toBe(-1);
    run.requests.forEach(({ step }, index) => expect(run.requestBefore(step)).toBe(index));
    expect(run.requestBefore(steps.length - 1)).toBe(sent.length - 1);
    const budgets = budgetsAt(run.playback.processOf(0).process, at(steps.length - 1));
    expect(budgets[0]).toMatchObject({ name: "Iterations", used: 4, limit: 9 });
    run.close();
  });

  it("is the same when it is played a little at a time", async () => {
    const run = new OpenedRun({ key: "k", id: "i", name: "n" }, await loadWasm());
    let turns = 0;
    for (const { inputs, ...head } of readLoop(file).processes) {
      run.begin(head, inputs);
      for (let played = 0; !run.advance(() => played++ % 4 === 3);) turns++;
    }
    expect(turns).toBeGreaterThan(10);
    const told = (steps: OpenedRun["steps"]) =>
      steps.map(({ input, events, entries }) => [input, events, entries]);
    expect(told(run.steps)).toEqual(told((await opened()).steps));
    run.close();
  });

  it("finds words that lie across two pieces of a stream, in the step that ends the text", async () => {
    const { steps } = await opened();
    vi.useFakeTimers();
    const search = new Search(steps, "LET ME LOOK", () => {});
    await vi.runAllTimersAsync();
    vi.useRealTimers();
    expect(search.isOver).toBe(true);
    expect(search.found.map((step) => steps[step]!.events.map(({ type }) => type))).toEqual([["text-end"]]);
  });
});

describe("the lab", () => {
  it("goes on from where it is, though keys come faster than frames", async () => {
    const lab = new Lab(() => {});
    await lab.open("bug.loop", file);
    const run = lab.selected!;
    const rows = lab.rowsOf(run);
    expect(lab.stepOf(run)).toBe(run.steps.length - 1);
    lab.walk(run, -Infinity);
    lab.walk(run, 1);
    lab.walk(run, 1);
    expect(lab.stepOf(run)).toBe(rows.at(2));
    lab.walk(run, Infinity);
    lab.walk(run, 1);
    // The last row is followed, also where steps that say nothing come behind it.
    expect(lab.stepOf(run)).toBe(run.steps.length - 1);
    lab.close(run);
    expect(lab.selected).toBe(undefined);
  });
});

describe("the runs of a publisher", () => {
  it("have their prompts as titles, and the latest is shown until its user chooses another one", async () => {
    const { port1, port2 } = new MessageChannel();
    const publisher = publish(port1, { name: "shop" });
    const agent = createAgent({
      model,
      record: publisher.record,
      fetch: scripted([{ text: "One." }, { text: "Two." }, { text: "Three." }]),
    });
    await agent.run("First").result;
    await agent.run(`Second\n  ${"long ".repeat(40)}`).result;
    const lab = new Lab(() => {});
    const detach = lab.attach(port2);
    const title = (): string | undefined => lab.selected?.title;
    await vi.waitFor(() => expect([...lab.runs.values()].map(({ outcome }) => outcome)).toHaveLength(2));
    await vi.waitFor(() => expect(lab.selected?.outcome).toBe("completed"));
    expect(title()).toBe(`Second ${"long ".repeat(10)}lon…`);
    expect(Math.abs(Date.now() - lab.selected!.startedMs!)).toBeLessThan(60_000);
    const [first] = lab.runs.values();
    expect(first!.title).toBe("First");
    lab.select(first!);
    await agent.run("Third").result;
    await vi.waitFor(() => expect(lab.runs.size).toBe(3));
    expect(title()).toBe("First");
    detach();
    publisher.close();
    port2.close();
  });
});

describe("a playback", () => {
  it("has the bodies of requests that are asked for, as they were sent", async () => {
    const { requests } = await replay(file);
    expect(requests.map(({ body }) => body)).toEqual(sent);
    const { playback } = await opened();
    expect(playback.bodies([5, 0, 2])).toEqual([sent[5], sent[0], sent[2]]);
    expect(playback.bodies([99])).toEqual([""]);
  });

  it("gives the journal of a step with another input, from which a run goes on", async () => {
    const { playback, effects } = await opened();
    const step = effects.all.find(({ name }) => name === "order")!.to!;
    const json = {
      toolFinished: { call: callIn(playback, step), result: { value: JSON.stringify({ sum: 7 }) } },
    };
    const journal = playback.journalAt(step, { json });
    sent.length = 0;
    const done: string[] = [];
    const again = agentWith(scripted([{ text: "Seven." }]), done).resume(journal);
    expect((await again.result).text).toBe("Seven.");
    expect(done).toEqual([]);
    expect(sent[0]).toContain('{\\"sum\\":7}');
    expect(sent[0]).not.toContain('{\\"sum\\":20}');
    expect(() => playback.journalAt(step, { json: { toolFinished: "no" } })).toThrow("cannot be played");
  });

  it("names the model of a fork, whose file begins in the middle of a run", async () => {
    const { playback, effects } = await opened();
    const step = effects.all.find(({ name }) => name === "order")!.to!;
    const again = agentWith(scripted([{ text: "Paid." }])).resume(playback.at(step).journal);
    await again.result;
    const fork = new OpenedRun({ key: "f", id: "f", name: "f" }, await loadWasm());
    const [{ inputs, ...head }] = readLoop(again.export()).processes as [LoopProcess];
    fork.begin(head);
    fork.add(inputs);
    expect(fork.effects.all.filter(({ kind }) => kind === "model").map(({ name }) => name)).toEqual(["m"]);
  });

  it("has its states again after it has let go of the engine's memory", async () => {
    const { playback, steps } = await opened();
    const last = playback.at(steps.length - 1);
    playback.close();
    expect(playback.at(steps.length - 1)).toEqual(last);
    playback.close();
  });
});

describe("redact", () => {
  it("takes texts out of a file that was written already, and the file still plays", async () => {
    const told = redact(file, { redact: (text) => text.replaceAll("Refunded", "********") });
    expect(file).toContain("Refunded");
    expect(told).not.toContain("Refunded");
    await expectReplay(told);
    expect(redact(file)).toBe(file);
  });
});

function callIn(playback: Playback, step: number): number {
  const { input } = playback.steps[step]!.input;
  return ("json" in input && (input.json as { toolFinished: { call: number } }).toolFinished.call) || 0;
}
