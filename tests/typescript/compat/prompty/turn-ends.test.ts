/** Turns that end while a function of the host is still at work, and turns of which one call cannot run. */
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  ExecuteError,
  PromptyStream,
  registerToolHandler,
  clearToolHandlers,
  type Message,
} from "looplet/prompty";
import { agentOf, play, said, types } from "./kit.js";
import { settled } from "../../support/virtual-clock.js";
import "looplet";

afterEach(clearToolHandlers);

const results = (messages: readonly Message[]): string[] =>
  messages.filter(({ role }) => role === "tool").map(({ content }) => content[0]!.value);
const never = (): Promise<never> => new Promise(() => {});

describe("an abort", () => {
  it("ends a turn at once whose tool does not end, and says of each call how far it came", async () => {
    const abort = new AbortController();
    const stuck = () => (queueMicrotask(() => abort.abort("enough")), never());
    const calls: [string, string][] = ["quick", "stuck", "later"].map((name) => [name, "{}"]);
    const played = await play([said(null, ...calls)], {
      tools: { quick: () => 1, stuck, later: () => 2 },
      options: { signal: abort.signal },
    });
    expect([played.error.name, played.error.cause]).toEqual(["CancelledError", "enough"]);
    expect(results(played.error.messages)).toEqual([
      "1",
      "Error: The turn ended before the tool",
      "Error: The tool was not run",
    ]);
    expect(types(played).at(-1)).toBe("cancelled");
  });

  it.each(["input", "output", "tool"])(
    "ends a turn at once whose guardrail %s does not answer",
    async (which) => {
      const abort = new AbortController();
      const ask = () => (queueMicrotask(() => abort.abort()), never());
      const { error } = await play([said(null, ["add", "{}"])], {
        tools: { add: () => 1 },
        options: { signal: abort.signal, guardrails: { [which]: ask } },
      });
      expect(error.name).toBe("CancelledError");
    },
  );

  it.each(["model", "input", "output", "tool", "compaction"])(
    "leads to nothing more and tells nothing more if %s ends later",
    async (which) => {
      const abort = new AbortController();
      const ran: string[] = [];
      const spans: string[] = [];
      let goOn = (): void => {};
      const late = new Promise<void>((resolve) => (goOn = resolve));
      const ask = (name: string) => async () => {
        ran.push(name);
        if (name === which) {
          queueMicrotask(() => abort.abort());
          await late;
        }
        return { allowed: true };
      };
      const guardrails = { input: ask("input"), output: ask("output"), tool: ask("tool") };
      const compaction = async () => (await ask("compaction")(), "all said");
      const thread = ["a", "b", "c"].map((mark) => ({ role: "user", content: mark.repeat(99) }));
      const model = async () => (await ask("model")(), said(null, ["add", "{}"]));
      const tracer = (name: string) => (spans.push(name), { end() {} });
      const played = await play([model, said("x")], {
        inputs: { thread },
        tools: { add: () => ran.push("add") },
        options: {
          signal: abort.signal,
          contextBudget: 300,
          compaction,
          guardrails,
          host: { tracers: [tracer] },
        },
      });
      const told = () => [played.events.length, played.further.length, spans.length];
      const before = told();
      goOn();
      await settled();
      expect([ran.at(-1), played.error.name]).toEqual([which, "CancelledError"]);
      expect(told()).toEqual(before);
    },
  );
});

describe("a tool without a handler", () => {
  it("ends the turn when the calls beside it have ended, with their results", async () => {
    const { error } = await play([said(null, ["none", "{}"], ["add", "{}"])], {
      tools: {
        add: async () => {
          for (let tick = 0; tick < 50; tick++) await Promise.resolve();
          return "added";
        },
      },
      options: { parallelToolCalls: true },
    });
    expect(error.message).toBe("Tool not registered: none");
    expect(results(error.messages)).toEqual(["Error: The tool was not run", "added"]);
  });

  it("is none if its kind has one", async () => {
    registerToolHandler("shop", () => "bought");
    const agent = await agentOf({ tools: [{ name: "buy", kind: "shop" }] });
    const { asked } = await play([said(null, ["buy", "{}"]), said("x")], { agent });
    expect(results(asked[1]!)).toEqual(["bought"]);
  });
});

describe("an error of a guardrail", () => {
  it("is the turn's, and is not tried again even if another turn has thrown it", async () => {
    const { error, asked, waits } = await play([said("x"), said("y")], {
      options: {
        guardrails: {
          output: () => {
            throw new ExecuteError("of another turn", [], undefined);
          },
        },
      },
    });
    expect([error.message, asked.length, waits]).toEqual(["of another turn", 1, []]);
  });
});

describe("a stream", () => {
  const chunks = (left: string[]) =>
    async function* () {
      try {
        for (const content of ["A", "B", "C"]) yield { choices: [{ delta: { content } }] };
      } finally {
        left.push("left");
      }
    };

  it.each([0, 1])("whose reader leaves after %i texts ends its turn and its model call", async (count) => {
    const left: string[] = [];
    const played = await play([chunks(left)], { options: { stream: true } });
    const reader = (played.result as PromptyStream)[Symbol.asyncIterator]();
    for (let at = 0; at < count; at++) await reader.next();
    await reader.return!();
    await vi.waitFor(() =>
      expect(played.further.at(-1)).toMatchObject(["turn_end", { status: "cancelled" }]),
    );
    expect([left, types(played)]).toEqual([["left"], ["token", "cancelled"]]);
  });

  it("shows no text that the output guardrail has not seen, also of an executor that always streams", async () => {
    const seen: string[] = [];
    const output = ({ content }: Message) => (seen.push(content[0]!.value), { allowed: true, rewrite: "…" });
    const played = await play([chunks([])], { options: { stream: true, guardrails: { output } } });
    const texts: string[] = [];
    for await (const text of played.result as PromptyStream) texts.push(text);
    expect([seen, texts, types(played)]).toEqual([["ABC"], ["…"], ["done"]]);
  });
});
