import { describe, expect, it } from "vitest";
import { anthropic, createAgent, tool } from "looplet";
import type { Agent, AgentOptions, Run, RunEvent, ToolContext } from "looplet";
import { scripted } from "looplet/practice";
import { memoryStore } from "looplet/stores";
import { settled, VirtualClock } from "../support/virtual-clock.js";

const size = { message: "Which size?", requestedSchema: { type: "object" } };

function agentWith(
  execute: (input: object, context: ToolContext) => unknown,
  options: Partial<AgentOptions> = {},
): Agent {
  const book = tool({ description: "Books a shirt.", inputSchema: { type: "object" }, execute });
  const turns = [{ toolCalls: [{ id: "a", name: "book", input: {} }] }, { text: "Done." }];
  const fetch: typeof globalThis.fetch = (url, init) => {
    const { messages } = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array)) as {
      messages: { role: string }[];
    };
    const answered = messages.filter(({ role }) => role === "assistant").length;
    return scripted([turns[answered]!])(url as string, init as never) as Promise<Response>;
  };
  return createAgent({
    model: anthropic("m", { apiKey: "k" }),
    tools: { book },
    fetch: fetch as never,
    ...options,
  });
}

/** The id of the next question of a tool. */
async function questionOf(run: AsyncIterable<RunEvent>): Promise<number> {
  for await (const event of run)
    if (event.type === "question" && event.question === "elicitation") return event.questionId;
  throw new Error("nobody was asked");
}

describe("a tool that asks a person", () => {
  it("gets the answer of run.answer to the question event", async () => {
    const agent = agentWith(async (_, { elicit }) => (await elicit(size)).content);
    const run = agent.run("Book.");
    const asked: unknown[] = [];
    for await (const event of run.events({ detached: true })) {
      if (event.type !== "question" || event.question !== "elicitation") continue;
      asked.push(event.data);
      expect(run.answer(event.questionId, { behavior: "allow" })).toBe(false);
      const answer = { action: "accept", content: { size: "M" } } as const;
      expect(run.answer(event.questionId, answer)).toBe(true);
      expect(run.answer(event.questionId, answer)).toBe(true);
    }
    const { toolCalls } = await run.result;
    expect(toolCalls[0]!.output).toEqual({ size: "M" });
    const reason = "its tool asks the user";
    expect(asked).toEqual([{ toolCallId: "a", toolName: "book", input: {}, request: size, reason }]);
  });

  it.each<[string, (input: object, context: ToolContext) => unknown, (run: Run) => void]>([
    [
      "its call ends by itself",
      async (_, { elicit }) => {
        void elicit(size).catch(() => {});
        await settled();
        return "too late";
      },
      () => {},
    ],
    ["the run is aborted", (_, { elicit }) => elicit(size), (run) => run.abort("enough")],
  ])("has its question withdrawn when %s", async (_, execute, then) => {
    const run = agentWith(execute).run("Book.");
    const closed: RunEvent[] = [];
    for await (const event of run.events({ detached: true })) {
      if (event.type === "question" && event.question === "elicitation") then(run);
      if (event.type === "answered") closed.push(event);
    }
    expect(closed).toMatchObject([{ type: "answered", isWithdrawn: true }]);
  });

  it("gets the answer of onElicitation, which is told where the question comes from", async () => {
    const told: unknown[] = [];
    const agent = agentWith((_, { elicit }) => elicit(size), {
      toolCalls: {
        onElicitation: (request, { signal, ...context }) => {
          told.push(request, context, signal.aborted);
          return { action: "decline" };
        },
      },
    });
    const { toolCalls } = await agent.run("Book.").result;
    expect(toolCalls[0]!.output).toEqual({ action: "decline" });
    const context = { toolCallId: "a", toolName: "book", input: {}, agentPath: "root" };
    expect(told).toEqual([size, { ...context, questionId: expect.any(Number) }, false]);
  });

  it("is told that nobody has answered if onElicitation throws or answers nonsense", async () => {
    for (const onElicitation of [() => Promise.reject(new Error("broken")), () => ({ action: "yes" })]) {
      const warnings: string[] = [];
      const agent = agentWith((_, { elicit }) => elicit(size), {
        toolCalls: { onElicitation: onElicitation as never },
      });
      const run = agent.run("Book.", {
        onEvent: (event) => event.type === "warning" && warnings.push(event.code),
      });
      expect((await run.result).toolCalls[0]!.output).toEqual({ action: "cancel" });
      expect(warnings).toEqual(["elicitation_failed"]);
    }
  });

  it("gets a rejection when its run is aborted, and a clear error for a question without words", async () => {
    const reasons: unknown[] = [];
    const agent = agentWith((_, { elicit }) => {
      return elicit(size).catch((error: unknown) => reasons.push(error));
    });
    const run = agent.run("Book.");
    await questionOf(run.events({ detached: true }));
    run.abort("enough");
    await run.result;
    await settled();
    expect(reasons).toEqual([expect.objectContaining({ name: "AbortError" })]);

    const wrong = agentWith((_, { elicit }) => elicit({} as never));
    const { toolCalls } = await wrong.run("Book.", { onError: () => {} }).result;
    expect(toolCalls[0]).toMatchObject({ isError: true, output: { message: /elicit needs \{ message/ } });
  });
});

/** An agent whose process is cut off, so that it must not hold its run. */
function kept(): { store: AgentOptions["store"] } {
  const { append, load } = memoryStore();
  return { store: { append, load } };
}

describe("a tool with a checkpoint", () => {
  const booking =
    (log: unknown[]) =>
    async (_: object, { checkpoint, elicit, restored }: ToolContext): Promise<unknown> => {
      log.push(restored ?? "begins");
      if (restored === undefined) await checkpoint({ order: 7 });
      const { content } = await elicit(size);
      return { order: (restored as { order: number } | undefined)?.order ?? 7, ...content };
    };

  it("goes on in another process, where its question is still open under its id", async () => {
    const options = kept();
    const log: unknown[] = [];
    const first = agentWith(booking(log), options).run("Book.", { id: "x" });
    const questionId = await questionOf(first.events({ detached: true }));
    await first.saved();

    const reconcile = (): never => {
      throw new Error("nobody needs to know");
    };
    const second = agentWith(booking(log), { ...options, durable: { reconcile } }).resume("x");
    expect(await questionOf(second.events({ detached: true }))).toBe(questionId);
    expect(second.answer(questionId, { action: "accept", content: { size: "M" } })).toBe(true);
    const { toolCalls } = await second.result;
    expect(toolCalls[0]!.output).toEqual({ order: 7, size: "M" });
    expect(log).toEqual(["begins", { order: 7 }]);
    first.abort();
  });

  it("gets an answer of the journal in the process that comes after the answer", async () => {
    const options = kept();
    let hold = true;
    const execute = async (_: object, { checkpoint, elicit }: ToolContext): Promise<unknown> => {
      await checkpoint(1);
      const { content } = await elicit(size);
      if (hold) await new Promise(() => {});
      return content;
    };
    const first = agentWith(execute, options).run("Book.", { id: "x" });
    first.answer(await questionOf(first.events({ detached: true })), { action: "accept", content: { n: 1 } });
    await first.saved();
    hold = false;
    const second = agentWith(execute, options).resume("x");
    expect((await second.result).toolCalls[0]!.output).toEqual({ n: 1 });
    first.abort();
  });

  it("resolves at once without a store, and rejects what JSON cannot hold or what a store refuses", async () => {
    const attempt = async (state: unknown, options: Partial<AgentOptions> = {}): Promise<unknown> => {
      const agent = agentWith(async (_, { checkpoint }) => {
        return await checkpoint(state).then(
          () => "kept",
          (error: unknown) => String(error),
        );
      }, options);
      return (await agent.run("Book.", { onError: () => {} }).result).toolCalls[0]!.output;
    };
    expect(await attempt({ page: 2 })).toBe("kept");
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(await attempt(cycle)).toMatch(/circular|cyclic/i);
    const { load, append } = memoryStore();
    const store: AgentOptions["store"] = {
      load,
      append: (key, entries, after) => {
        const isLast = entries.some(({ json }) => json.includes('"page":3'));
        return isLast ? Promise.reject(new Error("quota")) : append(key, entries, after);
      },
    };
    const clock = new VirtualClock();
    const refused = attempt({ page: 3 }, { store, clock });
    for (let write = 0; write < 5; write++) await clock.pass(2000);
    expect(await refused).toBe("Error: quota");
  });
});
