/** The facades in simulated worlds. */
import { test } from "vitest";
import { createSdkMcpServer, query, tool as sdkTool, type SDKMessage } from "looplet/agent-sdk";
import { runProduction, type ProductionResult } from "looplet/production";
import { turn } from "looplet/prompty";
import { agentLoop } from "looplet/sprout";
import { agentOf } from "../../compat/prompty/kit.js";
import { holds, hostOf, model, noting, TIMEOUT } from "../../support/simulations.js";

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
