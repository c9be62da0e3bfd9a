/** What `attempt-start` says of each request and the one before it, and who is named for a broken prefix. */
import { describe, expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  gemini,
  handoff,
  openai,
  openaiChat,
  subagent,
  tool,
} from "../../../../src/typescript/core/entry/node.js";
import { scripted, type ScriptedTurn } from "../../../../src/typescript/lab/practice/index.js";
import { recorder, replay } from "../../../../src/typescript/lab/replay/index.js";
import { memoryStore } from "../../../../src/typescript/extras/stores/index.js";
import type {
  Agent,
  AgentOptions,
  Model,
  RunEvent,
  SharedPrefix,
} from "../../../../src/typescript/core/api/index.js";

const look = tool({
  description: "Looks around",
  inputSchema: { type: "object" },
  execute: () => "nothing ".repeat(40),
});
const call: ScriptedTurn = {
  text: "I look. ".repeat(20),
  toolCalls: [{ name: "look", input: { q: "x".repeat(300) } }],
};

/** What the second request of a run on says, and `undefined` for a request that says nothing. */
async function prefixesOf(run: AsyncIterable<RunEvent>): Promise<(SharedPrefix | undefined)[]> {
  const prefixes: (SharedPrefix | undefined)[] = [];
  for await (const event of run) if (event.type === "attempt-start") prefixes.push(event.prefix);
  return prefixes;
}

const breaks = (prefixes: readonly (SharedPrefix | undefined)[]): string[] =>
  prefixes.map((prefix) => {
    if (prefix === undefined) return "none";
    const { broken, appended } = prefix;
    if (broken === undefined) return appended === undefined ? "all" : `appended ${appended}`;
    return [broken.part, broken.message, broken.cause].filter((word) => word !== undefined).join(" ");
  });

/** Calls the tool in three of four answers. */
const echo = scripted(
  Array.from({ length: 100 }, () => (_: unknown, index: number) => (index % 4 < 3 ? call : { text: "{}" })),
);
const claude = (more: object): Model => anthropic("claude-sonnet-4-6", { apiKey: "k", fetch: echo, ...more });
const gpt = (more: object): Model => openai("gpt-6-sol", { apiKey: "k", fetch: echo, ...more });
const google = (more: object): Model => gemini("gemini-3.6-flash", { apiKey: "k", fetch: echo, ...more });

function agentOf(turns: readonly ScriptedTurn[], options: Partial<AgentOptions> = {}): Agent<any, any> {
  const model = openaiChat("gpt-4.1", { apiKey: "k", fetch: scripted(turns) });
  return createAgent({ model, system: "Be brief.", tools: { look }, events: { prefix: true }, ...options });
}

describe("attempt-start with events.prefix", () => {
  it("has nothing without the option, and is the same event otherwise", async () => {
    const events = await prefixesOf(agentOf([call, {}], { events: {} }).run("go"));
    expect(events).toEqual([undefined, undefined]);
  });

  it("says that a plain run shares everything, in bytes of the body and in tokens", async () => {
    const fetch = scripted([call, call, { text: "Done." }]);
    const model = openaiChat("gpt-4.1", { apiKey: "k", fetch });
    const agent = agentOf([], { model });
    const prefixes = await prefixesOf(agent.run("go"));
    expect(breaks(prefixes)).toEqual(["none", "all", "all"]);
    const [, second, third] = prefixes as SharedPrefix[];
    expect(third!.sharedBytes).toBe(second!.bytes);
    expect(third!.sharedTokens).toBe(Math.floor((second!.bytes * 2) / 7));
    const grown = fetch.requests.map(({ body }) => JSON.stringify(body.messages).length);
    expect(third!.bytes - second!.bytes).toBe(grown[2]! - grown[1]!);
  });

  it("shares everything with an attempt that failed", async () => {
    const agent = agentOf([{ status: 500 }, { text: "Done." }], {
      clock: {
        now: () => 0,
        setTimer: (go: () => void) => setTimeout(go, 0),
        clearTimer: clearTimeout as never,
      },
    } as never);
    const prefixes = await prefixesOf(agent.run("go"));
    expect(breaks(prefixes)).toEqual(["none", "all"]);
    expect(prefixes[1]!.sharedBytes).toBe(prefixes[1]!.bytes);
  });

  const causes: [string, Partial<AgentOptions>, string[]][] = [
    [
      "prepareIteration with another system prompt",
      { prepareIteration: ({ iteration }) => (iteration === 2 ? { system: "End." } : undefined) },
      ["none", "system prepare", "system prepare", "all"],
    ],
    [
      "prepareIteration with fewer tools",
      { prepareIteration: ({ iteration }) => (iteration === 3 ? { tools: [] } : undefined) },
      ["none", "all", "tools prepare", "tools prepare"],
    ],
    [
      "prepareIteration with other messages",
      {
        prepareIteration: ({ iteration, messages }) =>
          iteration === 3 ? { messages: messages.slice(-2) } : undefined,
      },
      ["none", "all", "message 0 prepare", "message 0 prepare"],
    ],
    [
      "pruning",
      { context: { pruning: { by: "looplet", afterResponses: 1, prefixChars: 20 } } },
      ["none", "all", "message 1 pruning", "message 3 pruning"],
    ],
    [
      "a budget of characters",
      { context: { maxChars: 900 } },
      ["none", "all", "message 0 budget", "message 0 budget"],
    ],
    [
      "a guardrail that rewrites",
      {
        guardrails: {
          each: "request",
          input: (messages) =>
            messages.length === 3
              ? { allowed: true, rewrite: [{ role: "user", content: "Other." }, ...messages.slice(1)] }
              : { allowed: true },
        },
      },
      ["none", "message 0 guardrail", "all", "all"],
    ],
  ];
  it.each(causes)("names %s", async (_, options, expected) => {
    const agent = agentOf([call, call, call, { text: "Done." }], options);
    expect(breaks(await prefixesOf(agent.run("go")))).toEqual(expected);
  });

  const schema = { type: "object" };
  const options: [string, Model, Model, string][] = [
    ["effort of Claude", claude({ effort: "low" }), claude({ effort: "high" }), "effort"],
    ["effort of GPT", gpt({}), gpt({ effort: "high" }), "effort"],
    ["format of Claude", claude({}), claude({ responseFormat: { schema } }), "format"],
    ["format of GPT", gpt({ responseFormat: { schema } }), gpt({}), "format"],
    ["thinking of Claude", claude({}), claude({ thinking: { budgetTokens: 2000 } }), "thinking"],
  ];
  it.each(options)("names the %s that changes", async (_, before, after, part) => {
    const agent = agentOf([call, call, call, { text: "Done." }], {
      model: before,
      prepareIteration: ({ iteration }) => (iteration === 2 ? { model: after } : undefined),
    });
    const prefixes = await prefixesOf(agent.run("go"));
    expect(breaks(prefixes)).toEqual(["none", `${part} prepare`, `${part} prepare`, "all"]);
    // Only the system prompt and the tools are read from the cache when the thinking changes.
    const { sharedBytes } = prefixes[1]!;
    expect(sharedBytes > 0).toBe(part === "thinking");
    // A deploy with other options.
    const store = memoryStore();
    const chats: SharedPrefix[] = [];
    for (const model of [before, after, after]) {
      const chat = await agentOf([], { model, store }).openChat("c");
      chats.push((await prefixesOf(chat.run("go")))[0]!);
      await chat.close();
    }
    expect(breaks(chats)).toEqual(["none", `${part} options`, "all"]);
  });

  it("names no option of a vendor whose cache does not depend on it", async () => {
    const agent = agentOf([], {
      model: google({ effort: "low" }),
      prepareIteration: ({ iteration }) =>
        iteration === 2 ? { model: google({ effort: "high" }) } : undefined,
    });
    expect(breaks(await prefixesOf(agent.run("go")))).toEqual(["none", "all", "all", "all"]);
  });

  it("names a summary, whose own request has no prefix", async () => {
    const usage = { inputTokens: 9_000, outputTokens: 100 };
    const agent = agentOf([call, { ...call, usage }, { text: "A summary." }, { text: "Done." }], {
      context: { window: 10_000 },
    });
    const prefixes = await prefixesOf(agent.run("go"));
    expect(breaks(prefixes)).toEqual(["none", "all", "none", "message 0 summary"]);
    expect(prefixes[3]!.sharedBytes).toBeLessThan(prefixes[3]!.bytes);
  });

  it("names another model, and a handoff", async () => {
    const other = openaiChat("gpt-4.1-mini", { apiKey: "k", fetch: scripted([{ text: "Done." }]) });
    const agent = agentOf([call]);
    const run = agent.run("go", { onToolCall: () => run.setModel(other) });
    expect(breaks(await prefixesOf(run))).toEqual(["none", "model model"]);

    const turns = [{ toolCalls: [{ name: "billing", input: {} }] }, { text: "Done." }];
    const billing = handoff({ description: "Bills", system: "You bill." });
    const first = agentOf(turns, { tools: { look, billing } });
    expect(breaks(await prefixesOf(first.run("go")))).toEqual(["none", "tools handoff"]);
  });

  it("names the options of a chat that a deploy has changed, and not those that are the same", async () => {
    const store = memoryStore();
    const chat = await agentOf([call, { text: "One." }], { store }).openChat("c");
    expect(breaks(await prefixesOf(chat.run("one")))).toEqual(["none", "all"]);
    await chat.close();

    const same = await agentOf([{ text: "Two." }, { text: "Three." }], { store }).openChat("c");
    expect(breaks(await prefixesOf(same.run("two")))).toEqual(["all"]);
    expect(breaks(await prefixesOf(same.run("three")))).toEqual(["all"]);
    await same.close();

    const deployed = await agentOf([call, { text: "Four." }], { store, system: "Be kind." }).openChat("c");
    const prefixes = await prefixesOf(deployed.run("four"));
    expect(breaks(prefixes)).toEqual(["system options", "all"]);
    expect(prefixes[0]!.sharedBytes).toBeGreaterThan(0);
    await deployed.close();
  });

  it("says that a change was sent at the end, where the model takes it there", async () => {
    const store = memoryStore();
    const thinking = { text: "Hm.", signature: "s" };
    const model = (turns: readonly ScriptedTurn[]): AgentOptions["model"] =>
      anthropic("claude-fable-5-2", { apiKey: "k", fetch: scripted(turns) });
    const long = "Be brief.";
    const first = agentOf([], {
      store,
      model: model([
        { ...call, thinking },
        { text: "One.", thinking },
      ]),
      system: long,
    });
    const chat = await first.openChat("c");
    await chat.run("one").result;
    await chat.close();
    const second = agentOf([], { store, model: model([{ text: "Two." }]), system: "Be kind." });
    const again = await second.openChat("c");
    expect(breaks(await prefixesOf(again.run("two")))).toEqual(["appended options"]);
  });

  it("compares the requests of a subagent with each other", async () => {
    const agent = agentOf(
      [
        { toolCalls: [{ name: "helper", input: { prompt: "help" } }] },
        call,
        { text: "Helped." },
        { text: "Done." },
      ],
      {
        tools: { look, helper: subagent({ description: "Helps", system: "You help.", tools: { look } }) },
      },
    );
    const prefixes: [string, string][] = [];
    for await (const event of agent.run("go"))
      if (event.type === "attempt-start") prefixes.push([event.agentPath, breaks([event.prefix])[0]!]);
    expect(prefixes.map(([path, word]) => `${path.split("/").length} ${word}`)).toEqual([
      "1 none",
      "2 none",
      "2 all",
      "1 all",
    ]);
  });

  it("is in the replay of a recorded run", async () => {
    const agent = agentOf([call, call, { text: "Done." }], {
      events: {},
      record: recorder(),
      prepareIteration: ({ iteration }) => (iteration === 3 ? { system: "End." } : undefined),
    });
    const run = agent.run("go");
    await run.result;
    const { steps } = await replay(run.export());
    const started = steps.flatMap(({ events }) => events).filter(({ type }) => type === "attempt-start");
    expect(breaks(started.map((event) => (event as { prefix?: SharedPrefix }).prefix))).toEqual([
      "none",
      "all",
      "system prepare",
    ]);
  });
});
