// Chats and conversations of looplet/ui over an agent whose module changes, and the trace of its runs.
import { expect, it } from "vitest";
import { memoryStore } from "looplet/stores";
import { traceSpans, type Span } from "looplet/trace";
import { lines, Screen } from "../../ui/kit.js";
import { begun, calls, Module, questionOf, settled, until, waits } from "./kit.js";

const turns = [
  () => calls("look"),
  () => calls("pay"),
  () => "Paid.",
  () => "And again.",
  () => calls("look"),
  () => "Seen.",
];

for (const [kept, options] of [
  ["in no store", {}],
  ["in a store", { store: memoryStore(), id: "chat-1" }],
] as const)
  it(`a conversation that is kept ${kept} goes on with an open question, and shows nothing twice`, async () => {
    const module = new Module(turns);
    const { id, ...more } = { id: undefined, ...options };
    const screen = new Screen(module.run(1, more), id === undefined ? {} : { id });
    await screen.rest();
    void screen.conversation.send("Pay.");
    const asked = await screen.until(({ questions }) => questions.length > 0);
    module.run(2, more);
    await settled();
    expect(screen.now.questions).toHaveLength(1);
    screen.conversation.answer(asked.questions[0]!, { behavior: "allow" });
    await screen.rest();
    expect(lines(screen.now.messages)).toEqual([
      "user: Pay.",
      'assistant: look output-available "look of 1" | pay output-available "pay of 2" | Paid.',
    ]);
    void screen.conversation.send("Again.");
    await screen.until(({ messages }) => messages.length === 4);
    await screen.rest();
    expect(lines(screen.now.messages).slice(2)).toEqual(["user: Again.", "assistant: And again."]);
    screen.leave();
  });

it("a chat goes on with its next run in the new code", async () => {
  const module = new Module(turns);
  const chat = module.run(1).chat();
  const run = chat.run("Pay.");
  const events: Parameters<typeof waits>[0][number][] = [];
  for await (const event of run) {
    events.push(event);
    if (event.type !== "waiting" || module.log.includes("pay 2")) continue;
    module.run(2);
    await settled();
    run.answer(questionOf(events), { behavior: "allow" });
  }
  expect((await run.result).text).toBe("Paid.");
  expect((await chat.run("Again.").result).text).toBe("And again.");
  module.run(3);
  expect((await chat.run("Look.").result).text).toBe("Seen.");
  expect(module.log.filter((line) => line.startsWith("look"))).toEqual(["look 1", "look 3"]);
});

it("the trace of a run notes at its root that the code has changed", async () => {
  const spans: Span[] = [];
  const trace = traceSpans((span) => void spans.push(span));
  const module = new Module(turns);
  const { run, events } = begun(module.run(1, { trace }));
  await until(() => waits(events));
  module.run(2, { trace });
  await settled();
  run.answer(questionOf(events), { behavior: "allow" });
  await run.result;
  await settled();
  const root = spans.find(({ parentSpanId }) => parentSpanId === null)!;
  expect(JSON.stringify(root)).toContain("hot_reload");
  expect(spans.filter(({ name }) => name.startsWith("execute_tool"))).toHaveLength(2);
});
