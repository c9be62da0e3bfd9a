// Where the warnings of a model call go.
import { anthropic } from "looplet";
import { initSession, makeInvokeModel, runSession, type ToolDefinition } from "looplet/guide";
import { scripted } from "looplet/practice";
import { expect, it } from "vitest";

const look: ToolDefinition = { name: "look", description: "Looks", input_schema: { type: "object" } };
const turns = () => [{ toolCalls: [{ name: "look", input: {} }] }, { text: "Alpha." }];

it("gives each warning to the logger of the host, once in a session", async () => {
  const warnings: string[] = [];
  const host = { logger: { warn: (message: string) => void warnings.push(message) } };
  const fetch = scripted([...turns(), ...turns()]);
  const invoke = makeInvokeModel(anthropic("claude-opus-5-5", { fetch, temperature: 0.5 }), { host });
  for (const count of [1, 2]) {
    await runSession(invoke, [look], initSession("s", "Look."), { look: () => "Alpha" });
    expect(warnings).toHaveLength(count);
  }
  expect(fetch.requests).toHaveLength(4);
  expect(new Set(warnings)).toEqual(new Set([expect.stringContaining("temperature")]));
});
