import { describe, expect, it } from "vitest";
import { subagent } from "../../../src/typescript/core/entry/node.js";
import {
  openTelemetry,
  traceSpans,
  type OpenTelemetryMeter,
} from "../../../src/typescript/extras/trace/index.js";
import { call, traced } from "../support/traced.js";

interface Measured {
  name: string;
  value: number;
  attributes: Record<string, unknown>;
}

/** A meter that keeps what it is given. */
function keeping(): { meter: OpenTelemetryMeter; measured: Measured[]; made: Map<string, object> } {
  const measured: Measured[] = [];
  const made = new Map<string, object>();
  const keep = (name: string) => (value: number, attributes: object) =>
    measured.push({ name, value, attributes: { ...attributes } });
  const meter: OpenTelemetryMeter = {
    createHistogram: (name, options) => (made.set(name, options), { record: keep(name) }),
    createCounter: (name, options) => (made.set(name, options), { add: keep(name) }),
  };
  return { meter, measured, made };
}

const silent = {
  trace: {
    getTracer: () => ({
      startSpan: () => ({ setAttributes() {}, addEvent() {}, setStatus() {}, end() {} }),
    }),
    setSpan: () => ({}),
  },
  context: { active: () => ({}) },
};

const values = (measured: Measured[], name: string) =>
  measured.filter((one) => one.name === name).map(({ value }) => value);

describe("the metrics of OpenTelemetry", () => {
  it("measure each model call with its retries, its first chunk and its tokens", async () => {
    const { meter, measured } = keeping();
    const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 60, cacheWriteTokens: 20 };
    await traced([{ status: 529 }, { text: "Hi", usage }], {
      retry: { baseMs: 10, jitterMs: 0 },
      tracers: [openTelemetry({ ...silent, meter }, { agentName: "desk" })],
    });
    const about = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude-sonnet-4-6",
      "gen_ai.response.model": "claude-sonnet-4-6",
    };
    const counted = { ...about, "gen_ai.token.modality": "unknown" };
    const client = "gen_ai.client.inference";
    expect(measured).toEqual([
      { name: `${client}.duration`, value: 1.02, attributes: about },
      { name: `${client}.time_to_first_chunk`, value: 1.02, attributes: about },
      { name: `${client}.operation.input_tokens`, value: 180, attributes: about },
      { name: `${client}.operation.output_tokens`, value: 10, attributes: about },
      { name: `${client}.usage.input_tokens`, value: 180, attributes: counted },
      { name: `${client}.usage.output_tokens`, value: 10, attributes: counted },
      { name: `${client}.usage.cache_read.input_tokens`, value: 60, attributes: counted },
      { name: `${client}.usage.cache_write.input_tokens`, value: 20, attributes: counted },
      { name: `${client}.usage.reasoning.output_tokens`, value: 0, attributes: counted },
      { name: "gen_ai.invoke_agent.duration", value: 1.02, attributes: { "gen_ai.agent.name": "desk" } },
      { name: "gen_ai.invoke_agent.inference_calls", value: 1, attributes: { "gen_ai.agent.name": "desk" } },
      { name: "gen_ai.invoke_agent.tool_calls", value: 0, attributes: { "gen_ai.agent.name": "desk" } },
    ]);
  });

  it("say how a model call failed, and count tokens that nobody reported with 0", async () => {
    const { meter, measured } = keeping();
    await traced([{ status: 401 }], { tracers: [openTelemetry({ ...silent, meter })] });
    const named = new Map(measured.map((one) => [one.name, one]));
    const failed = { "error.type": "auth" };
    expect(named.get("gen_ai.client.inference.duration")).toMatchObject({ value: 0.5, attributes: failed });
    expect(named.get("gen_ai.client.inference.operation.input_tokens")).toMatchObject({
      value: 0,
      attributes: failed,
    });
    expect(named.has("gen_ai.client.inference.time_to_first_chunk")).toBe(false);
    expect(named.get("gen_ai.client.inference.usage.input_tokens")!.attributes).not.toHaveProperty(
      "error.type",
    );
    expect(named.get("gen_ai.invoke_agent.duration")).toMatchObject({ attributes: failed });
  });

  it("count the calls of each agent with that agent alone, and time its tools", async () => {
    const { meter, measured } = keeping();
    await traced(
      [
        { toolCalls: [call("helper", { prompt: "Look." }, "toolu_h")] },
        { toolCalls: [call("look", { n: 1 }, "toolu_l"), call("look", { n: 2 }, "toolu_m")] },
        { text: "Seen." },
        { text: "Done." },
      ],
      {
        tools: {
          helper: subagent({
            description: "Helps",
            tools: { look: { description: "Looks", inputSchema: { type: "object" }, execute: () => "seen" } },
          }),
        },
        tracers: [openTelemetry({ ...silent, meter }, { agentName: "desk" })],
      },
    );
    const counts = (name: string) =>
      measured
        .filter((one) => one.name === name)
        .map(({ value, attributes }) => [attributes["gen_ai.agent.name"], value]);
    expect(counts("gen_ai.invoke_agent.inference_calls")).toEqual([
      ["helper", 2],
      ["desk", 2],
    ]);
    expect(counts("gen_ai.invoke_agent.tool_calls")).toEqual([
      ["helper", 2],
      ["desk", 1],
    ]);
    const tools = measured.filter(({ name }) => name === "gen_ai.execute_tool.duration");
    expect(tools.map(({ attributes }) => attributes)).toEqual([
      { "gen_ai.tool.name": "look", "gen_ai.tool.type": "function", "gen_ai.agent.name": "helper" },
      { "gen_ai.tool.name": "look", "gen_ai.tool.type": "function", "gen_ai.agent.name": "helper" },
      { "gen_ai.tool.name": "helper", "gen_ai.tool.type": "function", "gen_ai.agent.name": "desk" },
    ]);
  });

  it("come from the meter of the api, with units and buckets, once for all runs", async () => {
    const { meter, measured, made } = keeping();
    const metrics = { getMeter: (name: string) => (expect(name).toBe("looplet"), meter) };
    const tracer = openTelemetry({ ...silent, metrics });
    const instruments = made.size;
    await traced([{ text: "Hi" }], { tracers: [tracer] });
    await traced([{ text: "Ho" }], { tracers: [tracer] });
    expect(made.size).toBe(instruments);
    expect(values(measured, "gen_ai.client.inference.duration")).toEqual([0.5, 0.5]);
    expect(made.get("gen_ai.client.inference.duration")).toMatchObject({
      unit: "s",
      advice: {
        explicitBucketBoundaries: [
          0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
        ],
      },
    });
    expect(made.get("gen_ai.client.inference.usage.input_tokens")).toMatchObject({ unit: "{token}" });
  });

  it("are left out without a meter, and a wrong meter is refused at once", async () => {
    const spans: string[] = [];
    const { result } = await traced([{ text: "Hi" }], {
      tracers: [openTelemetry(silent), traceSpans(({ name }) => spans.push(name))],
    });
    expect(result.outcome).toBe("completed");
    expect(() => openTelemetry({ ...silent, meter: {} as OpenTelemetryMeter })).toThrow(
      "openTelemetry.meter: needs a meter with createHistogram and createCounter, got",
    );
  });
});
