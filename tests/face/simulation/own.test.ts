/** The facades, a handler of `looplet/server` and a chat, in simulated worlds. */
import { expect, test } from "vitest";
import { anthropic, createAgent, tool } from "looplet";
import { createSdkMcpServer, query, tool as sdkTool, type SDKMessage } from "looplet/agent-sdk";
import { runProduction, type ProductionResult } from "looplet/production";
import { turn } from "looplet/prompty";
import { handler } from "looplet/server";
import { agentLoop } from "looplet/sprout";
import { simulate, type SimulatedRun, type SimulateOptions, type World } from "looplet/testing";
import { checkTranscript } from "looplet/transcript";
import { agentOf } from "../prompty/kit.js";

const SEEDS = Number(process.env["LOOPLET_SEEDS"] ?? 500);
const TIMEOUT = { timeout: 1_800_000 };
const model = "claude-sonnet-4-6";

const hostOf = ({ fetch, platform: { clock, random, ids } }: World) => ({
  fetch,
  clock,
  random,
  ids,
  apiKey: "k",
});

/** A tool that tells its effect, by the number of the call. */
const noting = (world: World) => {
  let calls = 0;
  return tool({
    description: "Takes a note",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const,
    execute: ({ text }) => {
      world.effect("note", `${++calls}`);
      return `noted ${text}`;
    },
  });
};

/** An effect that says that the program has come to its end. */
function comesToItsEnd({ effects, outcome }: SimulatedRun): string | undefined {
  const ends = effects.filter(({ name }) => name === "end");
  return outcome === "over" && ends.length !== 1 ? `the program told ${ends.length} ends` : undefined;
}

async function holds(program: (world: World) => Promise<void>, options: SimulateOptions = {}): Promise<void> {
  const seen = { requests: 0, effects: 0 };
  const count = ({ requests, effects }: SimulatedRun): void => {
    seen.requests += requests.length;
    seen.effects += effects.length;
  };
  const { runs } = await simulate(program, { seeds: SEEDS, invariants: [comesToItsEnd, count], ...options });
  expect(runs).toBe(SEEDS);
  expect(seen.requests).toBeGreaterThan(SEEDS);
  expect(seen.effects).toBeGreaterThan(SEEDS);
}

test("a query has one result at its end, and tells the result of each call once", TIMEOUT, async () => {
  await holds(async (world) => {
    let calls = 0;
    const note = sdkTool("note", "Takes a note", { type: "object", properties: {} }, async () => {
      world.effect("note", `${++calls}`);
      return { content: [{ type: "text", text: "noted" }] };
    });
    const mcpServers = { app: createSdkMcpServer({ name: "app", tools: [note] }) };
    const allowed = { allowedTools: ["mcp__app__note"], tools: [], maxTurns: 12 };
    const options = { model, mcpServers, ...allowed, host: hostOf(world) };
    const messages: SDKMessage[] = [];
    for await (const message of query({ prompt: "Go on.", options })) messages.push(message);
    const types = messages.map(({ type }) => type);
    if (types.filter((type) => type === "result").length !== 1 || types.at(-1) !== "result")
      throw new Error(`a query of ${types.join(", ")}`);
    const ids = messages.flatMap((message) =>
      message.type === "user" && Array.isArray(message.message.content)
        ? message.message.content.flatMap((block) => ("tool_use_id" in block ? [block.tool_use_id] : []))
        : [],
    );
    if (new Set(ids).size < ids.length) throw new Error(`results of ${ids.join(", ")}`);
    if (ids.length < calls) throw new Error(`${calls} calls, and the results of ${ids.length}`);
    world.effect("end", "end");
  });
});

test("a production job ends with a reason, and goes on from its own messages", TIMEOUT, async () => {
  await holds(async (world) => {
    const own = { model, tools: { note: noting(world) }, host: hostOf(world), onError() {} };
    // An answer that ended oddly rejects with the messages so far.
    type Messages = Pick<ProductionResult, "messages">;
    const odd = (error: Error & Messages): Messages => {
      if (!error.message.startsWith("unexpected stop_reason: ")) throw error;
      return error;
    };
    const { messages } = await runProduction({ ...own, prompt: "Go on.", maxIters: 6 }).result.catch(odd);
    await runProduction({ ...own, prompt: "And again.", messages }).result.catch(odd);
    world.effect("end", "end");
  });
});

test("a turn of Prompty returns a text, or rejects with words", TIMEOUT, async () => {
  const agent = await agentOf({ model: { id: model, provider: "anthropic" }, tools: [{ name: "note" }] });
  await holds(async (world) => {
    const note = () => (world.effect("note", "note"), "noted");
    const thread = { thread: [{ role: "user", content: "Go on." }] };
    const host = { ...hostOf(world), logger: { warn() {} } };
    const said = await turn(agent, thread, { note }, { host, maxIterations: 12 }).catch(
      (error: unknown) => error,
    );
    if (typeof said !== "string" && !(said instanceof Error && said.message !== ""))
      throw new Error(`a turn has said ${String(said)}`);
    world.effect("end", "end");
  });
});

test("a loop of Sprout resolves with the calls that have run", TIMEOUT, async () => {
  await holds(async (world) => {
    let calls = 0;
    const execute = () => (world.effect("note", String(++calls)), "noted");
    const tools = [{ name: "note", description: "Takes a note", input_schema: { type: "object" }, execute }];
    const options = { systemPrompt: "Be brief.", userMessage: "Go on.", tools, model, host: hostOf(world) };
    const { toolCalls } = (await agentLoop({ ...options, onFailure: "result" }).catch(() => ({
      toolCalls: undefined,
    }))) as {
      toolCalls?: readonly unknown[];
    };
    if (toolCalls !== undefined && toolCalls.length < calls)
      throw new Error(`${calls} ran, and ${toolCalls.length} are told`);
    world.effect("end", "end");
  });
});

test("a handler of looplet/server takes a prompt once, and keeps a legal history", TIMEOUT, async () => {
  await holds(
    async (world) => {
      const tools = { note: noting(world) };
      const options = {
        model: anthropic(model, { apiKey: "k", fetch: world.fetch }),
        tools,
        ...world.platform,
      };
      const agent = createAgent({ ...options, timeouts: { toolMs: 60_000 } });
      const { store } = world.platform;
      const handle = handler(agent, { store, authorize: () => "ada", base: "/api" });
      const asked = (path: string, init = {}) => handle(new Request(`http://server.test/api${path}`, init));
      const body = JSON.stringify({ prompt: "Go on.", requestId: "one" });
      const said = async (): Promise<readonly unknown[]> => {
        await asked("/a/run", { method: "POST", body });
        for (;;) {
          const chat = (await (await asked("/a")).json()) as { isRunning: boolean; messages: unknown[] };
          if (!chat.isRunning) return chat.messages;
          await world.sleep(30_000);
        }
      };
      const messages = await said();
      if ((await said()).length !== messages.length) throw new Error("the prompt was taken twice");
      const [problem] = checkTranscript(messages, "looplet");
      if (problem !== undefined) throw new Error(`${problem.path}: ${problem.message}`);
      world.effect("end", "end");
    },
    { world: { only: ["refused", "unreachable", "cut", "streamError", "html", "truncated"] } },
  );
});
