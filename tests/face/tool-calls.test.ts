import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { HostCallbacks } from "../../src/face/driver.js";
import { ToolCalls } from "../../src/face/tool-calls.js";
import { ToolError } from "../../src/face/errors.js";
import { knowTools, tool } from "../../src/face/tool.js";
import type { StandardSchemaV1, Tool, ToolContext } from "../../src/face/types.js";
import { FakeDriver, settled } from "./support/fake-driver.js";

const object = { type: "object" } as const;

interface Bench {
  driver: FakeDriver;
  calls: ToolCalls;
  errors: unknown[];
  /** Starts call `id` of the tool and lets every promise settle. */
  call(input?: string, id?: number): Promise<void>;
  /** What the driver was told of call 1. */
  result(): unknown;
  /** What the driver was answered to the question about a call with `input`. */
  prepared(input: unknown): Promise<unknown>;
}

function bench(options: Partial<Tool>): Bench {
  const driver = new FakeDriver("{}", {} as HostCallbacks);
  const errors: unknown[] = [];
  const known = knowTools({
    t: { description: "A tool", inputSchema: object, execute: () => "ok", ...options },
  });
  const calls = new ToolCalls(
    known,
    () => driver,
    (error) => errors.push(error),
  );
  const invocation = { call: 1, toolCallId: "id-1", toolName: "t", iteration: 2 };
  return {
    driver,
    calls,
    errors,
    call: (input = "{}", id = 1) => {
      calls.call({ ...invocation, call: id, input });
      return settled();
    },
    result: () => driver.told("toolFinished").find(([id]) => id === 1)?.[1],
    prepared: async (input) => {
      calls.prepare(9, [{ ...invocation, call: 0, input }]);
      await settled();
      return driver.told("answer").at(-1);
    },
  };
}

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
    ["an error without a message", new TypeError(), fault("tool_failed", "TypeError")],
    ["a string", "broken", fault("tool_failed", "broken")],
    [
      "what throws when it is looked at",
      new Proxy({}, { get: () => assertNever() }),
      fault("tool_failed", "The tool threw something that cannot be shown."),
    ],
    ["an object", { why: 1 }, fault("tool_failed", '{"why":1}')],
    ["nothing", undefined, fault("tool_failed", "undefined")],
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

describe("a call", () => {
  it("gets its parsed input and its context", async () => {
    let seen: [unknown, ToolContext] | undefined;
    const { call } = bench({ execute: (input: unknown, context) => void (seen = [input, context]) });
    await call('{"a":9007199254740993,"__proto__":{"x":1}}');
    expect(Object.keys(seen?.[0] as object)).toEqual(["a", "__proto__"]);
    expect(seen?.[1]).toMatchObject({ toolCallId: "id-1", iteration: 2 });
    expect(seen?.[1].signal.aborted).toBe(false);
  });

  it("that was aborted sees its signal, and its late result, progress and error are inert", async () => {
    let finish!: (value: unknown) => void;
    let context!: ToolContext;
    const { call, calls, driver } = bench({
      execute: (_: unknown, given) => {
        context = given;
        return new Promise((resolve) => (finish = resolve));
      },
    });
    await call();
    calls.abort(1, "the run was aborted");
    expect(context.signal.reason).toMatchObject({ name: "AbortError", message: "the run was aborted" });
    context.progress("late");
    finish("late");
    await settled();
    expect(driver.told("toolFinished")).toEqual([]);
    expect(driver.told("toolProgress")).toEqual([]);
  });

  it("reports progress as JSON, and what JSON cannot hold as an error of the listener", async () => {
    const { call, driver, errors } = bench({
      execute: (_: unknown, { progress }) => {
        progress({ percent: 50 });
        progress(undefined);
        progress(new Set([1n]));
        const cycle: { self?: unknown } = {};
        progress((cycle.self = cycle));
      },
    });
    await call();
    expect(driver.told("toolProgress")).toEqual([
      [1, '{"percent":50}'],
      [1, "null"],
      [1, "[1]"],
    ]);
    expect(errors).toHaveLength(1);
  });

  it.each<[string, () => unknown]>([
    [
      "an async generator",
      async function* () {
        yield 1;
        yield 2;
        return "end";
      },
    ],
    [
      "a generator",
      function* () {
        yield 1;
        yield 2;
        return "end";
      },
    ],
  ])("of %s yields progress and returns its result", async (_, execute) => {
    const { call, driver, result } = bench({ execute });
    await call();
    expect(driver.told("toolProgress")).toEqual([
      [1, "1"],
      [1, "2"],
    ]);
    expect(result()).toEqual({ value: '"end"' });
  });

  it("of a generator that is aborted runs its clean-up", async () => {
    const log: string[] = [];
    const { call, calls } = bench({
      execute: async function* () {
        try {
          for (;;) {
            yield "tick";
            await new Promise((resolve) => setTimeout(resolve, 0));
          }
        } finally {
          log.push("cleaned");
        }
      },
    });
    await call();
    calls.abort(1, "over");
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(log).toEqual(["cleaned"]);
  });
});

describe("preparing a call", () => {
  it("checks by the Standard Schema and names the path of each issue", async () => {
    const { prepared } = bench({
      inputSchema: z.object({ at: z.object({ lat: z.number() }), city: z.string() }),
    });
    const problem = expect.stringMatching(/^at\.lat: .*; city: .*$/);
    expect(await prepared({ at: { lat: "x" } })).toEqual([9, { prepared: [{ problem }] }]);
    expect(await prepared({ at: { lat: 1 }, city: "Bern" })).toEqual([9, { prepared: [{}] }]);
  });

  it("sends an input that the schema changed, and gives the tool the very value", async () => {
    let seen: unknown;
    const inputSchema = z.object({ day: z.string().transform((day) => new Date(day)) });
    const { prepared, call } = bench({ inputSchema, execute: (input) => void (seen = input) });
    const input = { day: new Date("2026-11-20") };
    expect(await prepared({ day: "2026-11-20" })).toEqual([9, { prepared: [{ input }] }]);
    await call('{"day":"2026-11-20T00:00:00.000Z"}');
    expect(seen).toEqual(input);
  });

  it("awaits an asynchronous check, and answers with a problem when it throws", async () => {
    const standard = (validate: StandardSchemaV1["~standard"]["validate"]): object => ({
      "~standard": {
        version: 1,
        vendor: "mine",
        validate,
        jsonSchema: { input: () => object, output: () => object },
      },
    });
    const slow = bench({ inputSchema: standard(async (value) => ({ value })) as never });
    expect(await slow.prepared({ a: 1 })).toEqual([9, { prepared: [{}] }]);
    const broken = bench({
      inputSchema: standard(() => {
        throw new Error("no database");
      }) as never,
    });
    const problem = "The input could not be checked: no database";
    expect(await broken.prepared({})).toEqual([9, { prepared: [{ problem }] }]);
  });

  it("asks for the resource key with the checked input", async () => {
    const { prepared } = bench({
      inputSchema: z.object({ file: z.string().toLowerCase() }),
      resourceKey: ({ file }: { file: string }) => (file === "none" ? undefined : file),
    });
    expect(await prepared({ file: "A" })).toEqual([
      9,
      { prepared: [{ input: { file: "a" }, resourceKey: "a" }] },
    ]);
    expect(await prepared({ file: "none" })).toEqual([9, { prepared: [{}] }]);
  });
});

describe("knowing the tools", () => {
  it("says who checks the input and whether the host is asked before a call", () => {
    const standard = z.object({});
    const known = knowTools({
      json: { description: "d", inputSchema: object, execute: () => 1 },
      unchecked: { description: "d", inputSchema: object, execute: () => 1, validate: false },
      keyed: { description: "d", inputSchema: object, execute: () => 1, resourceKey: () => "k" },
      standard: { description: "d", inputSchema: standard, execute: () => 1 },
      open: { description: "d", inputSchema: standard, execute: () => 1, validate: false, replay: "once" },
    });
    const rows = [...known.values()].map(({ config }) => [
      config.name,
      config.validate,
      config.prepare,
      config.replayOnce,
    ]);
    expect(rows).toEqual([
      ["json", true, false, false],
      ["unchecked", false, false, false],
      ["keyed", true, true, false],
      ["standard", false, true, false],
      ["open", false, false, true],
    ]);
  });

  it("writes a Standard Schema as JSON Schema of what the model must send", () => {
    const inputSchema = z.object({ n: z.string().transform(Number), unit: z.enum(["C", "F"]).default("C") });
    const known = knowTools([tool({ name: "t", description: "d", inputSchema, execute: () => 1 })]);
    expect(known.get("t")?.config.inputSchema).toEqual({
      type: "object",
      properties: { n: { type: "string" }, unit: { type: "string", enum: ["C", "F"], default: "C" } },
      required: ["n"],
    });
  });

  it("takes schemas that are functions, and falls back to draft-07", () => {
    const schema = Object.assign(() => {}, {
      "~standard": {
        version: 1,
        vendor: "mine",
        validate: (value: unknown) => ({ value }),
        jsonSchema: {
          input: ({ target }: { target: string }) => {
            if (target !== "draft-07") throw new Error("only draft-07");
            return object;
          },
        },
      },
    });
    const known = knowTools({ t: { description: "d", inputSchema: schema as never, execute: () => 1 } });
    expect(known.get("t")?.config.inputSchema).toEqual(object);
  });

  it.each<[string, object, RegExp]>([
    ["has no JSON Schema extension", {}, /zod 4\.2.*toStandardJsonSchema/],
    [
      "cannot be written",
      {
        jsonSchema: {
          input: () => {
            throw new Error("no dates");
          },
        },
      },
      /mine cannot write this schema as JSON Schema: no dates/,
    ],
    ["is of no object", { jsonSchema: { input: () => ({ type: "string" }) } }, /needs type: "object"/],
  ])("refuses a Standard Schema that %s", (_, more, problem) => {
    const inputSchema = {
      "~standard": { version: 1, vendor: "mine", validate: () => ({ value: 1 }), ...more },
    };
    expect(() => tool({ description: "d", inputSchema: inputSchema as never, execute: () => 1 })).toThrow(
      problem,
    );
  });
});

it("keeps no input of a call whose resource key could not be made", async () => {
  const schema = z.object({ key: z.string() }).transform(({ key }) => ({ key, checked: true }));
  const seen: unknown[] = [];
  const { call, prepared } = bench({
    inputSchema: schema as never,
    resourceKey: ({ key }: { key: string }) => (key === "bad" ? assertNever() : key),
    execute: (input) => void seen.push(input),
  });
  await prepared({ key: "good" });
  expect(await prepared({ key: "bad" })).toEqual([
    9,
    { prepared: [{ problem: "The input could not be checked: no look" }] },
  ]);
  await call('{"key":"other"}');
  expect(seen).toEqual([{ key: "other" }]);
});
