import { expect, it } from "vitest";
import { anthropic, createAgent, subagent } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import type { RunEvent } from "../../../src/typescript/core/api/index.js";

const keys = { first: "key-of-the-first", second: "key-of-the-second" };

/** A body that fails inside its stream with the key, and one that is refused. */
const bodies = {
  first: (said: string) => new Response(`event: error\ndata: ${said}\n\n`),
  second: (said: string) => new Response(said, { status: 401 }),
};

it("keys of two subagents that fail beside each other reach neither events nor the result nor another model", async () => {
  const answers: (() => void)[] = [];
  const failing = (name: keyof typeof keys) =>
    subagent({
      description: name,
      retry: { maxRetries: 0 },
      model: anthropic(name, {
        apiKey: keys[name],
        fetch: () =>
          new Promise((resolve) => {
            const said = JSON.stringify({ type: "error", error: { message: `bad key ${keys[name]}` } });
            answers.push(() => resolve(bodies[name](said)));
            // Both have sent their keys before the first is answered.
            if (answers.length === 2) answers.forEach((answer) => answer());
          }),
      }),
    });
  const fetch = scripted([
    { toolCalls: ["first", "second"].map((name) => ({ name, input: { prompt: "Go." } })) },
    { text: "Both failed." },
  ]);
  const events: RunEvent[] = [];
  const agent = createAgent({
    model: anthropic("root", { apiKey: "key-root", fetch }),
    tools: { first: failing("first"), second: failing("second") },
    toolCalls: { execution: "parallel" },
  });
  const result = await agent.run("Go", { onEvent: (event) => events.push(event) }).result;
  expect(result).toMatchObject({ outcome: "completed", text: "Both failed." });
  for (const shown of [events, result, result.messages, fetch.requests[1]!.body]) {
    const text = JSON.stringify(shown);
    expect(text).not.toContain("key-of-the");
  }
  expect(JSON.stringify(fetch.requests[1]!.body).match(/bad key \[redacted\]/g)).toHaveLength(2);
});
