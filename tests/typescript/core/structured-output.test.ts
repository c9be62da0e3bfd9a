import { describe, expect, expectTypeOf, it, vi } from "vitest";
import { z } from "zod";
import { anthropic, createAgent, custom, tool } from "../../../src/typescript/core/entry/node.js";
import { PartialJson } from "../../../src/typescript/core/tools/partial-json.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { AgentOptions, RunResult, Tools } from "../../../src/typescript/core/api/index.js";

const trip = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
  required: ["city", "days"],
  additionalProperties: false,
} as const;

const GOOD = { city: "Paris", days: 2 };

function setUp(turns: Parameters<typeof scripted>[0], options: Partial<AgentOptions> = {}) {
  const fetch = scripted(turns);
  const agent = createAgent({
    model: anthropic("claude-sonnet-4-6", { apiKey: "sk-test", fetch }),
    output: { schema: trip },
    ...options,
  });
  return { agent, fetch };
}

describe("structured output", () => {
  it("S001-50: result.output is the answer, typed by the schema", async () => {
    const fetch = scripted([{ text: JSON.stringify(GOOD) }]);
    const agent = createAgent({ model: anthropic("m", { apiKey: "k", fetch }), output: { schema: trip } });
    const result = await agent.run("Where to?").result;
    if (result.outcome !== "completed") throw new Error(result.outcome);
    expectTypeOf(result.output).toEqualTypeOf<{ city: string; days: number }>();
    expect(result.output).toEqual(GOOD);
    expect(result.text).toBe(JSON.stringify(GOOD));
  });

  it("without the option there is none", async () => {
    const agent = createAgent({ model: custom(() => "Hi.") });
    const result = await agent.run("Hello").result;
    expectTypeOf(result.output).toEqualTypeOf<undefined>();
    expect(result.output).toBeUndefined();
    expectTypeOf<RunResult<Tools, undefined>>().toExtend<RunResult>();
  });

  it("S001-50: what does not fit is asked for again, then the run is stopped", async () => {
    const bad = { text: `{"city":"Paris","days":0}` };
    const first = setUp([bad, { text: JSON.stringify(GOOD) }]);
    expect((await first.agent.run("Go").result).output).toEqual(GOOD);
    expect(JSON.stringify(first.fetch.requests[1]?.body)).toContain("/days: expected at least 1, got 0");

    const { agent, fetch } = setUp([bad, bad, bad], { output: { schema: trip, maxRetries: 1 } });
    const result = await agent.run("Go").result;
    expect(result).toMatchObject({ outcome: "stopped", stoppedBy: "structured_output" });
    expect(result.output).toBeUndefined();
    expect(fetch.requests).toHaveLength(2);
  });

  it("a custom model answers by a tool that nobody else sees", async () => {
    const seen: unknown[] = [];
    const onToolCall = vi.fn();
    const agent = createAgent({
      model: custom(({ tools, options }) => {
        seen.push(
          tools.map(({ name }) => name),
          options["toolChoice"],
        );
        return [{ type: "tool_call", name: "answer", input: GOOD }];
      }),
      output: { schema: trip },
      permissions: { mode: "dontAsk" },
    });
    let text = "";
    const result = await agent.run("Go", { onToolCall, onText: (piece) => (text += piece) }).result;
    expect(result).toMatchObject({ outcome: "completed", output: GOOD, toolCalls: [] });
    expect(seen).toEqual([["answer"], { tool: "answer" }]);
    expect(onToolCall).not.toHaveBeenCalled();
    expect(JSON.parse(text)).toEqual(GOOD);
  });

  it("a Standard Schema checks and transforms, and its issues go to the model", async () => {
    const schema = z.object({ when: z.string().transform((day) => new Date(day)), n: z.number().max(3) });
    const fetch = scripted([
      { text: `{"when":"2026-11-21","n":9}` },
      { text: `{"when":"2026-11-21","n":3}` },
    ]);
    const model = anthropic("m", { apiKey: "k", fetch });
    const agent = createAgent({ model, output: { schema, mode: "native" } });
    const result = await agent.run("When?").result;
    if (result.outcome !== "completed") throw new Error(result.outcome);
    expectTypeOf(result.output).toEqualTypeOf<{ when: Date; n: number }>();
    expect(result.output.when).toBeInstanceOf(Date);
    expect(JSON.stringify(fetch.requests[1]?.body)).toMatch(/n: Too big/);
  });

  it("validate has the last word, also when it throws", async () => {
    const validate = vi
      .fn<(trip: { city: string }) => string | undefined>()
      .mockReturnValueOnce("Paris is closed.")
      .mockImplementationOnce(() => {
        throw new Error("broken");
      });
    const turn = { text: JSON.stringify(GOOD) };
    const { agent, fetch } = setUp([turn, turn, turn], {
      output: { schema: trip, validate: validate as never },
    });
    expect((await agent.run("Go").result).output).toEqual(GOOD);
    expect(JSON.stringify(fetch.requests[1]?.body)).toContain("Paris is closed.");
    expect(JSON.stringify(fetch.requests[2]?.body)).toContain("could not be checked: broken");
  });

  it("onPartialOutput sees the answer grow, in either mode, and nothing of other text", async () => {
    const pieces = [`{"city":"Pa`, `ris","days`, `":2}`];
    const models = {
      native: custom(function* () {
        yield* pieces;
      }),
      tool: custom(function* () {
        yield { type: "text", text: "Let me see {" } as const;
        yield { type: "tool_call_start", name: "answer" } as const;
        for (const text of pieces) yield { type: "tool_call_delta", text } as const;
      }),
    };
    for (const mode of ["native", "tool"] as const) {
      const seen: string[] = [];
      const agent = createAgent({
        model: models[mode],
        output: { schema: trip, mode },
        events: { joinDeltas: false },
      });
      const run = agent.run("Go", {
        onPartialOutput: (partial) => {
          expectTypeOf(partial).toEqualTypeOf<{ city?: string; days?: number }>();
          seen.push(JSON.stringify(partial));
        },
      });
      expect((await run.result).output).toEqual(GOOD);
      expect(seen).toContain(`{"city":"Pa"}`);
      expect(seen.at(-1)).toBe(JSON.stringify(GOOD));
    }
  });

  it("an abort while validate runs ends the run at once", async () => {
    const validate = vi.fn(() => new Promise<undefined>(() => {}));
    const { agent } = setUp([{ text: JSON.stringify(GOOD) }], { output: { schema: trip, validate } });
    const run = agent.run("Go");
    await vi.waitFor(() => expect(validate).toHaveBeenCalled());
    run.abort();
    expect(run.outcome).toBe("cancelled");
    expect((await run.result).output).toBeUndefined();
  });

  it("tools run before the answer", async () => {
    const look = tool({ description: "Looks", inputSchema: { type: "object" }, execute: () => "sun" });
    const { agent } = setUp([{ toolCalls: [{ name: "look", input: {} }] }, { text: JSON.stringify(GOOD) }], {
      tools: { look },
    });
    expect(await agent.run("Go").result).toMatchObject({ outcome: "completed", output: GOOD });
  });

  it.each<[object, string]>([
    [{ output: { schema: { type: "array" } } }, "output.schema"],
    [{ output: { schema: trip, mode: "json" } }, "output.mode"],
    [{ output: { schema: trip, name: "a b" } }, "output.name"],
    [{ output: { schema: trip, retries: 1 } }, "output.retries"],
    [{ output: {} }, "output.schema"],
    [{ outputFormat: { type: "json_schema", schema: trip } }, "outputFormat"],
    [{ output: { schema: trip, maxRetries: -1 } }, "output.maxRetries"],
  ])("%j is refused and names its field", (options, field) => {
    expect(() => setUp([], options)).toThrow(expect.objectContaining({ field }));
  });
});

describe("a JSON object that is still being written", () => {
  const value = {
    'a\n"b': ["x", -1.5e3, true, null, { c: [] }, {}],
    é: "\u{1f600}\\/",
    __proto__x: { "": [[1, 2], [3]] },
    list: Array.from({ length: 30 }, (_, index) => ({ index })),
  };

  it("is the whole value at the end, wherever it is cut", () => {
    const text = `Here: ${JSON.stringify(value, null, 1).replace("\u{1f600}", "\\ud83d\\ude00")} Done.`;
    for (let size = 1; size < 40; size++) {
      const json = new PartialJson();
      for (let at = 0; at < text.length; at += size) json.feed(text.slice(at, at + size));
      expect(json.value).toEqual(value);
    }
  });

  it("shows strings as they grow, numbers and words when they are whole", () => {
    const json = new PartialJson();
    const steps: [string, string][] = [
      [`{"a`, `{}`],
      [`":"x`, `{"a":"x"}`],
      [`\\`, `{"a":"x"}`],
      [`u00e9y`, `{"a":"xéy"}`],
      [`","n":12`, `{"a":"xéy"}`],
      [`3,"l":[tru`, `{"a":"xéy","n":123,"l":[]}`],
      [`e]}`, `{"a":"xéy","n":123,"l":[true]}`],
    ];
    for (const [piece, so_far] of steps) {
      json.feed(piece);
      expect(JSON.stringify(json.value)).toBe(so_far);
    }
  });

  it("cannot change a prototype, and reads nonsense without an error", () => {
    const json = new PartialJson();
    json.feed(`{"__proto__":{"polluted":true},`);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(json.value)).toBe(Object.prototype);
    for (const text of [`{]`, `{"a":}`, `{,,:`, `}{"a":nul,"b":1}`, `{"a":[}]`, `{"a":"\\q"}`]) {
      expect(() => new PartialJson().feed(text)).not.toThrow();
    }
  });

  it("costs the same for the last piece as for the first", () => {
    const json = new PartialJson();
    json.feed(`{"a":["`);
    const piece = `${"x".repeat(100)}","`;
    for (let index = 0; index < 20_000; index++) json.feed(piece);
    expect((json.value as { a: string[] }).a).toHaveLength(20_001);
  });
});
