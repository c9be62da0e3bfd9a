import { afterEach, describe, expect, it } from "vitest";
import { answer, begin, call, loadWasm, open, settle, streamOf, weather, type Recorded } from "./kit.js";

const runs: Recorded[] = [];
const begun = async (...parameters: Parameters<typeof begin>): Promise<Recorded> => {
  const run = await begin(...parameters);
  runs.push(run);
  return run;
};
afterEach(() => runs.splice(0).forEach(({ driver }) => driver.free()));

describe("delivery", () => {
  it.each([
    ["ASCII", ["Hello", " ", "world"]],
    ["two, three and four byte characters", ["wörld ", "日本語", "🎉 🎉", "é"]],
    ["a text that is longer than a short one", ["x".repeat(33), "ö".repeat(33), "🎉".repeat(17)]],
    ["a byte order mark at its start", ["\ufeffa", "\ufeff" + "b".repeat(40)]],
    ["escapes and controls", ['"\\/\b\f\n\r\t', "\u0000\u001f"]],
  ])("hands over %s exactly, a delta per chunk", async (_name, pieces) => {
    const run = await begun({ fetch: async () => new Response(streamOf(answer(...pieces))) });
    await run.done;
    expect(run.deltas.map(({ text }) => text)).toEqual(pieces);
    expect(run.driver.result()!.text).toBe(pieces.join(""));
  });

  it("joins what one chunk brings of a block, and keeps the deltas apart when told to", async () => {
    const pieces = ["a", "ö", "🎉".repeat(20), "b"];
    const fetch = async (): Promise<Response> => new Response(streamOf([answer(...pieces).join("")]));
    const joined = await begun({ fetch });
    await joined.done;
    expect(joined.deltas.map(({ text }) => text)).toEqual([pieces.join("")]);
    const apart = await begun({ fetch, config: { events: { joinDeltas: false } } });
    await apart.done;
    expect(apart.deltas.map(({ text }) => text)).toEqual(pieces);
  });

  it("reaches the listener of text through at most 12 frames of WebAssembly", async () => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 100;
    const stacks: string[] = [];
    const onDelta = (): unknown => stacks.push(new Error().stack!);
    // A short text of its own chunk, a long one, and two blocks within one chunk.
    const chunks = [...answer("short", "long".repeat(50)), answer("one", "two").slice(1).join("")];
    const run = await begun({ onDelta, fetch: async () => new Response(streamOf(chunks)) });
    await run.done;
    Error.stackTraceLimit = limit;
    expect(stacks.length).toBeGreaterThan(1);
    for (const stack of stacks) {
      const frames = stack.split("\n").filter((line) => line.includes("wasm-function["));
      expect(frames.length, frames.join("\n")).toBeLessThanOrEqual(12);
    }
    console.log([...stacks].sort((one, other) => other.length - one.length)[0]);
  });

  it("keeps characters whole wherever the bytes are cut", async () => {
    const bytes = new TextEncoder().encode(answer("wörld 🎉 日本").join(""));
    for (let at = 1; at < bytes.length; at++) {
      const fetch = async (): Promise<Response> =>
        new Response(streamOf([bytes.slice(0, at), bytes.slice(at)]));
      const run = await begun({ fetch });
      await run.done;
      expect(run.text()).toBe("wörld 🎉 日本");
      run.driver.free();
    }
  });

  it("numbers deltas and events without a gap, whoever is told", async () => {
    const run = await begun();
    await run.done;
    const numbers = [...run.events, ...run.deltas].map(({ seq }) => seq).sort((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(run.events.at(-1)).toMatchObject({ type: "finish", agentPath: "root", iteration: 1, attempt: 1 });

    const quiet = open(await loadWasm());
    runs.push(quiet);
    quiet.driver.want({ text: false, reasoning: false, toolInput: false, events: true });
    quiet.driver.tell({ prompt: { content: [{ type: "text", text: "Hi" }] } });
    await quiet.done;
    expect(quiet.deltas).toEqual([]);
    expect(quiet.events.at(-1)!.seq).toBe(run.events.at(-1)!.seq);
  });

  it("tells a call's events before it asks for the call", async () => {
    const answers = [call(), answer("Sunny")];
    const order: string[] = [];
    const run = await begun({
      config: { tools: [weather] },
      fetch: async () => new Response(streamOf([answers.shift()!.join("")])),
      onEvent: ({ type }) => order.push(type),
      callTool: ({ call, input, toolCallId, iteration }) => {
        order.push(`call ${toolCallId} ${JSON.stringify(input)} ${iteration}`);
        run.driver.toolFinished(call, { value: '{"sky":"clear"}' });
        order.push("told");
      },
    });
    await run.done;
    const called = order.indexOf('call toolu_1 {"city":"Paris"} 1');
    expect(order.slice(called - 1, called + 3)).toEqual([
      "tool-call",
      'call toolu_1 {"city":"Paris"} 1',
      "told",
      "tool-result",
    ]);
    expect(run.driver.result()!.toolCalls).toMatchObject([{ toolName: "weather", output: { sky: "clear" } }]);
  });

  it("takes a chunk that is larger than the way in", async () => {
    const piece = "0123456789".repeat(250_000);
    const run = await begun({ fetch: async () => new Response(streamOf([answer(piece).join("")])) });
    await run.done;
    expect(run.text()).toBe(piece);
  });
});

describe("a host whose functions throw", () => {
  it("hears of it, and the run goes on", async () => {
    const run = await begun({
      onDelta: () => {
        throw new Error("listener");
      },
      onEvent: () => {
        throw new Error("event listener");
      },
      done: () => {
        throw new Error("done");
      },
    });
    await settle();
    expect(run.driver.outcome()).toEqual({ outcome: "completed" });
    expect(run.errors.map((error) => (error as Error).message)).toContain("listener");
    expect(run.errors.at(-1)).toMatchObject({ message: "done" });
  });

  it("does not lose the run when even the listener of errors throws", async () => {
    const broken = (): never => {
      throw new Error("broken");
    };
    const run = await begun({ onDelta: broken, onEvent: broken, onHostError: broken });
    await run.done;
    expect(run.driver.outcome()).toEqual({ outcome: "completed" });
  });
});

describe("a configuration", () => {
  it("that cannot run is refused with the field and the problem", async () => {
    const wasm = await loadWasm();
    expect(() => open(wasm, { config: { model: { vendor: "nobody", model: "m" } } })).toThrowError(
      expect.objectContaining({ field: expect.any(String), problem: expect.any(String) }),
    );
  });

  it("and a prompt of no blocks is refused likewise", async () => {
    const run = open(await loadWasm());
    runs.push(run);
    expect(() => run.driver.tell({ prompt: { content: [{ type: "nonsense" } as never] } })).toThrowError(
      expect.objectContaining({ field: "content[0]" }),
    );
  });
});
