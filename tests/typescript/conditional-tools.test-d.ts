/** Agents that have a tool only under a condition, at every function that takes an agent. Checked by tsc, never run. */
import { expectTypeOf } from "vitest";
import { createAgent, handoff, subagent, tool, type Agent, type Store } from "looplet";
import { AgentObject } from "looplet/cloudflare";
import { compare } from "looplet/compare";
import { publish } from "looplet/devtools/publish";
import { handler } from "looplet/server";
import { memoryStore, supervise } from "looplet/stores";
import { simulate } from "looplet/testing";
import { toUIMessageStreamResponse } from "looplet/ai-sdk";
import { agUiHandler } from "looplet/ag-ui";
import { conversation } from "looplet/ui";
import { connectAgent, serveAgent, shareAgent, type RemoteAgent } from "looplet/workers";

declare const isAdmin: boolean;
declare const model: never;
declare const port: MessagePort;
const store = memoryStore();
const schema = { type: "object", properties: { x: { type: "number" } } } as const;
const a = tool({ description: "A", inputSchema: schema, execute: () => "a" });
const b = tool({ description: "B", inputSchema: schema, execute: () => 1 });

const agents = {
  spread: createAgent({ model, store, tools: { a, ...(isAdmin ? { b } : {}) } }),
  and: createAgent({ model, store, tools: { a, ...(isAdmin && { b }) } }),
  either: createAgent({ model, store, tools: isAdmin ? { a } : { b } }),
  undefined: createAgent({ model, store, tools: { a, b: isAdmin ? b : undefined } }),
};

export async function eachFunctionTakesTheAgent(): Promise<void> {
  const agent = agents.spread;
  supervise(store, agent);
  handler<Request>(agent, { store, authorize: () => "u" });
  agUiHandler(agent, { authorize: () => "u" });
  serveAgent(agent, { store });
  shareAgent(agent, { store });
  conversation(agent);
  await simulate(agent, {});
  await compare([], agent);
  toUIMessageStreamResponse(agent.run("go"));
  publish(new BroadcastChannel("x")).offer({ agent });
  expectTypeOf(connectAgent<typeof agent>(port)).toExtend<RemoteAgent>();
  createAgent({ model, tools: { child: subagent(agent, { description: "C" }) } });
  createAgent({
    model,
    agents: { other: agent },
    tools: { go: handoff(agent, { description: "C" }) },
  } as never);
}

export function eachWayToLeaveAToolOutIsAnAgent(): Agent[] {
  return [agents.spread, agents.and, agents.either, agents.undefined];
}

export class Session extends AgentObject<{ ADMIN?: string }> {
  agent(own: Store) {
    return createAgent({ model, store: own, tools: { a, ...(this.env.ADMIN ? { b } : {}) } });
  }
}

export async function theTypesOfAConditionalToolAreThoseOfTheTool(): Promise<void> {
  for await (const event of agents.undefined.run("go"))
    if (event.type === "tool-call" && event.toolName === "b")
      expectTypeOf(event.input).toEqualTypeOf<{ x?: number }>();
}
