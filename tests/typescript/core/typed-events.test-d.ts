/**
 * The types that an agent's tools give to its events and results, checked by `tsc -p tsconfig.tests.json` as
 * `inference.test-d.ts` is.
 */
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { expectTypeOf } from "vitest";
import { z } from "zod";
import { sessionsOf } from "../../../src/typescript/extras/sessions/index.js";
import { memoryStore } from "../../../src/typescript/extras/stores/index.js";
import { createAgent, handoff, subagent, tool } from "../../../src/typescript/core/entry/default.js";
import type {
  Agent,
  AgentOptions,
  Model,
  Run,
  RunEvent,
  RunEventOf,
  RunOptions,
  RunResult,
  SubagentOptions,
  Tool,
  ToolFault,
  Tools,
} from "../../../src/typescript/core/api/index.js";

declare const model: Model;

const search = tool({
  description: "Searches",
  inputSchema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
  execute: async ({ query }) => ({ hits: [query], at: new Date() }),
});
const count = tool({
  description: "Counts",
  inputSchema: z.object({ upTo: z.string().transform(Number) }),
  async *execute({ upTo }) {
    yield "half";
    return upTo;
  },
});
const tools = { search, count, log: { description: "Logs", inputSchema: { type: "object" }, execute() {} } };
const agent = createAgent({ model, tools });

export async function aSessionHasTheTypesOfItsAgent(): Promise<void> {
  const sessions = sessionsOf(memoryStore());
  for (const chat of [await sessions.open(agent), await sessions.fork(agent, "a")])
    for await (const event of chat.run("Go")) {
      if (event.type !== "tool-call") continue;
      expectTypeOf(event.toolName).toEqualTypeOf<"search" | "count" | "log">();
      if (event.toolName === "search") expectTypeOf(event.input).toEqualTypeOf<{ query: string }>();
    }
}

export async function aQuestionHasTheTypesOfItsTool(): Promise<void> {
  const chat = await sessionsOf(memoryStore()).open(agent);
  for (const run of [agent.run("Go"), chat.run("Go"), chat.current!])
    for await (const event of run) {
      if (event.type !== "question") continue;
      if (event.question === "PreToolUse") expectTypeOf(event.data).toEqualTypeOf<undefined>();
      if (event.question !== "permission" && event.question !== "reconcile") continue;
      expectTypeOf(event.data.toolName).toEqualTypeOf<"search" | "count" | "log">();
      expectTypeOf(event.data.reason).toEqualTypeOf<string>();
      if (event.data.toolName === "search") expectTypeOf(event.data.input).toEqualTypeOf<{ query: string }>();
      if (event.data.toolName === "count") expectTypeOf(event.data.input).toEqualTypeOf<{ upTo: string }>();
    }
}

type Found = { hits: string[]; at: string };

export async function theNameOfAToolNarrowsTheEventsOfAnIteration(): Promise<void> {
  for await (const event of agent.run("Go")) {
    if (event.type === "tool-call") {
      expectTypeOf(event.toolName).toEqualTypeOf<"search" | "count" | "log">();
      if (event.toolName === "search") {
        expectTypeOf(event.input).toEqualTypeOf<{ query: string }>();
        // @ts-expect-error the schema has no such field
        event.input.page;
      }
      // The event has the input as the model wrote it, before the transform.
      if (event.toolName === "count") expectTypeOf(event.input).toEqualTypeOf<{ upTo: string }>();
      // @ts-expect-error the agent has no such tool
      if (event.toolName === "find") return;
    }
    if (event.type === "tool-result" && event.toolName === "search") {
      expectTypeOf(event.output).toEqualTypeOf<Found>();
      // @ts-expect-error a date is a text in JSON
      event.output.at.getTime();
    }
    if (event.type === "tool-result" && event.toolName === "count")
      expectTypeOf(event.output).toEqualTypeOf<number>();
    if (event.type === "tool-result" && event.toolName === "log")
      expectTypeOf(event.output).toEqualTypeOf<"">();
    expectTypeOf(event.seq).toEqualTypeOf<number>();
    if (event.type === "text-delta") expectTypeOf(event.text).toEqualTypeOf<string>();
  }
}

export function theNameOfAToolNarrowsTheEventsOfTheCallbacks(): void {
  agent.run("Go", {
    onToolCall(event) {
      if (event.toolName === "search") expectTypeOf(event.input).toEqualTypeOf<{ query: string }>();
    },
    onToolResult(event) {
      if (event.type === "tool-error") expectTypeOf(event.error).toEqualTypeOf<ToolFault>();
      else if (event.toolName === "search") expectTypeOf(event.output).toEqualTypeOf<Found>();
      if (event.toolName === "search")
        expectTypeOf(event.updatedInput).toEqualTypeOf<{ query: string } | undefined>();
    },
    onEvent(event) {
      if (event.type === "tool-result" && event.toolName === "count")
        expectTypeOf(event.output).toEqualTypeOf<number>();
      // @ts-expect-error only some types of events have it
      event.output;
    },
  });
  void agent.chat().run("Go", {
    onToolCall: ({ toolName }) => {
      expectTypeOf(toolName).toEqualTypeOf<"search" | "count" | "log">();
    },
  });
}

export async function theNameOfAToolNarrowsTheCallsOfAResult(): Promise<void> {
  const { toolCalls } = await agent.run("Go").result;
  for (const call of toolCalls) {
    if (call.toolName !== "search") continue;
    expectTypeOf(call.input).toEqualTypeOf<{ query: string }>();
    expectTypeOf(call.updatedInput).toEqualTypeOf<{ query: string } | undefined>();
    if (call.isError) expectTypeOf(call.output.code).toEqualTypeOf<string>();
    else expectTypeOf(call.output).toEqualTypeOf<Found>();
    // @ts-expect-error the call may have failed
    call.output.hits;
  }
}

export async function toolsWithSchemasOfValibotAndArkTypeAreInferredToo(): Promise<void> {
  const agent = createAgent({
    model,
    tools: {
      book: tool({
        description: "Books",
        inputSchema: toStandardJsonSchema(v.object({ city: v.string(), nights: v.optional(v.number(), 1) })),
        execute: ({ city, nights }) => {
          expectTypeOf(nights).toEqualTypeOf<number>();
          return { city };
        },
      }),
      rate: tool({
        description: "Rates",
        inputSchema: type({ stars: "number", "why?": "string" }),
        execute: ({ stars, why }) => {
          expectTypeOf(why).toEqualTypeOf<string | undefined>();
          return stars;
        },
      }),
    },
  });
  for await (const event of agent.run("Go")) {
    if (event.type === "tool-call" && event.toolName === "book") {
      // The model may leave out what has a default.
      expectTypeOf(event.input).toEqualTypeOf<{ city: string; nights?: number | undefined }>();
      // @ts-expect-error the schema has no such field
      event.input.stars;
    }
    if (event.type === "tool-result" && event.toolName === "book")
      expectTypeOf(event.output).toEqualTypeOf<{ city: string }>();
    if (event.type === "tool-call" && event.toolName === "rate")
      expectTypeOf(event.input).toEqualTypeOf<{ stars: number; why?: string }>();
    if (event.type === "tool-result" && event.toolName === "rate")
      expectTypeOf(event.output).toEqualTypeOf<number>();
  }
}

export async function toolsWithoutTheFunctionToolAreInferredToo(): Promise<void> {
  const { run } = createAgent({
    model,
    tools: {
      add: {
        description: "Adds",
        inputSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
        execute: ({ a }: { a: number }) => a + 1,
      },
      remote: { kind: "mcp", description: "Far away", inputSchema: { type: "object" } },
      ask: subagent({ description: "Answers" }),
    },
  });
  for await (const event of run("Go")) {
    if (event.type === "tool-call" && event.toolName === "add")
      expectTypeOf(event.input).toEqualTypeOf<{ a: number }>();
    if (event.type === "tool-result" && event.toolName === "add")
      expectTypeOf(event.output).toEqualTypeOf<number>();
    if (event.type === "tool-result" && event.toolName === "remote")
      expectTypeOf(event.output).toEqualTypeOf<unknown>();
  }
}

export async function aSubagentsAnswerIsATextOrHasTheTypeOfItsOutput(
  options: SubagentOptions,
): Promise<void> {
  const tools = {
    ask: subagent({ description: "Answers" }),
    rate: subagent({
      description: "Rates",
      output: {
        schema: { type: "object", properties: { stars: { type: "integer" } }, required: ["stars"] },
        validate: ({ stars }) => (stars > 5 ? "At most 5." : undefined),
      },
    }),
    parse: subagent({ description: "Parses", output: { schema: z.object({ at: z.date() }) } }),
    loose: subagent(options),
  };
  const run = createAgent({ model, tools }).run("Go");
  for await (const event of run) {
    if (event.type === "tool-call" && event.toolName === "ask")
      expectTypeOf(event.input).toEqualTypeOf<{ prompt: string }>();
    if (event.type !== "tool-result") continue;
    if (event.toolName === "ask") expectTypeOf(event.output).toEqualTypeOf<string>();
    if (event.toolName === "rate") expectTypeOf(event.output).toEqualTypeOf<{ stars: number }>();
    // The event has the answer as JSON has it.
    if (event.toolName === "parse") expectTypeOf(event.output).toEqualTypeOf<{ at: string }>();
    if (event.toolName === "loose") expectTypeOf(event.output).toEqualTypeOf<unknown>();
    // @ts-expect-error the answer is a text
    if (event.toolName === "ask") event.output.stars;
  }
  for (const call of (await run.result).toolCalls)
    if (call.toolName === "rate" && !call.isError)
      expectTypeOf(call.output).toEqualTypeOf<{ stars: number }>();
  expectTypeOf(subagent({ name: "ask", description: "Answers" }).name).toEqualTypeOf<"ask">();
}

export function anArrayOfToolsNoToolsAndUnknownToolsHaveLooseTypes(
  options: AgentOptions,
  record: { [name: string]: Tool },
): void {
  const named = tool({ ...search, name: "search" });
  const agents = [
    createAgent({ model, tools: [named] }),
    createAgent({ model }),
    createAgent({ model, tools: {} }),
    createAgent({ model, tools: record }),
  ];
  for (const one of agents) {
    expectTypeOf(one).toEqualTypeOf<Agent<Tools, undefined>>();
    one.run("Go", {
      onToolCall({ toolName, input }) {
        expectTypeOf(toolName).toEqualTypeOf<string>();
        expectTypeOf(input).toEqualTypeOf<unknown>();
      },
    });
  }
  expectTypeOf(createAgent(options)).toEqualTypeOf<Agent>();
  type Call = RunEventOf<"tool-result">;
  expectTypeOf<Call["toolName"]>().toEqualTypeOf<string>();
  expectTypeOf<Call["output"]>().toEqualTypeOf<unknown>();
}

export async function anAgentWithTypedToolsIsAnAgent(hear: (event: RunEvent) => void): Promise<void> {
  const loose: Agent = agent;
  const run: Run = agent.run("Go", { onEvent: hear });
  const result: RunResult = await run.result;
  const options: RunOptions<typeof tools> = { onEvent: hear } satisfies RunOptions;
  const same: Agent<typeof tools, undefined> = agent;
  const event: RunEvent = {} as RunEvent<typeof tools>;
  void [loose, result, options, same, event];
  // @ts-expect-error other tools
  const other: Agent<{ search: typeof count }> = agent;
  // @ts-expect-error nothing is known of the tools of a plain agent
  const typed: Agent<typeof tools> = loose;
  void [other, typed];
}

export async function typedToolsAndAStructuredAnswerGoTogether(): Promise<void> {
  const both = createAgent({ model, tools, output: { schema: z.object({ n: z.number() }) } });
  const result = await both.run("Go", {
    onPartialOutput: (partial) => expectTypeOf(partial).toEqualTypeOf<{ n?: number }>(),
    onToolCall: (event) => {
      if (event.toolName === "search") expectTypeOf(event.input).toEqualTypeOf<{ query: string }>();
    },
  }).result;
  if (result.outcome === "completed") expectTypeOf(result.output).toEqualTypeOf<{ n: number }>();
  expectTypeOf(both.chat().current).toEqualTypeOf<Run<typeof tools, { n: number }> | undefined>();
  // @ts-expect-error the answer is a number
  if (result.outcome === "completed") result.output.n.trim();
}

export async function anAgentAsAToolTypesItsAnswers(): Promise<void> {
  const rater = createAgent({ model, output: { schema: z.object({ stars: z.number() }) } });
  const writer = createAgent({ model });
  const pals = {
    rate: subagent(rater, { description: "Rates" }),
    write: subagent(writer, { description: "Writes" }),
  };
  const result = await createAgent({ model, tools: pals }).run("Go").result;
  for (const call of result.toolCalls) {
    if (call.isError) continue;
    if (call.toolName === "rate") expectTypeOf(call.output).toEqualTypeOf<{ stars: number }>();
    if (call.toolName === "write") expectTypeOf(call.output).toEqualTypeOf<string>();
  }
  handoff(writer, {
    description: "Writes",
    inputSchema: z.object({ why: z.string() }),
    onHandoff: ({ why }, { toolCallId }) => {
      expectTypeOf(why).toEqualTypeOf<string>();
      expectTypeOf(toolCallId).toEqualTypeOf<string>();
    },
  });
  expectTypeOf(handoff(writer, { name: "to", description: "Writes" }).name).toEqualTypeOf<"to">();
}
