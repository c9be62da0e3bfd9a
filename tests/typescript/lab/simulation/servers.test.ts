/** A handler of `looplet/server` and an object of `looplet/cloudflare`, whose processes die and stand still. */
import { test } from "vitest";
import { anthropic, createAgent, tool, type Agent, type Store } from "looplet";
import { AgentObject, type DurableObjectStateLike } from "looplet/cloudflare";
import { handler } from "looplet/server";
import { neverTwice, type World } from "looplet/testing";
import { checkTranscript } from "looplet/transcript";
import { objectState, sqlite } from "../../support/object-state.js";
import { holds, model, TIMEOUT } from "../../support/simulations.js";

const NETWORK = ["refused", "unreachable", "cut", "streamError", "html", "truncated"] as const;

/** An agent with a tool that is safe to run again, over this store. */
function agentOf(world: World, store: Store): Agent {
  const noted = world.kept("notes", () => new Set<string>());
  const note = tool({
    description: "Takes a note",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const,
    replay: "safe",
    async execute({ text }, { toolCallId }) {
      await world.sleep(100);
      if (!noted.has(toolCallId)) world.effect("note", toolCallId);
      noted.add(toolCallId);
      return `noted ${text}`;
    },
  });
  const { clock, random, ids } = world.platform;
  return createAgent({
    model: anthropic(model, { apiKey: "k", fetch: world.fetch }),
    tools: { note },
    timeouts: { toolMs: 60_000 },
    ...{ store, clock, random, ids },
  }) as unknown as Agent;
}

/** A client that sends its prompt until it is taken, waits for the end, and sends it once more. */
async function asks(world: World, ask: (path: string, init?: object) => PromiseLike<unknown>): Promise<void> {
  const answered = async (path: string, init?: object): Promise<Record<string, any>> => {
    for (;;) {
      const response = (await ask(path, init)) as Response;
      if (response.ok) return (await response.json()) as object;
      await world.sleep(30_000);
    }
  };
  const said = async (): Promise<unknown[]> => {
    const body = JSON.stringify({ prompt: "Go on.", requestId: "one" });
    await answered("/run", { method: "POST", body });
    for (;;) {
      const { isRunning, messages } = await answered("");
      if (isRunning === false) return messages as unknown[];
      await world.sleep(30_000);
    }
  };
  const messages = await said();
  if ((await said()).length !== messages.length) throw new Error("the prompt was taken twice");
  const [problem] = checkTranscript(messages, "looplet");
  if (problem !== undefined) throw new Error(`${problem.path}: ${problem.message}`);
  world.effect("end", `${world.process}`);
}

test("a handler of looplet/server takes a prompt once, and keeps a legal history", TIMEOUT, async () => {
  await holds(
    async (world) => {
      const { store } = world.platform;
      const handle = handler(agentOf(world, store), { store, authorize: () => "ada" });
      if (world.process > 1) await handle.wake();
      await asks(world, (path, init) => handle(new Request(`http://server.test/a${path}`, init)));
    },
    {
      world: { crashes: true, only: [...NETWORK, "crash", "freeze", "storeFails", "storeFailsLate"] },
      invariants: [neverTwice("note")],
    },
  );
});

test.skipIf(sqlite === undefined)(
  "an object of looplet/cloudflare takes a prompt once, and keeps a legal history",
  TIMEOUT,
  async () => {
    await holds(
      async (world) => {
        const session = new (class extends AgentObject {
          agent(store: Store): Agent {
            return agentOf(world, store);
          }
        })(stateIn(world), {});
        if (world.process > 1) void session.alarm();
        await asks(world, (path, init) => session.fetch(new Request(`http://object.test${path}`, init)));
      },
      { world: { crashes: true, only: [...NETWORK, "crash"] }, invariants: [neverTwice("note")] },
    );
  },
);

/** The state of the object, which has one instance at a time. */
function stateIn(world: World): DurableObjectStateLike {
  const kept = world.kept("object", () => ({ state: objectState(), process: 0 }));
  kept.process = world.process;
  const { sql } = kept.state.storage;
  const exec: typeof sql.exec = (...query) => {
    if (kept.process !== world.process) throw new Error("another instance has taken the place of this one");
    return sql.exec(...query);
  };
  return { ...kept.state, storage: { ...kept.state.storage, sql: { ...sql, exec } } };
}
