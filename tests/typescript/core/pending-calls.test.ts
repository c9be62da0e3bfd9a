// Calls without a result in the messages of a chat whose run goes on.
import { describe, expect, it } from "vitest";
import { createAgent, custom, subagent, tool } from "looplet";
import type { AgentOptions, Message, Run, RunEvent, Store, ToolResultBlock } from "looplet";
import { memoryStore } from "looplet/stores";
import { nextTask } from "../support/fake-driver.js";

const inputSchema = { type: "object" } as const;

const never = (): Promise<never> => new Promise(() => {});

/** Asks for these calls at once, and answers when they have their results. */
function calling(...names: string[]): ReturnType<typeof custom> {
  return custom(({ messages }) =>
    messages.at(-1)!.content.some(({ type }) => type === "tool_result")
      ? "Done."
      : names.map((name) => ({ type: "tool_call", id: name, name, input: { prompt: "Go." } }) as const),
  );
}

const tools = {
  read: tool({ description: "Reads.", inputSchema, readOnly: true, execute: () => "42" }),
  hang: tool({ description: "Hangs.", inputSchema, readOnly: true, execute: never }),
  pay: tool({
    description: "Pays.",
    inputSchema,
    needsApproval: true,
    readOnly: true,
    execute: () => "paid",
  }),
  book: tool({
    description: "Books.",
    inputSchema,
    readOnly: true,
    execute: (_, { elicit }) => elicit({ message: "Which size?" }),
  }),
  write: tool({ description: "Writes.", inputSchema, execute: () => "written" }),
  buyer: subagent({
    description: "Buys.",
    readOnly: true,
    model: calling("pay"),
    tools: {
      pay: tool({ description: "Pays.", inputSchema, needsApproval: true, execute: () => "paid" }),
    },
  }),
  looker: subagent({ description: "Looks.", readOnly: true, model: custom(never) }),
};

const all = ["read", "hang", "pay", "book", "buyer", "looker", "write"];

/** A process that is cut off must not hold its run. */
const shared = ({ append, load }: Store): Store => ({ append, load });

function agentOn(store: Store, options: Partial<AgentOptions> = {}) {
  return createAgent({ model: calling(...all), tools, store: shared(store), ...options });
}

/** The results of the last message, by their calls. */
function resultsOf(messages: readonly Message[]): Record<string, Partial<ToolResultBlock>> {
  const results = messages.at(-1)!.content.filter(({ type }) => type === "tool_result");
  return Object.fromEntries(
    (results as ToolResultBlock[]).map(({ callId, type: _, ...rest }) => [callId, rest]),
  );
}

/** Reads until people have been asked this number of questions. */
async function asked(run: Run, count: number): Promise<RunEvent[]> {
  const questions: RunEvent[] = [];
  for await (const event of run.events({ detached: true })) {
    if (event.type === "question") questions.push(event);
    if (questions.length === count) break;
  }
  for (let task = 0; task < 5; task++) await nextTask();
  return questions;
}

const words = (text: string) => [{ type: "text", text }];
const waiting = { content: words("The call waits for the user's answer."), pending: "waiting" };
const running = { content: words("The call is running."), pending: "running" };
const queued = { content: words("The call has not started."), pending: "queued" };
const marks = {
  read: { content: words("42") },
  hang: running,
  pay: waiting,
  book: waiting,
  buyer: waiting,
  looker: running,
  write: queued,
};

describe("a call without a result", () => {
  it("says in chat.messages and in readChat how far it has come, after a reload", async () => {
    const store = memoryStore();
    const first = await agentOn(store).openChat("c");
    const run = first.run("Go.");
    await asked(run, 3);
    await run.saved();
    const kept = await agentOn(store).readChat("c");
    expect(resultsOf(kept!.messages)).toEqual(marks);
    const again = await agentOn(store, { durable: { reconcile: never } }).openChat("c");
    expect(resultsOf(again.messages)).toEqual(marks);
    run.abort();
  });

  it("has its result when the run has ended", async () => {
    const store = memoryStore();
    const options: Partial<AgentOptions> = { model: calling("pay", "read") };
    const run = (await agentOn(store, options).openChat("c")).run("Go.");
    await asked(run, 1);
    await run.saved();
    const again = await agentOn(store, options).openChat("c");
    expect(resultsOf(again.messages)["pay"]).toEqual(waiting);
    const current = again.current!;
    for await (const event of current)
      if (event.type === "question") current.answer(event.questionId, { behavior: "allow" });
    expect(resultsOf(again.messages.slice(0, -1))).toEqual({
      pay: { content: words("paid") },
      read: { content: words("42") },
    });
    run.abort();
  });

  it("stands as failed in a run that was aborted, here and after a reload", async () => {
    const store = memoryStore();
    const chat = await agentOn(store).openChat("c");
    const run = chat.run("Go.");
    await asked(run, 3);
    run.abort();
    await run.result;
    await chat.saved();
    for (const { messages } of [chat, (await agentOn(store).readChat("c"))!])
      for (const [name, result] of Object.entries(resultsOf(messages)))
        expect([name, result.pending, result.isError]).toEqual([
          name,
          undefined,
          name !== "read" || undefined,
        ]);
  });

  it("says it in the snapshot of a loop that begins late", async () => {
    const run = agentOn(memoryStore()).run("Go.");
    await asked(run, 3);
    for await (const event of run.events({ detached: true })) {
      if (event.type !== "snapshot") throw new Error(event.type);
      expect(resultsOf(event.messages)).toEqual(marks);
      break;
    }
    run.abort();
  });

  it("is told to a model as a call that may have been done, if another conversation goes on from there", async () => {
    const store = memoryStore();
    const run = (await agentOn(store).openChat("c")).run("Go.");
    await asked(run, 3);
    await run.saved();
    const { messages } = (await agentOn(store).readChat("c"))!;
    let sent: readonly Message[] = [];
    const model = custom((request) => {
      sent = request.messages as Message[];
      return "Well.";
    });
    await createAgent({ model }).run("And?", { messages }).result;
    const { read, ...open } = resultsOf([{ ...sent.at(-1)!, content: sent.at(-1)!.content.slice(0, -1) }]);
    expect(read).toEqual({ content: words("42") });
    for (const result of Object.values(open)) {
      expect(result).toMatchObject({ isError: true });
      expect(JSON.stringify(result)).toContain("It may have been done");
      expect(result).not.toHaveProperty("pending");
    }
    run.abort();
  });
});
