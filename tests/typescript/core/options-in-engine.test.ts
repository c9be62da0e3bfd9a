import { describe, expect, it } from "vitest";
import { anthropic, compatible, createAgent, custom, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { prices } from "../../../src/typescript/extras/prices.js";
import { groq, mistral } from "../../../src/typescript/extras/vendors.js";

const key = { apiKey: "sk-test" };
const schema = { type: "object", properties: { n: { type: "number" } } };
const answers = () => scripted([{ text: "{}" }, { text: "{}" }]);

function bodyOf(fetch: { requests: readonly { body: unknown }[] }, at = 0): any {
  const { body } = fetch.requests[at]!;
  return typeof body === "string" ? JSON.parse(body) : body;
}

describe("a model's options", () => {
  it("reach a function of yours", async () => {
    let options: unknown;
    const model = custom(
      (request) => {
        ({ options } = request);
        return "ok";
      },
      {
        responseFormat: { schema },
        promptCaching: { key: "k" },
        frequencyPenalty: 0.5,
        presencePenalty: -1,
        metadata: { team: "a" },
      },
    );
    await createAgent({ model }).run("go").result;
    expect(options).toEqual({
      responseFormat: { name: "answer", schema, strict: true },
      promptCaching: { enabled: true, key: "k" },
      frequencyPenalty: 0.5,
      presencePenalty: -1,
      metadata: { team: "a" },
    });
  });

  it("reach Anthropic under its names, with cache markers", async () => {
    const fetch = answers();
    const noop = tool({ description: "Nothing", inputSchema: schema as never, execute: () => "" });
    const model = anthropic("claude-sonnet-4-6", {
      ...key,
      fetch,
      responseFormat: { schema },
      metadata: { user_id: "u" },
      promptCaching: { ttl: "1h" },
    });
    await createAgent({ model, system: "s", tools: { noop } }).run("go").result;
    const marker = { type: "ephemeral", ttl: "1h" };
    expect(bodyOf(fetch)).toMatchObject({
      output_config: { format: { type: "json_schema", schema } },
      metadata: { user_id: "u" },
      system: [{ type: "text", text: "s", cache_control: marker }],
      tools: [{ name: "noop", cache_control: marker }],
      messages: [{ role: "user", content: [{ type: "text", text: "go", cache_control: marker }] }],
    });
  });

  it("go where a server wants them", async () => {
    const fetch = answers();
    const quirks = { maxOutputTokens: "max_new_tokens", "thinking.disabled": { think: false } };
    const options = { fetch, maxOutputTokens: 5, thinking: { type: "disabled" }, quirks };
    await createAgent({ model: compatible("m", { baseUrl: "http://x/v1", ...options }) }).run("go").result;
    expect(bodyOf(fetch)).toMatchObject({ max_new_tokens: 5, think: false });
    expect(bodyOf(fetch)).not.toHaveProperty("max_tokens");
  });

  it("that a vendor lacks end the run with the field's name", async () => {
    const model = groq("m", { ...key, fetch: answers(), topK: 3 });
    const { error } = await createAgent({ model }).run("go").result;
    expect(error).toMatchObject({ code: "config_invalid", message: expect.stringContaining("model.topK") });
    expect(error?.message).toContain('"groq"');
  });
});

describe("a vendor's model", () => {
  it("sends its request to the vendor, and an error names it", async () => {
    const seen: string[] = [];
    const refuse = (url: string) => {
      seen.push(url);
      return Promise.resolve(new Response('{"detail":"Invalid API Key"}', { status: 401 }));
    };
    const { error } = await createAgent({ model: mistral("m", { ...key, fetch: refuse }) }).run("go").result;
    expect(seen).toEqual(["https://api.mistral.ai/v1/chat/completions"]);
    const url = "https://api.mistral.ai/v1/chat/completions";
    expect(error).toMatchObject({ code: "auth", status: 401, vendor: "mistral", model: "m", url });
    expect(error?.message).toBe(`mistral m answered 401 auth at ${url}: Invalid API Key`);
  });
});

describe("the cost of a run", () => {
  it("is what the model itself reports", async () => {
    const model = custom(() => [
      { type: "text", text: "hi" },
      { type: "usage", inputTokens: 10, outputTokens: 2, costUsd: 0.0001234 },
    ]);
    const result = await createAgent({ model }).run("go").result;
    expect(result).toMatchObject({ costBasis: "reported", costNanoUsd: 123_400, costUsd: 0.0001234 });
  });

  it("is that of the price table", async () => {
    const model = anthropic("claude-sonnet-4-6", { ...key, fetch: answers(), price: prices });
    const { costBasis, costNanoUsd, usage } = await createAgent({ model }).run("go").result;
    expect(costBasis).toBe("table");
    const { inputTokens, cacheWriteTokens, outputTokens } = usage!;
    expect(costNanoUsd).toBe(
      (inputTokens - cacheWriteTokens) * 3000 + cacheWriteTokens * 3750 + outputTokens * 15_000,
    );
  });

  it("is not known without either", async () => {
    const { costBasis, costUsd, costNanoUsd } = await createAgent({ model: custom(() => "hi") }).run("go")
      .result;
    expect([costBasis, costUsd, costNanoUsd]).toEqual(["unknown", 0, null]);
  });
});
