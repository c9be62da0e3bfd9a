/** The practice provider under the id of a real model writes the vendor's own summaries, and takes them back. */
import { describe, expect, it } from "vitest";
import { anthropic, createAgent, openai, tool, type RunEvent, type RunOptions } from "looplet";
import { practice } from "looplet/practice";

const weather = tool({
  description: "Tells the weather of a city",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `Sun in ${city}. ${"It has been sunny for days. ".repeat(20)}`,
});

/** A chat with a summary before its last prompt: the author of the summary, what went wrong, and the last request. */
async function chatWithSummary(make: typeof anthropic | typeof openai, id: string) {
  const provider = practice({ delayMs: 0 });
  let last = "";
  const fetch: typeof provider = Object.assign(
    async (input: RequestInfo | URL, init?: RequestInit) => {
      last = await new Response(init?.body).text();
      return provider(input, init);
    },
    { preconnect() {} },
  );
  const agent = createAgent({
    model: (make as typeof anthropic)(id, { apiKey: "k", fetch }),
    tools: { weather },
    context: { compaction: { keepLast: 1 } },
  });
  const chat = agent.chat();
  const events: RunEvent[] = [];
  const options: RunOptions = { onEvent: (event) => void events.push(event) };
  for (const prompt of ["What is the weather in Paris?", "What is the weather in Rome?"])
    expect((await chat.run(prompt, options).result).outcome).toBe("completed");
  const run = chat.run("What is the weather in Oslo?", options);
  run.compact();
  const { outcome, text } = await run.result;
  return {
    outcome,
    isAnswered: text.includes("Sun in Oslo"),
    by: events.flatMap((event) => (event.type === "compact-boundary" ? [event.by] : [])),
    warnings: events.flatMap((event) => (event.type === "warning" ? [event.code] : [])),
    last,
  };
}

describe("a summary of a chat with the practice provider", () => {
  it.each([
    [
      anthropic,
      "claude-opus-5-5",
      '"type":"compaction","content":"The user wrote: “What is the weather in Paris?”',
    ],
    [openai, "gpt-6.2-sol", '"type":"compaction","id":"cmp_practice"'],
  ] as const)("is the vendor's under the id of its model", async (make, id, item) => {
    const { last, ...rest } = await chatWithSummary(make, id);
    expect(rest).toEqual({ outcome: "completed", isAnswered: true, by: ["vendor"], warnings: [] });
    expect(last).toContain(item);
  });

  it("is the model's under another id", async () => {
    expect(await chatWithSummary(anthropic, "practice")).toMatchObject({
      outcome: "completed",
      by: ["model"],
      warnings: [],
    });
  });
});
