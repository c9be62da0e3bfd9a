import { describe, expect, it } from "vitest";
import { anthropic, createAgent, subagent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted, type ScriptedStep } from "../../../src/typescript/lab/practice/index.js";
import type { Clock, Fetch, RunEvent } from "../../../src/typescript/core/api/index.js";

/** Counts what a run has open in the host: timers, listeners on its signal, readers of bodies. */
class Host {
  readonly timers = new Set<unknown>();
  listeners = 0;
  readers = 0;

  readonly clock: Clock = {
    now: () => 1_000,
    setTimer: (callback, delayMs) => {
      const timer = setTimeout(() => {
        this.timers.delete(timer);
        callback();
      }, delayMs);
      this.timers.add(timer);
      return timer;
    },
    clearTimer: (timer) => {
      clearTimeout(timer as ReturnType<typeof setTimeout>);
      this.timers.delete(timer);
    },
  };

  /** A signal whose listeners are counted. */
  signal(): AbortSignal {
    const { signal } = new AbortController();
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      this.listeners++;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      this.listeners--;
      removeEventListener.apply(signal, args);
    };
    return signal;
  }

  /** The same `fetch`, whose bodies are counted until they have ended or were given up. */
  counted(fetch: Fetch): Fetch {
    return async (url, init) => {
      const response = (await fetch(url, init)) as Response;
      this.readers++;
      let isOpen = true;
      const close = (): void => {
        if (isOpen) this.readers--;
        isOpen = false;
      };
      const reader = response.body!.getReader();
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { done, value } = await reader.read();
          if (done) close();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel(reason) {
          close();
          return reader.cancel(reason);
        },
      });
      return new Response(body, { status: response.status, headers: response.headers });
    };
  }
}

const none = { type: "object", properties: {} } as const;
const calls = (...names: string[]): ScriptedStep => ({
  text: "Now.",
  toolCalls: names.map((name) => ({ name, input: name === "pal" ? { prompt: "Do." } : {} })),
});

/** Six model calls of the root with parallel and slow tools, an approval and two subagents. */
function start(host: Host, onEvent: (event: RunEvent) => void) {
  const quick = tool({ description: "Quick", inputSchema: none, readOnly: true, execute: () => 1 });
  const slow = tool({
    description: "Slow",
    inputSchema: none,
    readOnly: true,
    timeoutMs: 60_000,
    execute: () => new Promise((resolve) => setTimeout(resolve, 5)),
  });
  const asked = tool({ description: "Asked", inputSchema: none, needsApproval: true, execute: () => 1 });
  const below: ScriptedStep[] = [calls("slow"), { text: "One." }, calls("quick"), { text: "Two." }];
  const root = [
    calls("quick", "slow", "quick"),
    calls("asked"),
    calls("pal"),
    calls("slow", "slow"),
    calls("pal"),
    { text: "The end of it." },
  ];
  const agent = createAgent({
    model: anthropic("m", { apiKey: "k", fetch: host.counted(scripted(root)) }),
    tools: {
      quick,
      slow,
      asked,
      pal: subagent({
        description: "Pal",
        model: anthropic("s", { apiKey: "k", fetch: host.counted(scripted(below)) }),
        tools: { quick, slow },
      }),
    },
    clock: host.clock,
    timeouts: { totalMs: 600_000, iterationMs: 300_000 },
  });
  const run = agent.run("Go", { onEvent, signal: host.signal() });
  return run;
}

describe("an abort at any event of a run with six iterations, slow tools and subagents", () => {
  it("sets the outcome inside abort(), settles in the same macrotask, leaves nothing open", async () => {
    let total = Infinity;
    for (let at = 1; at < total; at += 3) {
      const host = new Host();
      let seen = 0;
      let isSettled = false;
      let wasSettled: Promise<boolean> | undefined;
      const run = start(host, (event) => {
        if (event.type === "question") run.answer(event.questionId, { behavior: "allow" });
        if (++seen !== at) return;
        run.abort("enough");
        expect(run.outcome).toBe("cancelled");
        wasSettled = new Promise((resolve) => setTimeout(() => resolve(isSettled), 0));
      });
      void run.result.then(() => (isSettled = true));
      const result = await run.result;
      if (wasSettled === undefined) {
        total = at;
        expect(result).toMatchObject({ outcome: "completed", iterations: 6, text: "The end of it." });
      } else {
        expect(await wasSettled).toBe(true);
        expect(result).toMatchObject({ outcome: "cancelled", abortReason: "enough" });
      }
      expect(host.timers.size, `a timer after event ${at}`).toBe(0);
      expect(host.listeners, `a listener after event ${at}`).toBe(0);
      await new Promise((resolve) => setTimeout(resolve, 0));
      expect(host.readers, `a reader after event ${at}`).toBe(0);
    }
    expect(total).toBeGreaterThan(100);
  }, 60_000);
});
