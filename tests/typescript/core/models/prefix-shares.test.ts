/**
 * The share of the input that a run of 50 iterations may read from a cache, by feature: the table of
 * docs/tasks/prompt-cache.md. `npm run bench:prefix` writes it into the page.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  handoff,
  subagent,
  tool,
} from "../../../../src/typescript/core/entry/node.js";
import { scripted, type ScriptedTurn } from "../../../../src/typescript/lab/practice/index.js";
import { memoryStore } from "../../../../src/typescript/extras/stores/index.js";
import { bodyJson } from "../../support/bodies.js";
import type { Agent, AgentOptions, Fetch, SharedPrefix } from "../../../../src/typescript/core/api/index.js";

const ITERATIONS = 50;
/** Called for each result. */
let looked: () => void;
/** About 2,000 tokens, 400 for each of five tools, and 600 for each result. */
const system = "You work through the tickets of the shop, one after the other. ".repeat(111);
const look = (): ReturnType<typeof tool> =>
  tool({
    description: "Looks up a ticket, with its customer and its orders. ".repeat(26),
    inputSchema: { type: "object", properties: { ticket: { type: "integer" } } },
    execute: () => {
      looked();
      return "The customer waits for an order of last week. ".repeat(45);
    },
  });
const tools = { look: look(), orders: look(), mail: look(), stock: look(), notes: look() };
const thinking = { text: "I look at the next one." };

/** The first call of each iteration but the last, in which the model is done. */
const turns = (last = ITERATIONS, call = (_: number): string => "look"): ScriptedTurn[] =>
  Array.from({ length: last }, (_, at) =>
    at + 1 < last
      ? { thinking, text: "The next ticket.", toolCalls: [{ name: call(at + 1), input: { ticket: at } }] }
      : { thinking, text: "All tickets are done." },
  );

interface Feature {
  readonly turns?: readonly ScriptedTurn[];
  readonly options?: Partial<AgentOptions>;
  /** Whether the user steers in every 10th iteration. */
  readonly steers?: boolean;
  /** The options of the process that continues the chat after half of the iterations. */
  readonly deployed?: Partial<AgentOptions>;
}

const every = (nth: number, at: number): boolean => at % nth === 0;

const FEATURES: { readonly [name: string]: Feature } = {
  "nothing else": {},
  "a steer in every 10th iteration": { steers: true },
  "a subagent of 5 iterations in every 10th": {
    turns: withSubagents(),
    options: {
      tools: {
        ...tools,
        helper: subagent({ description: "Helps", system: "You help.", tools: { look: look() } }),
      },
    },
  },
  "the chat continues in another process": { deployed: {} },
  "… which has another system prompt": { deployed: { system: `${system} Be kind.` } },
  "… which has one more tool": { deployed: { tools: { ...tools, more: look() } } },
  "`prepareIteration`: another system prompt in every 10th iteration": {
    options: {
      prepareIteration: ({ iteration }) =>
        every(10, iteration) ? { system: `${system} Sum up.` } : undefined,
    },
  },
  "`prepareIteration`: the time in the system prompt": {
    options: { prepareIteration: ({ iteration }) => ({ system: `It is ${iteration} o'clock. ${system}` }) },
  },
  "`prepareIteration`: one tool less from iteration 25 on": {
    options: {
      prepareIteration: ({ iteration }) =>
        iteration < 25 ? undefined : { tools: ["look", "orders", "mail", "stock"] },
    },
  },
  "`prepareIteration`: the prompt and the last 10 messages": {
    options: {
      prepareIteration: ({ messages }) =>
        messages.length < 12 ? undefined : { messages: [messages[0]!, ...messages.slice(-10)] },
    },
  },
  "`context.pruning` by looplet, after 5 answers": {
    options: { context: { pruning: { by: "looplet", afterResponses: 5, prefixChars: 20 } } },
  },
  "`context.maxChars` of 60,000": { options: { context: { maxChars: 60_000 } } },
  "a summary at 24,000 tokens": { options: { context: { window: 24_000 } } },
  "a handoff at iteration 25": {
    turns: turns(ITERATIONS, (at) => (at === 25 ? "billing" : "look")),
    options: {
      tools: {
        ...tools,
        billing: handoff({ description: "Bills", system: "You write bills.", tools: { look: look() } }),
      },
    },
  },
};

function withSubagents(): ScriptedTurn[] {
  const own = turns(ITERATIONS, (at) => (every(10, at) ? "helper" : "look"));
  return own.flatMap((turn, at) =>
    at + 1 < ITERATIONS && every(10, at + 1)
      ? [{ ...turn, toolCalls: [{ name: "helper", input: { prompt: "Help." } }] }, ...turns(5)]
      : [turn],
  );
}

const SUMMARY: ScriptedTurn = {
  text: "Ticket after ticket was looked up, and the customers wait. ".repeat(20),
};
const isSummary = (body: any): boolean =>
  JSON.stringify(body.messages.at(-1)).includes("write a summary of this conversation");

/** What the requests of a run have, and what they share with those before them. */
interface Sum {
  requests: number;
  tokens: number;
  shared: number;
  breaks: number;
}

async function measured(model: string, feature: Feature): Promise<Sum> {
  const bodies: any[] = [];
  const half = feature.deployed === undefined ? [] : turns(ITERATIONS / 2);
  const answers = scripted(feature.turns ?? (half.length > 0 ? [...half, ...half] : turns()));
  const fetch: Fetch = async (url, init) => {
    const body = bodyJson(init);
    bodies.push(body);
    return isSummary(body) ? scripted([SUMMARY])(url, init) : answers(url, init);
  };
  const prefixes: (SharedPrefix | undefined)[] = [];
  const agents: string[] = [];
  const store = memoryStore();
  const play = async (options: Partial<AgentOptions>): Promise<void> => {
    const agent: Agent<any, any> = createAgent({
      // Without marks of the cache, so that bodies can be compared as texts.
      model: anthropic(model, { apiKey: "k", fetch, promptCaching: false }),
      system,
      tools,
      ...(feature.deployed !== undefined && { store }),
      events: { prefix: true },
      limits: { maxIterations: 100 },
      ...options,
    });
    const chat = feature.deployed === undefined ? agent.chat() : await agent.openChat("c");
    const run = chat.run("Work through the tickets.", {
      onEvent(event) {
        if (event.type !== "attempt-start") return;
        prefixes.push(event.prefix);
        agents.push(event.agentPath);
      },
    });
    let results = 0;
    looked = () => {
      if (feature.steers && every(10, ++results)) run.steer("Hurry.");
    };
    const { outcome, error } = await run.result;
    expect({ outcome, error }).toEqual({ outcome: "completed", error: undefined });
    await chat.close();
  };
  await play(feature.options ?? {});
  if (feature.deployed !== undefined) await play({ ...feature.options, ...feature.deployed });
  const sum: Sum = { requests: bodies.length, tokens: 0, shared: 0, breaks: 0 };
  expect(prefixes).toHaveLength(bodies.length);
  for (const [at, prefix] of prefixes.entries()) {
    const { tokens, sharedTokens } = prefix ?? compared(bodies[at], bodies[at - 1]);
    if (prefix !== undefined) {
      const earlier = bodies.filter(
        (body, one) => one < at && agents[one] === agents[at] && !isSummary(body),
      );
      isTrue(prefix, bodies[at], earlier.at(-1));
    }
    sum.tokens += tokens;
    sum.shared += sharedTokens;
    if (prefix?.broken !== undefined) sum.breaks++;
  }
  return sum;
}

/** The bodies share what the event says, and differ where it says. */
function isTrue({ broken }: SharedPrefix, now: any, before: any): void {
  const textsOf = (list: unknown): string[] => ((list ?? []) as unknown[]).map((one) => JSON.stringify(one));
  const [had, has] = [textsOf(before.messages), textsOf(now.messages)];
  const same = { tools: JSON.stringify(now.tools), system: JSON.stringify(now.system) };
  const other = { tools: JSON.stringify(before.tools), system: JSON.stringify(before.system) };
  if (broken === undefined)
    expect({ ...same, messages: has.slice(0, had.length) }).toEqual({ ...other, messages: had });
  else if (broken.part === "message") {
    const at = had.findIndex((text, index) => text !== has[index]);
    expect(same).toEqual(other);
    // A change at the end is a message of its own in the body.
    if (!has.some((text) => text.startsWith('{"role":"system"'))) expect(broken.message).toBe(at);
  } else expect(same[broken.part as "tools" | "system"]).not.toBe(other[broken.part as "tools" | "system"]);
}

/** A request without a comparison: the first of an agent, or that for a summary, whose text is compared here. */
function compared(body: any, before: any): Pick<SharedPrefix, "tokens" | "sharedTokens"> {
  const textOf = ({ tools, system, messages }: any): string => JSON.stringify([tools, system, messages]);
  const text = textOf(body);
  const other = isSummary(body) ? textOf(before) : "";
  let same = 0;
  while (same < text.length && text[same] === other[same]) same++;
  return { tokens: Math.floor((text.length * 2) / 7), sharedTokens: Math.floor((same * 2) / 7) };
}

/** The price of reading a token from the cache and of writing it there, by the price of an input token. */
const MODELS = {
  "claude-fable-5-2": { read: 0.2 / 8, write: 1.25 },
  "claude-sonnet-4-6": { read: 0.3 / 3, write: 1.25 },
};

async function table(): Promise<string> {
  const names = Object.keys(MODELS) as (keyof typeof MODELS)[];
  const rows: string[][] = [
    [
      "a run of 50 iterations with",
      ...names.flatMap((name) => [`\`${name}\`: shared`, "breaks", "input costs"]),
    ],
    ["---", ...names.flatMap(() => ["---:", "---:", "---:"])],
  ];
  const plain: { [name: string]: number } = {};
  for (const [name, feature] of Object.entries(FEATURES)) {
    const row = [name];
    for (const model of names) {
      const { tokens, shared, breaks } = await measured(model, feature);
      const { read, write } = MODELS[model];
      const cost = (tokens - shared) * write + shared * read;
      plain[model] ??= cost;
      row.push(
        `${((100 * shared) / tokens).toFixed(1)} %`,
        `${breaks}`,
        `${(cost / plain[model]).toFixed(1)} ×`,
      );
    }
    rows.push(row);
  }
  return rows.map((row) => `| ${row.join(" | ")} |\n`).join("");
}

it("the page has the table that this prints", { timeout: 300_000 }, async () => {
  const page = join(import.meta.dirname, "../../../../docs/tasks/prompt-cache.md");
  const text = readFileSync(page, "utf8");
  const [begin, end] = ["<!-- npm run bench:prefix -->\n\n", "\n<!-- end -->"];
  const from = text.indexOf(begin) + begin.length;
  const printed = await table();
  if (process.env["LOOPLET_WRITE_DOCS"] !== undefined) {
    writeFileSync(page, text.slice(0, from) + printed + text.slice(text.indexOf(end)));
    return;
  }
  expect(text.slice(from, text.indexOf(end))).toBe(printed);
});
