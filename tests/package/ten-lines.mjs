// What a stranger writes first; the practice provider stands in for the vendor.
import { anthropic, createAgent, tool } from "looplet";
import { practice } from "looplet/practice";

const inputSchema = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};
const multiply = tool({ description: "Multiplies two numbers", inputSchema, execute: ({ a, b }) => a * b });
const fetch = practice({ delayMs: 0 });

export async function tenLines() {
  const model = anthropic("claude-sonnet-4-6", { apiKey: "practice", dangerouslyAllowBrowser: true, fetch });
  const result = await createAgent({ model, tools: { multiply } }).run("What is 19 times 23?").result;
  const failure = result.error ? ` (${result.error.code}: ${result.error.message})` : "";
  return `${result.outcome} with ${result.toolCalls.length} tool call: ${result.text}${failure}`;
}
