import { describe, expect, it } from "vitest";
import { anthropic, createAgent, subagent, tool } from "../../../src/typescript/core/entry/node.js";
import { scripted } from "../../../src/typescript/lab/practice/index.js";
import { traceSpans, type Span } from "../../../src/typescript/extras/trace/index.js";

const none = { type: "object", properties: {} } as const;

/** Each span's name with the names of those around it. */
function paths(spans: readonly Span[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const path = (span: Span): string =>
    span.parentSpanId === null ? span.name : `${path(byId.get(span.parentSpanId)!)} > ${span.name}`;
  return spans.map(path);
}

describe("the trace of a run with subagents", () => {
  it("S004-24: nests their spans in that of the call, in one trace", async () => {
    const spans: Span[] = [];
    const root = scripted([
      {
        toolCalls: [
          { name: "pal", input: { prompt: "One." } },
          { name: "pal", input: { prompt: "Two." } },
        ],
      },
      { text: "End." },
    ]);
    const dig = tool({ description: "Digs", inputSchema: none, execute: () => 1 });
    const below = scripted([
      { toolCalls: [{ name: "dig", input: {} }] },
      { toolCalls: [{ name: "dig", input: {} }] },
      { text: "Dug." },
      { text: "Dug." },
    ]);
    const pal = subagent({
      description: "Pal",
      model: anthropic("small", { apiKey: "k", fetch: below }),
      tools: { dig },
    });
    const agent = createAgent({
      model: anthropic("big", { apiKey: "k", fetch: root }),
      tools: { pal },
      trace: traceSpans((span) => spans.push(span)),
    });
    const result = await agent.run("Go").result;
    const found = paths(spans);
    const inside = "invoke_agent > execute_tool pal pal > invoke_agent pal";
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(found.filter((path) => path === `${inside} > execute_tool dig`)).toHaveLength(2);
    expect(found.filter((path) => path === `${inside} > chat small`)).toHaveLength(4);
    expect(found.filter((path) => path === "invoke_agent > chat big")).toHaveLength(2);
    const whole = spans.find(({ parentSpanId }) => parentSpanId === null)!;
    expect(whole.attributes["gen_ai.usage.input_tokens"]).toBe(result.usage!.inputTokens);
  });
});
