// The run of a conversation: what a page does with it, and what becomes of it when the agent changes.
import { beforeAll, describe, expect, it } from "vitest";
import { createAgent, custom, tool, type AgentOptions, type RunEvent, type Store } from "looplet";
import { memoryStore } from "looplet/stores";
import { conversation } from "looplet/ui";
import { tick } from "../support/processes.js";
import { lines, Screen } from "./kit.js";

/** A tool that waits until the page lets it go. */
function gate() {
  const opened = { now: (): void => {} };
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const wait = tool({
    description: "waits",
    inputSchema: { type: "object" },
    execute: () => {
      begin();
      return new Promise<string>((resolve) => (opened.now = () => resolve("waited")));
    },
  });
  return { tools: { wait }, begun, open: () => opened.now() };
}

/** Answers a prompt with its name, the number of messages and the last text. "Wait" calls a tool first. */
const named = (name: string, options: Partial<AgentOptions> = {}) =>
  createAgent({
    model: custom(async function* ({ messages }) {
      await tick();
      const last = messages.at(-1)!.content.at(-1)!;
      if (last.type === "text" && last.text === "Wait")
        yield { type: "tool_call", id: "w", name: "wait", input: {} } as const;
      else yield `${name} has ${messages.length}.`;
    }),
    ...options,
  });

// A screen waits for a number of tasks, and a slow machine loads the engine for longer.
beforeAll(async () => void (await named("A").run("Go.").result), 60_000);

it("a listener that is called when a run begins misses none of its events", async () => {
  const screen = new Screen(named("A"));
  await screen.rest();
  const events: RunEvent[] = [];
  let hearing: Promise<void> | undefined;
  const hear = async (): Promise<void> => {
    for await (const event of screen.conversation.current!.events({ detached: true })) events.push(event);
  };
  screen.conversation.subscribe(() => {
    if (screen.conversation.current) hearing ??= hear();
  });
  expect(screen.conversation.current).toBeUndefined();
  await screen.conversation.send("Go.");
  await screen.rest();
  await hearing;
  expect(events[0]!.type).toBe("run-start");
  expect(events.at(-1)!.type).toBe("finish");
  expect(screen.conversation.current).toBeUndefined();
});

it("two messages that are sent at the same moment are a prompt and a message of its run", async () => {
  const screen = new Screen(named("A"));
  await screen.rest();
  const sent = [screen.conversation.send("One"), screen.conversation.send("Two")];
  expect(await Promise.all(sent)).toEqual([true, true]);
  const { messages, error } = await screen.rest();
  expect(error).toBeUndefined();
  expect(lines(messages).join()).toMatch(/^user: One.*Two/);
});

it("a follow-up waits until the model has finished, also in the next page", async () => {
  const store = memoryStore();
  const { tools, open } = gate();
  const screen = new Screen(named("A", { tools, store }), { id: "chat", store });
  await screen.rest();
  await screen.conversation.send("Wait");
  await screen.until(({ messages }) => lines(messages).at(-1) === "assistant: wait input-available");
  await screen.conversation.send("Later", { followUp: true });
  expect(screen.now.queue).toMatchObject([{ isFollowUp: true, isUndelivered: false }]);
  open();
  const { messages } = await screen.rest();
  expect(lines(messages)).toEqual([
    "user: Wait",
    'assistant: wait output-available "waited" | A has 3.',
    "user: Later",
    "assistant: A has 5.",
  ]);
  await screen.conversation.send("Wait");
  await screen.until(({ messages }) => lines(messages).at(-1) === "assistant: wait input-available");
  await screen.conversation.send("Never", { followUp: true });
  screen.conversation.stop();
  await screen.rest();
  const next = new Screen(named("A", { store }), { id: "chat", store });
  const { queue } = await next.rest();
  expect(queue).toMatchObject([{ isFollowUp: true, isUndelivered: true }]);
});

it("a summary can be read when its run has ended", async () => {
  const context = { window: 4000, compaction: { keepLast: 1, summarize: () => "They spoke of shirts." } };
  const screen = new Screen(named("A", { context }));
  await screen.rest();
  for (const text of ["One", "Two"]) {
    await screen.conversation.send(text);
    await screen.rest();
  }
  const begins = screen.conversation.subscribe(() => screen.conversation.current?.compact());
  await screen.conversation.send("Three");
  begins();
  const { messages } = await screen.rest();
  const parts = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "compaction"));
  expect(parts).toMatchObject([
    { state: "done", summary: "They spoke of shirts.", preTokens: expect.any(Number) },
  ]);
});

describe.each([
  ["of a store", "chat"],
  ["of this page", undefined],
])("a conversation %s that takes another agent", (_, id) => {
  const screenOf = (options: Partial<AgentOptions> = {}) => {
    const kept = memoryStore();
    // The last entries of a run are still on their way when it has ended.
    const append: Store["append"] = async (...given) => {
      for (let ticks = 0; ticks < 20; ticks++) await tick();
      return kept.append(...given);
    };
    const store = { ...kept, append };
    const more = id === undefined ? {} : { store };
    return {
      screen: new Screen(named("A", { ...options, ...more }), { id, ...more }),
      other: (name: string) => named(name, more),
    };
  };

  it("asks it from the next run on, with all messages", async () => {
    const { screen, other } = screenOf();
    await screen.rest();
    await screen.conversation.send("One");
    await screen.rest();
    screen.conversation.setAgent(other("B"));
    await screen.conversation.send("Two");
    expect(lines((await screen.rest()).messages)).toEqual([
      "user: One",
      "assistant: A has 1.",
      "user: Two",
      "assistant: B has 3.",
    ]);
  });

  it("lets the run under way end with its own, and asks the next as soon as that has ended", async () => {
    const { tools, begun, open } = gate();
    const { screen, other } = screenOf({ tools });
    await screen.rest();
    await screen.conversation.send("Wait");
    await screen.until(({ messages }) => lines(messages).at(-1) === "assistant: wait input-available");
    screen.conversation.setAgent(other("B"));
    await screen.conversation.send("Two");
    await begun;
    open();
    await screen.until(({ status }) => status === "ready");
    screen.conversation.setAgent(other("C"));
    await screen.conversation.send("Three");
    const { messages, error, usage } = await screen.rest();
    expect(error).toBeUndefined();
    expect(usage).not.toBeUndefined();
    expect(lines(messages).slice(2)).toEqual([
      "user: Two",
      "assistant: A has 3.",
      "user: Three",
      "assistant: C has 5.",
    ]);
  });
});

it("refuses a value that is not an agent", () => {
  const { setAgent } = conversation(named("A"));
  expect(() => setAgent({} as never)).toThrow(/needs an agent/);
});
