// Runs that are told to devtools on a channel, and what devtools ask of them.
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { anthropic, createAgent, subagent, tool, type Agent, type AgentOptions } from "looplet";
import { publish, type DevtoolsChannel, type Publisher } from "looplet/devtools/publish";
import { scripted, type ScriptedStep } from "looplet/practice";
import { replay } from "looplet/replay";
import { memoryStore } from "looplet/stores";
import { view, type Seen, type Viewer } from "./viewer.js";

const KEY = "plain-key-of-a-user-42";

/** What is closed behind each test. */
const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

function opened<T extends { close(): void }>(one: T): T {
  open.push(one);
  return one;
}

let names = 0;

/** The two ends of a channel of each kind. */
const KINDS: { readonly [name: string]: () => readonly [DevtoolsChannel, DevtoolsChannel] } = {
  MessageChannel() {
    const { port1, port2 } = new MessageChannel();
    return [opened(port1), opened(port2)];
  },
  BroadcastChannel() {
    const name = `looplet ${++names}`;
    return [opened(new BroadcastChannel(name)), opened(new BroadcastChannel(name))];
  },
};

const port = () => KINDS["MessageChannel"]!();

const acts = (name: string, more: object = {}) =>
  tool({
    description: name,
    inputSchema: { type: "object", properties: { n: { type: "number" } } },
    ...more,
    execute: (_, { toolCallId }) => `output of ${toolCallId}`,
  });

const call = (id: string, name: string, input: object = { n: 1 }) => ({ id, name, input });

const FULL: readonly ScriptedStep[] = [
  {
    thinking: { text: "Hm." },
    text: ["Let me ", "see – ", "ja 🦀."],
    toolCalls: [call("a", "read"), call("b", "pay")],
  },
  { toolCalls: [call("c", "helper", { prompt: "Dig." })] },
  { toolCalls: [call("d", "dig")] },
  { text: "Gold." },
  { text: "All is paid." },
];

/** An agent with a subagent, whose approvals come from a function. */
function agentOf(record: AgentOptions["record"], turns = FULL, more: Partial<AgentOptions> = {}): Agent {
  const model = anthropic("m", {
    apiKey: KEY,
    headers: { "x-team": "team-secret-1" },
    fetch: scripted(turns),
  });
  const digger = createAgent({ model, tools: { dig: acts("dig") } });
  return createAgent({
    model,
    system: "Pay what is due.",
    tools: {
      read: acts("read", { readOnly: true }),
      pay: acts("pay"),
      helper: subagent(digger, { name: "helper", description: "digs" }),
    },
    retry: { maxRetries: 0 },
    record,
    ...more,
  });
}

/** Each step of the run as devtools have played it equals that of the file. */
async function expectEqual(viewer: Viewer, id: string): Promise<Seen> {
  const seen = await viewer.seen(id);
  const played = await replay(await viewer.file(id));
  const plain = (steps: Seen["playback"]["steps"]) =>
    steps.map(({ requests, ...step }) => ({
      ...step,
      requests: requests.map(({ method, url, body }) => ({ method, url, body })),
    }));
  expect(plain(seen.playback.steps)).toEqual(plain([...played.steps]));
  played.steps.forEach((_, at) => expect(seen.playback.at(at)).toEqual(played.at(at)));
  seen.playback.close();
  return seen;
}

// An unoptimised engine takes seconds to compile.
beforeAll(async () => void (await agentOf(undefined).run("Go.").result), 60_000);

describe.each(Object.keys(KINDS))("on a %s", (kind) => {
  it("a run is told as it goes, and each step equals that of its file", async () => {
    const [ours, theirs] = KINDS[kind]!();
    const viewer = await view(theirs);
    const { record } = publish(ours, { name: "checkout" });
    await viewer.source("checkout");
    let early = 0;
    const read = {
      ...acts("read", { readOnly: true }),
      execute: async () => (early = (await viewer.seen(run.id)).playback.steps.length),
    };
    const turns = [...FULL.slice(0, 1), { text: "Paid." }, { text: "Kindly." }];
    const run = agentOf(record, turns, { tools: { read, pay: acts("pay") } }).run("Pay.", {
      onEvent: (event) => {
        if (event.type !== "tool-call" || event.toolName !== "read") return;
        // An input while the outputs of another one wait, and one behind them in the same task.
        run.steer("Be quick.");
        void Promise.resolve().then(() => run.followUp("And be kind."));
      },
    });
    const result = await run.result;
    const { playback, from } = await expectEqual(viewer, run.id);
    expect(result.outcome).toBe("completed");
    expect(from).toBeUndefined();
    expect(early).toBeGreaterThan(0);
    expect(playback.steps.flatMap(({ events }) => events.map(({ type }) => type))).toContain(
      "steer-delivered",
    );
    expect(playback.at(playback.steps.length - 1)).toMatchObject({
      outcome: "completed",
      messages: result.messages,
    });
  });

  it("runs of before devtools came are told when they come, with those of subagents", async () => {
    const [ours, theirs] = KINDS[kind]!();
    const { record } = publish(ours);
    const agent = agentOf(record);
    const run = agent.run("Pay.");
    expect((await run.result).text).toBe("All is paid.");
    const viewer = await view(theirs);
    await viewer.source("Agents");
    const { playback } = await expectEqual(viewer, run.id);
    const paths = playback.steps.flatMap(({ events }) => events.map((event) => event.agentPath));
    expect(new Set(paths)).toEqual(new Set(["root", "root/helper"]));
  });
});

it("devtools that come in the middle of a run get the rest of it once", async () => {
  const [ours, theirs] = port();
  const { record } = publish(ours);
  let arrived!: (viewer: Viewer) => void;
  const viewed = new Promise<Viewer>((resolve) => (arrived = resolve));
  const tools = {
    read: tool({
      description: "read",
      inputSchema: { type: "object" },
      execute: async () => {
        const viewer = await view(theirs);
        await viewer.source("Agents");
        arrived(viewer);
        return "read";
      },
    }),
  };
  const turns = [{ toolCalls: [call("a", "read", {})] }, { text: "Done." }];
  const run = agentOf(record, turns, { tools }).run("Go.");
  await run.result;
  await expectEqual(await viewed, run.id);
});

it("a run that is resumed goes on in another process of itself", async () => {
  const [ours, theirs] = port();
  const { record } = publish(ours);
  const viewer = await view(theirs);
  await viewer.source("Agents");
  const store = memoryStore();
  const first = agentOf(record, [{ toolCalls: [call("a", "pay")] }], { store });
  const run = first.run("Pay.");
  await run.saved();
  await first.close({ recoverable: true });
  await viewer.seen(run.id);
  const second = agentOf(record, [{ toolCalls: [call("b", "read")] }, { text: "Paid." }], { store });
  const again = second.resume(run.id);
  expect((await again.result).text).toBe("Paid.");
  const { processes, playback } = await expectEqual(viewer, run.id);
  expect(processes).toHaveLength(2);
  expect(processes.map(({ head }) => "entries" in head)).toEqual([false, true]);
  expect(playback.at(playback.steps.length - 1).text).toBe("Paid.");
});

it("two publishers on one channel tell their own runs, and answer for them alone", async () => {
  const name = `looplet ${++names}`;
  const channel = () => opened(new BroadcastChannel(name));
  const [one, other] = [publish(channel(), { name: "one" }), publish(channel(), { name: "other" })];
  const [viewer, second] = [await view(channel()), await view(channel())];
  const [a, b] = [await viewer.source("one"), await viewer.source("other")];
  const runs = [one, other].map(({ record }) => agentOf(record, [{ text: "Hi." }]).run("Hi"));
  for (const run of runs) await run.result;
  const [first, last] = [await expectEqual(viewer, runs[0]!.id), await expectEqual(viewer, runs[1]!.id)];
  expect([first.source.id, last.source.id]).toEqual([a.id, b.id]);
  await expectEqual(second, runs[0]!.id);
  const wrong = viewer.attachment.ask(b.id, { type: "export", run: runs[0]!.id });
  await expect(wrong).rejects.toThrow("no longer exists");
  other.close();
  await expect.poll(() => viewer.gone).toEqual([b.id]);
});

it("a long run is told in many messages, so that each passes every channel", async () => {
  const [ours, theirs] = port();
  const lengths: number[] = [];
  theirs.addEventListener("message", ({ data }) => {
    const { inputs } = data as { inputs?: unknown[] };
    if (inputs !== undefined) lengths.push(inputs.length);
  });
  const { record } = publish(ours);
  const turns = Array.from({ length: 60 }, (_, at) => ({ toolCalls: [call(`c${at}`, "read")] }));
  const run = agentOf(record, [...turns, { text: "Done." }], { limits: { maxIterations: 100 } }).run("Go.");
  expect((await run.result).text).toBe("Done.");
  const viewer = await view(theirs);
  await viewer.source("Agents");
  const { playback } = await viewer.seen(run.id);
  const { steps, at } = await replay(await viewer.file(run.id));
  expect(steps.length).toBeGreaterThan(400);
  expect(playback.at(playback.steps.length - 1)).toEqual(at(steps.length - 1));
  expect(Math.max(...lengths)).toBe(200);
});

it("a page that is left takes its agents with it, and brings them back with their runs", async () => {
  const page = new EventTarget();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  const [ours, theirs] = port();
  const viewer = await view(theirs);
  const publisher = publish(ours);
  const agent = agentOf(publisher.record, [{ text: "Hi." }, { text: "Hello." }]);
  await agent.run("Hi").result;
  const { id } = await viewer.source("Agents");
  page.dispatchEvent(new Event("pagehide"));
  await expect.poll(() => viewer.gone).toEqual([id]);
  page.dispatchEvent(new Event("pageshow"));
  const run = agent.run("Hi again");
  await run.result;
  await expectEqual(viewer, run.id);
  publisher.close();
  await expect.poll(() => viewer.gone).toEqual([id, id]);
  page.dispatchEvent(new Event("pageshow"));
  vi.unstubAllGlobals();
});

it("the latest runs are kept, and a forgotten one is not asked for again and again", async () => {
  const [ours, theirs] = port();
  const hellos: unknown[] = [];
  ours.addEventListener("message", ({ data }) => void hellos.push((data as { type: string }).type));
  const { record } = publish(ours, { keep: 2 });
  const runs: string[] = [];
  let release!: () => void;
  const waits = new Promise<void>((resolve) => (release = resolve));
  const tools = {
    wait: tool({ description: "waits", inputSchema: { type: "object" }, execute: () => waits }),
  };
  const turns = [{ toolCalls: [call("a", "wait", {})] }, { text: ["One ", "two ", "three."] }];
  const long = agentOf(record, turns, { tools }).run("Wait.");
  for (let at = 0; at < 3; at++) {
    const run = agentOf(record, [{ text: "Hi." }]).run("Hi");
    await run.result;
    runs.push(run.id);
  }
  // Nobody listens to what was told by now.
  ours.postMessage("behind");
  await new Promise<void>((resolve) => {
    theirs.addEventListener("message", ({ data }) => data === "behind" && resolve());
    theirs.start!();
  });
  const viewer = await view(theirs);
  await viewer.source("Agents");
  await viewer.seen(runs[2]!);
  release();
  await long.result;
  await viewer.seen(runs[2]!);
  expect([...viewer.runs.keys()]).toEqual(runs.slice(1));
  await expect(viewer.file(runs[0]!)).rejects.toThrow("no publisher has");
  expect(hellos.filter((type) => type === "hello")).toHaveLength(2);
});

describe("a fork", () => {
  const turns = [{ toolCalls: [call("a", "read")] }, { text: "Rain." }, { text: "Otherwise." }];

  async function forking(agent: Agent, publisher: Publisher, viewer: Viewer) {
    publisher.offer({ support: agent });
    const run = agent.run("Rain?");
    await run.result;
    await viewer.source("Agents");
    const { source, playback } = await viewer.seen(run.id);
    const step = playback.steps.findIndex(({ events }) => events.some(({ type }) => type === "tool-result"));
    const { journal } = playback.at(step);
    const fork = (changes: object, name = "support") =>
      viewer.attachment.ask(source.id, {
        type: "fork",
        agent: name,
        from: { run: run.id, step },
        journal,
        changes,
      });
    return { run, source, fork, step };
  }

  it("goes on with changes, as a run of its own, and the store does not know it", async () => {
    const [ours, theirs] = port();
    const viewer = await view(theirs);
    const publisher = publish(ours);
    const store = memoryStore();
    const agent = agentOf(publisher.record, turns, { store });
    const { run, source, fork, step } = await forking(agent, publisher, viewer);
    expect(viewer.sources.get("Agents")!.agents).toEqual([
      { name: "support", model: "m", system: "Pay what is due.", tools: ["read", "pay", "helper"] },
    ]);
    const before = await store.load(run.id);
    const changes = { model: "n", system: "Be brief.", without: ["pay"], told: "Say more.", options: {} };
    const id = (await fork(changes))!;
    await expect
      .poll(() => viewer.runs.get(id)?.playback.at(viewer.runs.get(id)!.playback.steps.length - 1).outcome)
      .toBe("completed");
    const { playback, from } = await expectEqual(viewer, id);
    expect(from).toEqual({ run: run.id, step });
    const bodies = playback.steps.flatMap(({ requests }) => requests.map(({ body }) => body));
    expect(bodies).toHaveLength(1);
    expect(JSON.parse(bodies[0]!)).toMatchObject({ model: "n", system: [{ text: "Be brief." }] });
    expect(bodies[0]).toContain("Say more.");
    expect(bodies[0]).not.toContain('"name":"pay"');
    expect(await store.load(id)).toBeUndefined();
    expect(await store.load(run.id)).toEqual(before);
    expect(source.name).toBe("Agents");
  });

  it.each([
    ["an agent that is not offered", {}, "toString", /no agent toString/],
    ["an option that does not exist", { options: { modle: 1 } }, "support", /modle/],
    [
      "a name of a prototype",
      { options: JSON.parse('{"__proto__":{"system":"x"}}') as object },
      "support",
      /__proto__/,
    ],
    ["an option of a wrong type", { options: { limits: 7 } }, "support", /limits/],
  ])("is refused for %s", async (_, changes, name, problem) => {
    const [ours, theirs] = port();
    const viewer = await view(theirs);
    const publisher = publish(ours);
    const { fork } = await forking(agentOf(publisher.record, turns), publisher, viewer);
    await expect(fork(changes, name)).rejects.toThrow(problem);
    expect(viewer.runs.size).toBe(1);
  });

  it("asks devtools its questions, and is ended by them; other runs are not", async () => {
    const [ours, theirs] = port();
    const viewer = await view(theirs);
    const publisher = publish(ours);
    const first = [{ toolCalls: [call("a", "read")] }, { text: "Rain." }];
    const later = [{ toolCalls: [call("b", "pay")] }, { text: "Paid." }, { toolCalls: [call("b", "pay")] }];
    const tools = { read: acts("read", { readOnly: true }), pay: acts("pay", { needsApproval: true }) };
    const agent = agentOf(publisher.record, [...first, ...later], { tools });
    const { run, source, fork } = await forking(agent, publisher, viewer);
    const { attachment } = viewer;
    const end = (id: string) => attachment.ask(source.id, { type: "abort", run: id });
    await expect(end(run.id)).rejects.toThrow("run's own page");
    const asked = async (id: string): Promise<number> => {
      const questions = () =>
        viewer.runs
          .get(id)
          ?.playback.steps.flatMap(({ events }) => events.filter(({ type }) => type === "question")) ?? [];
      await expect.poll(questions).toHaveLength(1);
      return (questions()[0] as { questionId: number }).questionId;
    };
    const outcome = (id: string) => {
      const { playback } = viewer.runs.get(id)!;
      return playback.at(playback.steps.length - 1).outcome;
    };
    const id = (await fork({}))!;
    const questionId = await asked(id);
    const answer = (behavior: unknown, question = questionId) =>
      attachment.ask(source.id, {
        type: "answer",
        run: id,
        questionId: question,
        answer: { behavior } as never,
      });
    await expect(answer("perhaps")).rejects.toThrow(/behavior/);
    await expect(answer("allow", 12345)).rejects.toThrow("no longer open");
    await answer("allow");
    await expect.poll(() => outcome(id)).toBe("completed");
    const other = (await fork({}))!;
    await asked(other);
    await end(other);
    await expect.poll(() => outcome(other)).toBe("cancelled");
  });
});

describe("the questions of a run that is under way", () => {
  /** The open question of the run as devtools have seen it. */
  async function asked(viewer: Viewer, id: string) {
    const questions = () =>
      viewer.runs
        .get(id)
        ?.playback.steps.flatMap(({ events }) => events.filter((event) => event.type === "question")) ?? [];
    await expect.poll(questions).toHaveLength(1);
    return questions()[0]!;
  }
  const form = tool({
    description: "form",
    inputSchema: { type: "object" },
    execute: async (_, { elicit }) => (await elicit({ message: "Where?" })).content,
  });
  const tools = { pay: acts("pay", { needsApproval: true }), form };

  it.each([
    ["an approval", "pay", "permission", { behavior: "allow", updatedInput: { n: 2 } }, "output of q"],
    ["a form", "form", "elicitation", { action: "accept", content: { place: "in" } }, { place: "in" }],
  ])("%s is answered by devtools if its agent is offered", async (_, name, kind, answer, output) => {
    const [ours, theirs] = port();
    const viewer = await view(theirs);
    const publisher = publish(ours);
    const agent = agentOf(publisher.record, [{ toolCalls: [call("q", name)] }, { text: "Done." }], { tools });
    const run = agent.run("Go.");
    const { questionId, question } = await asked(viewer, run.id);
    expect(question).toBe(kind);
    const { source } = await viewer.seen(run.id);
    const send = (given: unknown, id = questionId) =>
      viewer.attachment.ask(source.id, {
        type: "answer",
        run: run.id,
        questionId: id,
        answer: given as never,
      });
    await expect(send(answer)).rejects.toThrow("`offer` its agent");
    publisher.offer({ support: agent });
    await expect(send({ behavior: "perhaps" })).rejects.toThrow(/behavior|action/);
    await expect(send(answer, 12345)).rejects.toThrow("no longer open");
    await send(answer);
    const { outcome, toolCalls } = await run.result;
    expect([outcome, toolCalls[0]!.output]).toEqual(["completed", output]);
    await expect(send(answer)).rejects.toThrow("no offered agent");
  });

  it("a call to reconcile of a resumed run of a chat is answered by devtools", async () => {
    const [ours, theirs] = port();
    const viewer = await view(theirs);
    const publisher = publish(ours);
    const store = memoryStore();
    const turns = [{ toolCalls: [call("q", "pay")] }, { text: "Paid." }];
    const hangs = { ...acts("pay"), execute: () => new Promise<never>(() => {}) };
    const first = agentOf(undefined, turns, { store, tools: { pay: hangs } });
    const before = (await first.openChat("c")).run("Pay.");
    for await (const { type } of before.events({ detached: true })) if (type === "tool-call") break;
    await before.saved();
    await first.close({ recoverable: true });
    const next = agentOf(publisher.record, turns.slice(1), { store, tools: { pay: acts("pay") } });
    publisher.offer({ support: next });
    const run = (await next.openChat("c")).current!;
    const { questionId, question } = await asked(viewer, run.id);
    expect(question).toBe("reconcile");
    const { source } = await viewer.seen(run.id);
    const answer = { outcome: "done", output: "receipt 1" } as const;
    await viewer.attachment.ask(source.id, { type: "answer", run: run.id, questionId, answer });
    const { outcome, toolCalls } = await run.result;
    expect([outcome, toolCalls[0]!.output]).toEqual(["completed", "receipt 1"]);
  });
});
