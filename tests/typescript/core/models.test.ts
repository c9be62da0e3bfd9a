import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { agentOn } from "../../../src/typescript/core/agents/agent.js";
import { authorizeRequest } from "../../../src/typescript/core/host/authorize.js";
import {
  anthropic,
  compatible,
  modelParts,
  openaiChat,
  type ModelParts,
} from "../../../src/typescript/core/models/models.js";
import type { AgentOptions, HttpModelOptions, Model } from "../../../src/typescript/core/api/index.js";
import { initOf } from "../support/bodies.js";
import { FakeEngine } from "../support/fake-driver.js";

afterEach(() => {
  vi.unstubAllGlobals();
});

const createAgent = (options: AgentOptions): unknown => agentOn(new FakeEngine().load, options);
const inBrowser = (): unknown => vi.stubGlobal("navigator", { userAgent: "Mozilla/5.0 (X11) Chrome/156" });

function parts(model: Model): ModelParts {
  const found = modelParts(model);
  if (found === undefined) throw new Error("no model");
  return found;
}

function authorized(model: Model, header = "x-api-key", prefix = ""): unknown {
  return authorizeRequest(parts(model), {
    method: "POST",
    url: "https://api.anthropic.com/v1/messages",
    headers: [["content-type", "application/json"]],
    auth: { header, prefix },
    body: new TextEncoder().encode('{"word":"世界"}'),
  });
}

function assertNever(): never {
  throw new Error("no vault");
}

describe("a model", () => {
  it("shows its key to nobody who prints or stores it", () => {
    const model = anthropic("m", { apiKey: "sk-secret" });
    const shown = [
      JSON.stringify(model),
      inspect(model, { depth: 9, showHidden: true }),
      Object.values(model).join(),
    ];
    expect(shown.join()).not.toContain("sk-secret");
    expect(JSON.stringify(parts(model).config)).not.toContain("sk-secret");
    expect(Object.isFrozen(model)).toBe(true);
  });

  it("writes what the engine's ModelConfig reads", () => {
    const model = openaiChat("gpt-5", {
      apiKey: "k",
      headers: { "X-Team": "a" },
      temperature: 0.2,
      stopSequences: ["END"],
      toolChoice: "required",
      frequencyPenalty: 0.5,
      presencePenalty: -1,
      responseFormat: { schema: { type: "object" }, strict: false },
      promptCaching: { key: "session" },
      metadata: { team: "a" },
      price: {
        inputUsdPerMillion: 2.5,
        outputUsdPerMillion: 10,
        cacheReadUsdPerMillion: 0.25,
        cacheWriteHourUsdPerMillion: 5,
        longPrompt: { aboveTokens: 272_000, inputFactor: 2, outputFactor: 1.5 },
      },
    });
    expect(parts(model).config).toEqual({
      vendor: "openai",
      protocol: "openai_chat",
      model: "gpt-5",
      headers: [["x-team", "a"]],
      temperature: 0.2,
      stopSequences: ["END"],
      toolChoice: "required",
      frequencyPenalty: 0.5,
      presencePenalty: -1,
      responseFormat: { schema: { type: "object" }, strict: false },
      promptCaching: { enabled: true, key: "session" },
      metadata: { team: "a" },
      price: {
        inputNanoUsd: 2500,
        outputNanoUsd: 10000,
        cacheReadNanoUsd: 250,
        cacheWriteHourNanoUsd: 5000,
        longAboveTokens: 272_000,
        longInputPercent: 200,
        longOutputPercent: 150,
      },
    });
  });

  it.each<[string, () => unknown, string, string]>([
    ["an empty name", () => anthropic("", { apiKey: "k" }), "config_missing", "model.model"],
    ["an empty key", () => anthropic("m", { apiKey: " " }), "config_invalid_value", "model.apiKey"],
    [
      "a key with a line break",
      () => anthropic("m", { apiKey: "sk-1\n" }),
      "config_invalid_value",
      "model.apiKey",
    ],
    [
      "options in place of the name",
      () => compatible({ baseUrl: "http://x", model: "m" } as never, undefined as never),
      "config_wrong_type",
      "model.model",
    ],
    ["no URL", () => compatible("m", { baseUrl: "http://" }), "config_invalid_value", "model.baseUrl"],
    [
      "a relative URL with a query",
      () => compatible("m", { baseUrl: "/v1?version=1" }),
      "config_invalid_value",
      "model.baseUrl",
    ],
    [
      "another scheme",
      () => compatible("m", { baseUrl: "ftp://x" }),
      "config_invalid_value",
      "model.baseUrl",
    ],
    [
      "a header with a line break",
      () => anthropic("m", { headers: { a: "b\r\nc: d" } }),
      "config_invalid_value",
      "model.headers.a",
    ],
    [
      "a header name with a space",
      () => anthropic("m", { headers: { "a b": "c" } }),
      "config_invalid_value",
      "model.headers.a b",
    ],
    [
      "a negative price",
      () => anthropic("m", { price: { inputUsdPerMillion: -1, outputUsdPerMillion: 1 } }),
      "config_invalid_value",
      "model.price.inputUsdPerMillion",
    ],
    [
      "half a price",
      () => anthropic("m", { price: { inputUsdPerMillion: 1 } as never }),
      "config_missing",
      "model.price.outputUsdPerMillion",
    ],
    [
      "an unknown protocol",
      () => compatible("m", { baseUrl: "http://x", protocol: "soap" as never }),
      "config_invalid_value",
      "model.protocol",
    ],
    [
      "a format without a schema",
      () => anthropic("m", { responseFormat: {} as never }),
      "config_missing",
      "model.responseFormat.schema",
    ],
    [
      "a format whose name has a blank",
      () => anthropic("m", { responseFormat: { name: "a b", schema: {} } }),
      "config_invalid_value",
      "model.responseFormat.name",
    ],
    [
      "caching that is a word",
      () => anthropic("m", { promptCaching: "on" as never }),
      "config_wrong_type",
      "model.promptCaching",
    ],
    [
      "an unknown option of caching",
      () => anthropic("m", { promptCaching: { tll: "1h" } as never }),
      "config_unknown_option",
      "model.promptCaching.tll",
    ],
    [
      "a penalty that is no number",
      () => anthropic("m", { frequencyPenalty: "1" as never }),
      "config_wrong_type",
      "model.frequencyPenalty",
    ],
    [
      "a price that is a number",
      () => anthropic("m", { price: 3 as never }),
      "config_wrong_type",
      "model.price",
    ],
    [
      "an unknown effort",
      () => anthropic("m", { effort: "much" as never }),
      "config_invalid_value",
      "model.effort",
    ],
    ...["https://x/v1?version=1", "https://x/v1#top"].map(
      (baseUrl): [string, () => unknown, string, string] => [
        baseUrl,
        () => compatible("m", { baseUrl }),
        "config_invalid_value",
        "model.baseUrl",
      ],
    ),
    ...["a: b", 5, null, [["a"]], new Date(0)].map((headers): [string, () => unknown, string, string] => [
      `headers that are ${JSON.stringify(headers)}`,
      () => anthropic("m", { headers: headers as never }),
      "config_wrong_type",
      "model.headers",
    ]),
    [
      "maxTokens",
      () => anthropic("m", { maxTokens: 1 } as HttpModelOptions),
      "config_unknown_option",
      "model.maxTokens",
    ],
  ])("refuses %s", (_, make, code, field) => {
    expect(make).toThrow(expect.objectContaining({ code, field }));
  });

  it.each([
    ["a record", { "X-Team": "a" }],
    ["Headers", new Headers({ "X-Team": "a" })],
    ["a Map", new Map([["X-Team", "a"]])],
    ["pairs", [["X-Team", "a"]] as [string, string][]],
  ])("takes its headers as %s", (_, headers) => {
    expect(parts(anthropic("m", { headers })).config.headers).toEqual([["x-team", "a"]]);
  });

  it.each([
    [true, { enabled: true }],
    [false, { enabled: false }],
    [{ ttl: "1h" as const }, { enabled: true, ttl: "1h" }],
  ])("turns promptCaching %j into what the engine reads", (promptCaching, read) => {
    expect(parts(anthropic("m", { promptCaching })).config.promptCaching).toEqual(read);
  });

  it.each(["openai_chat", "openai_responses", "anthropic", "gemini", "bedrock_converse"] as const)(
    "speaks %s behind any URL",
    (protocol) => {
      const model = compatible("m", { baseUrl: "http://x", protocol, quirks: { topK: false } });
      expect(parts(model).config).toMatchObject({ protocol, quirks: { topK: false } });
    },
  );

  it("shows the word that it refuses", () => {
    expect(() => anthropic("m", { effort: "much" as never })).toThrow(/got "much"/);
    expect(() => anthropic("m", { toolChoice: "add" as never })).toThrow(/got "add"/);
  });

  it("never repeats a key in an error", () => {
    expect(() => anthropic("m", { apiKey: "sk-secret\n" })).toThrow(expect.not.stringContaining("sk-secret"));
  });
});

describe("createAgent and the key", () => {
  it("refuses a vendor's model without any", () => {
    expect(() => createAgent({ model: anthropic("m") })).toThrow(
      expect.objectContaining({ code: "config_missing_key", field: "model.apiKey" }),
    );
  });

  it.each<[string, AgentOptions]>([
    ["a fetch of one's own", { model: anthropic("m"), fetch: () => Promise.reject(new Error()) }],
    ["authorize", { model: anthropic("m", { authorize: ({ headers }) => headers }) }],
    ["a proxy", { model: anthropic("m", { baseUrl: "https://proxy.example" }) }],
    ["a local server", { model: compatible("m", { baseUrl: "http://localhost:11434/v1" }) }],
  ])("needs none with %s", (_, options) => {
    expect(() => createAgent(options)).not.toThrow();
  });

  it("refuses to send one from a page to the vendor, unless told that this is wanted", () => {
    inBrowser();
    const refused = expect.objectContaining({ code: "config_browser_key" });
    const baseUrl = "https://api.openai.com/v1";
    expect(() => createAgent({ model: anthropic("m", { apiKey: "k" }) })).toThrow(refused);
    expect(() => createAgent({ model: compatible("m", { apiKey: "k", baseUrl }) })).toThrow(refused);
    expect(() =>
      createAgent({ model: anthropic("m", { apiKey: "k", dangerouslyAllowBrowser: true }) }),
    ).not.toThrow();
    expect(() =>
      createAgent({ model: anthropic("m", { apiKey: "k", baseUrl: "https://p.example" }) }),
    ).not.toThrow();
  });

  it.each(["https://api.anthropic.com.", "https://API.anthropic.com:8443", "https://api.openai.com./v1"])(
    "knows the vendor's server by any spelling of its host: %s",
    (baseUrl) => {
      inBrowser();
      const refused = expect.objectContaining({ code: "config_browser_key" });
      expect(() => createAgent({ model: compatible("m", { apiKey: "k", baseUrl }) })).toThrow(refused);
    },
  );

  it("resolves a proxy's path against the page when a request is made", async () => {
    const sent: string[] = [];
    const fetch = (url: string) => (sent.push(url), Promise.resolve(new Response()));
    const authorize = (request: { url: string }) => (sent.push(request.url), []);
    const engine = new FakeEngine();
    agentOn(engine.load, { model: anthropic("m", { baseUrl: "/api/llm", fetch, authorize }) }).run("go");
    const { host } = await engine.driver();
    const url = "/api/llm/v1/messages";
    const request = { method: "POST", url, headers: [], body: new Uint8Array(), model: 0 };
    const auth = { header: "x-api-key", prefix: "" };
    expect(() => host.authorize({ ...request, auth })).toThrow(/^model\.baseUrl: is relative/);
    vi.stubGlobal("location", { href: "https://app.example/chat/" });
    await host.authorize({ ...request, auth });
    await host.fetch(url, initOf({}), 0);
    expect(sent).toEqual(Array(2).fill("https://app.example/api/llm/v1/messages"));
  });
});

describe("createAgent and its model", () => {
  it("refuses a tool choice that names no tool", () => {
    expect(() =>
      createAgent({ model: anthropic("m", { apiKey: "k", toolChoice: { tool: "add" } }) }),
    ).toThrow(expect.objectContaining({ code: "config_invalid_value", field: "model.toolChoice" }));
  });

  it("sends by the model's own fetch before the agent's", async () => {
    const engine = new FakeEngine();
    const answers = (word: string) => () => Promise.resolve(new Response(word));
    const model = anthropic("m", { fetch: answers("model") });
    agentOn(engine.load, { model, fetch: answers("agent") }).run("go");
    const response = (await (await engine.driver()).host.fetch("https://x", initOf({}), 0)) as Response;
    expect(await response.text()).toBe("model");
  });
});

describe("a request", () => {
  it("gets the key in the vendor's header, in the same task when the key is a string", () => {
    expect(authorized(openaiChat("m", { apiKey: "k" }), "authorization", "Bearer ")).toEqual([
      ["content-type", "application/json"],
      ["authorization", "Bearer k"],
    ]);
  });

  it("gets the key in place of a header of the same name", () => {
    const [, ...rest] = authorized(anthropic("m", { apiKey: "k" }), "content-type") as unknown[];
    expect(rest).toEqual([]);
  });

  it("gets a key that is fetched anew each time", async () => {
    let count = 0;
    const model = anthropic("m", { apiKey: async () => `k${++count}` });
    expect(await authorized(model)).toContainEqual(["x-api-key", "k1"]);
    expect(await authorized(model)).toContainEqual(["x-api-key", "k2"]);
  });

  it("is not sent with a fetched key that cannot be one, and the error does not repeat it", async () => {
    const model = anthropic("m", { apiKey: async () => "sk secret" });
    await expect(authorized(model)).rejects.toThrow(/contains a space/);
    await expect(authorized(model)).rejects.not.toThrow(/secret/);
  });

  it.each([
    ["throws", () => assertNever()],
    ["rejects", async () => assertNever()],
  ])("is not sent when the function of the key %s, and the error names apiKey", async (_, apiKey) => {
    const asked = async (): Promise<unknown> => authorized(anthropic("m", { apiKey }));
    await expect(asked()).rejects.toThrow("apiKey has failed: no vault");
  });

  it("waits for any thenable", async () => {
    const apiKey = (): PromiseLike<string> => ({ then: (done: any) => done("k") });
    expect(await authorized(anthropic("m", { apiKey }))).toContainEqual(["x-api-key", "k"]);
  });

  it("says to Anthropic that a browser calls on purpose", () => {
    const model = anthropic("m", { apiKey: "k", dangerouslyAllowBrowser: true });
    expect(authorized(model)).toContainEqual(["anthropic-dangerous-direct-browser-access", "true"]);
    expect(authorized(openaiChat("m", { apiKey: "k", dangerouslyAllowBrowser: true }))).toHaveLength(2);
  });

  it.each([
    ["pairs", (): [string, string][] => [["x-signed", "1"]]],
    ["a record", () => ({ "x-signed": "1" })],
    ["Headers", async () => new Headers({ "x-signed": "1" })],
  ])("takes the headers of authorize as %s", async (_, authorize) => {
    expect(await authorized(anthropic("m", { authorize }))).toEqual([["x-signed", "1"]]);
  });

  it("gives authorize the bytes that fetch sends", async () => {
    const authorize = vi.fn(() => ({}));
    await authorized(anthropic("m", { authorize }));
    expect(authorize).toHaveBeenCalledWith(
      expect.objectContaining({ body: new TextEncoder().encode('{"word":"世界"}') }),
    );
  });
});
