import { describe, expect, it } from "vitest";
import {
  loadPrompty,
  cast,
  clearConnections,
  invoke,
  process,
  processStream,
  registerConnection,
  run,
  StructuredResultSymbol,
  toRequest,
  type Prompty,
} from "looplet/prompty";
import { scripted } from "looplet/practice";
import { hasVectors, stage } from "./vectors.js";
import "looplet";

const agentOf = (frontmatter: object, text = "system:\nBe brief.\nuser:\n{{question}}"): Promise<Prompty> =>
  loadPrompty(`---\n${JSON.stringify(frontmatter)}\n---\n${text}`);

async function* streamOf(events: readonly any[]): AsyncGenerator<unknown> {
  for (const { kind, value, message } of events) {
    if (kind === "transportError") throw new Error(message);
    yield value;
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe.skipIf(!hasVectors)("vectors", () => {
  it.each(stage("process"))("P-07: process %s", async (_, { input, expected }) => {
    const { provider, apiType, response, has_outputs } = input;
    const outputs = has_outputs ? [{ name: "any", kind: "string" }] : [];
    const agent = { ...(await agentOf({ model: { id: "m", provider, apiType } })), outputs };
    expect(await process(agent, response)).toEqual(expected.result);
  });

  it.each(stage("wire"))("S004-15: wire %s", async (_, { input, expected }) => {
    const { provider, apiType, model_id: id, messages, tools, options, outputs } = input;
    const body = toRequest({ model: { id, provider, apiType, options }, tools, outputs }, messages);
    expect(body).toEqual(expected.request_body);
  });

  it.each(stage("processStream"))("P-06: stream %s", async (_, { input, expected }) => {
    const chunks = await all(processStream(streamOf(input.events)));
    const texts = chunks.flatMap((chunk) => (chunk.kind === "text" ? [chunk.value] : []));
    const failed = chunks.at(-1)?.kind === "failure";
    expect({
      chunks,
      partialText: texts.join(""),
      requiresReconciliation: failed,
      completionCommitted: !failed,
    }).toEqual(expected);
  });
});

describe("calls", () => {
  const model = (provider: string, apiType = "chat") => ({
    id: "m",
    provider,
    apiType,
    options: { temperature: 0.5 },
  });

  it.each([
    ["openai", "chat"],
    ["openai", "responses"],
    ["anthropic", "chat"],
  ])("S004-05: one call on the engine, with %s %s", async (provider, apiType) => {
    const fetch = scripted([{ text: "Four." }]);
    const agent = await agentOf({ model: model(provider, apiType) });
    expect(await invoke(agent, { question: "2 + 2?" }, { host: { fetch, apiKey: "k" } })).toBe("Four.");
  });

  it("P-07: calls are told and not run", async () => {
    const fetch = scripted([{ toolCalls: [{ id: "call_1", name: "add", input: { a: 1 } }] }]);
    const agent = await agentOf({ model: model("openai"), tools: [{ name: "add", kind: "function" }] });
    expect(await run(agent, { question: "?" }, { host: { fetch, apiKey: "k" } })).toEqual([
      { id: "call_1", name: "add", arguments: '{"a":1}' },
    ]);
  });

  it("P-08: outputs become an object that carries its JSON, and cast checks it", async () => {
    const fetch = scripted([{ text: '{"city":"Paris"}' }]);
    const agent = await agentOf({
      model: model("openai"),
      outputs: [{ name: "city", kind: "string", required: true }],
    });
    const result: any = await run(agent, { question: "?" }, { host: { fetch, apiKey: "k" } });
    expect(result).toEqual({ city: "Paris" });
    expect(result[StructuredResultSymbol]).toBe('{"city":"Paris"}');
    expect(cast(result, (value: any) => value.city.length)).toBe(5);
  });

  it("P-07: a text that is not JSON stays a text", async () => {
    const fetch = scripted([{ text: "no json" }]);
    const agent = await agentOf({ model: model("openai"), outputs: [{ name: "city", kind: "string" }] });
    expect(await run(agent, { question: "?" }, { host: { fetch, apiKey: "k" } })).toBe("no json");
  });

  it("P-06: a refusal in a stream ends it at once", async () => {
    const chunks = [{ choices: [{ delta: { refusal: "No." } }] }, { choices: [{ delta: { content: "x" } }] }];
    const told = await all(processStream(streamOf(chunks.map((value) => ({ value })))));
    expect(told).toEqual([
      { kind: "failure", failure: { outcome: "determinate", message: "Model refused: No." } },
    ]);
  });

  it("P-11: a key that nobody has registered is named", async () => {
    const agent = await agentOf({ model: model("nobody") });
    await expect(run(agent, {})).rejects.toThrow("No executor registered for key: nobody");
  });

  it.each([
    ["openai", "chat", "max_completion_tokens", undefined],
    ["openai", "responses", "max_output_tokens", undefined],
    ["anthropic", "chat", "max_tokens", 4096],
  ])(
    "S004-05: options of the file reach the request of %s %s",
    async (provider, apiType, field, otherwise) => {
      const bodyOf = async (options: object): Promise<any> => {
        const fetch = scripted([{ text: "Ok." }]);
        const agent = await agentOf({ model: { id: "m", provider, apiType, options } });
        await run(agent, { question: "?" }, { host: { fetch, apiKey: "k" } });
        return fetch.requests[0]!.body;
      };
      const additionalProperties = { user: "u" };
      const body = await bodyOf({ maxOutputTokens: 77, temperature: 0.5, additionalProperties });
      expect(body).toMatchObject({ [field]: 77, temperature: 0.5, user: "u" });
      expect((await bodyOf({}))[field]).toBe(otherwise);
    },
  );

  it("P-08: outputs on another vendor, and a failed call with its code", async () => {
    const outputs = [{ name: "city", kind: "string", required: true }];
    const agent = await agentOf({ model: model("anthropic"), outputs });
    const fetch = scripted([{ text: '{"city":"Paris"}' }, { status: 400 }]);
    const options = { host: { fetch, apiKey: "k" } };
    expect(await run(agent, { question: "?" }, options)).toEqual({ city: "Paris" });
    await expect(run(agent, { question: "?" }, options)).rejects.toMatchObject({ name: "RunError" });
  });

  it("S004-05: a prompt of system messages alone is asked as the user's", async () => {
    const fetch = scripted([{ text: "Ok." }]);
    const agent = await agentOf({ model: model("openai") }, "Say {{question}}.");
    await run(agent, { question: "hi" }, { host: { fetch, apiKey: "k" } });
    expect((fetch.requests[0]!.body as any).messages).toMatchObject([{ role: "user" }]);
  });

  it("P-09: a connection of kind reference is one that was registered", async () => {
    const connection = { kind: "reference", name: "mine" };
    const agent = await agentOf({ model: { ...model("openai"), connection } });
    const fetch = scripted([{ text: "Ok." }]);
    await expect(run(agent, {}, { host: { fetch } })).rejects.toThrow("Connection not registered: mine");
    registerConnection("mine", { kind: "key", endpoint: "https://mine.test/v1", apiKey: "k" });
    await run(agent, {}, { host: { fetch } });
    expect(fetch.requests[0]!.url).toContain("https://mine.test/v1");
    clearConnections();
  });
});
