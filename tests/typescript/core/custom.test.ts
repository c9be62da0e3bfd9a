import { createAgent } from "looplet";
import { describe, expect, it } from "vitest";
import { custom, customFetch } from "../../../src/typescript/core/models/custom.js";
import type { CustomModel } from "../../../src/typescript/core/api/index.js";
import { initOf } from "../support/bodies.js";

const asked = { model: "m", system: "s", tools: [], messages: [], maxOutputTokens: 5 };

async function lines(answer: CustomModel): Promise<unknown[]> {
  const response = await customFetch(answer)("", initOf(asked));
  const text = await response.text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}

function raise(): never {
  throw new Error("no message for you");
}

const invalid = (text: string): unknown => ({
  type: "error",
  code: "custom_model",
  message: expect.stringContaining(text),
});

describe("the fetch of a custom model", () => {
  const stop = { type: "finish", reason: "stop" };

  it.each<[string, CustomModel, unknown[]]>([
    ["a text", () => "hi", [{ type: "text", text: "hi" }, stop]],
    ["a promise of one", async () => "hi", [{ type: "text", text: "hi" }, stop]],
    ["parts", () => [{ type: "reasoning", text: "hm" }], [{ type: "reasoning", text: "hm" }, stop]],
    [
      "a call",
      () => [{ type: "tool_call", name: "t", input: { a: 1 } }],
      [
        { type: "tool_call", name: "t", input: { a: 1 } },
        { type: "finish", reason: "tool_calls" },
      ],
    ],
    ["its own finish", () => [{ type: "finish", reason: "length" }], [{ type: "finish", reason: "length" }]],
    [
      "a stream that throws",
      async function* () {
        yield "a";
        throw new Error("gone");
      },
      [
        { type: "text", text: "a" },
        { type: "error", code: "custom_model", message: "gone" },
      ],
    ],
    [
      "a function that throws",
      () => {
        throw new TypeError("x is undefined");
      },
      [invalid("x is undefined")],
    ],
    ["a function that rejects", () => Promise.reject(new Error("no GPU")), [invalid("no GPU")]],
    [
      "an error whose message throws",
      () => {
        throw Object.defineProperty(new Error(), "message", { get: () => raise() });
      },
      [invalid("cannot be shown")],
    ],
    [
      "a failure that says that it may be tried again",
      () => [{ type: "error", message: "later", code: "rate_limit", retryable: true }],
      [{ type: "error", message: "later", code: "rate_limit", retryable: true }],
    ],
    ["something else", () => 7 as never, [invalid("answered with the number 7")]],
    ["nothing", async () => undefined as never, [invalid("answered with nothing")]],
    [
      "an iterable of parts and texts",
      () => new Set(["a", { type: "text", text: "b" } as const]),
      [{ type: "text", text: "a" }, { type: "text", text: "b" }, stop],
    ],
    [
      "what is no part, after what has come",
      () => ["a", { type: "wat" }] as never,
      [{ type: "text", text: "a" }, invalid('type is "wat"; there are text, reasoning')],
    ],
    ["bytes", () => [new Uint8Array(2)] as never, [invalid("type is nothing")]],
    ["a text that is none", () => [{ type: "text", text: 5 }] as never, [invalid("text is the number 5")]],
    ["a call without a name", () => [{ type: "tool_call" }] as never, [invalid("name is nothing")]],
    [
      "a file without bytes",
      () => [{ type: "file", mediaType: "a/b" }] as never,
      [invalid("data is nothing")],
    ],
    ["a source without a page", () => [{ type: "source" }] as never, [invalid("url is nothing")]],
    ["a raw part without a value", () => [{ type: "raw" }] as never, [invalid("json is nothing")]],
    ["a number as input", () => [{ type: "tool_call", name: "t", input: 1 }], [invalid("input is")]],
    [
      "what JSON cannot hold",
      () => [{ type: "tool_call", name: "t", input: { n: 1n } }],
      [invalid("tool_call that JSON cannot hold")],
    ],
    [
      "a delta without a start",
      () => [{ type: "tool_call_delta", text: "{" }],
      [invalid("tool_call_delta before any tool_call_start")],
    ],
    [
      "a delta of another call",
      () => [
        { type: "tool_call_start", name: "t", index: 0 },
        { type: "tool_call_delta", text: "{", index: 1 },
      ],
      [{ type: "tool_call_start", name: "t", index: 0 }, invalid("index is the number 1")],
    ],
    [
      "a finish for no reason",
      () => [{ type: "finish", reason: "other" }] as never,
      [invalid('reason is "other"')],
    ],
  ])("writes %s as lines of JSON", async (_, answer, expected) => {
    expect(await lines(answer)).toEqual(expected);
  });

  it("says files, sources and blocks of its own", async () => {
    const model = custom(function* () {
      yield { type: "source", url: "https://early.test" };
      yield "It rains.";
      yield { type: "source", url: 'https://a.test/"', title: "A" };
      yield { type: "raw", json: { mine: [1] } };
      yield { type: "source", url: "https://b.test" };
      yield { type: "file", mediaType: "text/plain", data: "SGk=" };
    });
    const { messages } = await createAgent({ model }).run("go").result;
    expect(messages[1]!.content).toEqual([
      {
        type: "text",
        text: "It rains.",
        vendor: { citations: [{ url: 'https://a.test/"', title: "A" }, { url: "https://b.test" }] },
      },
      { type: "raw", json: { mine: [1] } },
      { type: "media", mediaType: "text/plain", data: "SGk=" },
    ]);
  });

  it("shows the request as the engine wrote it", async () => {
    let seen: object | undefined;
    await lines(({ model, system, messages, tools, options }) => {
      seen = { model, system, messages, tools, options };
      return "ok";
    });
    expect(seen).toEqual({
      model: "m",
      system: "s",
      messages: [],
      tools: [],
      options: { maxOutputTokens: 5 },
    });
  });

  it("ends the generator when its reader goes", async () => {
    let cleaned = false;
    const response = await customFetch(async function* () {
      try {
        for (;;) yield "x";
      } finally {
        cleaned = true;
      }
    })("", initOf({}));
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(cleaned).toBe(true);
  });
});

describe("custom()", () => {
  it("refuses what is no function, and a stream option that it cannot have", () => {
    expect(() => custom("x" as never)).toThrow(expect.objectContaining({ code: "config_wrong_type" }));
    expect(() => custom(() => "x", { stream: false } as never)).toThrow(
      expect.objectContaining({ code: "config_unknown_option", field: "model.stream" }),
    );
  });
});
