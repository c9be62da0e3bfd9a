import { describe, expect, it } from "vitest";
import { ToolError } from "../../../src/typescript/core/api/errors.js";
import { bench } from "../support/tool-bench.js";

const assertNever = (): never => {
  throw new Error("no look");
};
const fault = (code: string, message: unknown): unknown => ({
  fault: { code, message, hint: expect.any(String), recoverable: true },
});

describe("a tool's result", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  it.each<[string, unknown, unknown]>([
    ["a string", "text", { value: '"text"' }],
    ["nothing", undefined, { value: '""' }],
    ["a number", 5, { value: "5" }],
    ["an object", { a: [1] }, { value: '{"a":[1]}' }],
    ["a date", new Date(0), { value: '"1970-01-01T00:00:00.000Z"' }],
    ["a promise", Promise.resolve({ a: 1 }), { value: '{"a":1}' }],
    ["a thenable", { then: (done: (value: string) => void) => done("x") }, { value: '"x"' }],
    ["blocks", { content: [{ type: "text", text: "a" }] }, { content: [{ type: "text", text: "a" }] }],
    ["other content", { content: [1] }, { value: '{"content":[1]}' }],
    [
      "content and more",
      { content: [{ type: "text", text: "a" }], n: 1 },
      { value: expect.stringContaining('"n":1') },
    ],
    [
      "blocks with a bigint",
      { content: [{ type: "text", text: "a", vendor: { n: 1n } }] },
      { content: [{ type: "text", text: "a", vendor: { n: 1 } }] },
    ],
    ["an empty content", { content: [] }, { value: '""' }],
    ["a bigint", 1n, { value: "1" }],
    ["a bigint beyond 2^53", { n: 2n ** 60n }, { value: '{"n":"1152921504606846976"}' }],
    ["a map with texts as keys", new Map([["a", new Map([["b", 1]])]]), { value: '{"a":{"b":1}}' }],
    ["a map with other keys", new Map([[1, "a"]]), { value: '[[1,"a"]]' }],
    ["a set", { tags: new Set(["a", "b"]) }, { value: '{"tags":["a","b"]}' }],
    ["an iterator", [1, 2].values(), { value: "[1,2]" }],
    ["headers", new Headers({ a: "1" }), { value: '[["a","1"]]' }],
    ["numbers in a typed array", new Float32Array([1, 0.5]), { value: "[1,0.5]" }],
    ["bytes", new Uint8Array([1, 2, 255]), { value: '{"base64":"AQL/"}' }],
    ["bytes in an object", { file: Buffer.from([1, 2]) }, { value: '{"file":{"base64":"AQI="}}' }],
    ["a buffer", new Uint8Array([1]).buffer, { value: '{"base64":"AQ=="}' }],
    [
      "a part of a buffer",
      new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1),
      { value: '{"base64":"Ag=="}' },
    ],
    ["a regular expression", { like: /a+/g }, { value: '{"like":"/a+/g"}' }],
    [
      "an object of a class",
      new (class {
        at = new Date(0);
        #secret = 1;
        get secret() {
          return this.#secret;
        }
      })(),
      { value: '{"at":"1970-01-01T00:00:00.000Z"}' },
    ],
    ["an error", new TypeError("broken"), fault("tool_failed", "broken")],
    [
      "errors among results",
      { failed: [new TypeError("broken", { cause: new Error("disk") })] },
      { value: '{"failed":[{"name":"TypeError","message":"broken (disk)"}]}' },
    ],
    ["an error of the tool's own", new ToolError({ message: "m", code: "c", hint: "h" }), fault("c", "m")],
    ["a cycle", cycle, fault("unusable_result", expect.stringContaining("circular"))],
    [
      "a promise among results",
      { data: Promise.resolve(1) },
      fault("unusable_result", expect.stringContaining('a Promise in "data"')),
    ],
    ["a stream", new ReadableStream(), fault("unusable_result", expect.stringContaining("a ReadableStream"))],
    ["a WeakMap", [new WeakMap()], fault("unusable_result", expect.stringContaining("a WeakMap"))],
    ["a function", () => 1, fault("unusable_result", "The tool returned a function.")],
    [
      "a toJSON that throws",
      {
        toJSON: () => {
          throw new Error("no");
        },
      },
      fault("unusable_result", expect.stringContaining("no")),
    ],
    [
      "a value that throws when it is looked at",
      new Proxy(
        {},
        {
          get: () => {
            throw new Error("no look");
          },
        },
      ),
      fault("tool_failed", "no look"),
    ],
    ["a Response", new Response("x"), fault("unusable_result", "The tool returned a Response.")],
  ])("may be %s", async (_, value, expected) => {
    const { call, result } = bench({ execute: () => value });
    await call();
    expect(result()).toEqual(expected);
  });

  it.each<[string, unknown, unknown]>([
    ["an error", new Error("broken"), fault("tool_failed", "broken")],
    ["an error without a message", new TypeError(), fault("tool_failed", "TypeError without a message")],
    ["a string", "broken", fault("tool_failed", "broken")],
    [
      "what throws when it is looked at",
      new Proxy({}, { get: () => assertNever() }),
      fault("tool_failed", "The tool threw something that cannot be shown."),
    ],
    ["an object", { why: 1 }, fault("tool_failed", '{"why":1}')],
    ["nothing", undefined, fault("tool_failed", "undefined was thrown")],
    [
      "an error with a cause",
      new TypeError("fetch failed", {
        cause: new AggregateError([new Error("connect ECONNREFUSED ::1:1")], ""),
      }),
      fault("tool_failed", "fetch failed (AggregateError (connect ECONNREFUSED ::1:1))"),
    ],
    [
      "an error that repeats its cause",
      new Error("read: no such file", { cause: new Error("no such file") }),
      fault("tool_failed", "read: no such file"),
    ],
  ])("is a fault when %s is thrown, at once or later", async (_, thrown, expected) => {
    const sync = bench({
      execute: () => {
        throw thrown;
      },
    });
    const later = bench({ execute: () => Promise.reject(thrown) });
    await sync.call();
    await later.call();
    expect(sync.result()).toEqual(expected);
    expect(later.result()).toEqual(expected);
  });
});

describe("a file or a result of MCP", () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = "iVBORw0KGgo=";
  const media = { content: [{ type: "media", mediaType: "image/png", data }] };

  it.each<[string, unknown, unknown]>([
    ["bytes of an image", png, media],
    ["a buffer of an image", png.buffer, media],
    ["a blob of an image", new Blob([png], { type: "image/png" }), media],
    ["a blob of an image that does not say so", new Blob([png]), media],
    ["a blob of text", new Blob(["héllo"], { type: "text/plain;charset=utf-8" }), { value: '"héllo"' }],
    ["a blob of JSON", new Blob(['{"a":1}'], { type: "application/json" }), { value: '"{\\"a\\":1}"' }],
    ["a blob of something", new Blob([new Uint8Array([1])]), { value: '{"base64":"AQ=="}' }],
    [
      "a PDF",
      new TextEncoder().encode("%PDF-1.7"),
      { content: [{ type: "media", mediaType: "application/pdf", data: "JVBERi0xLjc=" }] },
    ],
    [
      "all kinds of content",
      {
        content: [
          { type: "text", text: "a", annotations: { priority: 1 } },
          { type: "image", data, mimeType: "image/png" },
          { type: "audio", data: "AA==", mimeType: "audio/wav" },
          { type: "resource", resource: { uri: "file:///a.md", mimeType: "text/markdown", text: "# A" } },
          { type: "resource", resource: { uri: "file:///a.png", mimeType: "image/png", blob: data } },
          { type: "resource", resource: { uri: "file:///a.zip", mimeType: "application/zip", blob: "AA==" } },
          { type: "resource_link", uri: "file:///b", name: "b", description: "the other one" },
        ],
        isError: false,
        structuredContent: { a: 1 },
        _meta: {},
      },
      {
        content: [
          { type: "text", text: "a" },
          { type: "media", mediaType: "image/png", data },
          { type: "media", mediaType: "audio/wav", data: "AA==" },
          { type: "text", text: "Resource file:///a.md:\n# A" },
          { type: "media", mediaType: "image/png", data },
          { type: "text", text: "Resource file:///a.zip: a file that cannot be shown (application/zip)" },
          { type: "text", text: "Resource file:///b: b. the other one" },
        ],
      },
    ],
    ["nothing but structured content", { content: [], structuredContent: { a: 1 } }, { value: '{"a":1}' }],
    [
      "an error in words",
      {
        content: [
          { type: "text", text: "no" },
          { type: "text", text: "way" },
        ],
        isError: true,
      },
      fault("tool_failed", "no\nway"),
    ],
    [
      "an error in structure",
      { content: [], isError: true, structuredContent: { code: 7 } },
      fault("tool_failed", '{"code":7}'),
    ],
    [
      "content of another kind",
      { content: [{ type: "video" }] },
      { value: '{"content":[{"type":"video"}]}' },
    ],
    ["an image without data", { content: [{ type: "image" }] }, { value: '{"content":[{"type":"image"}]}' }],
  ])("may be %s", async (_, value, expected) => {
    const { call, result } = bench({ execute: () => value });
    await call();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(result()).toEqual(expected);
  });
});
