/** The words of failed model calls: who was asked, where, and what was wrong. */
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  anthropic,
  compatible,
  createAgent,
  custom,
  openai,
  openaiChat,
} from "../../../src/typescript/core/entry/node.js";
import type { AgentOptions, Fetch, Model, RunResult } from "../../../src/typescript/core/api/index.js";
import { practice, raw, scripted } from "../../../src/typescript/lab/practice/index.js";
import * as vendors from "../../../src/typescript/extras/vendors.js";

const retry = { maxRetries: 3, delaysMs: [0], jitterMs: 0 };
const run = (model: Model, options: Partial<AgentOptions> = {}): Promise<RunResult> =>
  createAgent({ model, retry, ...options } as AgentOptions).run("hi").result;

afterEach(() => vi.unstubAllGlobals());

describe("an answer with an error status", () => {
  const models: { readonly [vendor: string]: (fetch: Fetch) => Model } = {
    anthropic: (fetch) => anthropic("m", { fetch, apiKey: "k" }),
    openaiChat: (fetch) => openaiChat("m", { fetch, apiKey: "k" }),
    openai: (fetch) => openai("m", { fetch, apiKey: "k" }),
  };
  const rows = Object.keys(models).flatMap((vendor) =>
    [
      [408, {}, 4],
      [409, {}, 4],
      [429, {}, 4],
      [500, {}, 4],
      [529, {}, 4],
      [400, {}, 1],
      [404, {}, 1],
      [410, {}, 1],
      [422, {}, 1],
      [408, { "x-should-retry": "false" }, 1],
      [409, { "x-should-retry": "false" }, 1],
      [400, { "x-should-retry": "true" }, 4],
    ].map(
      ([status, headers, requests]) =>
        [vendor, status, headers, requests] as [string, number, object, number],
    ),
  );

  it.each(rows)(
    "of %s with %i %j is asked %i times, as by the vendor's SDK",
    async (vendor, status, headers, requests) => {
      const body = '{"error":{"message":"The request timed out"}}';
      const fetch = vi.fn(async () => new Response(body, { status, headers: { ...headers } }));
      const { error } = await run(models[vendor]!(fetch));
      expect(error).toMatchObject({ status, retryable: requests > 1 });
      expect(fetch).toHaveBeenCalledTimes(requests);
    },
  );

  it("that a further attempt does not repeat is no end of the run", async () => {
    for (const status of [408, 409]) {
      const fetch = scripted([{ status }, { text: "Here." }]);
      expect(await run(anthropic("m", { fetch, apiKey: "k" }))).toMatchObject({
        outcome: "completed",
        text: "Here.",
      });
    }
  });
});

describe("a fetch that rejects", () => {
  const causes = "CORS, a wrong base URL or no network";
  it.each<[string, string, string | undefined]>([
    ["Chromium", "Failed to fetch", causes],
    ["Chromium with the host", "Failed to fetch (api.anthropic.com)", causes],
    ["Firefox", "NetworkError when attempting to fetch resource.", causes],
    ["Safari", "Load failed", causes],
    ["a fetch of yours", "The tunnel is closed", undefined],
  ])("in %s says the address and the usual causes", async (_, words, hint) => {
    const fetch = vi.fn(() => Promise.reject(new TypeError(words)));
    const { error } = await run(anthropic("m", { fetch }));
    expect(fetch).toHaveBeenCalledTimes(4);
    expect(error?.code).toBe("network");
    const start = `anthropic m failed with network at https://api.anthropic.com/v1/messages: TypeError: ${words}`;
    expect(error?.message).toBe(hint === undefined ? start : `${start} (the browser hides why: ${hint})`);
  });

  it("in Node keeps its cause beside the address", async () => {
    const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
    const { error } = await run(openaiChat("gpt", { fetch, baseUrl: "http://127.0.0.1:1" }));
    expect(error?.message).toBe(
      "openai gpt failed with network at http://127.0.0.1:1/v1/chat/completions: TypeError: fetch failed (connect ECONNREFUSED 127.0.0.1:1)",
    );
  });

  it("for lack of a permission of Deno is not tried again, and not with another model", async () => {
    const words = 'Requires net access to "api.anthropic.com:443", run again with the --allow-net flag';
    const fetch = vi.fn(() => Promise.reject(Object.assign(new Error(words), { name: "NotCapable" })));
    const { error } = await run(anthropic("m", { fetch }), { fallbackModels: [anthropic("n", { fetch })] });
    expect(error).toMatchObject({ code: "config_invalid", message: expect.stringContaining(words) });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it("shows the address as the page completes it", async () => {
    vi.stubGlobal("location", { href: "https://app.example/chat/?user=1" });
    const fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    const { error } = await run(anthropic("m", { fetch, baseUrl: "/api/llm" }));
    expect(error?.url).toBe("https://app.example/api/llm/v1/messages");
    expect(error?.message).toContain(" at https://app.example/api/llm/v1/messages: ");
  });

  it("while the answer streams says how much had come, and guesses no cause", async () => {
    const begun = new TextEncoder().encode(": wait\n\n");
    let pulls = 0;
    const body = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (pulls++ % 2 === 0) controller.enqueue(begun);
          else controller.error(new TypeError("Load failed"));
        },
      });
    const fetch = () => Promise.resolve(new Response(body()));
    const { error } = await run(anthropic("m", { fetch }));
    expect(error?.message).toBe(
      "anthropic m answered 200 network at https://api.anthropic.com/v1/messages: the answer was interrupted after 8 bytes: TypeError: Load failed",
    );
  });
});

describe("an answer that is not what was asked for", () => {
  it("names its protocol and is not asked for again", async () => {
    const chunk = { object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "Hi" } }] };
    const fetch = scripted([raw(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)]);
    const { error } = await run(
      compatible("m", { baseUrl: "https://x.example", protocol: "anthropic", fetch }),
    );
    expect(error).toMatchObject({ code: "malformed_stream", retryable: false, status: 200 });
    expect(error?.message).toMatch(
      /at https:\/\/x\.example\/v1\/messages: the answer looks like OpenAI's Chat/,
    );
    expect(error?.message).toMatch(/use openaiChat\(…\), or compatible\(…\) with protocol: "openai_chat"$/);
    expect(fetch.requests).toHaveLength(1);
  });

  it("with status 404 says which address was asked and what to check", async () => {
    const fetch = () => Promise.resolve(new Response("<h1>Not here</h1>", { status: 404 }));
    const { error } = await run(vendors.groq("llama", { fetch, baseUrl: "https://x.example/api" }));
    expect(error?.message).toBe(
      "groq llama answered 404 not_found at https://x.example/api/chat/completions: an HTML page. Check baseUrl and the model's name.",
    );
  });
});

describe("code in place of a server", () => {
  const asFetch = (made: unknown): Fetch => made as Fetch;
  const mistake = () => {
    throw new TypeError("x is undefined");
  };
  it.each<[string, () => Model, string]>([
    ["a custom function that throws", () => custom(mistake), "x is undefined"],
    [
      "a custom generator that throws after text",
      () =>
        custom(async function* () {
          yield "Well, ";
          mistake();
        }),
      "x is undefined",
    ],
    [
      "a script without a turn left",
      () => anthropic("m", { fetch: scripted([]) }),
      "The script has 0 turns, and request number 1 came.",
    ],
    [
      "a turn that throws",
      () => anthropic("m", { fetch: scripted([mistake]) }),
      "Turn 1 of the script has thrown",
    ],
    [
      "a turn with an unknown field",
      () => anthropic("m", { fetch: scripted([() => ({ txt: "Hi" }) as never]) }),
      'no field "txt"',
    ],
    [
      "practice that was not called",
      () => anthropic("m", { fetch: asFetch(practice) }),
      "pass fetch: practice()",
    ],
    [
      "scripted that was not called",
      () => anthropic("m", { fetch: asFetch(scripted) }),
      "pass fetch: scripted([…])",
    ],
  ])("%s is custom_model, and is asked once", async (_, model, words) => {
    const attempts: number[] = [];
    const options = { model: model(), retry: { ...retry, maxModelCallRetries: 2 } };
    const { outcome, error } = await createAgent(options as AgentOptions).run("hi", {
      onEvent: (event) => void (event.type === "attempt-start" && attempts.push(event.attempt)),
    }).result;
    expect(outcome).toBe("failed");
    expect(error).toMatchObject({ code: "custom_model", retryable: false });
    expect(error?.message).toContain(words);
    expect(attempts).toEqual([1]);
  });

  it("is asked again after a failure that it yields to be tried again", async () => {
    let asked = 0;
    const model = custom(() => {
      asked += 1;
      return asked === 1 ? [{ type: "error", message: "later", code: "rate_limit" }] : "Hello.";
    });
    const result = await run(model);
    expect([asked, result.text]).toEqual([2, "Hello."]);
  });

  it("a turn that rejects on purpose is a network's failure all the same", async () => {
    const fetch = scripted([{ reject: "socket closed" }, { text: "Hi" }]);
    expect((await run(anthropic("m", { fetch }))).text).toBe("Hi");
  });
});
