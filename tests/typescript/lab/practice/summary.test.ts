import { expect, it } from "vitest";
import { anthropic, createAgent } from "looplet";
import { practice } from "looplet/practice";

it("the practice model sums a conversation up, and its own summary with it", async () => {
  const model = anthropic("practice", { fetch: practice({ delayMs: 0 }) });
  const agent = createAgent({ model, context: { compaction: { keepLast: 1 } } });
  const chat = agent.chat();
  for (const prompt of ["What is 6 * 7?", "What is 7 * 8?"]) await chat.run(prompt).result;
  for (const prompt of ["What is 8 * 9?", "What is 9 * 10?"]) {
    const run = chat.run(prompt);
    run.compact();
    await run.result;
  }
  const blocks = chat.messages.flatMap(({ content }) => content);
  const summaries = blocks.filter((block) => block.type === "text" && block.purpose === "summary");
  expect(summaries.at(-1)).toMatchObject({
    text: expect.stringMatching(/Before:.*6 \* 7[^]*Asked: What is 8 \* 9\?\]$/),
  });
});
