import { describe, expect, it } from "vitest";
import { anthropic, bedrock, compatible, createAgent, gemini, openai, openaiChat, tool } from "looplet";
import { practice } from "looplet/practice";
import * as vendors from "looplet/vendors";
import type { Model, WireProtocol } from "../../../../src/typescript/core/api/index.js";

const PROTOCOLS: WireProtocol[] = [
  "openai_chat",
  "openai_responses",
  "anthropic",
  "gemini",
  "bedrock_converse",
];

/** What the constructors of some vendors need beside the options of all. */
const ACCOUNTS: Record<string, object> = {
  azure: { resource: "r" },
  vertex: { project: "p", location: "europe-west1" },
  cloudflareWorkersAi: { accountId: "a" },
  cloudflareGateway: { accountId: "a", gateway: "g" },
};
const credentials = { accessKeyId: "AKID", secretAccessKey: "s" };

/** Every way to a model behind a server; `vendors` brings its own. */
const MODELS: [name: string, model: (options: object) => Model][] = [
  ["anthropic", (options) => anthropic("m", options)],
  ["openai", (options) => openai("gpt-5", options)],
  ["openaiChat", (options) => openaiChat("m", options)],
  ["gemini", (options) => gemini("gemini-3", options)],
  ["bedrock", (options) => bedrock("us.anthropic.claude-x-v1:0", { region: "us-east-1", ...options })],
  [
    "bedrock, signed",
    (options) => bedrock("amazon.nova-x", { region: "us-east-1", credentials, ...options }),
  ],
  ["azure, chat", (options) => vendors.azure("m", { resource: "r", api: "chat", ...options })],
  ...PROTOCOLS.map((protocol): (typeof MODELS)[number] => [
    `compatible, ${protocol}`,
    (options) => compatible("m", { baseUrl: "https://host.example/base", protocol, ...options }),
  ]),
  ...Object.entries(vendors)
    .filter(([name, make]) => name !== "vendor" && typeof make === "function")
    .map(([name, make]): (typeof MODELS)[number] => [
      name,
      (options) => (make as vendors.VendorModel)("m", { ...ACCOUNTS[name], ...options }),
    ]),
];

const weather = tool({
  description: "Current weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => ({ sky: city === "Oslo" ? "clear" : "grey" }),
});
const tools = { weather };

describe.each(MODELS)("practice() behind %s", { timeout: 20_000 }, (name, make) => {
  it.each(["event", 1] as const)("runs a tool and streams its answer, cut by %s", async (chunking) => {
    const model = make({ fetch: practice({ delayMs: 0, chunking }) });
    const deltas: string[] = [];
    const onText = (text: string) => void deltas.push(text);
    const agent = createAgent({ model, tools, system: "Be brief." });
    const result = await agent.run("What is the weather in Oslo and in Rome?", { onText }).result;
    expect(result).toMatchObject({ outcome: "completed", iterations: 2, finishReason: "stop" });
    expect(result.toolCalls.map(({ input }) => input)).toEqual([{ city: "Oslo" }, { city: "Rome" }]);
    expect(result.text).toBe("Weather for **Oslo**: **clear**\n\nWeather for **Rome**: **grey**");
    expect(deltas.join("")).toContain(result.text);
    expect(deltas.length).toBeGreaterThan(2);
    expect(result.usage).toMatchObject({
      inputTokens: expect.any(Number),
      outputTokens: expect.any(Number),
    });
    expect(result.usage?.outputTokens).toBeGreaterThan(10);
  });

  it("answers whole, too", async () => {
    const model = make({ fetch: practice({ delayMs: 0 }), stream: false });
    const result = await createAgent({ model, tools }).run("Weather in Oslo").result;
    expect(result).toMatchObject({ outcome: "completed", text: "Weather for **Oslo**: **clear**" });
  });

  it("fails as the vendor does: too many requests, a broken server, an unknown model", async () => {
    const failure = async (options: object) => {
      const model = make({ fetch: practice({ delayMs: 0, ...options }) });
      const { error } = await createAgent({ model, retry: { maxRetries: 0 } }).run("Hi").result;
      return error?.code;
    };
    expect(await failure({ failures: [429] })).toBe("rate_limit");
    expect(await failure({ failures: [500] })).toBe("server");
    expect(await failure({ models: ["other"] })).toBe("not_found");
  });

  it("knows all fields that options of looplet become", async () => {
    const options: object[] = [
      { effort: "high" },
      { thinking: { type: "enabled" } },
      { thinking: { budgetTokens: 1024 }, maxOutputTokens: 4000 },
      { seed: 1, topK: 3, frequencyPenalty: 0.5, presencePenalty: 0.5 },
      { topP: 0.5, temperature: 0.5, maxOutputTokens: 4000, metadata: { a: "b" } },
      { promptCaching: { ttl: "1h", key: "k" } },
      { promptCaching: true, parallelToolCalls: true },
    ];
    let completed = 0;
    for (const more of options) {
      const model = make({ fetch: practice({ delayMs: 0 }), ...more });
      const { outcome, error, text } = await createAgent({ model }).run("Hello").result;
      if (outcome === "completed") completed += 1;
      else expect(error?.code).toBe("config_invalid");
      expect(text).not.toContain("I do not know");
    }
    expect(completed).toBeGreaterThan(2);
  });

  it("asks for the key that it is told to ask for", async () => {
    const ask = async (apiKey: string, options: object) => {
      const isSigned = name === "bedrock, signed";
      const model = make({ ...(!isSigned && { apiKey }), fetch: practice({ delayMs: 0, ...options }) });
      const result = await createAgent({ model, retry: { maxRetries: 0 } }).run("Hi").result;
      return result.error?.code ?? result.outcome;
    };
    expect(await ask("AKID", { apiKey: "AKID" })).toBe("completed");
    expect(await ask("AKID", { apiKey: "other" })).toBe("auth");
  });
});
