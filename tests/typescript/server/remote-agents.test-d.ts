/** The types of agents of `looplet/workers`, checked by `tsc -p tsconfig.tests.json`. */
import { expectTypeOf } from "vitest";
import { createAgent, tool } from "looplet";
import type { Agent, Model } from "looplet";
import { connectAgent, shareAgent, type AgentEndpoint, type RemoteAgent } from "looplet/workers";

declare const model: Model;
declare const endpoint: AgentEndpoint;

const add = tool({
  description: "Adds",
  inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  execute: ({ n }) => n + 1,
});
const agent = createAgent({ model, tools: { add } });
const remote = connectAgent<typeof agent>(endpoint);

for await (const event of remote.run("Hi.")) {
  if (event.type === "tool-call" && event.toolName === "add")
    expectTypeOf(event.input).toEqualTypeOf<{ n: number }>();
}
expectTypeOf(remote.run("Hi.").cursor).toEqualTypeOf<string | undefined>();
const chat = await remote.openChat("a");
expectTypeOf(chat.run("Hi.").cursor).toEqualTypeOf<string | undefined>();
chat.onRun((run) => expectTypeOf(run.id).toBeString());

// It stands wherever an agent is asked for.
expectTypeOf<RemoteAgent>().toExtend<Agent>();
expectTypeOf(shareAgent(agent).isHost).toBeBoolean();

// @ts-expect-error A number is no way to a worker.
connectAgent(7);
