import { afterEach, describe, expect, it, vi } from "vitest";
import {
  answer,
  begin,
  call,
  duck,
  loadWasm,
  open,
  settle,
  streamOf,
  weather,
  type Recorded,
} from "./kit.js";

const runs: Recorded[] = [];
const begun = async (...parameters: Parameters<typeof begin>): Promise<Recorded> => {
  const run = await begin(...parameters);
  runs.push(run);
  return run;
};

const rejections: unknown[] = [];
const onRejection = (error: unknown): void => void rejections.push(error);
process.on("unhandledRejection", onRejection);

afterEach(async () => {
  runs.splice(0).forEach(({ driver }) => driver.free());
  await settle();
  expect(rejections.splice(0)).toEqual([]);
});

const never = (): Promise<never> => new Promise(() => {});

describe("an abort", () => {
  it("sets the outcome before it returns, tells done, and keeps the partial text", async () => {
    const run = await begun({
      fetch: async () => new Response(streamOf(answer("Hel", "lo").slice(0, 3), { isOpenEnded: true })),
    });
    await settle();
    run.driver.tell({ cancel: { why: "user" } });
    expect(run.driver.outcome()).toEqual({ outcome: "cancelled", abortReason: "user" });
    expect(run.log).toEqual(["done"]);
    expect(run.events.at(-1)).toMatchObject({ type: "finish" });
    expect(run.driver.result()).toMatchObject({ text: "Hel" });
  });

  it("inside a callback sets the outcome at once; what follows comes when the callback has returned", async () => {
    const order: string[] = [];
    const run = await begun({
      fetch: async () => new Response(streamOf(answer("a", "b", "c"))),
      onDelta: (_kind, text) => {
        order.push(`text ${text}`);
        run.driver.tell({ cancel: { why: "enough" } });
        order.push(`outcome ${run.driver.outcome()!.outcome}`);
      },
      onEvent: ({ type }) => order.push(type),
      done: () => order.push("done"),
    });
    await run.done;
    await settle();
    expect(order.slice(order.indexOf("text a"))).toEqual([
      "text a",
      "outcome cancelled",
      expect.stringMatching(/^text-end|abort$/),
      ...order.slice(order.indexOf("outcome cancelled") + 2, -2),
      "finish",
      "done",
    ]);
    expect(order).not.toContain("text b");
  });

  it("inside the event of a call keeps the call from starting", async () => {
    const run = await begun({
      config: { tools: [weather] },
      fetch: async () => new Response(streamOf([call().join("")])),
      onEvent: ({ type }) => {
        if (type === "tool-call") run.driver.tell({ cancel: { why: "no" } });
      },
    });
    await run.done;
    expect(run.log).not.toContain("tool weather");
    expect(run.driver.result()!.toolCalls).toHaveLength(1);
  });

  it("inside a tool's call stops that tool and starts nothing more", async () => {
    const run = await begun({
      config: { tools: [weather] },
      fetch: async () => new Response(streamOf([call().join("")])),
      callTool: () => {
        run.log.push("tool");
        run.driver.tell({ cancel: { why: "no" } });
        run.log.push(run.driver.outcome()!.outcome);
      },
    });
    await run.done;
    expect(run.log).toEqual(["tool", "cancelled", expect.stringMatching(/^abort tool/), "done"]);
  });

  it.each([
    ["authorize never answers", { authorize: never }],
    ["fetch never answers", { fetch: never }],
    ["the body is silent", { fetch: async () => new Response(streamOf([], { isOpenEnded: true })) }],
    [
      "the body is an iterable that is silent",
      { fetch: async () => duck({ body: { [Symbol.asyncIterator]: () => ({ next: never }) } }) },
    ],
    ["arrayBuffer() never answers", { fetch: async () => duck({ arrayBuffer: never }) }],
  ])("ends a run whose %s, and its signal is aborted", async (_name, overrides) => {
    let signal: AbortSignal | undefined;
    const { fetch } = overrides as { fetch?: () => Promise<never> };
    const run = await begun({
      ...overrides,
      ...(fetch && {
        fetch: (_url: string, init: RequestInit) => {
          signal = init.signal!;
          return fetch();
        },
      }),
    });
    await settle();
    run.driver.tell({ cancel: { why: "user" } });
    expect(run.log).toEqual(["done"]);
    await settle();
    if (fetch) expect(signal!.aborted).toBe(true);
    expect(run.timers.size).toBe(0);
  });

  it("during the wait before a retry ends the run and its timer", async () => {
    const run = await begun({
      config: { retry: { maxRetries: 3 } },
      fetch: async () => duck({ status: 500, body: "no" }),
    });
    await settle();
    expect(run.events.at(-1)).toMatchObject({ type: "retry" });
    expect(run.timers.size).toBe(1);
    run.driver.tell({ cancel: { why: "user" } });
    expect(run.driver.outcome()!.outcome).toBe("cancelled");
    expect(run.timers.size).toBe(0);
  });

  it("cancels the body and releases its lock", async () => {
    const onCancel = vi.fn();
    const response = new Response(streamOf(answer("a", "b").slice(0, 3), { isOpenEnded: true, onCancel }));
    const run = await begun({ fetch: async () => response });
    await settle();
    expect(response.body!.locked).toBe(true);
    run.driver.tell({ cancel: { why: "user" } });
    expect(onCancel).toHaveBeenCalledOnce();
    expect(response.body!.locked).toBe(false);
  });

  it("cancels the body of a response that comes after it", async () => {
    let respond!: (response: Response) => void;
    const onCancel = vi.fn();
    const run = await begun({ fetch: () => new Promise((resolve) => (respond = resolve)) });
    await settle();
    run.driver.tell({ cancel: { why: "user" } });
    const before = run.events.length;
    respond(new Response(streamOf(answer("late"), { onCancel })));
    await settle();
    expect(onCancel).toHaveBeenCalledOnce();
    expect(run.events.length).toBe(before);
    expect(run.deltas).toEqual([]);
  });

  it("makes late rejections and a source whose cancel fails unheard of", async () => {
    let refuse!: (error: Error) => void;
    const waiting = await begun({ fetch: () => new Promise((_, reject) => (refuse = reject)) });
    const reading = await begun({
      fetch: async () =>
        duck({
          body: {
            getReader: () => ({
              read: never,
              cancel: async () => Promise.reject(new Error("cannot cancel")),
              releaseLock: () => {
                throw new TypeError("a read is pending");
              },
            }),
          },
        }),
    });
    await settle();
    waiting.driver.tell({ cancel: { why: "user" } });
    reading.driver.tell({ cancel: { why: "user" } });
    refuse(new Error("late"));
    await settle();
    expect(waiting.log.concat(reading.log)).toEqual(["done", "done"]);
  });

  it("leaves late answers of tools and questions without effect", async () => {
    let toolCall = 0;
    const run = await begun({
      config: { tools: [weather] },
      fetch: async () => new Response(streamOf([call().join("")])),
      callTool: (invocation) => (toolCall = invocation.call),
    });
    await settle();
    run.driver.tell({ cancel: { why: "user" } });
    const before = JSON.stringify(run.driver.result());
    run.driver.toolProgress(toolCall, "1");
    run.driver.toolFinished(toolCall, { value: "1" });
    expect(run.driver.answer(toolCall, { failed: { why: "late" } })).toBe(false);
    run.driver.tell({ cancel: { why: "again" } });
    expect(JSON.stringify(run.driver.result())).toBe(before);
  });
});

describe("after the end of a run", () => {
  it("I-10: no timer is left, and the one there was did not move with every chunk", async () => {
    const setTimer = vi.fn(() => 1);
    const clearTimer = vi.fn();
    let now = 0;
    const pieces = Array.from({ length: 50 }, (_, at) => `${at} `);
    const run = await begun({
      setTimer,
      clearTimer,
      now: () => (now += 10),
      fetch: async () => new Response(streamOf(answer(...pieces))),
    });
    await run.done;
    expect(clearTimer).toHaveBeenCalledTimes(setTimer.mock.calls.length);
    expect(setTimer.mock.calls.length).toBeLessThan(5);
  });

  it("freeing is possible at any time, inside a callback too, and twice", async () => {
    const early = await begun({ fetch: never });
    await settle();
    early.driver.free();
    early.driver.free();
    expect(early.timers.size).toBe(0);
    expect(early.log).toEqual([]);
    early.driver.tell({ cancel: { why: "after" } });
    early.driver.tell({ prompt: { content: [] } });
    expect(early.driver.outcome()).toBeUndefined();

    const inside = await begun({ onDelta: () => inside.driver.free() });
    await settle();
    expect(inside.events.at(-1)!.type).not.toBe("finish");

    const disposed = await begun();
    await disposed.done;
    disposed.driver[Symbol.dispose]();
    expect(disposed.driver.outcome()).toEqual({ outcome: "completed" });
  });

  it("withdraw says whether there was something to take back", async () => {
    const run = await begun({ fetch: never });
    const content = [{ type: "text" as const, text: "And?" }];
    run.driver.tell({ followUp: { id: 1, content } });
    expect(run.driver.result()!.undelivered).toHaveLength(1);
    expect(run.driver.tell({ withdraw: { id: 2 } })).toBe(false);
    expect(run.driver.tell({ withdraw: { id: 1 } })).toBe(true);
    expect(run.driver.tell({ withdraw: { id: 1 } })).toBe(false);
  });
});

describe("the timer", () => {
  it("ends a run that waits too long for the first byte, and fires early without harm", async () => {
    let now = 1_000_000;
    const run = await begun({
      config: { timeouts: { firstChunkMs: 500 } },
      fetch: never,
      now: () => now,
    });
    await settle();
    const [first] = run.timers.values();
    expect(first!.delayMs).toBe(500);
    run.timers.clear();
    now += 300;
    first!.callback();
    const [second] = run.timers.values();
    expect(second!.delayMs).toBe(200);
    run.timers.clear();
    now += 200;
    second!.callback();
    expect(run.driver.outcome()!.error).toMatchObject({ code: "timeout" });
    expect(run.timers.size).toBe(0);
  });

  it("survives a clock that throws", async () => {
    const run = await begun({
      now: () => {
        throw new Error("clock");
      },
      random: () => {
        throw new Error("dice");
      },
    });
    await run.done;
    expect(run.driver.outcome()).toEqual({ outcome: "completed" });
    expect(run.errors.length).toBeGreaterThan(1);
  });
});

describe("memory", () => {
  it("does not grow over 10,000 freed runs, ended or not", { timeout: 120_000 }, async () => {
    const wasm = await loadWasm();
    const memory = wasm.glue.linearMemory() as WebAssembly.Memory;
    const body = answer("Hello");
    const rounds = async (from: number, to: number): Promise<void> => {
      for (let at = from; at < to; at++) {
        const kind = at % 4;
        const run = open(wasm, {
          fetch: kind === 0 ? never : async () => new Response(streamOf(body, { isOpenEnded: kind === 1 })),
          ...(kind === 2 && { onDelta: () => run.driver.tell({ cancel: { why: "enough" } }) }),
        });
        run.driver.tell({ prompt: { content: [{ type: "text", text: "x".repeat(100) }] } });
        await (kind >= 2 ? run.done : settle());
        run.driver.free();
      }
    };
    // The allocator comes to rest in the first rounds, on what other tests of this file have left.
    await rounds(0, 10_000);
    await settle();
    const before = memory.buffer.byteLength;
    await rounds(10_000, 20_000);
    expect(memory.buffer.byteLength).toBe(before);
  });
});

// The last one: it replaces the instance.
describe("a lost instance", () => {
  it("ends all its runs as failed at once, and the next run gets a fresh one", async () => {
    const waiting = await begun({ fetch: never });
    const reading = await begun({
      fetch: async () => new Response(streamOf(answer("a").slice(0, 3), { isOpenEnded: true })),
    });
    await settle();
    // An address beyond the memory.
    Object.assign(reading.driver["shell"]["handle"], { __wbg_ptr: 0x7fff_fff0 });
    reading.driver.tell({ cancel: { why: "user" } });
    for (const run of [waiting, reading]) {
      expect(run.log).toEqual(["done"]);
      expect(run.driver.outcome()).toMatchObject({ outcome: "failed", error: { code: "bug" } });
      expect(run.driver.result()).toBeUndefined();
      expect(run.timers.size).toBe(0);
    }
    const next = await begun();
    await next.done;
    expect(next.text()).toBe("Hello");
    waiting.driver.free();
    reading.driver.free();
    await settle();
    const after = await begun();
    await after.done;
    expect(after.driver.outcome()).toEqual({ outcome: "completed" });
  });
});

describe("an answer that JavaScript cannot hold", () => {
  it("fails the reading of its own result, and no other run", async () => {
    const other = await begun({ fetch: never });
    const run = await begun();
    await run.done;
    const { decode: real } = TextDecoder.prototype;
    const decode = vi.spyOn(TextDecoder.prototype, "decode").mockImplementation(function (
      this: TextDecoder,
      ...bytes
    ) {
      const text = real.apply(this, bytes);
      if (text === "Hello") throw new RangeError("Invalid string length");
      return text;
    });
    expect(() => run.driver.result()).toThrow("Invalid string length");
    decode.mockRestore();
    expect(other.driver.outcome()).toBeUndefined();
    expect(run.driver.result()).toMatchObject({ text: "Hello" });
  });
});
