import { describe, expect, it } from "vitest";
import { z } from "zod";
import { knowTools, tool } from "../../../src/typescript/core/tools/tool.js";
import type { StandardSchemaV1, ToolContext } from "../../../src/typescript/core/api/index.js";
import { settled } from "../support/fake-driver.js";
import { bench } from "../support/tool-bench.js";

const object = { type: "object" } as const;

const assertNever = (): never => {
  throw new Error("no look");
};
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
    expect(await prepared({ at: { lat: "x" } })).toEqual({ prepared: [{ problem }] });
    expect(await prepared({ at: { lat: 1 }, city: "Bern" })).toEqual({ prepared: [{}] });
  });

  it("sends an input that the schema changed, and gives the tool the very value", async () => {
    let seen: unknown;
    const inputSchema = z.object({ day: z.string().transform((day) => new Date(day)) });
    const { prepared, call } = bench({ inputSchema, execute: (input) => void (seen = input) });
    const input = { day: new Date("2026-11-20") };
    expect(await prepared({ day: "2026-11-20" })).toEqual({
      prepared: [{ input: { day: "2026-11-20T00:00:00.000Z" } }],
    });
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
    expect(await slow.prepared({ a: 1 })).toEqual({ prepared: [{}] });
    const broken = bench({
      inputSchema: standard(() => {
        throw new Error("no database");
      }) as never,
    });
    const problem = "The input could not be checked: no database";
    expect(await broken.prepared({})).toEqual({ prepared: [{ problem }] });
  });

  it("asks for the resource key with the checked input", async () => {
    const { prepared } = bench({
      inputSchema: z.object({ file: z.string().toLowerCase() }),
      resourceKey: ({ file }: { file: string }) => (file === "none" ? undefined : file),
    });
    expect(await prepared({ file: "A" })).toEqual({ prepared: [{ input: { file: "a" }, resourceKey: "a" }] });
    expect(await prepared({ file: "none" })).toEqual({ prepared: [{}] });
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
      config.replay,
    ]);
    expect(rows).toEqual([
      ["json", true, false, undefined],
      ["unchecked", false, false, undefined],
      ["keyed", true, true, undefined],
      ["standard", false, true, undefined],
      ["open", false, false, "once"],
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
  expect(await prepared({ key: "bad" })).toEqual({
    prepared: [{ problem: "The input could not be checked: no look" }],
  });
  await call('{"key":"other"}');
  expect(seen).toEqual([{ key: "other" }]);
});
