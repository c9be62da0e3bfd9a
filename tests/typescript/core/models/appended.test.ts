/**
 * Changed system prompts and tools that are sent at the end of a conversation, so that the vendor still reads earlier
 * reasoning. The servers play the vendors' checks: VENDORS.md, section 1.5, beside the project.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, handoff, openai, subagent, tool, vendorTool } from "looplet";
import { memoryStore } from "looplet/stores";
import { anthropicTools } from "looplet/vendors";

const shared = process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../../shared");
const servers = join(shared, "vendors/prefix-server.mjs");
const isThere = existsSync(servers);
if (!isThere) console.warn(`SKIPPED appended: no ${servers} (set LOOPLET_SHARED)`);
const { anthropicServer, openaiServer } = isThere ? await import(servers) : ({} as any);

const look = (description = "x"): any =>
  tool({ description, inputSchema: { type: "object" }, execute: () => "result ".repeat(300) });

const called = { calls: [{ name: "look" }] };
/** Two answers with a call, then one that ends the run. */
const twice = (index: number): object => (index % 3 < 2 ? called : { text: "done" });

const claude = (script: unknown, id = "claude-fable-5-2"): { server: any; model: any } => {
  const server = anthropicServer({ script, strictForm: true });
  return { server, model: anthropic(id, { apiKey: "k", fetch: server.fetch }) };
};
const gpt = (script: unknown): { server: any; model: any } => {
  const server = openaiServer({ script });
  return { server, model: openai("gpt-6.2-sol", { apiKey: "k", fetch: server.fetch }) };
};

const blocks = (message: any): any[] => (Array.isArray(message.content) ? message.content : []);
/** The number of thinking blocks in each request to Claude, or of reasoning items in each to GPT. */
const reasoning = (server: any): number[] =>
  server.requests.map(({ body }: any) =>
    body.messages === undefined
      ? body.input.filter((item: any) => item.type === "reasoning").length
      : body.messages.flatMap(blocks).filter((block: any) => block.type === "thinking").length,
  );
const systemMessages = (server: any): any[] =>
  server.requests.at(-1).body.messages.filter((message: any) => message.role === "system");

/**
 * Runs the prompt, and expects that the vendor refuses and drops nothing. Returns the codes of the warnings, but for
 * the one of equal calls.
 */
async function warningsOf(run: any, server: any): Promise<string[]> {
  const warnings: string[] = [];
  for await (const event of run)
    if (event.type === "warning" && event.code !== "repeat") warnings.push(event.code);
  expect(await run.result).toMatchObject({ outcome: "completed" });
  expect({ refused: server.refused, dropped: server.dropped ?? server.removed }).toEqual({
    refused: [],
    dropped: [],
  });
  return warnings;
}

describe.skipIf(!isThere)("a system prompt or tools that change, on Claude", () => {
  it("are sent at the end after a deploy, and a stored chat loses no reasoning", async () => {
    const { server, model } = claude(twice);
    const store = memoryStore();
    const before = createAgent({ model, store, system: "Old.", tools: { look: look(), gone: look() } });
    const chat = await before.openChat("c");
    await chat.run("one").result;
    await chat.close();
    const tools = { look: look(), added: look("new") };
    const after = createAgent({ model, store, system: "New.", tools });
    const next = await after.openChat("c");
    expect(await warningsOf(next.run("two"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5]);
    const { body, headers } = server.requests.at(-1);
    expect(JSON.stringify(body.system)).toContain("Old.");
    expect(headers["anthropic-beta"]).toContain("inline-tools-2026-09-15");
    expect(systemMessages(server)).toMatchObject([
      {
        content: [
          { type: "tool_removal", tool: { type: "tool_reference", name: "gone" } },
          {
            type: "tool_addition",
            tool: { type: "tool_definition", definition: { name: "added", description: "new" } },
          },
        ],
      },
      { content: [{ type: "text", text: "These instructions replace all earlier ones:\n\nNew." }] },
    ]);
    // A third process has the same beginning, and nothing more to say.
    await next.close();
    const third = await after.openChat("c");
    expect(await warningsOf(third.run("three"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(systemMessages(server)).toHaveLength(2);
  });

  it("are sent at the end by an agent with tools of the vendor, with no entry of those in the journal", async () => {
    const { server, model } = claude(twice);
    const store = memoryStore();
    const entries: string[] = [];
    const append = store.append.bind(store);
    store.append = (key, added, ...rest) => {
      entries.push(...added.map(({ json }) => json));
      return append(key, added, ...rest);
    };
    const search = vendorTool(anthropicTools.webSearch({ allowedDomains: ["secret.example"] }));
    const before = createAgent({ model, store, system: "Old.", tools: { look: look(), search } });
    const chat = await before.openChat("c");
    await chat.run("one").result;
    await chat.close();
    const after = createAgent({
      model,
      store,
      system: "New.",
      tools: { search, look: look(), more: look() },
    });
    const next = await after.openChat("c");
    expect(await warningsOf(next.run("two"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(JSON.stringify(server.requests.at(-1).body.tools)).toContain("secret.example");
    expect(entries.join("")).toContain('"system":"New."');
    expect(entries.join("")).not.toContain("secret.example");
    // Another entry is another beginning: the one of before is not there any more.
    await next.close();
    const other = vendorTool(anthropicTools.webSearch({ maxUses: 2 }));
    const third = await createAgent({
      model,
      store,
      system: "New.",
      tools: { other, look: look() },
    }).openChat("c");
    expect(await warningsOf(third.run("three"), server)).toEqual(["reasoning_not_sent"]);
    expect(JSON.stringify(server.requests.at(-1).body)).not.toContain("secret.example");
  });

  it("are sent at the end by an agent with tools that wait, which come and go at the beginning", async () => {
    const { server, model } = claude(twice);
    const store = memoryStore();
    const rare = (description: string): any =>
      tool({ description, inputSchema: { type: "object" }, deferLoading: true, execute: () => "r" });
    const before = createAgent({ model, store, system: "Old.", tools: { look: look(), a: rare("a") } });
    const chat = await before.openChat("c");
    await chat.run("one").result;
    await chat.close();
    const tools = { look: look(), a: rare("other"), b: rare("b"), more: look() };
    const next = await createAgent({ model, store, system: "New.", tools }).openChat("c");
    expect(await warningsOf(next.run("two"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5]);
    const { body } = server.requests.at(-1);
    const declared = body.tools.map(({ name, description }: any) => [name, description]);
    expect(declared).toEqual([
      ["look", "x"],
      ["a", "other"],
      ["b", "b"],
      ["tool_search_tool_bm25", undefined],
    ]);
    const added = systemMessages(server).flatMap(({ content }) => content);
    expect(added).toMatchObject([
      { type: "tool_addition", tool: { definition: { name: "more" } } },
      { type: "text", text: expect.stringContaining("New.") },
    ]);
  });

  it("are sent at the end to a persistent subagent that is asked again after a deploy", async () => {
    const asks = { calls: [{ name: "helper", input: { prompt: "Help." } }] };
    const { server, model } = claude(
      (index: number) => [asks, called, { text: "helped" }, { text: "done" }][index % 4],
    );
    const store = memoryStore();
    const deploy = (system: string): any => {
      const helper = subagent({ description: "x", persistent: true, system, tools: { look: look() } });
      return createAgent({ model, store, system: "S", tools: { helper } });
    };
    for (const system of ["Old.", "New.", "New."]) {
      const chat = await deploy(system).openChat("c");
      expect(await warningsOf(chat.run("go"), server)).toEqual([]);
      expect(JSON.stringify(chat.subagents)).not.toContain("Old.");
      await chat.close();
    }
    const ofHelper = server.requests.filter(({ body }: any) => JSON.stringify(body.system).includes("Old."));
    const counts = reasoning({ requests: ofHelper });
    expect(counts).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("are sent at the end of a history that another agent continues", async () => {
    const { server, model } = claude(twice);
    const { messages } = await createAgent({ model, system: "Old.", tools: { look: look() } }).run("one")
      .result;
    const after = createAgent({ model, system: "New.", tools: { look: look() } });
    expect(await warningsOf(after.run("two", { messages: [...messages] }), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("of one iteration are taken back after it", async () => {
    const { server, model } = claude((index: number) => (index < 4 ? called : { text: "done" }));
    const agent = createAgent({
      model,
      system: "S",
      tools: { look: look(), other: look() },
      prepareIteration: ({ iteration }) =>
        iteration === 3 ? { system: "Prepared.", tools: ["look"] } : undefined,
    });
    expect(await warningsOf(agent.run("go"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4]);
    const contents = systemMessages(server).flatMap((message) => message.content);
    expect(contents).toMatchObject([
      { type: "tool_removal", tool: { name: "other" } },
      { type: "text", text: expect.stringContaining("Prepared.") },
      { type: "tool_addition", tool: { type: "tool_reference", name: "other" } },
      { type: "text", text: expect.stringContaining("\n\nS") },
    ]);
  });

  it("are a choice without tools where an iteration has none", async () => {
    const { server, model } = claude((index: number) => (index < 2 ? called : { text: "done" }));
    const agent = createAgent({
      model,
      tools: { look: look() },
      prepareIteration: ({ iteration }) => (iteration === 3 ? { tools: [] } : undefined),
    });
    expect(await warningsOf(agent.run("go"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2]);
    const { body } = server.requests.at(-1);
    expect([body.tool_choice, body.tools.length]).toEqual([{ type: "none" }, 1]);
  });

  it("are those of the agent that takes over", async () => {
    const { server, model } = claude((index: number) =>
      [called, { calls: [{ name: "to_billing" }] }, called, { text: "done" }].at(index),
    );
    const billing = createAgent({ model, system: "You bill.", tools: { look: look() } });
    const agent = createAgent({
      model,
      system: "You greet.",
      tools: { look: look(), to_billing: handoff(billing, { description: "to billing" }) },
    });
    expect(await warningsOf(agent.run("go"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3]);
    const contents = systemMessages(server).flatMap((message) => message.content);
    expect(contents).toMatchObject([
      { type: "tool_removal", tool: { name: "to_billing" } },
      { type: "text", text: expect.stringContaining("You bill.") },
    ]);
  });

  it("begin the conversation again where no reasoning would be lost, and after a summary", async () => {
    const { server, model } = claude((index: number) => ({
      ...(index % 5 < 4 ? called : { text: "done" }),
      usage: { input_tokens: index === 5 ? 90_000 : 1000 },
    }));
    const first = createAgent({ model, system: "Old.", tools: {} });
    const { messages } = await first.run("one", { messages: [] }).result;
    server.requests.length = 0;
    const context = { window: 50_000, compaction: { summarize: "model" as const } };
    const after = createAgent({ model, system: "New.", tools: { look: look() }, context });
    await after.run("two", { messages }).result;
    // The summary is another beginning, with the system prompt of then.
    const bodies = server.requests.map(({ body }: any) => body);
    expect(JSON.stringify(bodies.at(-1).system)).toContain("New.");
    expect(bodies.at(-1).messages.filter((message: any) => message.role === "system")).toEqual([]);
    expect(server.refused).toEqual([]);
  });

  it("begin the conversation again once they are longer than half of it", async () => {
    const { server, model } = claude(twice);
    const { messages } = await createAgent({ model, system: "Old.", tools: { look: look() } }).run("one")
      .result;
    const system = "x".repeat(20_000);
    const after = createAgent({ model, system, tools: { look: look() } });
    expect(await warningsOf(after.run("two", { messages }), server)).toEqual(["reasoning_not_sent"]);
    expect(server.requests.at(-1).body.messages.filter(({ role }: any) => role === "system")).toEqual([]);
  });

  it("begin the conversation again on a server that refuses messages of the system", async () => {
    const { server, model } = claude(twice);
    const { messages } = await createAgent({ model, system: "Old.", tools: { look: look() } }).run("one")
      .result;
    let refused = 0;
    const fetch = (url: string, init: RequestInit): Promise<Response> => {
      const body = new TextDecoder().decode(init.body as Uint8Array);
      if (!body.includes('"role":"system"')) return server.fetch(url, init);
      refused++;
      const message = "messages.5.role: Input should be 'user' or 'assistant'";
      const error = { type: "error", error: { type: "invalid_request_error", message } };
      return Promise.resolve(Response.json(error, { status: 400 }));
    };
    const gateway = anthropic("claude-fable-5-2", { apiKey: "k", fetch: fetch as never });
    const after = createAgent({ model: gateway, system: "New.", tools: { look: look() } });
    const warnings = await warningsOf(after.run("two", { messages }), server);
    expect(warnings).toEqual(["change_not_appended", "reasoning_not_sent"]);
    expect(refused).toBe(1);
  });

  it("begin the conversation again on a server that refuses the header of a change of tools", async () => {
    const { server, model } = claude(twice);
    const { messages } = await createAgent({ model, system: "S", tools: { look: look() } }).run("one").result;
    let refused = 0;
    const fetch = (url: string, init: RequestInit): Promise<Response> => {
      const beta = new Headers(init.headers).get("anthropic-beta") ?? "";
      if (!beta.includes("inline-tools")) return server.fetch(url, init);
      refused++;
      const error = { type: "error", error: { type: "invalid_request_error", message: "invalid beta flag" } };
      return Promise.resolve(Response.json(error, { status: 400 }));
    };
    const gateway = anthropic("claude-fable-5-2", { apiKey: "k", fetch: fetch as never });
    const after = createAgent({ model: gateway, system: "S", tools: { look: look(), more: look() } });
    const warnings = await warningsOf(after.run("two", { messages }), server);
    expect(warnings).toEqual(["change_not_appended", "reasoning_not_sent"]);
    expect(refused).toBe(1);
  });

  it("stay out of results and of requests to models that do not compare", async () => {
    const { server, model } = claude(twice);
    const agent = createAgent({ model, system: "Secret.", tools: { look: look() } });
    const result = await agent.run("one").result;
    expect(JSON.stringify(result)).not.toContain("Secret.");
    const old = claude(twice, "claude-opus-4-8");
    const other = createAgent({ model: old.model, system: "New.", tools: { look: look() } });
    await other.run("two", { messages: result.messages }).result;
    expect(JSON.stringify(old.server.requests[0].body)).not.toContain("Secret.");
    expect(server.refused).toEqual([]);
  });
});

describe.skipIf(!isThere)("tools that change, on GPT", () => {
  it("are added at the end and chosen from after a deploy, and a stored chat loses no reasoning", async () => {
    const { server, model } = gpt(twice);
    const store = memoryStore();
    const before = createAgent({ model, store, system: "Old.", tools: { look: look(), gone: look() } });
    const chat = await before.openChat("c");
    await chat.run("one").result;
    await chat.close();
    const tools = { look: look(), added: look("new") };
    const next = await createAgent({ model, store, system: "New.", tools }).openChat("c");
    expect(await warningsOf(next.run("two"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5]);
    const { body } = server.requests.at(-1);
    expect(body.instructions).toBe("New.");
    expect(body.tools.map(({ name }: any) => name)).toEqual(["look", "gone"]);
    expect(body.tool_choice).toEqual({
      type: "allowed_tools",
      mode: "auto",
      tools: [
        { type: "function", name: "look" },
        { type: "function", name: "added" },
      ],
    });
    const added = body.input.filter(({ type }: any) => type === "additional_tools");
    expect(added).toMatchObject([{ role: "developer", tools: [{ name: "added", description: "new" }] }]);
  });

  it("of one iteration are chosen for it", async () => {
    const { server, model } = gpt((index: number) => (index < 3 ? called : { text: "done" }));
    const agent = createAgent({
      model,
      tools: { look: look(), other: look() },
      prepareIteration: ({ iteration }) =>
        iteration === 3 ? { tools: ["look"] } : iteration === 4 ? { tools: [] } : undefined,
    });
    expect(await warningsOf(agent.run("go"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3]);
    const choices = server.requests.map(({ body }: any) => body.tool_choice?.type ?? body.tool_choice);
    expect(choices).toEqual([undefined, undefined, "allowed_tools", "none"]);
  });
});
