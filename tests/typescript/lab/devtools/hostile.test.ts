// Secrets that a channel does not tell, and strangers on it.
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { anthropic, createAgent, tool, type Agent, type AgentOptions } from "looplet";
import { publish, type DevtoolsChannel } from "looplet/devtools/publish";
import { scripted } from "looplet/practice";
import { view } from "./viewer.js";

const KEY = "plain-key-of-a-user-42";

const open: MessagePort[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** Two ends, and everything that passes to the second one. */
function tapped(): { ours: MessagePort; theirs: MessagePort; passed: string[] } {
  const { port1: ours, port2: theirs } = new MessageChannel();
  open.push(ours, theirs);
  const passed: string[] = [];
  theirs.addEventListener("message", ({ data }) => void passed.push(JSON.stringify(data)));
  return { ours, theirs, passed };
}

function agentOf(text: string, more: Partial<AgentOptions>): Agent {
  const fetch = scripted([{ toolCalls: [{ name: "look", input: {} }] }, { text: `You sent ${text}.` }]);
  return createAgent({
    model: anthropic("m", { apiKey: KEY, headers: { "x-team": "team-secret-1" }, fetch }),
    tools: {
      look: tool({ description: "looks", inputSchema: { type: "object" }, execute: () => ({ env: text }) }),
    },
    ...more,
  });
}

beforeAll(async () => void (await agentOf("", {}).run("Hi").result), 60_000);

it("no key, no header of the model and no text that looks like a key is told, whoever repeats it", async () => {
  const { ours, theirs, passed } = tapped();
  const viewer = await view(theirs);
  const { record } = publish(ours);
  await viewer.source("Agents");
  const run = agentOf(`${KEY} and ghp_abcdefghijklmnop1234`, { record }).run(
    "Mine is sk-abcdefghijklmnop1234.",
  );
  expect((await run.result).text).toContain(KEY);
  const { playback } = await viewer.seen(run.id);
  expect(playback.at(playback.steps.length - 1).text).toMatch(/^You sent \*+ and \*+\.$/);
  const all = passed.join("\n");
  expect(all).toContain('"looplet":1');
  for (const secret of [KEY, "team-secret-1", "ghp_abcdefghijklmnop1234", "sk-abcdefghijklmnop1234"])
    expect(all).not.toContain(secret);
});

/** More levels than a file may have, and few enough for a channel. */
const DEEP = JSON.parse(`${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}`) as object;

/** Values in place of any field. */
const WRONG = [
  null,
  undefined,
  7,
  -1,
  1.5,
  2 ** 60,
  NaN,
  "x",
  "__proto__",
  [],
  [null],
  {},
  { length: 1e9 },
  true,
];

/** The message with each of its fields replaced by each of these values, and without it. Any text is a name. */
function* spoilt(message: { readonly [name: string]: unknown }): Generator<object> {
  for (const name of Object.keys(message))
    for (const value of WRONG)
      if (typeof value !== "string" || !/^(source|run)$/.test(name)) yield { ...message, [name]: value };
  for (const name of Object.keys(message)) {
    const { [name]: _, ...rest } = message;
    yield rest;
  }
}

describe("messages of strangers", () => {
  it("a publisher answers none that is not whole, and its runs go on", async () => {
    const { ours, theirs } = tapped();
    const publisher = publish(ours);
    const agent = agentOf("nothing", { record: publisher.record });
    publisher.offer({ support: agent });
    const viewer = await view(theirs);
    const { id: source } = await viewer.source("Agents");
    const run = agent.run("Hi");
    await run.result;
    const { playback } = await viewer.seen(run.id);
    const journal = playback.at(playback.steps.length - 1).journal;
    const asked = { looplet: 1, source, request: 1, run: run.id };
    const changes = { model: "m", system: "", without: [], options: {}, told: "" };
    const from = { run: run.id, step: 1 };
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    process.on("uncaughtException", onError);
    for (const message of [
      { ...asked, type: "hello" },
      { ...asked, type: "export" },
      { ...asked, type: "abort" },
      { ...asked, type: "answer", questionId: 1, answer: {} },
      { ...asked, type: "fork", agent: "support", from: 7, journal, changes: { told: 7 } },
      { ...asked, type: "fork", agent: "__proto__", from, journal, changes },
      { ...asked, type: "constructor" },
    ])
      for (const one of spoilt(message)) theirs.postMessage(one);
    for (const one of WRONG) theirs.postMessage(one);
    await viewer.seen(run.id);
    process.off("uncaughtException", onError);
    expect(errors).toEqual([]);
    // A fork whose changes are wrong begins no run.
    expect([...viewer.runs.keys()]).toEqual([run.id]);
  });

  it("devtools take none that is not whole, and ask a publisher of gaps once", async () => {
    const { ours, theirs } = tapped();
    const asked: unknown[] = [];
    ours.addEventListener("message", ({ data }) => void asked.push(data));
    const record = publish(ours, { name: "honest" }).record;
    const viewer = await view(theirs);
    await viewer.source("honest");
    const run = agentOf("nothing", { record }).run("Hi");
    await run.result;
    const { source, processes } = await viewer.seen(run.id);
    const steps = viewer.runs.get(run.id)!.playback.steps.length;
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    process.on("uncaughtException", onError);
    const told = { looplet: 1, source: source.id, run: run.id };
    const { head } = processes[0]!;
    const inputs = processes[0]!.inputs.slice(0, 1);
    const begun = asked.length;
    for (const message of [
      { ...told, type: "source", name: "honest", agents: [{ name: "a", model: "m", system: "", tools: [] }] },
      { ...told, type: "source", name: "other", agents: [{ name: "a", model: "m", system: "", tools: 7 }] },
      { ...told, type: "process", process: 0, head, from: { run: "x", step: 0 } },
      { ...told, type: "process", process: 2 ** 31, head },
      { ...told, run: "deep", type: "process", process: 0, head: { ...head, config: DEEP } },
      { ...told, type: "inputs", process: 0, at: 0, inputs },
      { ...told, type: "inputs", process: 0, at: 2 ** 31, inputs },
      { ...told, type: "inputs", process: 0, at: 0, inputs: [{ ...inputs[0], random: 1 }] },
      { ...told, type: "reply", request: 1, value: "x", problem: "y" },
    ])
      for (const one of spoilt(message)) ours.postMessage(one);
    for (const one of WRONG) ours.postMessage(one);
    await viewer.file(run.id);
    process.off("uncaughtException", onError);
    expect(errors).toEqual([]);
    expect([...viewer.runs.keys()]).toEqual([run.id]);
    expect(viewer.runs.get(run.id)!.playback.steps).toHaveLength(steps);
    const agents = [...viewer.sources.values()].flatMap((source) => source.agents);
    expect(agents.filter(({ tools }) => !Array.isArray(tools))).toEqual([]);
    // Gaps are asked for once in a row, and the file once; more than 100 of the messages show a gap.
    expect(asked.length - begun).toBeLessThan(5);
  });

  it("a reply counts if it comes from the publisher that was asked", async () => {
    const name = "looplet strangers";
    const channels = [1, 2, 3].map(() => new BroadcastChannel(name)) as [
      BroadcastChannel,
      BroadcastChannel,
      BroadcastChannel,
    ];
    const [ours, theirs, stranger] = channels;
    stranger.onmessage = ({ data }: MessageEvent) => {
      const { request } = data as { request?: number };
      if (request !== undefined)
        stranger.postMessage({ looplet: 1, source: "stranger", type: "reply", request, value: "forged" });
    };
    const { record } = publish(ours);
    const viewer = await view(theirs);
    await viewer.source("Agents");
    const run = agentOf("nothing", { record }).run("Hi");
    await run.result;
    expect(await viewer.file(run.id)).toContain('"processes"');
    for (const channel of channels) channel.close();
  });
});

describe("a channel that is gone", () => {
  it("ends no run", async () => {
    const channel: DevtoolsChannel = {
      postMessage() {
        throw new Error("closed");
      },
      addEventListener() {},
      removeEventListener() {},
    };
    const { record } = publish(channel);
    const run = agentOf("nothing", { record }).run("Hi");
    expect((await run.result).outcome).toBe("completed");
  });

  it("answers the open questions of devtools that are detached", async () => {
    const { theirs } = tapped();
    const viewer = await view(theirs);
    const asked = viewer.attachment.ask("nobody", { type: "export", run: "x" });
    viewer.attachment.detach();
    await expect(asked).rejects.toThrow("detached");
  });

  it("is not told of runs by a publisher that was closed", async () => {
    const { ours, theirs, passed } = tapped();
    const publisher = publish(ours);
    publisher.close();
    await agentOf("nothing", { record: publisher.record }).run("Hi").result;
    ours.postMessage({ type: "behind" });
    const last = new Promise((resolve) => {
      theirs.addEventListener(
        "message",
        ({ data }) => (data as { type: string }).type === "behind" && resolve(data),
      );
    });
    theirs.start();
    await last;
    expect(passed.map((text) => (JSON.parse(text) as { type: string }).type)).toEqual([
      "source",
      "gone",
      "behind",
    ]);
  });
});

it("publish names a channel that is none", () => {
  expect(() => publish(7 as never)).toThrow(/^channel: needs a BroadcastChannel/);
  expect(() => publish({ postMessage() {} } as never)).toThrow(/channel/);
  const { ours } = tapped();
  expect(() => publish(ours, { keep: 0 })).toThrow(/keep/);
  expect(() => publish(ours).offer({ a: {} as never })).toThrow(/^a: needs an agent of createAgent/);
});
