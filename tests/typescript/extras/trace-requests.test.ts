import { describe, expect, it } from "vitest";
import {
  anthropic,
  createAgent,
  openaiChat,
  subagent,
  tool,
} from "../../../src/typescript/core/entry/node.js";
import { scripted, type ScriptedStep } from "../../../src/typescript/lab/practice/index.js";
import { openTelemetry, traceSpans, type Span } from "../../../src/typescript/extras/trace/index.js";
import type {
  AgentOptions,
  Message,
  Run,
  RunEvent,
  RunOptions,
  RunResult,
} from "../../../src/typescript/core/api/index.js";

const claude = (steps: ScriptedStep[], options: { maxOutputTokens?: number } = {}) =>
  anthropic("claude", { apiKey: "k", fetch: scripted(steps), ...options });
const gpt = (steps: ScriptedStep[]) => openaiChat("gpt", { apiKey: "k", fetch: scripted(steps) });
const QUICK = { maxRetries: 1, baseMs: 1, jitterMs: 0 };

/** Of the spans of model calls what tells them apart: model, vendor, attempts, error. */
async function requests(
  options: AgentOptions,
  run: RunOptions = {},
  watch?: (event: RunEvent, run: Run) => void,
): Promise<{ chats: string[]; root: Span; spans: Span[]; result: RunResult }> {
  const spans: Span[] = [];
  const agent = createAgent({ ...options, trace: traceSpans((span) => spans.push(span)) });
  const started = agent.run("Go", { ...run, onEvent: (event) => watch?.(event, started) });
  const result = await started.result;
  const chats = spans.filter(({ name }) => name.startsWith("chat "));
  const about = ["gen_ai.provider.name", "looplet.attempts", "looplet.compaction", "error.type"];
  const words = ({ name, attributes }: Span) =>
    [name, ...about.map((key) => attributes[key]).filter((value) => value !== undefined)].join(" ");
  const root = spans.find(({ parentSpanId }) => parentSpanId === null)!;
  return { chats: chats.map(words), root, spans, result };
}

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const model = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });
const LONG = Array.from({ length: 20 }, (_, n) => [user(`${n}${"x".repeat(200)}`), model("y")]).flat();
const OVERFLOW = {
  status: 400,
  body: {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" },
  },
};

function isSummedUp({ root, spans, result }: Awaited<ReturnType<typeof requests>>): void {
  const { inputTokens, outputTokens } = result.usage!;
  expect(inputTokens).toBeGreaterThan(0);
  const sums = { "gen_ai.usage.input_tokens": inputTokens, "gen_ai.usage.output_tokens": outputTokens };
  expect(root.attributes).toMatchObject(sums);
  const chats = spans.filter(({ name }) => name.startsWith("chat "));
  const input = chats.map(({ attributes }) => (attributes["gen_ai.usage.input_tokens"] ?? 0) as number);
  expect(input.reduce((sum, tokens) => sum + tokens, 0)).toBe(inputTokens);
}

describe("the span of a summary's request", () => {
  const options = { context: { window: 500 }, retry: QUICK };

  it("P-24: is a chat of its own, and its usage is in the sum", async () => {
    const steps = [{ text: "Sum." }, { text: "End." }];
    const run = await requests(
      { ...options, model: claude(steps, { maxOutputTokens: 50 }) },
      { messages: LONG },
    );
    expect(run.chats).toEqual(["chat claude anthropic 1 auto", "chat claude anthropic 1"]);
    isSummedUp(run);
  });

  it("has the failure after which the built-in summary stands in", async () => {
    const steps = [{ status: 529 }, { status: 500 }, { text: "End." }];
    const run = await requests(
      { ...options, model: claude(steps, { maxOutputTokens: 50 }) },
      { messages: LONG },
    );
    expect(run.result.outcome).toBe("completed");
    expect(run.chats).toEqual(["chat claude anthropic 2 auto server", "chat claude anthropic 1"]);
    expect(run.spans[0]!.attributes["http.response.status_code"]).toBe(500);
  });

  it("stands behind that of the request that was too long", async () => {
    const model = claude([OVERFLOW, { text: "Sum." }, { text: "End." }]);
    const run = await requests({ model, retry: QUICK }, { messages: LONG });
    expect(run.chats).toEqual([
      "chat claude anthropic 1 context_length",
      "chat claude anthropic 1 overflow",
      "chat claude anthropic 1",
    ]);
    const compacted = run.spans.map(({ attributes }) => attributes["gen_ai.conversation.compacted"]);
    expect(compacted).toEqual([undefined, undefined, true, undefined]);
    isSummedUp(run);
  });

  it("has no failure where the run ends because nothing was gained by it", () => {
    const spans: Span[] = [];
    const run = { id: "r", vendor: "anthropic", model: "claude", now: () => 0, random: () => 0 };
    const trace = traceSpans((span) => spans.push(span))(run);
    const error = { code: "context_length", message: "", retryable: false };
    const outcome = { outcome: "failed", error };
    const events = [
      { type: "attempt-start" },
      { type: "compact-start", trigger: "overflow" },
      { type: "attempt-start" },
      { type: "error", error },
      { type: "agent-finish", outcome },
      { type: "finish", outcome },
    ];
    for (const event of events) trace.onEvent({ agentPath: "root", timeMs: 1, ...event } as never);
    trace.onEnd?.({} as never);
    const codes = spans.map(({ attributes }) => attributes["error.type"]);
    expect(codes).toEqual(["context_length", undefined, "context_length"]);
  });

  it("is not taken for the request that a hook sends without a summary", async () => {
    const steps = [{ text: "End." }];
    const hooks: AgentOptions["hooks"] = {
      PreCompact: [{ hooks: [() => ({ decision: "block", reason: "Keep it." })] }],
    };
    const run = await requests(
      { ...options, model: claude(steps, { maxOutputTokens: 50 }), hooks },
      { messages: LONG },
    );
    expect(run.chats).toEqual(["chat claude anthropic 1"]);
  });

  it("is ended for OpenTelemetry, as every other", async () => {
    const open = new Set<object>();
    const startSpan = () => {
      const span = {
        setAttributes: () => undefined,
        addEvent: () => undefined,
        setStatus: () => undefined,
        end: () => open.delete(span),
      };
      open.add(span);
      return span;
    };
    const api = {
      trace: { getTracer: () => ({ startSpan }), setSpan: () => ({}) },
      context: { active: () => ({}) },
    };
    const steps = [{ status: 529 }, { status: 529 }, { text: "Sum." }];
    const failing = claude([{ status: 529 }, { status: 529 }], { maxOutputTokens: 50 });
    for (const asked of [claude(steps, { maxOutputTokens: 50 }), failing]) {
      const agent = createAgent({
        ...options,
        model: asked,
        fallbackModels: [gpt([{ text: "End." }])],
        trace: openTelemetry(api),
      });
      await agent.run("Go", { messages: LONG }).result;
      expect(open.size).toBe(0);
    }
  });
});

describe("the spans of a run with several models", () => {
  it("show the calls of both models, the first with its failure", async () => {
    const run = await requests({
      model: claude([{ status: 529 }, { status: 529 }]),
      fallbackModels: [gpt([{ text: "End." }])],
      retry: QUICK,
    });
    expect(run.chats).toEqual(["chat claude anthropic 2 overloaded", "chat gpt openai 1"]);
    expect(run.spans[0]!.attributes["http.response.status_code"]).toBe(529);
    isSummedUp(run);
  });

  it("name the vendor of a model that was set", async () => {
    const noop = tool({ description: "Nothing", inputSchema: { type: "object" }, execute: () => 1 });
    const other = gpt([{ text: "End." }]);
    const run = await requests(
      { model: claude([{ toolCalls: [{ name: "noop", input: {} }] }]), tools: { noop } },
      {},
      (event, run) => (event.type === "tool-call" ? run.setModel(other) : undefined),
    );
    expect(run.chats).toEqual(["chat claude anthropic 1", "chat gpt openai 1"]);
    expect(run.root.attributes["gen_ai.request.model"]).toBe("claude");
  });

  it("name a subagent's own vendor", async () => {
    const sub = subagent({ description: "Helps", model: gpt([{ text: "Helped." }]) });
    const asks = { toolCalls: [{ name: "sub", input: { prompt: "Help." } }] };
    const run = await requests({ model: claude([asks, { text: "End." }]), tools: { sub } });
    expect(run.chats).toEqual(["chat gpt openai 1", "chat claude anthropic 1", "chat claude anthropic 1"]);
    const agent = run.spans.find(({ name }) => name === "invoke_agent sub")!;
    expect(agent.attributes["gen_ai.request.model"]).toBe("gpt");
  });
});
