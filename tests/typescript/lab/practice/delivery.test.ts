import { describe, expect, it } from "vitest";
import { practice, scripted, type Sleep } from "../../../../src/typescript/lab/practice/index.js";
import { ANTHROPIC_URL, anthropicRequest, OPENAI_URL, TOOLS } from "./kit.js";

const streamed = (content: string, extra = {}) =>
  anthropicRequest({ stream: true, messages: [{ role: "user", content }], ...extra });
const parse = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)));

describe("a streamed answer", () => {
  it("is framed as the vendor frames it", async () => {
    const fetch = scripted([
      {
        thinking: { text: "hm", signature: "s" },
        text: "Hi",
        toolCalls: [{ id: "t", name: "f", input: { a: 1 } }],
        usage: { inputTokens: 1, outputTokens: 2 },
      },
    ]);
    const response = await fetch(ANTHROPIC_URL, streamed("Hi"));
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const text = await response.text();
    expect(text.match(/^event: .*$/gm)).toEqual(
      "message_start content_block_start ping content_block_delta content_block_delta content_block_stop content_block_start content_block_delta content_block_stop content_block_start content_block_delta content_block_delta content_block_stop message_delta message_stop"
        .split(" ")
        .map((name) => `event: ${name}`),
    );
    expect(text).toContain('event: ping\ndata: {"type": "ping"}\n\n');
    expect(text).toContain(
      'data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}\n\n',
    );
    expect(text).toContain(
      '"delta":{"type":"input_json_delta","partial_json":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}}',
    );
    expect(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
  });

  it("ends in usage without choices and in [DONE] for OpenAI", async () => {
    const fetch = scripted([{ text: "Hi", usage: { inputTokens: 5, outputTokens: 2, cacheReadTokens: 3 } }]);
    const body = JSON.stringify({
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
      messages: [],
    });
    const text = await (await fetch(OPENAI_URL, { method: "POST", body })).text();
    const chunks = parse(text);
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: "assistant", content: "", refusal: null },
      { content: "Hi" },
      {},
      undefined,
    ]);
    expect(chunks[2].choices[0].finish_reason).toBe("stop");
    expect(chunks[3].usage).toMatchObject({
      prompt_tokens: 8,
      completion_tokens: 2,
      total_tokens: 10,
      prompt_tokens_details: { cached_tokens: 3 },
    });
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("is the same bytes for the same seed and request, and other ids for a repetition", async () => {
    const options = { delayMs: 0, chunking: "split", seed: "x" } as const;
    const fetch = practice(options);
    const first = await (await fetch(ANTHROPIC_URL, streamed("Hello"))).text();
    expect(await (await practice(options)(ANTHROPIC_URL, streamed("Hello"))).text()).toBe(first);
    expect(await (await fetch(ANTHROPIC_URL, streamed("Hello"))).text()).not.toBe(first);
  });

  it("waits before each chunk through the sleep seam", async () => {
    const waits: number[] = [];
    const sleep: Sleep = async (delayMs) => void waits.push(delayMs);
    const text = await (await practice({ delayMs: 7, sleep })(ANTHROPIC_URL, streamed("Hello"))).text();
    expect(waits).toEqual(text.match(/^event:/gm)?.map(() => 7));
  });

  it("stops at max_tokens and at stop sequences, and says so", async () => {
    const fetch = practice({ delayMs: 0 });
    const cut = parse(
      await (await fetch(ANTHROPIC_URL, streamed("Explain tides", { max_tokens: 10 }))).text(),
    );
    expect(cut.at(-2)).toMatchObject({ delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 10 } });
    const stopped = await (
      await fetch(
        ANTHROPIC_URL,
        anthropicRequest({
          messages: [{ role: "user", content: "Explain tides" }],
          stop_sequences: ["small deterministic"],
        }),
      )
    ).json();
    expect(stopped).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: "small deterministic" });
    expect(JSON.stringify((stopped as any).content)).not.toContain("small deterministic");
  });
});

describe("a call that the limit cuts", () => {
  it("ends inside its arguments, and no call follows", async () => {
    const tools = Object.entries(TOOLS).map(([name, { description, schema }]) => ({
      type: "function",
      function: { name, description, parameters: schema },
    }));
    const messages = [{ role: "user", content: "Weather in Paris and London" }];
    const callsWithin = async (max_tokens: number) => {
      const body = JSON.stringify({ model: "m", messages, tools, max_tokens });
      const response = await practice({ delayMs: 0 })(OPENAI_URL, { method: "POST", body });
      const [{ finish_reason, message }] = ((await response.json()) as any).choices;
      expect(finish_reason).toBe("length");
      return message.tool_calls?.map((call: any) => call.function.arguments);
    };
    expect(await callsWithin(8)).toEqual(['{"city":']);
    expect(await callsWithin(6)).toBeUndefined();
  });
});

describe("an abort", () => {
  it("before the call rejects with the reason", async () => {
    const reason = new Error("gone");
    await expect(
      practice()(ANTHROPIC_URL, { ...streamed("Hi"), signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason);
  });

  it("during the wait for a plain answer rejects with the reason", async () => {
    const controller = new AbortController();
    const pending = practice({ delayMs: 1e6 })(ANTHROPIC_URL, {
      ...anthropicRequest({ messages: [{ role: "user", content: "Hi" }] }),
      signal: controller.signal,
    });
    const outcome = expect(pending).rejects.toBe("stop");
    await new Promise((resolve) => setTimeout(resolve));
    controller.abort("stop");
    await outcome;
  });

  it("while a stream is read fails the read with the reason and ends the wait", async () => {
    const controller = new AbortController();
    let isWaiting = false;
    const sleep: Sleep = (_, signal) =>
      new Promise((_, reject) => {
        isWaiting = true;
        signal.addEventListener("abort", () => ((isWaiting = false), reject(signal.reason)));
      });
    const response = await practice({ sleep })(ANTHROPIC_URL, {
      ...streamed("Hi"),
      signal: controller.signal,
    });
    const read = response.body!.getReader().read();
    controller.abort("stop");
    await expect(read).rejects.toBe("stop");
    expect(isWaiting).toBe(false);
  });

  it("of the reader ends the wait and produces nothing more", async () => {
    let waits = 0;
    let ended = 0;
    const sleep: Sleep = (_, signal) =>
      new Promise((_, reject) => {
        waits += 1;
        signal.addEventListener("abort", () => ((ended += 1), reject(signal.reason)));
      });
    const reader = (await practice({ sleep })(ANTHROPIC_URL, streamed("Hi"))).body!.getReader();
    const read = reader.read();
    await reader.cancel();
    expect((await read).done).toBe(true);
    expect([waits, ended]).toEqual([1, 1]);
  });

  it("leaves no listener on the signal after the end", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: any) => ((listeners += 1), (add as any)(...args));
    signal.removeEventListener = (...args: any) => ((listeners -= 1), (remove as any)(...args));
    await (await practice({ delayMs: 0 })(ANTHROPIC_URL, { ...streamed("Hi"), signal })).text();
    expect(listeners).toBe(0);
  });
});

describe("a prompt with /practice", () => {
  it("fails as often as it says and is answered then", async () => {
    const fetch = practice({ delayMs: 0 });
    const statuses = [];
    for (let i = 0; i < 3; i += 1)
      statuses.push((await fetch(ANTHROPIC_URL, streamed("/practice 529 x2\nHello"))).status);
    expect(statuses).toEqual([529, 529, 200]);
  });

  it("breaks the stream when asked to", async () => {
    const response = await practice({ delayMs: 0 })(ANTHROPIC_URL, streamed("/practice drop\nHello"));
    await expect(response.text()).rejects.toThrow(TypeError);
  });
});
