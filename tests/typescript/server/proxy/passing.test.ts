import { beforeAll, describe, expect, it } from "vitest";
import {
  anthropic,
  bedrock,
  compatible,
  createAgent,
  gemini,
  openai,
  openaiChat,
  type Fetch,
  type Model,
} from "looplet";
import { raw, scripted } from "looplet/practice";
import { prices } from "looplet/prices";
import { proxy } from "looplet/proxy";
import { groq, vertex } from "looplet/vendors";
import { body, claude, KEY, noting, pageFetch, proxyOf, requestOf, vendorOf, type Sent } from "./kit.js";

// The first run loads the engine.
beforeAll(() => createAgent({ model: claude({ fetch: scripted([{ text: "Hi." }]) }) }).run("Hi").result);

type Make = (
  name: string,
  options: { apiKey?: string; baseUrl?: string; fetch?: Fetch; price?: typeof prices },
) => Model;

const VENDORS: [string, string, Make][] = [
  ["anthropic", "claude-sonnet-4-6", anthropic],
  ["openai", "gpt-5.5", openai],
  ["openai", "gpt-4.1", openaiChat],
  ["google", "gemini-2.5-pro", gemini],
  ["groq", "openai/gpt-oss-120b", groq],
  [
    "vertex",
    "gemini-2.5-pro",
    (name, options) => vertex(name, { project: "p", location: "europe-west1", ...options }),
  ],
  [
    "bedrock",
    "us.anthropic.claude-sonnet-4-6-v1:0",
    (name, options) => bedrock(name, { region: "eu-central-1", ...options }),
  ],
  [
    "compatible",
    "local",
    (name, options) => compatible(name, { baseUrl: "https://gate.test/v1", ...options }),
  ],
];

const turns = () => [
  { thinking: { text: "Hm." }, text: ["It is ", "7 degrees, and it will rain until the evening."] },
];

describe("a call of a page", () => {
  it.each(VENDORS)(
    "reaches %s (%s) as one without a proxy does, and its usage is counted",
    async (vendor, name, make) => {
      const direct = vendorOf(turns());
      const model = make(name, { apiKey: KEY, fetch: direct.fetch, price: prices });
      const expected = await createAgent({ model }).run("Hello").result;
      const quota = noting();
      const { fetch, sent } = vendorOf(turns());
      const models = [claude(), make(name, { apiKey: KEY, price: prices })];
      const handler = proxy({ models, authorize: () => "ada", quota, fetch });
      const page = make(name, { baseUrl: `https://page.test/api/${vendor}`, fetch: pageFetch(handler) });
      const result = await createAgent({ model: page }).run("Hello").result;
      expect(result.text).toBe(expected.text);
      const seen = ({ url, headers, body: text }: Sent): unknown => [
        url,
        Object.fromEntries([...headers].filter(([header]) => header !== "accept")),
        text,
      ];
      expect(sent.map(seen)).toEqual(direct.sent.map(seen));
      const { costUsd, costBasis } = expected;
      expect(quota.ended).toEqual([
        [
          { owner: "ada", vendor, model: name, most: expect.objectContaining({ isReported: false }) },
          {
            inputTokens: expected.usage!.inputTokens,
            outputTokens: expected.usage!.outputTokens,
            costUsd: costBasis === "unknown" ? null : expect.closeTo(costUsd, 9),
            isReported: true,
          },
        ],
      ]);
    },
  );
});

describe("an answer", () => {
  const streamed = (events: readonly string[], gate: Promise<void>) => {
    const encoder = new TextEncoder();
    let isLeft = false;
    const fetch = (async (_url: string, { signal }: RequestInit) => {
      const stream = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const event = events[at++];
          if (event === undefined) return controller.close();
          if (event === "") await gate;
          else controller.enqueue(encoder.encode(event));
        },
        cancel: () => void (isLeft = true),
      });
      let at = 0;
      signal?.addEventListener("abort", () => (isLeft = true));
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    }) as unknown as Fetch;
    return { fetch, isLeft: () => isLeft };
  };
  const start =
    'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":40,"cache_read_input_tokens":10,"output_tokens":1}}}\n\n';
  const delta = (text: string) =>
    `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"${text}"}}\n\n`;
  const end = 'data: {"type":"message_delta","usage":{"output_tokens":7}}\n\n';

  it("comes piece by piece, byte for byte, before it is whole", async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { fetch } = streamed([start, delta("Hi"), "", end], gate);
    const quota = noting();
    const { handler } = proxyOf(fetch, { quota });
    const response = await handler(requestOf());
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    const next = async () => decoder.decode((await reader.read()).value);
    expect(await next()).toBe(start);
    expect(await next()).toBe(delta("Hi"));
    expect(quota.ended).toEqual([]);
    release();
    expect(await next()).toBe(end);
    expect((await reader.read()).done).toBe(true);
    const usage = { inputTokens: 50, outputTokens: 7, costUsd: null, isReported: true };
    expect(quota.ended).toEqual([[expect.anything(), usage]]);
  });

  it("is counted the same wherever the network cuts it", async () => {
    const whole = start + delta("Höhe ☂") + end;
    const bytes = new TextEncoder().encode(whole);
    for (const size of [1, 2, 3, 7, 64]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.slice(at * size, (at + 1) * size),
      );
      const quota = noting();
      const { handler } = proxyOf([raw(chunks)], { quota });
      expect(await (await handler(requestOf())).text()).toBe(whole);
      expect(quota.ended[0]![1]).toMatchObject({ inputTokens: 50, outputTokens: 7, isReported: true });
    }
  });

  it("that the page leaves ends at the vendor, and what it had written is estimated", async () => {
    const long = "word ".repeat(80);
    const { fetch, isLeft } = streamed([start, delta(long), delta(long), "", end], new Promise(() => {}));
    const quota = noting();
    const { handler } = proxyOf(fetch, { quota });
    const work: Promise<unknown>[] = [];
    const response = await handler(requestOf(), { waitUntil: (one) => void work.push(one) });
    const reader = response.body!.getReader();
    for (let at = 0; at < 3; at += 1) await reader.read();
    // The next piece is asked for by now.
    await new Promise((resolve) => setTimeout(resolve, 0));
    await reader.cancel();
    expect(isLeft()).toBe(true);
    expect(work).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(quota.ended).toHaveLength(1);
    expect(quota.ended[0]![1]).toEqual({
      inputTokens: 50,
      outputTokens: 200,
      costUsd: null,
      isReported: false,
    });
  });

  it("that breaks off, or never reports, is estimated too", async () => {
    const broken = (async () => {
      let at = 0;
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at++ > 0) throw new Error(`socket with ${KEY}`);
          controller.enqueue(new TextEncoder().encode(delta("x".repeat(40))));
        },
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    }) as unknown as Fetch;
    const quota = noting();
    const { handler } = proxyOf(broken, { quota });
    await expect((await handler(requestOf())).text()).rejects.toThrow("The answer has broken off.");
    expect(quota.ended[0]![1]).toMatchObject({ outputTokens: 10, isReported: false });
    expect(quota.ended[0]![1].inputTokens).toBe(Math.ceil(JSON.stringify(body()).length / 4));
    const silent = noting();
    await (await proxyOf([raw(delta("x".repeat(40)))], { quota: silent }).handler(requestOf())).text();
    expect(silent.ended[0]![1]).toMatchObject({ outputTokens: 10, isReported: false });
  });

  it("that comes whole is counted", async () => {
    const usage = { inputTokens: 12, outputTokens: 3 };
    const quota = noting();
    const { handler } = proxyOf([{ text: "Hi.", usage }], { quota });
    const response = await handler(requestOf(body({ stream: false })));
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await response.json()).toMatchObject({ content: [{ text: "Hi." }] });
    expect(quota.ended[0]![1]).toMatchObject({ ...usage, isReported: true });
  });

  it("has the headers that looplet reads, and none that a cache or a browser would misread", async () => {
    const headers = {
      "set-cookie": "a=1",
      "content-type": "text/html",
      "x-request-id": "req-1",
      "retry-after": "3",
    };
    const { handler } = proxyOf([raw("<script>", { headers })]);
    const response = await handler(requestOf());
    expect(Object.fromEntries(response.headers)).toEqual({
      "cache-control": "no-store, no-transform",
      "content-type": "text/plain",
      "retry-after": "3",
      vary: "origin",
      "x-content-type-options": "nosniff",
      "x-request-id": "req-1",
    });
  });
});
