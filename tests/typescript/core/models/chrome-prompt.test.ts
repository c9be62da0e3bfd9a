import { describe, expect, it, vi } from "vitest";
import { createAgent, LoopletError, tool } from "../../../../src/typescript/core/entry/node.js";
import {
  chromePrompt,
  type ChromePromptOptions,
  type LanguageModelAvailability,
  type LanguageModelCreateOptions,
  type LanguageModelMessage,
  type LanguageModelPromptOptions,
  type LanguageModelSession,
  type LanguageModelStatic,
} from "../../../../src/typescript/extras/models/index.js";

const noWait = { baseMs: 0, jitterMs: 0 };
const weather = tool({
  description: "Weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `It rains in ${city}.`,
});

interface Asked {
  input: LanguageModelMessage[];
  options: LanguageModelPromptOptions | undefined;
}

/**
 * A double of the browser's interface, which refuses what that refuses:
 * <https://webmachinelearning.github.io/prompt-api/#api> (2026-11-22).
 */
class LanguageModelDouble implements LanguageModelStatic {
  availabilityWord: LanguageModelAvailability = "available";
  readonly created: LanguageModelCreateOptions[] = [];
  readonly asked: Asked[] = [];
  readonly cores: unknown[] = [];
  destroyed = 0;
  createError: Error | undefined;

  constructor(readonly replies: (string[] | Error)[]) {}

  async availability(options?: unknown): Promise<LanguageModelAvailability> {
    this.cores.push(options);
    return this.availabilityWord;
  }

  async create(options: LanguageModelCreateOptions = {}): Promise<LanguageModelSession> {
    (options.signal as AbortSignal).throwIfAborted();
    options.monitor?.({
      addEventListener: (_, listener) => [0, 0.5, 1].forEach((loaded) => listener({ loaded })),
    });
    if (this.createError !== undefined) throw this.createError;
    const prompts = options.initialPrompts ?? [];
    if (prompts.some(({ role }, at) => role === "system" && at > 0))
      throw new TypeError("system comes first");
    checkKinds(prompts, options);
    this.created.push(options);
    return this.#session();
  }

  #session(): LanguageModelSession {
    let contextUsage = 10;
    let controller!: ReadableStreamDefaultController<string>;
    let isDestroyed = false;
    return {
      get contextUsage() {
        return contextUsage;
      },
      measureContextUsage: async () => 5,
      promptStreaming: (input, options) => {
        if (input.some(({ role }) => role === "system")) throw new TypeError("a prompt has no system role");
        checkKinds(input, this.created.at(-1));
        this.asked.push({ input, options });
        const reply = this.replies.shift() ?? [];
        return new ReadableStream<string>({
          start: (given) => void (controller = given),
          pull: (to) => {
            if (reply instanceof Error) return to.error(reply);
            const piece = reply.shift();
            if (piece === undefined) {
              contextUsage += 5 + 7;
              return to.close();
            }
            if (piece !== "hang") to.enqueue(piece);
            return piece === "hang" ? new Promise(() => {}) : undefined;
          },
        });
      },
      destroy: () => {
        this.destroyed += 1;
        if (!isDestroyed) {
          isDestroyed = true;
          try {
            controller?.error(new DOMException("destroyed", "AbortError"));
          } catch {
            // Closed already.
          }
        }
      },
    };
  }
}

/** Only what the session was made for goes in, and an answer of the model only as text. */
function checkKinds(
  prompts: LanguageModelMessage[],
  { expectedInputs = [] }: LanguageModelCreateOptions = {},
) {
  const expected = new Set(["text", ...expectedInputs.map(({ type }) => type)]);
  for (const { role, content } of prompts)
    for (const { type, value } of typeof content === "string" ? [] : content) {
      if (!expected.has(type) || (role === "assistant" && type !== "text"))
        throw new DOMException(`${type} is not expected`, "NotSupportedError");
      if ((type === "text") !== (typeof value === "string"))
        throw new TypeError(`${type} with another value`);
    }
}

const model = (languageModel: LanguageModelDouble, more: ChromePromptOptions = {}) =>
  chromePrompt({ languageModel, ...more });

describe("the browser's built-in model", () => {
  it("answers a run, with the system prompt first and its usage counted", async () => {
    const api = new LanguageModelDouble([["It ", "rains."]]);
    const texts: string[] = [];
    const agent = createAgent({ model: model(api), system: "Be brief." });
    const result = await agent.run("Umbrella?", { onText: (text) => texts.push(text) }).result;
    expect(result).toMatchObject({ outcome: "completed", text: "It rains.", finishReason: "stop" });
    expect(result.usage).toMatchObject({ inputTokens: 15, outputTokens: 7 });
    expect(texts.join("")).toBe("It rains.");
    expect(api.created[0]?.initialPrompts).toEqual([{ role: "system", content: "Be brief." }]);
    expect(api.asked[0]?.input).toEqual([{ role: "user", content: "Umbrella?" }]);
    expect(api.asked[0]?.options).not.toHaveProperty("responseConstraint");
    expect(api.destroyed).toBe(1);
  });

  it("calls a tool by a constrained reply and answers out of its result", async () => {
    const api = new LanguageModelDouble([
      ['{"tool": "wea', 'ther", "input": {"city": "Bern"}}'],
      ['{"text": "Take ', 'one."}'],
    ]);
    const result = await createAgent({ model: model(api), tools: { weather } }).run("Umbrella?").result;
    expect(result).toMatchObject({ outcome: "completed", text: "Take one.", iterations: 2 });
    expect(result.toolCalls).toMatchObject([
      { toolName: "weather", input: { city: "Bern" }, output: "It rains in Bern." },
    ]);
    expect(api.asked[0]?.options?.responseConstraint).toHaveProperty("anyOf");
    expect(api.created[1]?.initialPrompts?.map(({ role }) => role)).toEqual(["system", "user", "assistant"]);
    expect(api.asked[1]?.input).toEqual([{ role: "user", content: "Result of weather: It rains in Bern." }]);
    expect(api.destroyed).toBe(2);
  });

  it("gives images as blobs, and says so when the session is made", async () => {
    const api = new LanguageModelDouble([["A dot."]]);
    const prompt = [
      { type: "text", text: "What is it?" },
      { type: "media", mediaType: "image/png", data: "AAEC" },
    ] as const;
    const result = await createAgent({ model: model(api) }).run(prompt).result;
    expect(result.text).toBe("A dot.");
    expect(api.cores[0]).toEqual({ expectedInputs: [{ type: "image" }] });
    const content = api.asked[0]?.input[0]?.content as { type: string; value: unknown }[];
    expect(content[0]).toEqual({ type: "text", value: "What is it?" });
    const blob = content[1]?.value as Blob;
    expect(blob.type).toBe("image/png");
    expect([...new Uint8Array(await blob.arrayBuffer())]).toEqual([0, 1, 2]);
  });

  it("tells of the download, and only where there is one", async () => {
    const loaded: number[] = [];
    const onDownload = (part: number): unknown => loaded.push(part);
    const api = new LanguageModelDouble([["a"], ["b"]]);
    await createAgent({ model: model(api, { onDownload }) }).run("hi").result;
    expect(loaded).toEqual([]);
    api.availabilityWord = "downloadable";
    await createAgent({ model: model(api, { onDownload }) }).run("hi").result;
    expect(loaded).toEqual([0, 0.5, 1]);
  });

  it("hands on languages, sampling mode and what only extensions have", async () => {
    const api = new LanguageModelDouble([["a"]]);
    const expectedInputs = [{ type: "text", languages: ["en", "ja"] }] as const;
    const options = { samplingMode: "creative", temperature: 0.5, topK: 3 };
    await createAgent({ model: model(api, { ...options, expectedInputs } as never) }).run("hi").result;
    expect(api.created[0]).toMatchObject({ ...options, expectedInputs });
    expect(api.cores[0]).toEqual({ ...options, expectedInputs });
  });

  it("destroys the session when the run is aborted, and keeps what came", async () => {
    const api = new LanguageModelDouble([["Once ", "hang"]]);
    const run = createAgent({ model: model(api) }).run("tell", { onText: () => run.abort("enough") });
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "cancelled", text: "Once " });
    await vi.waitFor(() => expect(api.destroyed).toBeGreaterThan(0));
    expect((api.created[0]?.signal as AbortSignal).aborted).toBe(true);
  });

  it.each<[string, Partial<LanguageModelDouble>, object, number]>([
    ["unavailable", { availabilityWord: "unavailable" }, { code: "not_found", retryable: false }, 0],
    [
      "to be downloaded without a click",
      { availabilityWord: "downloadable", createError: new DOMException("no", "NotAllowedError") },
      { code: "invalid_request", message: expect.stringContaining("click") },
      0,
    ],
    [
      "too small for the prompt",
      { createError: new DOMException("too large", "QuotaExceededError") },
      { code: "context_length", retryable: false },
      0,
    ],
    [
      "of other languages",
      { createError: new DOMException("no", "NotSupportedError") },
      { code: "invalid_request" },
      0,
    ],
    [
      "broken",
      { createError: new DOMException("no", "OperationError") },
      { code: "server", retryable: true },
      2,
    ],
  ])("fails clearly when it is %s", async (_, state, error, retries) => {
    const api = Object.assign(new LanguageModelDouble([]), state);
    const retry = { ...noWait, maxRetries: 2 };
    const events: string[] = [];
    const run = createAgent({ model: model(api), retry }).run("hi", {
      onEvent: ({ type }) => events.push(type),
    });
    expect(await run.result).toMatchObject({ outcome: "failed", error });
    expect(events.filter((type) => type === "retry")).toHaveLength(retries);
    expect(api.created).toEqual([]);
  });

  it("fails as context_length when the answer does not fit, after the session began", async () => {
    const api = new LanguageModelDouble([new DOMException("too large", "QuotaExceededError")]);
    const result = await createAgent({ model: model(api), retry: noWait }).run("hi").result;
    expect(result).toMatchObject({ outcome: "failed", error: { code: "context_length" } });
    expect(api.destroyed).toBe(1);
  });

  it("fails where there is no Prompt API, and where a limit cannot be kept", async () => {
    const nowhere = await createAgent({ model: chromePrompt() }).run("hi").result;
    expect(nowhere.error).toMatchObject({ code: "not_found" });
    expect(nowhere.error?.message).toContain("Prompt API");
    const api = new LanguageModelDouble([["a"]]);
    const limited = await createAgent({ model: model(api), maxOutputTokens: 5 }).run("hi").result;
    expect(limited.error).toMatchObject({ code: "invalid_request" });
    expect(limited.error?.message).toContain("maxOutputTokens");
  });

  it("refuses options that it cannot have", () => {
    expect(() => chromePrompt({ seed: 1 } as never)).toThrow(LoopletError);
    expect(() => chromePrompt({ onDownload: 1 } as never)).toThrow(
      expect.objectContaining({ code: "config_wrong_type", field: "model.onDownload" }),
    );
  });
});
