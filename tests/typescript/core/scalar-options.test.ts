/**
 * Every scalar option of `createAgent`, seen at work in the engine: leaving it out is to give the default that its
 * row names, and another value makes the run another one. An option that does not reach the engine changes nothing
 * and fails.
 */
import { expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  custom,
  openai,
  subagent,
  tool,
} from "../../../src/typescript/core/entry/node.js";
import { memoryStore } from "../../../src/typescript/extras/stores/memory.js";
import { DEFAULTS } from "../../../src/typescript/core/generated/tables.js";
import { scripted, type ScriptedStep } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, CanUseTool, RunEvent } from "../../../src/typescript/core/api/index.js";
import { call, play, results, schema, told } from "../requirements/kit.js";

type Options = Partial<AgentOptions>;
/** What a run shows that this option decides. */
type Look = (options: Options) => Promise<unknown>;

const done = { text: "Done." };
const round = (...calls: ReturnType<typeof call>[]) => ({ toolCalls: calls });
const rounds = (count: number) => Array.from({ length: count }, (_, n) => round(call("look", { n })));
const used = (inputTokens: number, outputTokens = 10) => ({ usage: { inputTokens, outputTokens } });

/** How a run of these turns ended. */
const ending =
  (turns: ScriptedStep[], more: Options = {}): Look =>
  async (options) => {
    const { outcome, stoppedBy, error, iterations, toolCalls } = (
      await play(turns, { agent: { ...more, ...options } })
    ).result;
    return { outcome, stoppedBy, code: error?.code, iterations, calls: toolCalls.length };
  };

/** After how many deaths a run is stopped whose processes end while the model is asked, or while a tool runs. */
const deaths =
  (where: "model" | "tool"): Look =>
  async (options) => {
    const store = memoryStore();
    for (let process = 0; ; process++) {
      let reach!: () => void;
      const reached = new Promise<void>((resolve) => (reach = resolve));
      const hang = (): Promise<never> => (reach(), new Promise<never>(() => {}));
      const act = tool({ description: "Acts", inputSchema: schema, replay: "safe", execute: hang });
      const calls = [{ type: "tool_call" as const, id: "a", name: "act", input: {} }];
      const model = custom(() => (where === "tool" ? calls : hang()));
      const agent = createAgent({ model, tools: { act }, store, ...options });
      const run = process === 0 ? agent.run("Go.", { id: "x" }) : agent.resume("x", { takeOver: true });
      const ended = await Promise.race([reached, run.result]);
      if (ended !== undefined) return [process, ended.stoppedBy];
      await run.saved();
    }
  };

/** Which waits stand between the attempts at a server that always answers so. */
const waits =
  (step: ScriptedStep, more: Options["retry"] = {}): Look =>
  async ({ retry }) =>
    (
      await play(Array<ScriptedStep>(12).fill(step), {
        agent: { random: () => 0.5, retry: { jitterMs: 0, ...more, ...retry } },
      })
    ).waits;

/** Which timers the run has set when this event comes, or at last; time stands still. */
const timers =
  (turns: ScriptedStep[], until: RunEvent["type"]): Look =>
  async (options) => {
    const delays: number[] = [];
    const clock = {
      now: () => 0,
      setTimer: (_: () => void, delayMs: number) => delays.push(delayMs),
      clearTimer: () => {},
    };
    const reached = new Promise<void>((resolve) => {
      const wait = tool({
        description: "Waits",
        inputSchema: schema,
        execute: (_, { signal }) =>
          new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("gone")))),
      });
      const model = anthropic("claude-sonnet-4-6", { fetch: scripted(turns) });
      const run = createAgent({ model, tools: { wait }, clock, ...options }).run("Go", {
        onEvent: ({ type }) => {
          // The engine tells its events first and then what it waits for.
          if (type === until) setTimeout(() => run.abort(), 0);
        },
      });
      void run.result.then(() => resolve());
    });
    await reached;
    return delays;
  };

/** How many requests a run with two waiting messages makes. */
const queued =
  (how: "steer" | "followUp"): Look =>
  async (options) => {
    const fetch = scripted(Array<ScriptedStep>(4).fill(done));
    const run = createAgent({ model: anthropic("m", { apiKey: "k", fetch }), ...options }).run("Go");
    run[how]("One.");
    run[how]("Two.");
    await run.result;
    return fetch.requests.length;
  };

const number = {
  type: "object",
  properties: { n: { type: "number" } },
  required: ["n"],
  additionalProperties: false,
} as const;

/** The request for an answer that fits a schema. */
const requested =
  (mode?: "native" | "tool"): Look =>
  async ({ output }) => {
    const fetch = scripted([done]);
    const model = openai("gpt-5", { fetch });
    const format = { ...(mode && { mode }), ...output, schema: number };
    await createAgent({ model, output: format, limits: { maxIterations: 1 } }).run("Go").result;
    return fetch.requests[0]?.body;
  };

const looks: { readonly [option: string]: readonly [other: unknown, look: Look] } = {
  "limits.maxIterations": [3, ending([...rounds(60), done])],
  "limits.maxTotalTokens": [100, ending([{ ...round(call("look")), ...used(90, 90) }, done])],
  "limits.maxToolRounds": [1, ending([...rounds(3), done])],
  "limits.maxToolCalls": [1, ending([...rounds(3), done])],
  "output.name": ["number", requested("tool")],
  "output.description": ["A number.", requested("tool")],
  "output.strict": [false, requested("native")],
  "output.mode": ["tool", requested()],
  "output.maxRetries": [
    1,
    async ({ output }) =>
      ending(Array<ScriptedStep>(6).fill({ text: "No JSON." }))({ output: { ...output, schema: number } }),
  ],
  "limits.maxSubagentDepth": [
    2,
    async (options) => {
      const inner = subagent({ description: "Inner" });
      const outer = subagent({ description: "Outer", tools: { inner } });
      const turns = [
        round(call("outer", { prompt: "Go." })),
        round(call("inner", { prompt: "Go." })),
        { text: "First." },
        { text: "Second." },
        { text: "Third." },
      ];
      return play(turns, { agent: { tools: { outer }, ...options } }).then(
        ({ result }) => result.text,
        (error: Error) => error.message,
      );
    },
  ],
  "context.window": [
    2000,
    async (options) => {
      const turns = [1, 2, 3, 4].map((n) => ({ ...round(call("look", { n })), ...used(400 * n) }));
      const { events } = await play([...turns, done, done], { agent: options });
      return events.filter(({ type }) => type.startsWith("compact")).map(({ type }) => type);
    },
  ],
  "context.maxChars": [
    3000,
    async (options) => {
      const turns = [1, 2, 3, 4].map((n) => round(call("look", { n, give: "x".repeat(2000) })));
      const { bodies } = await play([...turns, done], { agent: options });
      return bodies.at(-1)!.messages.length;
    },
  ],
  "timeouts.totalMs": [70_000, timers([{ hang: true }], "attempt-start")],
  "timeouts.iterationMs": [70_000, timers([{ hang: true }], "attempt-start")],
  "timeouts.firstChunkMs": [70_000, timers([{ hang: true }], "attempt-start")],
  "timeouts.chunkMs": [70_000, timers([{ text: "Well, ", stall: true }], "text-delta")],
  "timeouts.errorBodyMs": [500, timers([{ status: 401, body: "no", stall: true }], "attempt-start")],
  // Shorter than the wait for the end of the answer's body, whose timer is set already.
  "timeouts.toolMs": [500, timers([round(call("wait"))], "tool-call")],
  "timeouts.permissionMs": [
    500,
    async ({ timeouts }) =>
      timers([round(call("wait"))], "question")({ timeouts, permissions: { canUseTool: () => null } }),
  ],
  "retry.maxRetries": [1, waits({ status: 500 })],
  "retry.baseMs": [10, waits({ status: 500 })],
  "retry.factor": [3, waits({ status: 500 })],
  "retry.jitterMs": [
    500,
    async ({ retry }) => (await play([{ status: 500 }, done], { agent: { random: () => 0.5, retry } })).waits,
  ],
  "retry.jitter": [
    "full",
    async ({ retry }) => (await play([{ status: 500 }, done], { agent: { random: () => 0.5, retry } })).waits,
  ],
  "retry.maxMs": [5000, waits({ status: 500 }, { maxRetries: 8 })],
  "retry.respectRetryAfter": [false, waits({ status: 500, headers: { "retry-after": "7" } })],
  "retry.maxModelCallRetries": [2, waits({ status: 400 })],
  "toolCalls.execution": [
    "sequential",
    async (options) => (await play([round(call("look"), call("look")), done], { agent: options })).log,
  ],
  "answers.maxTextBytes": [3, ending([{ text: "Long" }])],
  "answers.maxArgumentBytes": [3, ending([round(call("look", { n: 1 })), done])],
  "answers.maxEventBytes": [3, ending([{ text: "Long" }])],
  "answers.maxErrorBodyBytes": [
    3,
    async (options) =>
      (await play([{ status: 401, body: "no key" }], { agent: options })).result.error?.message,
  ],
  "toolCalls.runCutOff": [
    true,
    async (options) => {
      const cut = { ...round(call("look", { n: 1 })), stopReason: "length" } as const;
      return (await play([cut, done], { agent: options })).log;
    },
  ],
  "answers.maxBlocks": [1, ending([round(call("look"), call("look")), done])],
  "toolCalls.maxConcurrency": [
    2,
    async (options) => {
      const calls = Array.from({ length: 10 }, (_, n) => call("look", { n }));
      const { log } = await play([round(...calls), done], { agent: options });
      return log.indexOf("end look");
    },
  ],
  "answers.onMaxTokens": ["error", ending([{ text: "Cut", stopReason: "length" }])],
  "answers.onCutOff": [
    "continue",
    async (options) => {
      const half = "The first half of an answer, and ";
      const turns = [{ text: [half], dropAfterEvents: 4 }, { text: "the second." }];
      const model = anthropic("claude-sonnet-4-5", { fetch: scripted(turns) });
      const random = (): number => 0;
      const run = createAgent({
        model,
        tools: {},
        random,
        retry: { baseMs: 1, jitterMs: 0 },
        ...options,
      }).run("Go");
      return (await run.result).text;
    },
  ],
  "answers.strictStopReason": [true, ending([{ text: "Cut", stopReason: "length" }])],
  "toolCalls.maxResultChars": [
    1000,
    async (options) => {
      const long = round(call("look", { give: "x".repeat(100_100) }));
      return told(results((await play([long, done], { agent: options })).bodies[1])[0]).length;
    },
  ],
  "toolCalls.eager": [
    true,
    async (options) => {
      const { events } = await play([round(call("look", { n: 0 }), call("look", { n: 1 })), done], {
        agent: options,
      });
      const types = events.map(({ type }) => type);
      return types.indexOf("tool-call") < types.lastIndexOf("tool-input-start");
    },
  ],
  "limits.estimateUsage": [
    true,
    async ({ limits }) => {
      const agent = { limits: { maxTotalTokens: 1000, ...limits } };
      return (await play([done], { agent, prompt: "x".repeat(10_000) })).bodies.length;
    },
  ],
  "toolCalls.tellUpdatedInput": [
    false,
    async (options) => {
      const canUseTool: CanUseTool = () => ({ behavior: "allow", updatedInput: { n: 7 } });
      const agent = { permissions: { mode: "default", canUseTool }, ...options } as const;
      const { bodies } = await play([round(call("look", { n: 1 })), done], { agent });
      return JSON.stringify(bodies[1]).includes("The input was changed");
    },
  ],
  "events.holdText": [
    true,
    async (options) => {
      const { events } = await play([{ ...round(call("look")), text: "Well." }, done], { agent: options });
      return events.filter(({ type }) => type === "text-delta").length;
    },
  ],
  "events.prefix": [
    true,
    async (options) => {
      const { events } = await play([round(call("look")), done], { agent: options });
      return events.filter((event) => event.type === "attempt-start" && event.prefix !== undefined).length;
    },
  ],
  "events.messages": [
    true,
    async (options) => {
      const { events } = await play([round(call("look")), done], { agent: options });
      return events.filter(({ type }) => type === "message").length;
    },
  ],
  "durable.maxCrashes": [1, deaths("tool")],
  "durable.maxInterruptions": [2, deaths("model")],
  steeringMode: ["one", queued("steer")],
  followUpMode: ["all", queued("followUp")],
  "events.joinDeltas": [
    false,
    async (options) => {
      const { events } = await play([{ text: ["a", "b", "c"], chunks: 1_000_000 }], { agent: options });
      return events.filter(({ type }) => type === "text-delta").length;
    },
  ],
};

/** `{ retry: { maxRetries: 1 } }` of `retry.maxRetries` and 1. */
function given(name: string, value: unknown): Options {
  const [group, field] = name.split(".") as [string, string?];
  return { [group]: field === undefined ? value : { [field]: value } };
}

it.each(Object.entries(DEFAULTS))("%s is %j by default, and another value is heeded", async (name, value) => {
  const found = looks[name];
  if (found === undefined) throw new Error(`no run shows what ${name} does`);
  const [other, look] = found;
  const byDefault = await look({});
  expect(await look(given(name, value ?? undefined))).toEqual(byDefault);
  expect(await look(given(name, other))).not.toEqual(byDefault);
});
