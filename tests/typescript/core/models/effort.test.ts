/**
 * A changed effort and a changed format of answers, which are sent at the end of a conversation where the vendor
 * takes them there. The servers play the vendors' checks: VENDORS.md, section 1.5, beside the project.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, openai, subagent, tool } from "looplet";
import { memoryStore } from "looplet/stores";
import { compacting } from "../../support/compacting.js";
import { settingsOf } from "./proof/settings.js";

const shared = process.env["LOOPLET_SHARED"] ?? join(import.meta.dirname, "../../../../../shared");
const servers = join(shared, "vendors/prefix-server.mjs");
const isThere = existsSync(servers);
if (!isThere) console.warn(`SKIPPED effort: no ${servers} (set LOOPLET_SHARED)`);
const { anthropicServer, openaiServer } = isThere ? await import(servers) : ({} as any);

const look: any = tool({
  description: "x",
  inputSchema: { type: "object" },
  execute: () => "result ".repeat(300),
});
const called = { calls: [{ name: "look" }] };
/** Two answers with a call, then one that ends the run. */
const twice = (index: number): object => (index % 3 < 2 ? called : { text: "{}" });
const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
/** The beginning of what a model is asked that summarises. */
const SUMMARY = "Stop here and write a summary";
const responseFormat = { name: "answer", schema };

interface Vendor {
  readonly server: any;
  model(options?: object): any;
}
const claude = (script: unknown = twice, id = "claude-fable-5-2", wrap = (fetch: any) => fetch): Vendor => {
  const server = anthropicServer({ script, strictForm: true });
  const fetch = wrap(server.fetch);
  return { server, model: (more = {}) => anthropic(id, { apiKey: "k", fetch, ...more }) };
};
const gpt = (script: unknown = twice, id = "gpt-6.2-sol"): Vendor => {
  const server = openaiServer({ script });
  return { server, model: (more = {}) => openai(id, { apiKey: "k", fetch: server.fetch, ...more }) };
};

const blocks = ({ content }: any): any[] => (Array.isArray(content) ? content : []);
/** The number of thinking blocks in each request to Claude, or of reasoning items in each to GPT. */
const reasoning = (server: any): number[] =>
  server.requests.map(({ body }: any) =>
    body.messages === undefined
      ? body.input.filter(({ type }: any) => type === "reasoning").length
      : body.messages.flatMap(blocks).filter(({ type }: any) => type === "thinking").length,
  );
/** The effort that each request has before its messages. */
const fields = (server: any): unknown[] =>
  server.requests.map(({ body }: any) => (body.output_config ?? body.reasoning)?.effort);
/** The effort with which each request is answered. */
const efforts = (server: any): string[] =>
  server.requests.map(({ body, headers }: any) => settingsOf(body, headers).effort);
const formats = (server: any): unknown[] =>
  server.requests.map(({ body, headers }: any) => settingsOf(body, headers).format);

/** Runs the prompt, and expects that the vendor refuses and drops nothing. Returns the codes of the warnings. */
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

/** Runs one prompt for each model, in processes that share a chat. */
async function deployed(server: any, models: readonly any[], more: object = {}): Promise<string[]> {
  const store = memoryStore();
  const warnings: string[] = [];
  for (const model of models) {
    const chat = await createAgent({ model, store, system: "S", tools: { look }, ...more }).openChat("c");
    warnings.push(...(await warningsOf(chat.run("go"), server)));
    await chat.close();
  }
  return warnings;
}

describe.skipIf(!isThere)("an effort that changes, on Claude", () => {
  it("is sent at the end after a deploy, and counts for the next answer", async () => {
    const { server, model } = claude();
    const models = ["high", "low", "low"].map((effort) => model({ effort }));
    expect(await deployed(server, models)).toEqual([]);
    expect(fields(server)).toEqual(Array(9).fill("high"));
    expect(efforts(server)).toEqual([...Array(3).fill("high"), ...Array(6).fill("low")]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const { body, headers } = server.requests.at(-1);
    expect(headers["anthropic-beta"]).toContain("mid-conversation-output-config-2026-07-01");
    const messages = body.messages.filter(({ role }: any) => role === "system");
    expect(messages).toEqual([{ role: "system", content: [], output_config: { effort: "low" } }]);
  });

  it("is named when the option is gone", async () => {
    const { server, model } = claude();
    expect(await deployed(server, [model(), model({ effort: "low" }), model()])).toEqual([]);
    expect(fields(server)).toEqual(Array(9).fill(undefined));
    expect(efforts(server).filter((_, at) => at % 3 === 0)).toEqual(["high", "low", "high"]);
    expect(reasoning(server).at(-1)).toBe(8);
  });

  it("is a field of the request between a call and its results, and stays one in that chat", async () => {
    const { server, model } = claude();
    const more = {
      prepareIteration: ({ iteration }: any) =>
        iteration === 2 ? { model: model({ effort: "max" }) } : undefined,
    };
    const models = [model({ effort: "high" }), model({ effort: "low" })];
    expect(await deployed(server, models, more)).toEqual([]);
    const expected = ["high", "max", "high", "low", "max", "low"];
    expect([fields(server), efforts(server)]).toEqual([expected, expected]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("begins the conversation again between a call and its results, if a message has changed it before", async () => {
    const { server, model } = claude();
    let isLast = false;
    const more = {
      prepareIteration: ({ iteration }: any) =>
        isLast && iteration === 2 ? { model: model({ effort: "max" }) } : undefined,
    };
    const store = memoryStore();
    const run = async (effort: string): Promise<string[]> => {
      const options = { model: model({ effort }), store, system: "S", tools: { look }, ...more };
      const chat = await createAgent(options).openChat("c");
      const warnings = await warningsOf(chat.run("go"), server);
      await chat.close();
      return warnings;
    };
    expect([...(await run("high")), ...(await run("low"))]).toEqual([]);
    isLast = true;
    expect(await run("low")).toEqual(["reasoning_not_sent"]);
    expect(efforts(server).slice(6)).toEqual(["low", "max", "low"]);
    // It is a field from now on, so nothing more is lost.
    expect(await run("medium")).toEqual(["reasoning_not_sent"]);
    expect(efforts(server).slice(9)).toEqual(["medium", "max", "medium"]);
    const counts = reasoning(server).slice(8);
    expect(counts).toEqual(counts.map((_, at) => counts[0]! + at));
  });

  it("is one of the model that takes over, as it needs it", async () => {
    const { server, model } = claude();
    const { model: other } = claude(twice, "claude-opus-5-5", () => server.fetch);
    const { messages } = await createAgent({ model: model({ effort: "low" }), tools: { look } }).run("one")
      .result;
    const after = createAgent({ model: other(), tools: { look } });
    expect((await after.run("two", { messages }).result).outcome).toBe("completed");
    expect(efforts(server)).toEqual(["low", "low", "low", "medium", "medium", "medium"]);
    expect(fields(server).at(-1)).toBe("low");
  });

  it.each([
    ["that thinks between tools", "claude-sonnet-5-5", { thinking: { type: "between_tools" } }],
    ["with a field of its own", "claude-fable-5-2", { body: { output_config: {} } }],
    ["that takes no such message", "claude-opus-4-8", {}],
  ])("is a field of the request for a model %s", async (_, id, options) => {
    const { server, model } = claude(twice, id);
    const models = ["high", "low"].map((effort) => model({ effort, ...options }));
    expect(await deployed(server, models)).toEqual([]);
    expect(fields(server)).toEqual([...Array(3).fill("high"), ...Array(3).fill("low")]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("begins the conversation again on a server that refuses it", async () => {
    let refused = 0;
    const { server, model } = claude(
      twice,
      "claude-fable-5-2",
      (fetch) => (url: string, init: RequestInit) => {
        const body = new TextDecoder().decode(init.body as Uint8Array);
        if (!/"content":\[\],"output_config"/.test(body)) return fetch(url, init);
        refused++;
        const error = {
          type: "invalid_request_error",
          message: "messages.6.output_config: Extra inputs are not permitted",
        };
        return Promise.resolve(Response.json({ type: "error", error }, { status: 400 }));
      },
    );
    const warnings = await deployed(server, [model({ effort: "high" }), model({ effort: "low" })]);
    expect([warnings, refused]).toEqual([["change_not_appended"], 1]);
    expect(efforts(server)).toEqual([...Array(3).fill("high"), ...Array(3).fill("low")]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("is sent at the end to a persistent subagent", async () => {
    const asks = { calls: [{ name: "helper", input: { prompt: "Help." } }] };
    const { server, model } = claude(
      (index: number) => [asks, called, { text: "a" }, { text: "b" }][index % 4],
    );
    const store = memoryStore();
    for (const effort of ["low", "max"]) {
      const helper = subagent({
        description: "x",
        persistent: true,
        model: model({ effort }),
        system: "Helper.",
        tools: { look },
      });
      const chat = await createAgent({ model: model(), store, tools: { helper } }).openChat("c");
      expect(await warningsOf(chat.run("go"), server)).toEqual([]);
      await chat.close();
    }
    const requests = server.requests.filter(({ body }: any) =>
      JSON.stringify(body.system ?? "").includes("Helper."),
    );
    expect(efforts({ requests })).toEqual(["low", "low", "max", "max"]);
    expect([fields({ requests }), reasoning({ requests })]).toEqual([Array(4).fill("low"), [0, 1, 2, 3]]);
  });
});

describe.skipIf(!isThere)("an effort and a format that change, on GPT", () => {
  it("break no prefix, and the events say who has changed them", async () => {
    const { model } = gpt();
    const store = memoryStore();
    const prefixes: unknown[] = [];
    for (const options of [{ effort: "low" }, { effort: "high", responseFormat }]) {
      const agent = createAgent({ model: model(options), store, tools: { look }, events: { prefix: true } });
      const chat = await agent.openChat("c");
      for await (const event of chat.run("go"))
        if (event.type === "attempt-start")
          prefixes.push(event.prefix && [event.prefix.broken, event.prefix.appended]);
      await chat.close();
    }
    const same = [undefined, undefined];
    expect(prefixes).toEqual([undefined, same, same, [undefined, "options"], same, same]);
  });

  it("are sent at the end after a deploy, and a stored chat loses no reasoning", async () => {
    const { server, model } = gpt();
    const models = [
      model({ effort: "high", responseFormat }),
      model({ effort: "low" }),
      model({ effort: "low", responseFormat }),
    ];
    expect(await deployed(server, models)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const first = <T>(of: T[]): T[] => of.filter((_, at) => at % 3 === 0);
    expect(first(efforts(server))).toEqual(["high", "low", "low"]);
    expect(first(formats(server))).toEqual([schema, null, schema]);
    const { body } = server.requests.at(-1);
    expect([body.reasoning.effort, body.text.format.schema]).toEqual(["high", schema]);
    const updates = body.input.filter(({ type }: any) => type === "configuration_update");
    expect(updates).toEqual([
      { type: "configuration_update", reasoning: { effort: "low" }, text: { format: { type: "text" } } },
      {
        type: "configuration_update",
        text: { format: { type: "json_schema", name: "answer", schema, strict: true } },
      },
    ]);
  });

  it("of one iteration are taken back after it", async () => {
    const { server, model } = gpt((index: number) => (index < 3 ? called : { text: "{}" }));
    const agent = createAgent({
      model: model({ effort: "low" }),
      tools: { look },
      prepareIteration: ({ iteration }) =>
        iteration === 3 ? { model: model({ effort: "max", responseFormat }) } : undefined,
    });
    expect(await warningsOf(agent.run("go"), server)).toEqual([]);
    expect(reasoning(server)).toEqual([0, 1, 2, 3]);
    expect(efforts(server)).toEqual(["low", "low", "max", "low"]);
    expect(formats(server)).toEqual([null, null, schema, null]);
  });

  it("keep the effort a field of the request where the one to return to has no known name", async () => {
    const { server, model } = gpt();
    expect(await deployed(server, [model(), model({ effort: "low" }), model()])).toEqual([]);
    expect(fields(server).filter((_, at) => at % 3 === 0)).toEqual([undefined, "low", undefined]);
    expect(reasoning(server).at(-1)).toBe(8);
  });

  it.each(["model", "vendor"] as const)("are said again after a summary of the %s", async (summarize) => {
    const server = openaiServer({
      script: (index: number) =>
        index === 0 || index > 12 ? { text: "{}" } : { calls: [{ name: "look", input: { index } }] },
    });
    const model = (options: object): any =>
      openai("gpt-6.2-sol", { apiKey: "k", fetch: compacting(server) as never, ...options });
    const store = memoryStore();
    const context = { window: 8_000, compaction: { summarize, threshold: 0.6 } };
    for (const options of [{ effort: "high" }, { effort: "low", responseFormat }]) {
      const chat = await createAgent({ model: model(options), store, tools: { look }, context }).openChat(
        "c",
      );
      expect((await chat.run("go").result).outcome).toBe("completed");
      await chat.close();
    }
    const isOfVendor = ({ url }: any): boolean => /\/compact$/.test(url);
    const isOfModel = ({ body }: any): boolean => JSON.stringify(body.input.slice(-3)).includes(SUMMARY);
    const summaries = server.requests.filter(summarize === "vendor" ? isOfVendor : isOfModel);
    expect(summaries.length).toBeGreaterThan(0);
    // The model writes its summary as a text.
    if (summarize === "model") expect(formats({ requests: summaries })).toEqual(summaries.map(() => null));
    const requests = server.requests.slice(1).filter((one: any) => !isOfVendor(one) && !isOfModel(one));
    expect(efforts({ requests })).toEqual(requests.map(() => "low"));
    expect(formats({ requests })).toEqual(requests.map(() => schema));
  });
});
