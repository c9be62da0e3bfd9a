// Alone in its file: it replaces the instance.
import { describe, expect, it } from "vitest";
import { arm } from "../../package/trap.mjs";
import { createAgent, custom, tool } from "looplet";
import type { AgentOptions, Message, Run, RunEvent, Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { nextTask } from "../support/fake-driver.js";

type Step = Awaited<ReturnType<Parameters<typeof custom>[0]>>;

/** An agent whose model answers by the number of answers that it reads. */
function agentOf(turns: (() => Step | Promise<Step>)[], options: Partial<AgentOptions> = {}) {
  let asked = 0;
  const model = custom(({ messages }) => {
    asked++;
    return turns[messages.filter(({ role }) => role === "assistant").length]!();
  });
  const agent = createAgent({ model, store: memoryStore(), ...options });
  return { agent, asked: () => asked };
}

const calls = (toolName: string) => (): Step => [
  { type: "tool_call" as const, id: "a", name: toolName, input: {} },
];

/** The instance is lost at the next look at the run's outcome. */
async function lose(run: Run): Promise<void> {
  arm("runhandle_outcome", "panic");
  expect(run.outcome).toBeUndefined();
  await nextTask();
}

function told(events: RunEvent[]): string[] {
  return events.map((event) => (event.type === "warning" ? event.code : event.type));
}

const schema = { type: "object", properties: {} } as const;

describe("a run with a store whose instance is lost", () => {
  it("goes on in a fresh one, keeps its call that still runs, and numbers its events on", async () => {
    let effects = 0;
    let settle!: (paid: string) => void;
    const paid = new Promise<string>((resolve) => (settle = resolve));
    const execute = () => {
      effects++;
      return paid;
    };
    const { agent, asked } = agentOf([calls("pay"), () => "Paid."], {
      tools: { pay: tool({ description: "Pays.", inputSchema: schema, execute }) },
      durable: { reconcile: () => expect.unreachable("the call still runs") },
    });
    const events: RunEvent[] = [];
    const run = agent.run("Pay.", { onEvent: (event) => void events.push(event) });
    while (effects === 0) await nextTask();
    await lose(run);
    run.steer("And say thanks.");
    settle("receipt");
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "completed", text: "Paid.", id: run.id });
    expect(result.toolCalls).toMatchObject([{ toolCallId: "a", output: "receipt", isError: false }]);
    expect([effects, asked()]).toEqual([1, 2]);
    expect(JSON.stringify(result.messages)).toContain("And say thanks.");
    expect(told(events).filter((type) => type === "instance_lost")).toHaveLength(1);
    expect(told(events).filter((type) => type === "run-start")).toHaveLength(1);
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it("keeps a question of a running tool open under its id, and tells the tool the answer", async () => {
    for (const when of ["before it is asked again", "afterwards"]) {
      const asked: number[] = [];
      const { agent } = agentOf([calls("pay"), () => "Paid."], {
        tools: {
          pay: tool({
            description: "Pays.",
            inputSchema: schema,
            execute: (_, { elicit }) => elicit({ message: "How much?" }),
          }),
        },
        toolCalls: {
          onElicitation: (_, { questionId }) => {
            asked.push(questionId);
            return null;
          },
        },
      });
      const run = agent.run("Pay.");
      while (asked.length === 0) await nextTask();
      arm("runhandle_outcome", "panic");
      expect(run.outcome).toBeUndefined();
      if (when === "afterwards") for (let task = 0; task < 3; task++) await nextTask();
      expect(run.answer(asked[0]!, { action: "accept", content: { euros: 3 } })).toBe(true);
      const { outcome, toolCalls } = await run.result;
      expect([outcome, toolCalls[0]!.output]).toEqual([
        "completed",
        { action: "accept", content: { euros: 3 } },
      ]);
      expect(asked).toHaveLength(1);
    }
  });

  it("keeps an approval open under its id, and does not ask its function twice", async () => {
    for (const when of ["before it is asked again", "afterwards", "by the function"]) {
      const asked: number[] = [];
      let decide!: (said: { behavior: "allow" }) => void;
      const { agent } = agentOf([calls("pay"), () => "Paid."], {
        tools: { pay: tool({ description: "Pays.", inputSchema: schema, execute: () => "receipt" }) },
        permissions: {
          canUseTool: (_, __, { questionId }) => {
            asked.push(questionId);
            return new Promise((resolve) => (decide = resolve));
          },
        },
      });
      const run = agent.run("Pay.");
      while (asked.length === 0) await nextTask();
      arm("runhandle_outcome", "panic");
      expect(run.outcome).toBeUndefined();
      if (when === "before it is asked again") {
        expect(run.answer(99, { behavior: "allow" })).toBe(false);
        expect(run.answer(asked[0]!, { outcome: "run" })).toBe(false);
        expect(run.answer(asked[0]!, { behavior: "allow" })).toBe(true);
      } else {
        await nextTask();
        await nextTask();
        if (when === "by the function") decide({ behavior: "allow" });
        else expect(run.answer(asked[0]!, { behavior: "allow" })).toBe(true);
      }
      expect(await run.result).toMatchObject({ outcome: "completed", text: "Paid." });
      expect(asked).toHaveLength(1);
    }
  });

  it("takes the text of a lost answer back, and asks for it again", async () => {
    let isLost = false;
    const { agent, asked } = agentOf([
      () =>
        (async function* () {
          yield { type: "text" as const, text: "half " };
          await nextTask();
          if (!isLost) {
            isLost = true;
            await lose(run);
          }
          yield { type: "text" as const, text: "whole" };
        })(),
    ]);
    const events: RunEvent[] = [];
    const run = agent.run("Go.", { onEvent: (event) => void events.push(event) });
    expect(await run.result).toMatchObject({ outcome: "completed", text: "half whole" });
    expect(asked()).toBe(2);
    const kinds = told(events).filter((type) => ["instance_lost", "reset", "attempt-start"].includes(type));
    expect(kinds).toEqual(["attempt-start", "instance_lost", "reset", "attempt-start"]);
  });

  it("ends as recovery_exhausted when every instance is lost at the same place", async () => {
    const { agent, asked } = agentOf([
      async () => {
        await lose(run);
        return "never";
      },
    ]);
    const run = agent.run("Go.");
    expect(await run.result).toMatchObject({ outcome: "stopped", stoppedBy: "recovery_exhausted" });
    expect(asked()).toBe(3);
  });

  it("hands in again what was lost with its instance: an answer and a result", async () => {
    let decisions = 0;
    let payments = 0;
    const pay = async () => {
      payments++;
      // Saves are confirmed first.
      for (let task = 0; task < 3; task++) await nextTask();
      arm("runhandle_handleInput", "panic");
      return "receipt";
    };
    const { agent } = agentOf([calls("pay"), () => "Paid."], {
      tools: { pay: tool({ description: "Pays.", inputSchema: schema, execute: pay }) },
      permissions: {
        canUseTool: async () => {
          decisions++;
          arm("runhandle_handleInput", "panic");
          return { behavior: "allow" };
        },
      },
    });
    const events: RunEvent[] = [];
    const run = agent.run("Pay.", { onEvent: (event) => void events.push(event) });
    const result = await run.result;
    expect(result).toMatchObject({ outcome: "completed", text: "Paid." });
    expect(result.toolCalls).toMatchObject([{ output: "receipt", isError: false }]);
    expect([decisions, payments]).toEqual([1, 1]);
    expect(told(events).filter((type) => type === "instance_lost")).toHaveLength(2);
  });

  it("makes a call whose start was being saved, without a question", async () => {
    let payments = 0;
    const kept = memoryStore();
    const store: Store = {
      load: kept.load,
      append: async (key, entries, expectedSeq) => {
        const isStart = payments === 0 && JSON.stringify(entries).includes('"started":{');
        await kept.append(key, entries, expectedSeq);
        if (isStart) await lose(run);
      },
    };
    const { agent } = agentOf([calls("pay"), () => "Paid."], {
      store,
      tools: { pay: tool({ description: "Pays.", inputSchema: schema, execute: () => ++payments }) },
      durable: { reconcile: () => expect.unreachable("this process knows that the call had not begun") },
    });
    const run = agent.run("Pay.");
    expect(await run.result).toMatchObject({ outcome: "completed", text: "Paid." });
    expect(payments).toBe(1);
  });

  it("leaves runs without a store as they are: they fail", async () => {
    const { agent } = agentOf([() => new Promise<Step>(() => {})], { store: undefined });
    const run = agent.run("Go.");
    await nextTask();
    arm("runhandle_outcome");
    expect(run.outcome).toBe("failed");
    expect(await run.result).toMatchObject({ outcome: "failed", error: { code: "bug" } });
  });
});

describe("a chat in a store whose instance is lost", () => {
  const said = ({ messages }: { messages: readonly Message[] }): string[] =>
    messages.map(({ content }) =>
      content.map((block) => (block.type === "text" ? block.text : block.type)).join(),
    );

  it("goes on in the middle of its second run, and in the next one", async () => {
    let settle!: (text: string) => void;
    const { agent } = agentOf([
      () => "One.",
      () => new Promise<string>((resolve) => (settle = resolve)),
      () => "Three.",
    ]);
    const chat = await agent.openChat("c");
    await chat.run("First.").result;
    const run = chat.run("Second.");
    await run.saved();
    while (settle === undefined) await nextTask();
    const before = settle;
    await lose(run);
    while (settle === before) await nextTask();
    settle("Two.");
    expect(await run.result).toMatchObject({ outcome: "completed", text: "Two." });
    await chat.run("Third.").result;
    await chat.saved();
    expect(said(chat)).toEqual(["First.", "One.", "Second.", "Two.", "Third.", "Three."]);
    expect((await agent.openChat("c")).messages).toEqual(chat.messages);
  });

  it("keeps a prompt and a reset that the lost instance has not saved", async () => {
    const { agent } = agentOf([() => "One.", () => "Two.", () => "Three."]);
    const chat = await agent.openChat("c");
    await chat.run("First.").result;
    arm("runhandle_handleInput", "panic");
    expect(await chat.run("Second.").result).toMatchObject({ outcome: "failed", error: { code: "bug" } });
    expect(said(chat)).toEqual(["First.", "One.", "Second."]);
    expect((await agent.openChat("c")).messages).toHaveLength(2);
    await chat.run("Again.").result;
    await chat.saved();
    expect(said(chat)).toEqual(["First.", "One.", "Second.,Again.", "Two."]);
    expect((await agent.openChat("c")).messages).toEqual(chat.messages);
    arm("runhandle_handleInput", "panic");
    chat.reset();
    await chat.run("Anew.").result;
    await chat.saved();
    expect(said(chat)).toEqual(["Anew.", "One."]);
    expect((await agent.openChat("c")).messages).toEqual(chat.messages);
  });
});
